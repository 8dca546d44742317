"""Show a run while it goes on: a live table in a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TextIO

from rtlagent.printable import printable
from rtlagent.types import Metrics, Requirements, Unmet, Usage, Verdict

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.live import Live

GATES = ("lint", "elaborate", "simulate", "cosim", "tests", "equiv", "synthesize", "place_and_route", "cross_check")
_SHORT = {
    "elaborate": "elab",
    "simulate": "sim",
    "synthesize": "synth",
    "place_and_route": "pnr",
    "cross_check": "cross",
}
_MARK = {"PASS": "ok", "FAIL": "FAIL", "ERROR": "ERROR", "TIMEOUT": "TIMEOUT", "SKIPPED": "-", "UNPROVEN": "UNPROVEN"}


def tokens_text(count: int) -> str:
    """Shorten a token count: 950, 12.3k, 1.2M."""
    for limit, unit in ((1_000_000, "M"), (1_000, "k")):
        if count >= limit:
            return f"{count / limit:.1f}{unit}"
    return str(count)


def cost_text(cost_usd: float | None) -> str:
    """Spell a cost; an unknown price is said, not shown as zero."""
    return "unknown" if cost_usd is None else f"${cost_usd:.4f}"


def usage_text(usage: Usage) -> str:
    """Spell tokens and cost in one line."""
    cached = f" ({tokens_text(usage.tokens_cached)} cached)" if usage.tokens_cached else ""
    about = "about " if usage.estimated else ""
    return (
        f"{about}{tokens_text(usage.tokens_in)} tokens in{cached}, {tokens_text(usage.tokens_out)} out, "
        f"cost {cost_text(usage.cost_usd)}"
    )


def assumption_text(question: str, assumption: str) -> str:
    """Join what was open and how it was taken."""
    return f"{question.rstrip()} {assumption}".strip()


class Progress:
    """Turns a run's events into rows; the views below print them."""

    def __init__(self, max_iterations: int | None = None) -> None:
        self.rows: list[dict[str, str]] = []
        self.usage = Usage()
        self.activity = "starting"
        self.started = time.monotonic()
        self.max_iterations = max_iterations

    def take(self, event: Mapping[str, Any]) -> str | None:
        """Take an event; return the plain line it is worth, or None."""
        take = getattr(self, f"_on_{event['event']}", None)
        line = take(event) if take else None
        return None if line is None else printable(line)

    def _on_started(self, event: Mapping[str, Any]) -> str:
        if event["model"] is None:
            return f"run {event['run']}, C function {event['top']}"
        return f"run {event['run']}, model {event['model']}"

    def _on_compiled(self, event: Mapping[str, Any]) -> str:
        self.activity = "judging the module"
        free = f"{100 * event['margin']:.0f} % of the period left free"
        return f"compiled: {_many(event['loops'], 'loop')}, {_many(event['warnings'], 'warning')}, {free}"

    def _on_gate(self, event: Mapping[str, Any]) -> str:
        tests = f", {event['tests_passed']} of {event['tests']} tests" if event["tests"] else ""
        return f"{event['step']}: {event['status']}{tests} in {event['wall_s']:.1f} s"

    def _on_model_call(self, event: Mapping[str, Any]) -> None:
        self.activity = f"asking the model: {event['purpose']}"

    def _on_model_reply(self, event: Mapping[str, Any]) -> None:
        self.usage += Usage(**event["usage"])
        self.activity = f"read the model's answer: {event['purpose']}"

    def _on_model(self, event: Mapping[str, Any]) -> str | None:
        return None if event["kind"] == "reused" else f"model: {event['message']} ({event['purpose']})"

    def _on_unusable_reply(self, event: Mapping[str, Any]) -> str:
        return f"unusable answer ({event['purpose']}): {event['problem'].splitlines()[0]}"

    def _on_understood(self, event: Mapping[str, Any]) -> str:
        lines = [f"understood: {event['request']} module {event['top']}"]
        lines += [f"  assumed: {assumption_text(a['question'], a['assumption'])}" for a in event["assumptions"]]
        return "\n".join(lines)

    def _on_oracle(self, event: Mapping[str, Any]) -> str:
        return f"golden model: {event['status']} {event['summary']}".rstrip()

    def _on_no_oracle(self, event: Mapping[str, Any]) -> str:
        return f"no golden model: {event['reason']}; the user's tests judge alone"

    def _on_judging(self, event: Mapping[str, Any]) -> None:
        self.activity = f"judging candidate {event['iteration']}"

    def _on_step(self, event: Mapping[str, Any]) -> None:
        self.activity = f"{event['step']}: {event['status']}"

    def _on_iteration(self, event: Mapping[str, Any]) -> str:
        verdict, attempt = event["verdict"], event["attempt"]
        metrics = Metrics(**verdict["metrics"])
        row = {
            "#": str(attempt["iteration"]),
            "gates": " ".join(f"{_SHORT.get(g, g)}:{_MARK[s]}" for g, s in verdict["gates"].items()),
            "tests": f"{verdict['tests_passed']}/{verdict['tests']}" if verdict["tests"] else "-",
            "LUT/FF": f"{figure(metrics.luts)}/{figure(metrics.ffs)}",
            "Fmax MHz": figure(metrics.fmax_mhz),
            "tokens": tokens_text(self.usage.tokens_in + self.usage.tokens_out),
            "cost": cost_text(self.usage.cost_usd),
            "result": "PASS" if verdict["passed"] else f"failed at {attempt['step']}",
        }
        self.rows.append(row)
        return (
            f"[{row['#']}] {row['result']} | {row['gates']} | tests {row['tests']} | LUT/FF {row['LUT/FF']} | "
            f"Fmax {row['Fmax MHz']} MHz | tokens {row['tokens']} | cost {row['cost']}"
        )

    def _on_decision(self, event: Mapping[str, Any]) -> str | None:
        return (
            None
            if event["next"] == "finish" and not event["reason"]
            else f"next: {event['next']} {event['reason']}".rstrip()
        )

    def _on_dispute(self, event: Mapping[str, Any]) -> str:
        return f"the model disputes the golden model: {event['reason'][:200]}"

    def _on_ruling(self, event: Mapping[str, Any]) -> str:
        return f"ruling: {event['wrong']} is wrong. {event['reason']}"

    def _on_report_unwritten(self, event: Mapping[str, Any]) -> str:
        return f"warning: report.html was not written: {event['reason']}"

    def _on_prompt_shortened(self, event: Mapping[str, Any]) -> str:
        return "the prompt was too long; the conversation was started again from the specification"


