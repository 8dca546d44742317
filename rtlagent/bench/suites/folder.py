"""Plain folders of one's own: `NAME/spec.md`, optional hidden `NAME/tests/`, optional `NAME/golden/`.

`tests/` may hold cocotb modules `test_*.py` and SystemVerilog testbenches (every Verilog file with a module that
nobody instantiates), each of which has to pass, and files that they read. Without tests nothing can be scored.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rtlagent.bench.answer_rules import Hidden, Refusal, admit
from rtlagent.bench.blame import blamed
from rtlagent.bench.c_score import score_against_c
from rtlagent.bench.hidden_test import HiddenTest, preprocessed, run_hidden_test
from rtlagent.bench.input_drivers import driven_input
from rtlagent.bench.problem import BENCHMARK_DEFECT, DESIGN, TESTBENCH, TOOL, Problem, Score
from rtlagent.bench.suites.testbench_suite import files_sha256, read_source, require_folder, unknown_problem
from rtlagent.bench.verilog_tokens import declared, is_verilog, normal, tokens
from rtlagent.config import ToolConfig
from rtlagent.errors import UsageError
from rtlagent.spec import load_spec
from rtlagent.tools.simulate import simulate
from rtlagent.tools.testbench_top import top_modules
from rtlagent.types import Severity, SourceFile, Spec, Status, TestFile, TestKind, digest

_SPEC, _TESTS, _GOLDEN = "spec.md", "tests", "golden"
_COCOTB = re.compile(r"test_?\w*\.py\Z|\w+_test\.py\Z")
_TESTS_KEY = re.compile(r"^tests[ \t]*:.*\n(?:[ \t-].*\n)*", re.M)
_IGNORED = ("__pycache__", ".git", "sim_build")
_WORST_FIRST = (Status.ERROR, Status.TIMEOUT, Status.FAIL)
_MAX_MESSAGE = 2000


class Folder:
    """A suite is a folder of problems, or one problem's folder."""

    name = "folder"

    def problems(self, path: Path) -> tuple[Problem, ...]:
        """Return the problems by the names of their folders, their paths where two have the same name."""
        return tuple(self._problem(path, name, folder) for name, folder in self._folders(path).items())

    def golden(self, path: Path, name: str) -> tuple[SourceFile, ...] | None:
        """Return all files of `golden/`."""
        folder = self._find(path, name) / _GOLDEN
        return tuple(_files(folder)) or None if folder.is_dir() else None

    def score(
        self,
        path: Path,
        name: str,
        files: Sequence[SourceFile],
        *,
        config: ToolConfig,
        simulator: str = "auto",
        keep_dir: Path | None = None,
    ) -> Score:
        """Run all tests of `tests/`; a failure that the golden design shares is the benchmark's."""
        folder = self._find(path, name)
        spec = load_spec(folder / _SPEC)
        if spec.c_source is not None:
            return score_against_c(spec, files, config=config, simulator=simulator, keep_dir=keep_dir)
        tests = _files(folder / _TESTS) if (folder / _TESTS).is_dir() else []

        def judge(design: Sequence[SourceFile]) -> Score:
            return _all_tests(spec, tests, design, config, simulator, None)

        score = _all_tests(spec, tests, files, config, simulator, keep_dir)
        key = digest([simulator, spec.top, [(t.path, t.sha256) for t in tests]])
        return blamed(score, files, self.golden(path, name), key=key, judge=judge, config=config)

    def tests(self, path: Path, name: str) -> tuple[SourceFile, ...]:
        """Return all files of `tests/`."""
        folder = self._find(path, name) / _TESTS
        return tuple(_files(folder)) if folder.is_dir() else ()

    def data_sha256(self, path: Path) -> str:
        """Return a digest of all files of the problems."""
        root = require_folder(self.name, path)
        return files_sha256(root, {f for d in self._folders(path).values() for f in _paths(d)})

    def completed(self, path: Path, name: str, text: str) -> tuple[SourceFile, ...]:
        """Take the text as one SystemVerilog file."""
        return (SourceFile(f"{name}.sv", text),)

    def _problem(self, path: Path, name: str, folder: Path) -> Problem:
        text = read_source(folder / _SPEC).text
        spec = load_spec(folder / _SPEC)
        category = folder.parent.relative_to(path).as_posix() if folder != path else ""
        return Problem(
            self.name, name, _TESTS_KEY.sub("", text, count=1) if text.startswith("---") else text,
            top=spec.top, language="c" if spec.c_source else spec.language,
            category="" if category == "." else category, context=spec.context_files, c_source=spec.c_source,
        )  # fmt: skip

    def _find(self, path: Path, name: str) -> Path:
        folders = self._folders(path)
        if name not in folders:
            raise unknown_problem(self.name, path, name, folders)
        return folders[name]

    def _folders(self, path: Path) -> dict[str, Path]:
        root = require_folder(self.name, path)
        if (root / _SPEC).is_file():
            return {root.resolve().name: root}
        places = sorted(f.parent for f in root.rglob(_SPEC) if not {_TESTS, _GOLDEN} & set(f.relative_to(root).parts))
        if not places:
            raise UsageError(f"{path} holds no folder with a {_SPEC}", hint="lay it out as NAME/spec.md, NAME/tests/")
        count = Counter(p.name for p in places)
        return {p.name if count[p.name] == 1 else ".".join(p.relative_to(root).parts): p for p in places}


