"""Start a run, resume one, and write down how it ended."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from rtlagent.agent.graph import open_graph
from rtlagent.agent.html import leave_report
from rtlagent.agent.nodes import Nodes
from rtlagent.agent.oracle import load_oracle
from rtlagent.agent.prompts import Prompts
from rtlagent.agent.report import RunReport, evidence_of
from rtlagent.agent.session import AskUser, Session, Settings
from rtlagent.config import BudgetConfig, Config
from rtlagent.errors import LimitError, ModelError, RtlagentError, RunError, ToolError
from rtlagent.models import Budget, ModelEvent, for_run, resolve
from rtlagent.tools.staging import require_size
from rtlagent.types import Candidate, RunRecord, SourceFile, Spec, Usage, Verdict, digest
from rtlagent.workspace import Listener, Run

DEFAULT_SEED = 1


def start_run(spec: Spec, config: Config) -> Run:
    """Make the run folder and write down what is asked, before anything is spent.

    Raises:
        UsageError: the existing design is larger than the tools would take.
        RunError: the folder cannot be made.
    """
    require_size(spec.context_files, config.tools)
    run = Run.create(config.runs_dir, spec.name)
    settings = Settings(
        candidates=config.candidates,
        max_iterations=config.budget.max_iterations,
        random_cycles=config.random_cycles,
        mutants=config.mutants,
        seed=DEFAULT_SEED if config.seed is None else config.seed,
        simulator=config.simulator,
    )
    run.write_json("settings.json", {"loop": settings, "budget": config.budget})
    # The spec goes last: a folder without it never began and is not offered for resuming.
    run.write_json("spec.json", {"spec": spec, "sha256": digest(spec)})
    return run


def stored_config(run: Run, config: Config, *, given: Collection[str]) -> Config:
    """Return `config` with the run's own limits and model wherever the user gave no new ones.

    A run that was started with a limit keeps it when it is resumed.

    Args:
        run: The run to be resumed.
        config: The settings as merged for this call.
        given: Names of the settings that this call's user gave: fields of BudgetConfig, `model`.

    Raises:
        RunError: the run's settings are missing or damaged.
    """
    budget = run.read_record("settings.json", BudgetConfig, key="budget")
    changed = {f.name: getattr(config.budget, f.name) for f in fields(BudgetConfig) if f.name in given}
    model = config.model
    started = next((e for e in run.events() if e["event"] == "started"), None)
    if model.name is None and started is not None:
        model = replace(model, name=started["model"])
    return replace(config, budget=replace(budget, **changed), model=model)


@dataclass(frozen=True)
class Continuation:
    """How to work on a run folder, new or interrupted."""

    run: Run
    config: Config
    ask_user: AskUser | None = None
    listeners: Sequence[Listener] = ()
    draws: bool = True
    """Whether report.html gets a schematic, which takes Yosys once more."""

    def go(self) -> RunReport:
        """Run the loop to its end and write report.json and report.html.

        A limit, a broken tool and a lost model end the run with a report as well; only a wrong input
        raises.

        Raises:
            UsageError: the run folder is damaged or in use, or the configuration is wrong.
            ModelConfigError: no model can be asked.
        """
        self.run.listeners.extend(self.listeners)
        with self.run.locked():
            spec = load_run_spec(self.run)
            settings = self.run.read_record("settings.json", Settings, key="loop")
            settings = replace(settings, max_iterations=self.config.budget.max_iterations)
            prompts = Prompts(_override_folder())
            budget = Budget(self.config.budget, elapsed_s=_elapsed(self.run))
            provider = resolve(self.config.model.name, self.config.model, on_event=self._model_event)
            journal = self.run.folder / "model.jsonl"
            with for_run(provider, journal=journal, budget=budget, on_event=self._model_event) as model:
                session = Session(self.run, spec, model, prompts, settings, self.config.tools, self.ask_user)
                self.run.emit(
                    "started", run=self.run.id, spec=spec.name, model=provider.name, budget=self.config.budget
                )
                report = self._drive(session, budget)
            leave_report(self.run, self.config.tools, draws=self.draws)
            return report

    def _drive(self, session: Session, budget: Budget) -> RunReport:
        nodes = Nodes(session)
        ended: tuple[str, str] | None = None
        with open_graph(nodes) as loop:
            try:
                loop.go()
            except LimitError as error:
                ended = ("limit", str(error.message))
            except ModelError as error:
                if error.exit_code != ModelError.exit_code:
                    raise  # a wrong key or name is the user's to mend
                self.run.emit("model_failed", kind=type(error).__name__)
                ended = ("model", error.message)
            except ToolError as error:
                ended = ("tool", str(error))
            except KeyboardInterrupt:
                self.run.emit("interrupted")
                raise
            state = loop.state()
        if ended is None:
            ended = (state.get("outcome") or "fail", state.get("reason", ""))
        report = self._report(session, nodes, state, ended, budget.spent)
        self.run.write_json("report.json", report)
        self.run.emit("ended", outcome=ended[0], reason=ended[1], usage=budget.spent)
        return report

    def _report(
        self, session: Session, nodes: Nodes, state: Mapping[str, Any], ended: tuple[str, str], usage: Usage
    ) -> RunReport:
        attempts = state.get("attempts") or []
        outcome, reason = ended
        verdict: Verdict | None = None
        files: tuple[SourceFile, ...] = ()
        if attempts:
            best = attempts[-1 if outcome == "pass" else state["best"]]
            best_state = {**state, "candidate": best["sha"]}
            verdict = _judge_again(nodes, best_state)
            files = self._publish(session, best_state)
        if outcome == "pass" and (verdict is None or not verdict.passed):
            raise RunError("the passing verdict cannot be confirmed from the run's store", where=str(self.run.folder))
        found = nodes.understanding(state) if state.get("understanding") else None  # type: ignore[arg-type]
        return RunReport(
            record=RunRecord(
                id=self.run.id,
                spec_sha=session.spec.sha256,
                config_sha=self.config.sha256,
                seed=session.settings.seed,
                iterations=len(attempts),
                usage=usage,
                exit_reason=outcome,
            ),
            name=session.spec.name,
            top=session.spec.top or (found.top if found else None),
            request=found.request if found else None,
            reason=self.run.portable(reason),
            requirements=session.spec.requirements,
            verdict=verdict,
            evidence=evidence_of(verdict, state, session.settings.seed, session.prompts.sha256()),
            assumptions=found.assumptions if found else (),
            decisions=tuple(tuple(d) for d in state.get("decisions", [])),
            rulings=tuple(tuple(r) for r in state.get("rulings", [])),
            attempts=tuple(attempts),
            files=tuple(f.path for f in files),
        )

    def _publish(self, session: Session, state: Mapping[str, Any]) -> tuple[SourceFile, ...]:
        candidate = Candidate(self.run.load_files(state["candidate"]))
        tests = [f for t in session.spec.tests for f in (t.source, *t.support)]
        if state.get("golden"):
            tests.append(load_oracle(session, state["golden"]).source)
        self.run.publish(candidate, tests)
        return candidate.files

    def _model_event(self, event: ModelEvent) -> None:
        self.run.emit("model", kind=event.kind, message=event.message, purpose=event.purpose)


def export(run: Run, out: Path) -> tuple[Path, ...]:
    """Copy the run's final files to `out`.

    Raises:
        RunError: the folder cannot be written.
    """
    copied = []
    source = run.folder / "rtl"
    try:
        for path in sorted(p for p in source.rglob("*") if p.is_file()):
            target = out / path.relative_to(source)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
            copied.append(target)
    except OSError as error:
        raise RunError(f"cannot write the final files: {error.strerror}", where=str(error.filename or out)) from error
    return tuple(copied)


def _judge_again(nodes: Nodes, state: Mapping[str, Any]) -> Verdict | None:
    try:
        return nodes.verdict(state)  # type: ignore[arg-type]
    except RtlagentError as error:
        # The tool that ended the run is still broken; the report says so in its reason.
        nodes.session.run.emit("verdict_unavailable", reason=str(error))
        return None


def load_run_spec(run: Run) -> Spec:
    """Return the specification that a run was started with.

    Raises:
        RunError: it is missing, damaged or changed.
    """
    spec = run.read_record("spec.json", Spec, key="spec")
    if digest(spec) != run.read_json("spec.json").get("sha256"):
        raise RunError(
            "the specification or a test in the run folder was changed",
            where=str(run.folder / "spec.json"),
            hint="tests are protected; start a new run for a new specification",
        )
    return spec


def _override_folder() -> Path | None:
    folder = Path.cwd() / "prompts"
    return folder if any(folder.glob("*.md.j2")) else None


def _elapsed(run: Run) -> float:
    """Return the seconds that earlier sessions of this run took, pauses between them left out."""
    total, begun, last = 0.0, None, None
    for event in run.events():
        if event["event"] == "started":
            if begun is not None and last is not None:
                total += last - begun
            begun = event["time"]
        last = event["time"]
    if begun is not None and last is not None:
        total += last - begun
    return total
