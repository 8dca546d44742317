"""C on the command line: `rtlagent generate kernel.c` and `rtlagent hls`, as a user types them."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

FIR = Path(__file__).resolve().parents[2] / "examples" / "fir" / "fir.c"
PROGRAM = str(Path(sys.executable).parent / "rtlagent")
DOT = """\
int dot(const short a[16], const short b[16]) {
    int sum = 0;
    for (int i = 0; i < 16; i++)
        sum += a[i] * b[i];
    return sum;
}
"""
GATES = ("lint", "elaborate", "cosim", "synthesize", "place_and_route")


def run(*arguments: str, cwd: Path, wait_s: float = 250) -> subprocess.CompletedProcess[str]:
    kept = {k: v for k, v in os.environ.items() if not k.endswith(("_API_KEY", "_BASE_URL", "_HOST"))}
    return subprocess.run(
        [PROGRAM, *arguments], cwd=cwd, env=kept, capture_output=True, text=True, timeout=wait_s, check=False
    )


@pytest.fixture
def dot(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/dot.c").write_text(DOT)
    return tmp_path


@pytest.mark.slow
def test_the_fir_example_passes_with_the_loop_table(tmp_path: Path) -> None:
    done = run("generate", str(FIR), "--top", "fir", "--target", "ecp5", "--clock", "10ns", "--out", "o", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^loop +line +trip count +II \(target\) +depth +latency +limited by$", done.stdout, re.M)
    assert re.search(r"^sample +\d+ +64 +1 \(1\) ", done.stdout, re.M)
    assert "PASS: fir, evidence strong" in done.stdout
    assert re.search(r"min_fmax_mhz +100 MHz +\d+(\.\d+)? MHz +met", done.stdout)
    assert [p.name for p in (tmp_path / "o").iterdir()] == ["fir.v"]


def test_c_passes_without_any_model_and_resumes_to_the_same_report(dot: Path) -> None:
    done = run("generate", "src/dot.c", "--target", "ice40", "--json", cwd=dot)
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout)
    assert [s["step"] for s in report["verdict"]["steps"]] == list(GATES)
    assert report["hls"]["loops"][0]["line"] == 3
    assert report["requirements"]["min_fmax_mhz"] is None
    metrics = report["verdict"]["steps"][-1]["metrics"]
    assert metrics["fmax_mhz"] > 0
    assert "cosim: PASS" in done.stderr
    again = run("resume", report["folder"], "--json", cwd=dot)
    assert json.loads(again.stdout)["verdict"] == report["verdict"]


def test_a_markdown_spec_with_a_c_block_is_compiled(tmp_path: Path) -> None:
    front = "---\ntop: dot\ntarget: generic\nrequirements: {max_latency_cycles: 1}\n---\n"
    (tmp_path / "spec.md").write_text(f"{front}# Dot product\n\n```c\n{DOT}```\n")
    done = run("generate", "spec.md", cwd=tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert re.search(r"max_latency_cycles +1 cycles +\d+ cycles +NOT MET", done.stdout)
    assert re.search(r"^loop_\w+ +11 ", done.stdout, re.M), "lines are those of the Markdown file"


def test_an_impossible_clock_fails_with_what_was_measured(dot: Path) -> None:
    done = run("generate", "src/dot.c", "--clock", "1GHz", "--max-iterations", "1", "--out", "out", cwd=dot)
    assert done.returncode == 1, done.stdout + done.stderr
    assert re.search(r"min_fmax_mhz +1000 MHz +\d+\.?\d* MHz +NOT MET", done.stdout)
    assert not (dot / "out").exists()


def test_a_killed_run_goes_on(dot: Path) -> None:
    process = subprocess.Popen(
        [PROGRAM, "generate", "src/dot.c", "--target", "generic"], cwd=dot, stdout=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        logs = list((dot / "runs").glob("*/events.jsonl"))
        if logs and '"gate"' in logs[0].read_text():
            break
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    (folder,) = (dot / "runs").iterdir()
    done = run("resume", str(folder), cwd=dot)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "PASS: dot" in done.stdout


def test_warnings_about_the_c_are_shown(tmp_path: Path) -> None:
    (tmp_path / "k.c").write_text("int f(int a) { return a + 1; }\nint main(void) { return 0; }\n")
    done = run("generate", "k.c", "--target", "generic", "--simulator", "icarus", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "\nk.c: warning: main() does not call f(), so calls are generated\n" in done.stdout


def test_an_interrupted_run_says_how_to_go_on(dot: Path) -> None:
    command = [PROGRAM, "generate", "src/dot.c", "--target", "generic", "--json"]
    process = subprocess.Popen(command, cwd=dot, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        logs = list((dot / "runs").glob("*/events.jsonl"))
        if logs and '"gate"' in logs[0].read_text():
            break
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    (folder,) = (dot / "runs").iterdir()
    assert json.loads(said)["error"]["hint"] == f"go on with: rtlagent resume runs/{folder.name}"


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        ("int f(int a) { return a +; }\n", [], "k.c:1:26: expected expression"),
        ("int f(int a) { return g(a); }\n", ["--top", "f"], "k.c:1"),
        ("#include <stdlib.h>\nint f(int n) {\n  int *p = malloc(n);\n  return p[0];\n}\n", ["--top", "f"], "k.c:3"),
        ("int f(int n) {\n  return n < 2 ? 1 : n * f(n - 1);\n}\n", ["--top", "f"], "k.c:"),
        ("int f(int a) { return a; }\nint g(int a) { return a; }\n", [], "could be the top: f, g"),
        ("int f(int a) { return a; }\n", ["--top", "ff"], "ff"),
        ("int f(int a) { return a; }\n", ["--clock", "10 bananas"], "--clock: not a clock"),
        ("int f(int a) { return a; }\n", ["--target", "asic"], "--target: unknown target 'asic'"),
        ("int f(int a) { return a; }\n", ["--tb", "gone.c"], "gone.c: does not exist"),
        ("", [], "the C file is empty"),
    ],
)
def test_wrong_c_is_wrong_input_and_leaves_nothing(
    text: str, arguments: list[str], message: str, tmp_path: Path
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in/k.c").write_text(text)
    for command in ("generate", "hls"):
        done = run(command, "in/k.c", *arguments, cwd=tmp_path)
        assert done.returncode == 2, done.stdout + done.stderr
        assert message in done.stderr
        assert "Traceback" not in done.stderr
        assert [p.name for p in tmp_path.iterdir()] == ["in"]
    if "k.c:" in message:
        assert "in/k.c:" in done.stderr


def test_errors_name_files_as_the_user_does(dot: Path) -> None:
    (dot / "inc").mkdir()
    (dot / "inc/k.h").write_text("#define\n")
    (dot / "src/dot.c").write_text('#include "../inc/k.h"\n' + DOT)
    done = run("hls", "dot.c", "--json", cwd=dot / "src")
    assert done.returncode == 2
    assert json.loads(done.stdout)["error"]["where"].startswith("../inc/k.h:")
    (dot / "inc/k.h").write_text("")
    (dot / "src/dot.c").write_text('#include "../inc/k.h"\nint f(void) { return +; }\n')
    assert "error: src/dot.c:2:" in run("hls", "src/dot.c", cwd=dot).stderr
    assert "error: dot.c:2:" in run("hls", "dot.c", cwd=dot / "src").stderr


def test_an_empty_top_is_refused(dot: Path) -> None:
    done = run("hls", "src/dot.c", "--top", "", cwd=dot)
    assert done.returncode == 2
    assert "--top: names no function" in done.stderr


def test_hls_prints_the_loops_and_writes_the_verilog(dot: Path) -> None:
    done = run("hls", "src/dot.c", "--out", "rtl", "--clock", "20ns", cwd=dot)
    assert done.returncode == 0, done.stderr
    assert "dot: dot.c for ecp5, clock 20 ns" in done.stdout
    assert re.search(r"^loop_\w+ +3 +\d+ +1 \(1\) ", done.stdout, re.M)
    assert done.stdout.rstrip().endswith("verilog: rtl/dot.v")
    assert "module dot" in (dot / "rtl/dot.v").read_text()
    assert sorted(p.name for p in dot.iterdir()) == ["rtl", "src"]


def test_hls_json_has_everything(dot: Path) -> None:
    done = run("hls", "src/dot.c", "--json", "--dump-ir", "frontend", "--no-pragmas", "--target", "xc7", cwd=dot)
    report = json.loads(done.stdout)
    assert (report["function"], report["target"], report["verilog"]) == ("dot", "xc7", "dot.v")
    assert report["interface"]["arrays"][0]["depth"] == 16
    assert "load" in report["dump"]


def test_dump_ir_lists_the_passes(dot: Path) -> None:
    done = run("hls", "src/dot.c", "--dump-ir", "inlining", cwd=dot)
    assert done.returncode == 2
    assert "the passes are: frontend, " in done.stderr
    assert "if_convert" in done.stderr
    shown = run("hls", "src/dot.c", "--dump-ir", "if_convert", cwd=dot)
    assert " = load 16 " in shown.stdout


def test_a_terminal_gets_tables(dot: Path) -> None:
    primary, secondary = pty.openpty()
    process = subprocess.Popen(
        [PROGRAM, "hls", "src/dot.c"],
        cwd=dot,
        stdout=secondary,
        stderr=secondary,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "140"},
    )
    os.close(secondary)
    shown = b""
    while True:
        try:
            part = os.read(primary, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        shown += part
    assert process.wait(timeout=100) == 0
    assert "┃" in shown.decode(errors="replace")
    assert "trip count" in shown.decode(errors="replace")


def test_c_options_do_not_go_with_prose(tmp_path: Path) -> None:
    (tmp_path / "spec.md").write_text("# A counter\n")
    for option in (["--clock", "10ns"], ["--no-pragmas"], ["--tb", "spec.md"]):
        done = run("generate", "spec.md", "--model", "replay:none", *option, cwd=tmp_path)
        assert done.returncode == 2
        assert option[0] in done.stderr
    done = run("hls", "spec.md", cwd=tmp_path)
    assert done.returncode == 2
    assert "there is no C to compile" in done.stderr


def test_headers_and_a_testbench_come_along(tmp_path: Path) -> None:
    (tmp_path / "k.c").write_text('#include "k.h"\nint f(int a) { return a + STEP; }\n')
    (tmp_path / "k.h").write_text("#define STEP 3\nint f(int a);\n")
    main = "int main(void) {\n  for (int i = 0; i < 40; i++)\n    if (f(i) != i + STEP) return 1;\n  return 0;\n}\n"
    (tmp_path / "tb.c").write_text(f'#include "k.h"\n{main}')
    done = run("generate", "k.c", "--tb", "tb.c", "--target", "generic", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    cosim = json.loads(done.stdout)["verdict"]["steps"][2]
    assert "40 calls of f() recorded from main()" in cosim["detail"]


SHAPES = {
    "division": "int f(int a, int b) { return b ? a / b : a; }\n",
    "registers": """int f(const int a[8], int k) {
#pragma HLS interface mode=s_axilite port=k
#pragma HLS interface mode=s_axilite port=return
  int s = 0;
  for (int i = 0; i < 8; i++) s += a[i] * k;
  return s;
}
""",
    "dataflow": """void f(const int in[16], int out[16], int k) {
#pragma HLS dataflow
  int mid[16];
  for (int i = 0; i < 16; i++) mid[i] = in[i] * k;
  for (int i = 0; i < 16; i++) out[i] = mid[i] + i;
}
""",
    "dataflow in a loop": """void f(const int in[32], int out[32]) {
  for (int t = 0; t < 4; t++) {
#pragma HLS dataflow
    int mid[8];
    for (int i = 0; i < 8; i++) mid[i] = in[8 * t + i] * 3;
    for (int i = 0; i < 8; i++) out[8 * t + i] = mid[7 - i] + i;
  }
}
""",
    "partitioned": """int f(const int a[16]) {
#pragma HLS array_partition variable=a cyclic factor=4
  int s = 0;
  for (int i = 0; i < 16; i++) {
#pragma HLS unroll factor=4
    s += a[i] ^ (s >> 3);
  }
  return s;
}
""",
}


CPP_SHAPES = {
    "a class by value": '#include "ap_int.h"\nint f(ap_int<9> a) { return a * 3; }\n',
    "a structure by value": "struct p { short x, y; };\nint f(p a) { return a.x * a.y; }\n",
    "C headers of C++": "#include <cstdint>\n#include <cstdio>\nstd::int32_t f(int32_t x) { return x + 1; }\n",
}
NAME_SHAPES = {
    "read data": "int f(int a[4], int a_q0) { return a[1] ^ a_q0; }\n",
    "address": "int f(int x[4], int x_address0) { return x[0] + x_address0; }\n",
    "both ways": "int f(int *i, int i_o, int i_i) { *i += 1; return i_o - i_i; }\n",
    "the module": "int f(int x[4], int clk, int f) { return x[1] + clk * f; }\n",
}
SLOW_SHAPES = ("registers", "dataflow in a loop", "partitioned")


@pytest.mark.parametrize("shape", [pytest.param(s, marks=[pytest.mark.slow] * (s in SLOW_SHAPES)) for s in SHAPES])
def test_every_shape_of_module_passes_every_gate(shape: str, tmp_path: Path) -> None:
    """The gates have rules for what models write; what the compiler writes has to keep them, too."""
    (tmp_path / "f.c").write_text(SHAPES[shape])
    done = run("generate", "f.c", "--target", "generic", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "PASS: f, evidence" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("shape", CPP_SHAPES)
def test_the_forms_of_cpp_arguments(shape: str, tmp_path: Path) -> None:
    (tmp_path / "f.cpp").write_text(CPP_SHAPES[shape])
    done = run("generate", "f.cpp", "--target", "generic", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "PASS: f, evidence moderate" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("shape", NAME_SHAPES)
def test_an_argument_may_be_called_as_a_port(shape: str, tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(NAME_SHAPES[shape])
    done = run("generate", "f.c", "--target", "generic", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "PASS: f, evidence moderate" in done.stdout


def test_one_input_again_and_again_is_one_value(tmp_path: Path) -> None:
    """All inputs but one are undefined in C."""
    (tmp_path / "f.c").write_text("int f(int a) { return a == 0 ? 5 : 100 / (a & 0); }\n")
    done = run("generate", "f.c", "--target", "generic", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "PASS: f, evidence weak (only 1 value equals the C's" in done.stdout