def _many(count: int, word: str) -> str:
    return f"{count} {word}{'s' * (count != 1)}"


def figure(value: float | None) -> str:
    """Print a figure, or a dash when it was not measured."""
    return "-" if value is None else f"{value:.1f}" if isinstance(value, float) else str(value)


class PlainView:
    """One line an event, for logs and pipes."""

    def __init__(self, stream: TextIO, max_iterations: int | None = None) -> None:
        self.progress = Progress(max_iterations)
        self._stream = stream

    def __enter__(self) -> PlainView:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.flush()

    def __call__(self, event: Mapping[str, Any]) -> None:
        """Print the event if it is worth a line."""
        line = self.progress.take(event)
        if line is not None:
            print(line, file=self._stream, flush=True)


class LiveView:
    """A table with a row an iteration, redrawn in place."""

    def __init__(self, console: Console, max_iterations: int | None = None) -> None:
        self.progress = Progress(max_iterations)
        self._console = console
        self._live: Live | None = None

    def __enter__(self) -> LiveView:
        from rich.live import Live

        # refresh in place only; what scrolls past are the notes printed above the table
        self._live = Live(self, console=self._console, refresh_per_second=4, transient=False)
        self._live.__enter__()
        return self

    def __exit__(self, *args: Any) -> None:
        if self._live is not None:
            self.progress.activity = ""
            self._live.__exit__(*args)

    def __call__(self, event: Mapping[str, Any]) -> None:
        """Take the event; print its line above the table unless it is a row of the table."""
        from rich.text import Text

        line = self.progress.take(event)
        if line is not None and event["event"] != "iteration":
            self._console.print(Text(line))  # Text: a model's words are never markup

    def __rich__(self) -> RenderableType:
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False, header_style="bold")
        names = ("#", "gates", "tests", "LUT/FF", "Fmax MHz", "tokens", "cost", "result")
        for name in names:
            table.add_column(name, overflow="fold")
        for row in self.progress.rows:
            style = "green" if row["result"] == "PASS" else "red"
            table.add_row(*(Text(row[n], style=style if n == "result" else "") for n in names))
        seconds = time.monotonic() - self.progress.started
        spent = f", {usage_text(self.progress.usage)}" if self.progress.usage != Usage() else ""
        status = f"{self.progress.activity}  ({seconds:.0f} s{spent})"
        parts: list[RenderableType] = [table] if self.progress.rows else []
        return Group(*parts, Text(status if self.progress.activity else "", style="dim"))


def requirement_rows(needs: Requirements, verdict: Verdict) -> list[tuple[str, str, str, str]]:
    """Return a row a requirement: name, limit, measured, `met` or `NOT MET`."""
    unmet = {u.name: u for u in verdict.unmet}
    metrics = verdict.metrics
    measured: list[tuple[str, float | None, float | None, str]] = [
        ("max_luts", needs.max_luts, metrics.luts, ""),
        ("max_ffs", needs.max_ffs, metrics.ffs, ""),
        ("max_brams", needs.max_brams, metrics.brams, ""),
        ("max_dsps", needs.max_dsps, metrics.dsps, ""),
        ("max_latency_cycles", needs.max_latency_cycles, metrics.latency_cycles, " cycles"),
        ("max_ii", needs.max_ii, metrics.ii, " cycles"),
        ("min_fmax_mhz", needs.min_fmax_mhz, metrics.fmax_mhz, " MHz"),
    ]
    rows = []
    for name, limit, got, unit in measured:
        if limit is None:
            continue
        missed: Unmet | None = unmet.get(name)
        state = "NOT MET" if missed else ("met" if got is not None else "not measured")
        rows.append((name, f"{limit:g}{unit}", "not measured" if got is None else f"{got:g}{unit}", state))
    return rows
