"""Say a run's figures, or a comparison, in plain text."""

from __future__ import annotations

from collections.abc import Sequence

from rtlagent.bench.compare import Comparison, Pair
from rtlagent.bench.metrics import Figures, Interval, Rate, Spending
from rtlagent.bench.progress import duration_text
from rtlagent.bench.record import Record
from rtlagent.bench.tasks import Plan
from rtlagent.console import cost_text, tokens_text

_MOST_NAMES = 40


def figure_rows(figures: Figures) -> list[tuple[str, str, str]]:
    """Return what, how much, and of what; the same for every kind of report."""
    rows = [(f"pass@{p.k}", interval_text(p.estimate), _over(p.estimate, p.problems)) for p in figures.pass_at]
    if figures.pass_at_1_if_errors_failed is not None and figures.counted != figures.finished:
        left_out = figures.finished - figures.counted
        cautious = percent(figures.pass_at_1_if_errors_failed)
        rows.append(("pass@1, errors failed", cautious, f"if the {left_out} left out counted as failed"))
    rows += [
        ("solved", f"{figures.solved} of {figures.problems}", "problems with at least one passing answer"),
        ("syntax", rate_text(figures.syntax), "answers that compile"),
        ("simulation", rate_text(figures.simulation), "answers whose hidden tests ran and passed"),
        ("synthesis", rate_text(figures.synthesis), "answers that synthesize"),
        ("false pass", rate_text(figures.false_pass), "our gates pass it, the hidden tests do not"),
        ("false fail", rate_text(figures.false_fail), "our gates refuse it, the hidden tests pass"),
    ]
    return rows


def spending_rows(figures: Figures) -> list[tuple[str, str, str, str]]:
    """Return what was spent: in all, a problem, a solved problem."""
    spent = figures.spending
    tokens = spent.usage.tokens_in + spent.usage.tokens_out
    about = "about " if spent.usage.estimated else ""
    return [
        ("tokens", about + tokens_text(tokens), _tokens(spent.tokens_per_problem), _tokens(spent.tokens_per_solved)),
        ("cost", cost_text(spent.usage.cost_usd), _cost(spent, solved=False), _cost(spent, solved=True)),
        (
            "time",
            duration_text(spent.answering_s + spent.scoring_s),
            _seconds(spent.wall_per_problem_s),
            _seconds(spent.wall_per_solved_s),
        ),
    ]


def report_lines(plan: Plan, record: Record, figures: Figures) -> list[str]:
    """Return the report of a run."""
    lines = [
        f"{plan.suite}, {plan.model or 'no model'}, mode {plan.mode}",
        f"{figures.finished} of {figures.tasks} tasks finished, {figures.passed} of {figures.counted} countable passed",
        "",
        *aligned(figure_rows(figures)),
        "",
        *aligned([("spent", "in all", "a problem", "a solved one"), *spending_rows(figures)]),
    ]
    if figures.failures:
        lines += ["", *aligned([("failure", "tasks"), *((name, str(count)) for name, count in figures.failures)])]
    if len(figures.categories) > 1:
        rows = [(c.name or "-", f"{c.solved} of {c.problems}", percent(c.pass_at_1)) for c in figures.categories]
        lines += ["", *aligned([("category", "solved", "pass@1"), *rows])]
    return [*lines, "", *record_lines(plan, record, figures)]


def corrected_lines(raw: Figures, corrected: Figures, left_out: Sequence[str]) -> list[str]:
    """Return raw and corrected figures side by side; `left_out` are the problems that the errata call defective."""
    rows = [(name, value, other[1]) for (name, value, _), other in zip(
        figure_rows(raw), _padded(figure_rows(corrected), figure_rows(raw)), strict=True
    )]  # fmt: skip
    return [
        *aligned([("", "raw", "corrected"), *rows]),
        f"corrected: {_names(left_out) or 'nothing'} left out (errata)",
    ]


