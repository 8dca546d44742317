from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from queue import Empty, Queue

import pytest

COMMAND = [sys.executable, "-u", "-c", "from rtlagent.cli import main; main()", "watch"]
GOOD = "module m(input a, output b); assign b = ~a; endmodule\n"
TEST = """import cocotb
from cocotb.triggers import Timer

@cocotb.test()
async def inverts(dut):
    dut.a.value = 0
    await Timer(1, "ns")
    assert dut.b.value == 1
"""


class _Watch:
    """A running watch and what it has said."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [*COMMAND, *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self._lines: Queue[str] = Queue()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line.rstrip())

    def round(self, limit_s: float = 60) -> list[str]:
        """Return the lines of the next round."""
        lines: list[str] = []
        deadline = time.monotonic() + limit_s
        while not (lines and lines[-1].startswith("watch: end")):
            try:
                lines.append(self._lines.get(timeout=max(0.1, deadline - time.monotonic())))
            except Empty:
                raise AssertionError(f"no end of the round: {lines}") from None
        assert lines[0] == "watch: begin"
        return lines

    def is_silent(self, seconds: float) -> bool:
        time.sleep(seconds)
        return self._lines.empty()


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[_Watch]:
    (tmp_path / "m.v").write_text(GOOD)
    (tmp_path / "test_m.py").write_text(TEST)
    watch = _Watch(tmp_path, "m.v", "--test", "test_m.py")
    yield watch
    watch.process.kill()
    watch.process.communicate()


def test_each_save_is_a_round_until_interrupted(tmp_path: Path, watched: _Watch) -> None:
    first = watched.round()
    assert first[-1].startswith("watch: end PASS in ")
    assert any("simulate: PASS" in line for line in first)
    (tmp_path / "m.v").write_text(GOOD.replace("~a", "undeclared"))
    broken = watched.round()
    assert broken[-1].startswith("watch: end FAIL")
    assert any(line.startswith("m.v:1:") and "[UndeclaredIdentifier]" in line for line in broken)
    assert not any("simulate" in line for line in broken)
    new = tmp_path / "m.v.new"
    new.write_text(GOOD.replace("~a", "a"))
    new.replace(tmp_path / "m.v")  # as editors save
    assert watched.round()[-1].startswith("watch: end FAIL")
    (tmp_path / "unrelated.v").write_text(GOOD)
    assert watched.is_silent(1.5)
    (tmp_path / "m.v").write_text(GOOD)
    assert watched.round()[-1].startswith("watch: end PASS")
    watched.process.send_signal(signal.SIGINT)
    assert watched.process.wait(20) == 130
    assert watched.process.stderr is not None
    assert "Traceback" not in watched.process.stderr.read()


def test_wrong_files_end_it_at_once(tmp_path: Path) -> None:
    done = subprocess.run([*COMMAND, "none.v"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2 and "none.v: does not exist" in done.stderr


def test_rounds_and_a_file_that_is_gone(tmp_path: Path) -> None:
    (tmp_path / "a.v").write_text(GOOD)
    (tmp_path / "b.v").write_text("module other; endmodule\n")
    watch = _Watch(tmp_path, "a.v", "b.v", "--rounds", "2")
    try:
        assert watch.round()[-1].startswith("watch: end PASS")
        (tmp_path / "b.v").unlink()
        gone = watch.round()
        assert "error: b.v: does not exist" in gone[1]
        assert gone[-1].startswith("watch: end ERROR")
        assert watch.process.wait(20) == 0
    finally:
        watch.process.kill()
        watch.process.communicate()