def _paths(folder: Path) -> list[Path]:
    return [
        f
        for f in sorted(folder.rglob("*"))
        if f.is_file() and not f.is_symlink() and not any(p in _IGNORED for p in f.parts) and f.suffix != ".pyc"
    ]


def _files(folder: Path) -> list[SourceFile]:
    return [read_source(f, f.relative_to(folder).as_posix()) for f in _paths(folder)]


def _all_tests(
    spec: Spec,
    tests: Sequence[SourceFile],
    answer: Sequence[SourceFile],
    config: ToolConfig,
    simulator: str,
    keep_dir: Path | None,
) -> Score:
    """Run cocotb modules and testbenches; the worst result stands."""
    start = time.monotonic()
    cocotb = [t for t in tests if "/" not in t.path and _COCOTB.match(t.path)]
    rtl = [t for t in tests if is_verilog(t)]
    benches = [b for t in rtl if t.path.endswith((".v", ".sv")) and (b := _bench_top(t, rtl)) is not None]
    if not cocotb and not benches:
        message = "there is no test: put test_*.py or testbenches into tests/"
        return Score(Status.FAIL, BENCHMARK_DEFECT, message=message)
    scores = [_cocotb_score(spec, cocotb, tests, answer, config, simulator, keep_dir)] if cocotb else []
    for bench, top in benches:
        others = [t for t in rtl if t != bench and not any(t == b for b, _ in benches)]
        data = tuple(t for t in tests if not is_verilog(t) and not t.path.endswith(".py"))
        hidden = HiddenTest(top, (bench, *others), data, inout=_has_inout(spec))
        scores.append(run_hidden_test(hidden, answer, config=config, simulator=simulator, keep_dir=keep_dir))
        if scores[-1].status is not Status.PASS:
            break
    worst = next((s for w in _WORST_FIRST for s in scores if s.status is w), scores[0])
    versions = tuple(dict.fromkeys(v for s in scores for v in s.tool_versions))
    return replace(worst, wall_s=time.monotonic() - start, tool_versions=versions)


def _bench_top(test: SourceFile, rtl: Sequence[SourceFile]) -> tuple[SourceFile, str] | None:
    """Return the testbench and its top, if it has a module that no file of the tests instantiates."""
    own = frozenset(declared(tokens(normal(test.text))))
    tops = [m for m in top_modules([test], [t for t in rtl if t != test]) if m in own]
    return (test, tops[-1]) if tops else None


def _has_inout(spec: Spec) -> bool:
    return any(p.direction == "inout" for p in spec.ports) or (not spec.ports and "inout" in spec.text)


def _cocotb_score(
    spec: Spec,
    tests: Sequence[SourceFile],
    files: Sequence[SourceFile],
    answer: Sequence[SourceFile],
    config: ToolConfig,
    simulator: str,
    keep_dir: Path | None,
) -> Score:
    design = preprocessed(answer, config)
    if isinstance(design, Refusal):
        return Score(Status.FAIL, DESIGN, False, None, message=design.message)
    hidden = Hidden.of((f for f in files if is_verilog(f)), inout=_has_inout(spec))
    admitted = admit(design, hidden, "ended")
    if isinstance(admitted, Refusal):
        return Score(Status.FAIL, DESIGN, None, False, message=admitted.message)
    rtl = [f for f in design if is_verilog(f)]
    tops = top_modules(rtl)
    top = spec.top or (tops[0] if len(tops) == 1 else None)
    if top is None:
        return Score(Status.FAIL, DESIGN, None, None, message=f"which module is the top? {', '.join(tops) or 'none'}")
    driven = driven_input(rtl, top, config)
    if driven:
        return Score(Status.FAIL, DESIGN, None, False, message=driven)
    support = tuple(f for f in files if f not in tests and f.path.endswith((".py", ".json", ".hex", ".mem", ".txt")))
    modules = [TestFile(t, TestKind.COCOTB, support=support) for t in tests]
    try:
        step = simulate(rtl, modules, top=top, simulator=simulator, wave="never", keep_dir=keep_dir, config=config,
                        data_files=[f for f in design if not is_verilog(f)])  # fmt: skip
    except UsageError as error:
        return Score(Status.FAIL, DESIGN, None, None, message=error.message)
    errors = [str(d) for d in step.diagnostics if d.severity is Severity.ERROR]
    unproven = step.status is Status.UNPROVEN
    return Score(
        status=Status.FAIL if unproven else step.status,
        failure_class={Status.PASS: "", Status.ERROR: TOOL, Status.UNPROVEN: TESTBENCH}.get(step.status, DESIGN),
        syntax=True if step.tests else False if errors else None,
        simulation=step.passed if step.tests else None,
        message="" if step.passed else "\n".join(errors or [step.detail])[:_MAX_MESSAGE],
        tool_versions=(step.tool_version,) if step.tool_version else (),
    )