def _padded(rows: list[tuple[str, str, str]], model: list[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """Return rows in the order of `model`; what one side does not have is `-`."""
    known = {row[0]: row for row in rows}
    return [known.get(row[0], (row[0], "-", "")) for row in model]


def record_lines(plan: Plan, record: Record, figures: Figures) -> list[str]:
    """Return what the figures rest on."""
    blind = "blind (hidden files out of reach until the answer was final)" if plan.blind else "NOT blind"
    temperature = "the provider's default" if plan.temperature is None else f"{plan.temperature:g}"
    lines = [
        blind,
        f"suite data {plan.suite_sha256[:16]}, prompts {plan.prompts_sha256[:16]}, seed {plan.seed}, "
        f"temperature {temperature}, simulator {plan.simulator}",
        f"rtlagent {record.rtlagent}, Python {record.python}, {record.system}; {', '.join(record.tools)}",
    ]
    if figures.models:
        lines.append(f"the endpoint called itself {', '.join(figures.models)}")
    if figures.tool_versions:
        lines.append(f"scored by {', '.join(figures.tool_versions)}")
    return lines


def comparison_lines(a: str, b: str, found: Comparison) -> list[str]:
    """Return the comparison of two runs called `a` and `b`."""
    if found.difference is None or found.p_value is None:
        return ["the two runs share no problem with a countable result"]
    low, high = 100 * found.difference.low, 100 * found.difference.high
    verdict = "this may well be chance" if found.p_value >= 0.05 else "this is hardly chance"
    lines = [
        f"A: {a}",
        f"B: {b}",
        "",
        *aligned(
            [
                ("", "A", "B"),
                ("pass@1", percent(found.pass_at_1_a), percent(found.pass_at_1_b)),
                ("problems won", str(len(found.won_by_a)), str(len(found.won_by_b))),
            ]
        ),
        "",
        f"{len(found.pairs)} problems in both, {found.ties} of them equal",
        f"B - A: {100 * found.difference.value:+.1f} points (95 % interval {low:+.1f} to {high:+.1f})",
        f"exact McNemar p = {found.p_value:.3g}: {verdict}",
    ]
    for name, won in (("A", found.won_by_a), ("B", found.won_by_b)):
        lines += _won(name, won)
    for name, only in (("A", found.only_a), ("B", found.only_b)):
        if only:
            lines.append(f"only in {name}: {_names(only)}")
    return lines


def _won(name: str, pairs: Sequence[Pair]) -> list[str]:
    if not pairs:
        return []
    several = any(p.of_a > 1 or p.of_b > 1 for p in pairs)
    said = [f"{p.problem} ({p.passed_a}/{p.of_a} : {p.passed_b}/{p.of_b})" if several else p.problem for p in pairs]
    return ["", f"won by {name}: {_names(said)}"]


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows as lines with columns of one width."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def percent(share: float | None) -> str:
    """Spell a share."""
    return "not measured" if share is None else f"{100 * share:.1f} %"


def interval_text(interval: Interval) -> str:
    """Spell a share with its interval, if there is one."""
    if interval.low == interval.high:
        return percent(interval.value)
    return f"{percent(interval.value)} ({100 * interval.low:.1f} to {100 * interval.high:.1f})"


def _over(interval: Interval, problems: int) -> str:
    """Say what an interval is over, or why there is none: resampling what is all alike says nothing."""
    if problems == 1:
        return "of 1 problem: too few for an interval"
    if interval.low == interval.high:
        return f"of {problems} problems, all alike: no interval"
    return f"95 % interval over {problems} problems"


def rate_text(rate: Rate) -> str:
    """Spell how many of how many."""
    return "not measured" if rate.value is None else f"{percent(rate.value)} ({rate.count} of {rate.of})"


def _tokens(value: float | None) -> str:
    return "-" if value is None else tokens_text(round(value))


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f} s"


def _cost(spent: Spending, *, solved: bool) -> str:
    value = spent.cost_per_solved_usd if solved else spent.cost_per_problem_usd
    return cost_text(None) if spent.usage.cost_usd is None else "-" if value is None else cost_text(value)
