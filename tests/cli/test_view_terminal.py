"""`rtlagent view` in the terminal, driven by keys."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot
from viewed_runs import USAGE, ask, attempt, begin, benchmark, end, finished, held, long_run

from rtlagent.cli.view_runs import RunList
from rtlagent.cli.view_screen import RunScreen, RunsScreen, Viewer
from rtlagent.cli.view_widgets import Detail
from rtlagent.types import Usage
from rtlagent.workspace import Run

Steps = Callable[[Viewer, Pilot[None]], Awaitable[None]]


def drive(runs_dir: Path, steps: Steps, opened: str | None = None, size: tuple[int, int] = (150, 40)) -> None:
    """Start the viewer on a terminal of this size and press keys."""

    async def go() -> None:
        runs = RunList(runs_dir)
        app = Viewer(runs, runs.find(opened) if opened else None)
        async with app.run_test(size=size) as pilot:
            await steps(app, pilot)

    asyncio.run(go())


async def until(pilot: Pilot[None], true: Callable[[], object]) -> None:
    """Wait until something holds."""
    for _ in range(400):
        if true():
            return
        await pilot.pause(0.05)
    raise AssertionError("it did not come about in 20 s")


def detail(app: Viewer) -> str:
    """Return the text beside the events."""
    document = app.screen.query_one(Detail).document
    return "\n".join(document.line(n)[0] for n in range(len(document)))


def seen(app: Viewer) -> str:
    """Return all that stands on the screen."""
    lines = app.screen._compositor.render_strips(app.size)
    return "\n".join(strip.text for strip in lines)


async def choose(app: Viewer, pilot: Pilot[None], words: str) -> None:
    """Choose the first row with these words; each key takes its time, so the last step only is one."""
    await until(pilot, lambda: any(words in row for row in app.screen.rows.shown))
    at = next(n for n, row in enumerate(app.screen.rows.shown) if words in row)
    app.screen.rows.go(at - 1, by_user=True)
    await pilot.press("down")


def title(app: Viewer) -> str:
    return str(app.screen.query_one("#title").render())


def test_lists_the_newest_first_opens_and_goes_back(tmp_path: Path) -> None:
    old = finished(tmp_path, "older")
    lines = [json.loads(line) for line in (old.folder / "events.jsonl").read_text().splitlines()]
    (old.folder / "events.jsonl").write_text("".join(json.dumps({**e, "time": e["time"] - 9e4}) + "\n" for e in lines))
    new = finished(tmp_path, "newer")
    (tmp_path / "notes").mkdir()

    async def steps(app: Viewer, pilot: Pilot[None]) -> None:
        assert isinstance(app.screen, RunsScreen)
        rows = app.screen.rows.shown
        assert [row.split()[0] for row in rows] == [new.id, old.id]
        for words in ("PASS", "3.0k", "$0.5000", "newer: A queue of words"):
            assert words in rows[0]
        await pilot.press("down", "enter")
        await until(pilot, lambda: isinstance(app.screen, RunScreen) and app.screen.rows.shown)
        assert old.id in title(app) and "2 attempts" in title(app)
        assert len(app.screen.rows.shown) == len(lines)
        for key in ("Move", "Open", "Filter", "Back", "Report", "Quit", "Follow the end"):
            assert key in seen(app).splitlines()[-1]
        await pilot.press("escape")
        assert isinstance(app.screen, RunsScreen)
        await pilot.press("q")
        assert app.return_code == 0

    drive(tmp_path, steps)


def test_shows_what_belongs_to_an_event(tmp_path: Path) -> None:
    finished(tmp_path)

    async def steps(app: Viewer, pilot: Pilot[None]) -> None:
        await until(pilot, lambda: "A queue of words" in detail(app))
        await choose(app, pilot, "lint: FAIL")
        await until(pilot, lambda: "lint of attempt 1" in detail(app))
        for words in ("rtl/fifo.v:3:7: error: no driver [UNDRIVEN]", "hint: drive it", "verilator --lint-only"):
            assert words in detail(app)
        await choose(app, pilot, "[2] PASS")
        await until(pilot, lambda: "changes since" in detail(app))
        for words in ("-  wire a;", "+  wire b;", "module fifo;", "a note", "luts 12"):
            assert words in detail(app)
        await choose(app, pilot, "question to the model: repair")
        await until(pilot, lambda: "a second answer" in detail(app))
        assert "Mend it." in detail(app) and "Write it." not in detail(app)
        await pilot.press("enter")
        assert app.screen.query_one(Detail).has_focus
        await pilot.press("escape")
        assert app.screen.rows.has_focus

    drive(tmp_path, steps, "fifo")


def test_filters(tmp_path: Path) -> None:
    finished(tmp_path)

    async def steps(app: Viewer, pilot: Pilot[None]) -> None:
        await until(pilot, lambda: app.screen.rows.shown)
        every = app.screen.rows.shown
        await pilot.press("slash", *"LINT:", "space", "enter")
        await until(pilot, lambda: len(app.screen.rows.shown) == 2)
        await pilot.press("down")
        await until(pilot, lambda: "lint of attempt 2" in detail(app))
        await pilot.press("escape")
        assert app.screen.rows.shown == every
        assert "attempt 2" in detail(app), "the chosen event stays chosen"
        await pilot.press("slash", *"nothing", "enter")
        await until(pilot, lambda: not app.screen.rows.shown)
        await pilot.press("down", "enter", "escape", "escape")
        assert isinstance(app.screen, RunsScreen)

    drive(tmp_path, steps, "fifo")


def test_follows_a_run_that_goes_on(tmp_path: Path) -> None:
    run = begin(tmp_path)
    events = run.folder / "events.jsonl"

    async def steps(app: Viewer, pilot: Pilot[None]) -> None:
        screen = app.screen
        assert isinstance(screen, RunScreen)
        await until(pilot, lambda: screen.live and "running" in title(app))
        run.emit("model_call", purpose="generate")
        await until(pilot, lambda: "question to the model: generate" in screen.rows.shown[-1])
        await until(pilot, lambda: "no answer yet" in detail(app))
        half = json.dumps({"time": 1.0, "event": "decision", "next": "repair", "reason": "x"})
        count = len(screen.rows.shown)
        with events.open("a") as log:
            log.write(half[:30])
            log.flush()
            await pilot.pause(1.2)
            assert len(screen.rows.shown) == count, "a torn line is waited for"
            log.write(half[30:] + "\n")
        await until(pilot, lambda: "next: repair x" in screen.rows.shown[-1])
        assert screen.rows.at_end
        await pilot.press("up")
        assert not screen.live
        ask(run, "generate", "q", "the answer has come")
        await until(pilot, lambda: len(screen.rows.shown) == count + 3)
        assert not screen.rows.at_end
        await pilot.press("l")
        assert screen.live and screen.rows.at_end
        await until(pilot, lambda: "the answer has come" in detail(app))
        end(run, "fail", "no more ideas")
        await until(pilot, lambda: "FAIL" in title(app))
        assert "ended: FAIL no more ideas" in screen.rows.shown[-1]

    with held(run.folder):
        drive(tmp_path, steps, "fifo")


@pytest.mark.slow
def test_follows_a_real_run_to_its_end(tmp_path: Path) -> None:
    example = Path(__file__).resolve().parents[2] / "examples" / "edge_detector"
    words = ("generate", str(example / "spec.md"), "--model", f"replay:{example / 'replies.jsonl'}", "--plain")
    command = [sys.executable, "-c", "from rtlagent.cli import main; main()", *words, "--runs-dir", str(tmp_path)]

    async def steps(app: Viewer, pilot: Pilot[None]) -> None:
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
            await until(pilot, lambda: app.screen.rows.shown and " running " in app.screen.rows.shown[0])
            await pilot.press("enter")
            await until(pilot, lambda: isinstance(app.screen, RunScreen))
            assert app.screen.live
            for _ in range(10):
                if process.poll() is not None:
                    break
                await pilot.pause(3)
            output = process.communicate(timeout=120)[0].decode()
        assert process.returncode == 0, output
        await until(pilot, lambda: "PASS" in title(app))
        assert app.screen.rows.at_end and "ended: PASS" in app.screen.rows.shown[-1]
        await choose(app, pilot, "synthesize: PASS")
        await until(pilot, lambda: "Yosys" in detail(app) and "measured: luts" in detail(app))
        await choose(app, pilot, "golden model: PASS")
        await until(pilot, lambda: "scenarios" in detail(app))

    drive(tmp_path, steps)


def test_the_list_follows_too(tmp_path: Path) -> None:
    async def steps(app: Viewer, pilot: Pilot[None]) -> None:
        assert "there is no run yet" in title(app)
        await pilot.press("enter", "o", "escape")
        run = begin(tmp_path)
        with held(run.folder):
            await until(pilot, lambda: app.screen.rows.shown and " running " in app.screen.rows.shown[0])
        await until(pilot, lambda: " interrupted " in app.screen.rows.shown[0])
        end(run, "limit")
        await until(pilot, lambda: " limit " in app.screen.rows.shown[0])

    drive(tmp_path, steps)


HOSTILE = "[red]x[/red] [@click=app.quit]q[/] [link=file:///etc]l[/] \x1b[2J\x1b]0;t\x07 \u202egnp \x00 \ud800 {a}"
LITERAL = r"[red]x[/red] [@click=app.quit]q[/] [link=file:///etc]l[/] \x1b[2J\x1b]0;t\x07 \u202egnp \x00 \ud800 {a}"


def test_hostile_text_is_shown_as_it_is(tmp_path: Path) -> None:
    run = begin(tmp_path, text=HOSTILE)
    ask(run, "generate", HOSTILE.replace("\ud800", ""), HOSTILE.replace("\ud800", ""))
    attempt(run, 1, f"// {HOSTILE}", said=HOSTILE, log=HOSTILE.replace("\ud800", ""))
    run.emit("no_oracle", reason=HOSTILE)
    run.emit("[bold]name[/] \x1b[2J", what=HOSTILE)
    with (run.folder / "events.jsonl").open("a") as log:
        log.write("[red]not an event\x1b[2J\n[]\n" + "[" * 100_000 + "\n")
        log.write('{"time": 1e999, "event": "iteration", "attempt": 5, "verdict": []}\n')
        log.write('{"time": 5, "event": "started", "model": [1], "spec": {"a": 1}}\n')
        log.write('{"time": 5, "event": "step", "step": ["x"], "wall_s": "y", "log_path": "../../../etc/passwd"}\n')
        log.write('{"time": 5, "event": "step", "step": "x", "wall_s": 1, "status": "[", "log_path": "../fifo"}\n')

    async def steps(app: Viewer, pilot: Pilot[None]) -> None:
        await until(pilot, lambda: len(app.screen.rows.shown) == 15)
        assert any(f"no golden model: {LITERAL}" in row for row in app.screen.rows.shown)
        assert any(r"[bold]name[/] \x1b[2J" in row for row in app.screen.rows.shown)
        assert app.screen.rows.shown[9].endswith("this line of events.jsonl cannot be read")
        for n, row in enumerate(app.screen.rows.shown):
            app.screen.rows.go(n, by_user=True)
            await until(pilot, lambda row=row: detail(app).replace("\n", "").startswith(row.strip()[:100]))
            await pilot.pause()
            for text in (detail(app), seen(app), row):
                assert not set(text) & {"\x1b", "\x07", "\x00", "\u202e", "\ud800"}
        await choose(app, pilot, "lint: FAIL")
        await until(pilot, lambda: LITERAL.replace(r" \ud800", "")[:40] in detail(app))
        assert LITERAL[:60] in detail(app)
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, RunsScreen))
        assert LITERAL[:40] in seen(app)

    drive(tmp_path, steps, "fifo", size=(300, 40))


def test_a_log_of_50_megabytes(tmp_path: Path) -> None:
    run = begin(tmp_path)
    attempt(run, 1, "module fifo; endmodule")
    (log,) = run.folder.glob("logs/*/lint/lint.log")
    line = b"%Warning-UNUSED: rtl/fifo.v:12:3: Signal is not used: 'something'\n"
    with log.open("wb") as file:
        file.write(line * (50_000_000 // len(line)))
        file.write(b"x" * 3_000_000 + b"\nthe last line")
    count = 50_000_000 // len(line) + 2

    async def steps(app: Viewer, pilot: Pilot[None]) -> None:
        await choose(app, pilot, "lint: FAIL")
        pane = app.screen.query_one(Detail)
        await until(pilot, lambda: len(pane.document) > count)
        await pilot.press("enter", "end")
        await until(pilot, lambda: "the last line" in seen(app))
        assert pane.document.line(len(pane.document) - 2)[0].startswith("x" * 1000)
        with log.open("ab") as file:
            file.write(b", and more\nadded later\n")
        await until(pilot, lambda: pane.document.line(len(pane.document) - 1)[0] == "added later")
        assert pane.document.line(len(pane.document) - 2)[0] == "the last line, and more"

    drive(tmp_path, steps, "fifo")


def test_a_thousand_attempts(tmp_path: Path) -> None:
    run = long_run(tmp_path, 1000)

    async def steps(app: Viewer, pilot: Pilot[None]) -> None:
        await until(pilot, lambda: len(app.screen.rows.shown) == 6001)
        await pilot.press("end")
        await until(pilot, lambda: "[1000] failed" in seen(app))
        end(run)
        await until(pilot, lambda: len(app.screen.rows.shown) == 6002)
        assert "1000 attempts" in title(app)

    drive(tmp_path, steps, "-long")


def test_a_resumed_run_finds_its_answers(tmp_path: Path) -> None:
    run = begin(tmp_path)
    ask(run, "repair", "q1", "first")
    ask(run, "repair", "q2", "second")
    # Killed after the third answer was written down and before it was told.
    ask(run, "repair", "q3", "third")
    lines = (run.folder / "events.jsonl").read_text().splitlines(keepends=True)
    (run.folder / "events.jsonl").write_text("".join(lines[:-1]))
    run.emit("started", run=run.id, spec="fifo", model="test:model", budget={})
    run.emit("model_call", purpose="repair")
    run.emit("model", kind="reused", message="the journal already holds the answer", purpose="repair")
    run.emit("model_reply", purpose="repair", usage=USAGE, model="m-1")
    ask(run, "repair", "q4", "other", Usage(1, 0, 2, None))

    async def steps(app: Viewer, pilot: Pilot[None]) -> None:
        await until(pilot, lambda: app.screen.rows.shown)
        replies = [n for n, row in enumerate(app.screen.rows.shown) if "answer of the model" in row]
        for at, words in zip(replies, ("first", "second", "third", "other"), strict=True):
            app.screen.rows.go(at, by_user=True)
            await until(pilot, lambda words=words: f"\n{words}\n" in detail(app))
        assert "cost unknown" in title(app)

    drive(tmp_path, steps, "fifo")


def test_a_benchmark_run_and_the_run_behind_a_task(tmp_path: Path) -> None:
    path = benchmark(tmp_path)

    async def steps(app: Viewer, pilot: Pilot[None]) -> None:
        (row,) = app.screen.rows.shown
        for words in ("bench/suite-model", "interrupted", "1/2", "suite, agent: 0 of 2 tasks pass"):
            assert words in row
        with held(path):
            await until(pilot, lambda: " running " in app.screen.rows.shown[0])
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, RunScreen) and len(app.screen.rows.shown) == 2)
        assert "adder" in app.screen.rows.shown[0] and r"[red]wrong[/red]\x1b[31m" in app.screen.rows.shown[0]
        await until(pilot, lambda: "our own gates: PASS strong" in detail(app))
        await pilot.press("enter")
        await until(pilot, lambda: len(app.screen.rows.shown) > 2)
        assert "adder: A queue of words" in title(app)
        await pilot.press("escape", "escape")
        assert isinstance(app.screen, RunsScreen)

    drive(tmp_path, steps)


def test_the_report_of_a_run_that_goes_on_is_not_written_into_it(tmp_path: Path) -> None:
    run = begin(tmp_path)
    attempt(run, 1, "module fifo; endmodule")

    async def steps(app: Viewer, pilot: Pilot[None]) -> None:
        before = sorted(run.folder.rglob("*"))
        opened: list[str] = []
        app.opens_page = lambda place: not opened.append(place)
        await pilot.press("o")
        await until(pilot, lambda: opened)
        assert "no driver" in Path(opened[0].removeprefix("file://")).read_text()
        assert sorted(run.folder.rglob("*")) == before
        app.opens_page = lambda place: False
        await pilot.press("o")
        await until(pilot, lambda: any("no browser here" in n.message for n in app._notifications))

    with held(run.folder):
        drive(tmp_path, steps, "fifo")


def test_a_folder_that_vanishes(tmp_path: Path) -> None:
    run = finished(tmp_path)

    async def steps(app: Viewer, pilot: Pilot[None]) -> None:
        await until(pilot, lambda: app.screen.rows.shown)
        for path in sorted(run.folder.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        run.folder.rmdir()
        await pilot.press("down", "down", "o")
        await pilot.pause(1.0)
        await pilot.press("escape")
        await until(pilot, lambda: not app.screen.rows.shown)

    drive(tmp_path, steps, "fifo")


@pytest.mark.parametrize("size", [(20, 5), (40, 12)])
def test_small_terminals(tmp_path: Path, size: tuple[int, int]) -> None:
    finished(tmp_path)

    async def steps(app: Viewer, pilot: Pilot[None]) -> None:
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, RunScreen) and app.screen.rows.shown)
        await pilot.press(*["down"] * 3, "enter", "pagedown", "escape", "escape")
        assert isinstance(app.screen, RunsScreen)

    drive(tmp_path, steps, size=size)


def test_a_run_that_is_taken_up_again_is_not_disturbed(tmp_path: Path) -> None:
    """Looking takes no lock that lasts: whoever wants the run gets it."""
    run = begin(tmp_path)
    runs = RunList(tmp_path)
    assert [s.state for s in runs.poll()] == ["interrupted"]
    with Run(run.folder).locked():
        assert [s.state for s in runs.poll()] == ["running"]
    with Run(run.folder).locked():
        pass
