"""The steps of the loop; each takes the state and returns what it changes.

A step may be killed at any point and run again: model answers come back from the run's journal,
tool results from its store, and everything else is recomputed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from rtlagent.agent import failure, strategy
from rtlagent.agent.edits import EditError, apply_edits
from rtlagent.agent.oracle import GOLDEN_PATH, Oracle, fix_oracle, load_oracle, make_oracle
from rtlagent.agent.prompts import language_name, requirement_text, spec_prompt
from rtlagent.agent.replies import DesignReply, UnusableReplyError, read_design, read_json
from rtlagent.agent.session import Session, Talk
from rtlagent.agent.state import Attempt, LoopState
from rtlagent.agent.understanding import Understanding, read_understanding
from rtlagent.errors import ModelReplyError, PromptTooLongError, ToolError
from rtlagent.gates import RTL_SUFFIXES, Bench, Verifier
from rtlagent.tools.diagnostics import prompt_text
from rtlagent.types import Candidate, SourceFile, Spec, Status, StepResult, Verdict, from_json, to_json

_MAX_DETAIL = 2 * failure.MAX_DETAIL_CHARS
"""Only a backstop: the texts are cut where they are made."""
_DATA_SUFFIXES = (".mem", ".hex")


@dataclass(frozen=True)
class Nodes:
    """The loop's steps over one session."""

    session: Session

    # -- reading the state ---------------------------------------------------------------------

    def understanding(self, state: LoopState) -> Understanding:
        """Return the checked reading of the spec."""
        return from_json(Understanding, state["understanding"])

    def completed_spec(self, state: LoopState) -> Spec:
        """Return the spec with the top and ports that the model found."""
        session = self.session.with_decisions(state.get("decisions", []))
        return self.understanding(state).complete(session.spec)

    def candidate(self, state: LoopState) -> Candidate:
        """Return the current candidate."""
        return Candidate(self.session.run.load_files(state["candidate"]), iteration=len(state.get("attempts", [])))

    def verdict(self, state: LoopState) -> Verdict:
        """Judge the current candidate; what was judged before comes from the store."""
        spec = self.completed_spec(state)
        trace = load_oracle(self.session, state["golden"]).trace if state.get("golden") else None
        keeps_function = self.understanding(state).request == "optimise"
        verifier = Verifier(
            config=self.session.tools,
            bench=Bench(
                trace,
                baseline=self._existing_rtl() if keeps_function else (),
                simulator=self.session.settings.simulator,
                mutants=self.session.settings.mutants,
            ),
            store=self.session.run.folder / "store",
            logs=self.session.run.folder / "logs",
            on_step=self._report_step,
        )
        return verifier(self.candidate(state), spec)

    def _report_step(self, step: StepResult) -> None:
        self.session.run.emit(
            "step",
            step=step.step,
            status=step.status,
            wall_s=round(step.wall_s, 3),
            tool_version=step.tool_version,
            log_path=step.log_path,
            argv=step.argv,
        )

    def _existing_rtl(self) -> tuple[SourceFile, ...]:
        spec = self.session.spec
        tests = {f.path for t in spec.tests for f in (t.source, *t.support)}
        return tuple(f for f in spec.context_files if _is_of_design(f.path) and f.path not in tests)

    # -- steps ---------------------------------------------------------------------------------

    def understand(self, state: LoopState) -> LoopState:
        """Read the specification: interface, behaviours, assumptions."""
        session = self.session
        task = session.prompts.render("understand")
        system = ["system", session.prompts.render("system")]
        question = ["user", f"{spec_prompt(session.prompts, session.spec, ())}\n{task}"]
        found, base = session.ask(
            [system, question], "understand", lambda text: read_understanding(read_json(text), session.spec)
        )
        session.run.emit(
            "understood",
            request=found.request,
            top=found.top,
            assumptions=found.assumptions,
            ports=found.ports,
            clock=found.clock,
            reset=found.reset,
        )
        decisions: list[tuple[str, str]] = []
        if session.ask_user is not None:
            for assumption in found.assumptions:
                answer = session.ask_user(assumption).strip()
                decisions.append((assumption.question, answer or assumption.assumption))
            session.run.emit("decided", decisions=decisions)
            question = ["user", f"{spec_prompt(session.prompts, session.spec, decisions)}\n{task}"]
            base = [system, question, base[-1]]
        return {
            "base": base,
            "understanding": to_json(found),
            "decisions": [list(d) for d in decisions],
            "attempts": [],
            "best": -1,
            "line": 0,
            "rulings": [],
            "oracle_fixes": 0,
            "next": "oracle",
        }

    def oracle(self, state: LoopState) -> LoopState:
        """Make the golden model and its stimulus from the specification alone."""
        spec = self.completed_spec(state)
        try:
            oracle, talk = make_oracle(self.session, spec, state["base"])
        except ModelReplyError as error:
            if not spec.tests:
                raise
            # The user's own tests can judge alone; the grade says how weak that is.
            self.session.run.emit("no_oracle", reason=error.message)
            return {"golden": "", "first_golden": "", "oracle_talk": [], "next": "generate"}
        sha = oracle.sha256
        return {"golden": sha, "first_golden": sha, "oracle_talk": talk, "next": "generate"}

    def generate(self, state: LoopState) -> LoopState:
        """Ask for the first candidate."""
        return self._fresh_candidate(state, tried=[], variant=0)

    def fresh(self, state: LoopState) -> LoopState:
        """Ask for a candidate of another kind, after the present one proved stuck."""
        attempts = state["attempts"]
        self.session.check_iterations(len(attempts))
        update = self._fresh_candidate(state, tried=failure.attempt_lines(attempts, len(attempts)), variant=0)
        return {**update, "line": state["line"] + 1}

    def widen(self, state: LoopState) -> LoopState:
        """Ask for further candidates after the first one failed, judge all, and go on with the best."""
        states = [state]
        for variant in range(2, self.session.settings.candidates + 1):
            self.session.check_iterations(len(states[-1]["attempts"]))
            update = self._fresh_candidate(state, tried=[], variant=variant)
            trial: LoopState = {**state, **update, "attempts": states[-1]["attempts"], "best": states[-1]["best"]}
            states.append({**trial, **self._judge(trial)[0]})
            if states[-1]["attempts"][-1]["step"] == "":
                break
        own = [s["attempts"][state_index] for state_index, s in enumerate(states, len(state["attempts"]) - 1)]
        chosen = max(range(len(states)), key=lambda k: own[k]["score"])
        # The chosen one comes last, so that the next step repairs it.
        order = [k for k in range(len(states)) if k != chosen] + [chosen]
        attempts = [*state["attempts"][:-1], *(own[k] for k in order)]
        best = max(range(len(attempts)), key=lambda k: attempts[k]["score"])
        following = "finish" if own[chosen]["step"] == "" else "repair"
        merged: LoopState = {**states[chosen], "attempts": attempts, "best": best, "next": following}
        return merged

    def verify(self, state: LoopState) -> LoopState:
        """Judge the candidate and decide what comes next."""
        update, verdict = self._judge(state)
        merged: LoopState = {**state, **update}
        following, reason = strategy.next_step(merged, verdict, candidates=self.session.settings.candidates)
        self.session.run.emit("decision", next=following, reason=reason)
        return {**update, "next": following, "reason": reason}

    def repair(self, state: LoopState) -> LoopState:
        """Show the model what failed and take its edits."""
        self.session.check_iterations(len(state["attempts"]))
        verdict, candidate = self.verdict(state), self.candidate(state)
        latest = state["attempts"][-1]
        ruled = [r[2] for r in state["rulings"] if r[0] == latest["signature"] and r[1] != "golden"]
        task = self._repair_task(
            state, verdict, candidate, ruling=ruled[-1] if ruled else "", show_files=state["edited"]
        )

        def parse(text: str) -> tuple[DesignReply, tuple[SourceFile, ...]]:
            return self._read_candidate(text, candidate.files, self.completed_spec(state))

        try:
            (reply, files), whole = self.session.ask(
                [*state["base"], *state["design_talk"], ["user", task]], "repair", parse
            )
        except PromptTooLongError:
            # Start the conversation again from the shared prefix, with the files as they are.
            self.session.run.emit("prompt_shortened", dropped_messages=len(state["design_talk"]))
            task = self._repair_task(state, verdict, candidate, ruling=ruled[-1] if ruled else "", show_files=True)
            (reply, files), whole = self.session.ask([*state["base"], ["user", task]], "repair", parse)
        talk = whole[len(state["base"]) :]
        if reply.infeasible:
            return {
                "design_talk": talk,
                "next": "finish",
                "reason": f"the model holds it infeasible: {reply.infeasible}",
            }
        if reply.dispute:
            self.session.run.emit("dispute", reason=reply.dispute)
            return {"design_talk": talk, "dispute": reply.dispute, "next": "arbitrate"}
        return self._adopt(files, talk, reply)

    def arbitrate(self, state: LoopState) -> LoopState:
        """Decide from the specification's words whether the design or the golden model is wrong."""
        verdict, candidate = self.verdict(state), self.candidate(state)
        oracle = load_oracle(self.session, state["golden"])
        failing = verdict.failing
        if failing is None:  # an oracle mended meanwhile agrees with the design
            return {"dispute": "", "next": "verify"}
        observed = "\n".join(t for t in (failure.tests_text(failing), failure.detail_text(failing)) if t)
        detail = prompt_text(observed, self._own_files(candidate), _MAX_DETAIL)
        task = self.session.prompts.render(
            "arbitrate",
            detail=detail,
            dispute=state.get("dispute", ""),
            golden=oracle.source.text,
            files=candidate.files,
        )
        (wrong, reason), _ = self.session.ask([*state["base"], ["user", task]], "arbitrate", _read_ruling)
        self.session.run.emit("ruling", wrong=wrong, reason=reason)
        rulings = [*state["rulings"], [state["attempts"][-1]["signature"], wrong, reason]]
        if wrong == "design":
            return {"rulings": rulings, "dispute": "", "next": "repair"}
        if state["oracle_fixes"] >= strategy.MAX_ORACLE_FIXES:
            return {
                "rulings": rulings,
                "next": "finish",
                "reason": f"the golden model was found wrong {state['oracle_fixes'] + 1} times",
            }
        return {**self._mend_oracle(state, oracle, reason, detail), "rulings": rulings}

    def finish(self, state: LoopState) -> LoopState:
        """Name the outcome."""
        attempts = state.get("attempts", [])
        passed = bool(attempts) and attempts[-1]["step"] == ""
        return {"outcome": "pass" if passed else "fail", "reason": state.get("reason", "")}

    # -- parts of the steps --------------------------------------------------------------------

    def _mend_oracle(self, state: LoopState, oracle: Oracle, reason: str, detail: str) -> LoopState:
        spec = self.completed_spec(state)
        mended, talk = fix_oracle(
            self.session,
            spec,
            state["base"],
            state["oracle_talk"],
            earlier=[load_oracle(self.session, state.get("first_golden") or state["golden"]), oracle],
            ruling=reason,
            problem=detail,
        )
        return {
            "golden": mended.sha256,
            "oracle_talk": talk,
            "oracle_fixes": state["oracle_fixes"] + 1,
            "dispute": "",
            "next": "verify",
        }

    def _judge(self, state: LoopState) -> tuple[LoopState, Verdict]:
        self.session.run.emit("judging", iteration=len(state["attempts"]) + 1, sha=state["candidate"])
        verdict = self.verdict(state)
        broken = next((s for s in verdict.steps if s.status is Status.ERROR), None)
        if broken is not None:
            first = broken.diagnostics[0].message if broken.diagnostics else broken.detail[:300]
            raise ToolError(f"{broken.step} broke: {first}", hint="rtlagent doctor; then resume the run")
        failing = verdict.failing
        attempt: Attempt = {
            "iteration": len(state["attempts"]) + 1,
            "sha": state["candidate"],
            "parent": state["attempts"][-1]["sha"] if state["attempts"] else "",
            "step": "" if verdict.passed else (failing.step if failing else "requirements"),
            "signature": strategy.signature(verdict),
            "score": strategy.score(verdict),
            "note": state.get("note", ""),
            "line": state["line"],
        }
        attempts = [*state["attempts"], attempt]
        best = state["best"]
        # A mended oracle judges anew: equal scores go to the later attempt.
        if verdict.passed or best < 0 or attempt["score"] >= attempts[best]["score"]:
            best = len(attempts) - 1
        self.session.run.emit("iteration", attempt=attempt, verdict=_summary(verdict))
        return {"attempts": attempts, "best": best}, verdict

    def _fresh_candidate(self, state: LoopState, *, tried: Sequence[str], variant: int) -> LoopState:
        spec = self.completed_spec(state)
        task = self.session.prompts.render(
            "generate",
            request=self.understanding(state).request,
            language_name=language_name(spec.language),
            top=spec.top,
            target=spec.requirements.target,
            requirements=requirement_text(spec.requirements),
            tried=tried,
            variant=variant,
        )
        existing = self._existing_rtl()
        (reply, files), whole = self.session.ask(
            [*state["base"], ["user", task]], "generate", lambda text: self._read_candidate(text, existing, spec)
        )
        return self._adopt(files, whole[len(state["base"]) :], reply)

    def _adopt(self, files: tuple[SourceFile, ...], talk: Talk, reply: DesignReply) -> LoopState:
        candidate = Candidate(files)
        self.session.run.store_files(files, candidate.sha256)
        return {
            "candidate": candidate.sha256,
            "design_talk": talk,
            "edited": bool(reply.edits),
            "note": reply.note,
            "next": "verify",
        }

    def _read_candidate(
        self, text: str, current: Sequence[SourceFile], spec: Spec
    ) -> tuple[DesignReply, tuple[SourceFile, ...]]:
        suffix = "sv" if spec.language == "systemverilog" else "v"
        reply = read_design(text, default_path=f"rtl/{spec.top}.{suffix}")
        if reply.dispute or reply.infeasible:
            if not current:
                raise UnusableReplyError("there is nothing to dispute yet; write the design")
            return reply, tuple(current)
        try:
            files = {f.path: f for f in apply_edits(current, reply.edits)}
        except EditError as error:
            raise UnusableReplyError(str(error)) from error
        strange = [f.path for f in reply.files if not _is_of_design(f.path)]
        if strange:
            raise UnusableReplyError(f"a design has Verilog and memory files only, not {', '.join(strange)}")
        files.update({f.path: f for f in reply.files})
        result = tuple(files.values())
        if current and {f.path: f.text for f in current} == {f.path: f.text for f in result}:
            raise UnusableReplyError("it changes nothing")
        return reply, result

    def _repair_task(
        self, state: LoopState, verdict: Verdict, candidate: Candidate, *, ruling: str, show_files: bool
    ) -> str:
        step = verdict.failing
        attempts = state["attempts"]
        latest = attempts[-1]
        ruled = any(r[0] == latest["signature"] for r in state["rulings"])
        evidence = self._evidence(state, verdict, candidate)
        own = self._own_files(candidate)
        return self.session.prompts.render(
            "repair",
            step=step.step if step else "requirements",
            iteration=latest["iteration"],
            passed=[s.step for s in verdict.steps if s.passed],
            diagnostics=prompt_text(failure.diagnostics_text(step, candidate), own) if step else "",
            tests=prompt_text(failure.tests_text(step), own) if step else "",
            detail=prompt_text(failure.detail_text(step) if step else _critical_detail(verdict), own, _MAX_DETAIL),
            unmet=[failure.unmet_text(u) for u in verdict.unmet],
            drivers=evidence[0],
            waveform=evidence[1],
            ruling=ruling,
            tried=failure.attempt_lines(attempts, len(attempts) - 1),
            files=candidate.files if show_files else (),
            prefer_edits=failure.long_files(candidate),
            may_dispute=bool(step and step.step == "simulate" and not ruled and state.get("golden")),
            may_give_up=bool(verdict.unmet),
        )

    def _own_files(self, candidate: Candidate) -> list[str]:
        """Name the files that a text for the model may quote."""
        tests = [f.path for t in self.session.spec.tests for f in (t.source, *t.support)]
        return [*(f.path for f in candidate.files), *tests, GOLDEN_PATH]

    def _evidence(self, state: LoopState, verdict: Verdict, candidate: Candidate) -> tuple[str, str]:
        from rtlagent.agent.evidence import collect

        return collect(self.session, self.completed_spec(state), verdict, candidate)


def _is_of_design(path: str) -> bool:
    return PurePosixPath(path).suffix in (*RTL_SUFFIXES, *_DATA_SUFFIXES)


def _read_ruling(text: str) -> tuple[str, str]:
    value = read_json(text)
    wrong, reason = value.get("wrong"), str(value.get("reason", "")).strip()
    if wrong not in ("design", "golden", "both"):
        raise UnusableReplyError("`wrong` must be design, golden or both")
    if not reason:
        raise UnusableReplyError("`reason` is empty")
    quote = str(value.get("quote", "")).strip()
    return wrong, f"{reason} (\u201c{quote}\u201d)" if quote else reason


def _critical_detail(verdict: Verdict) -> str:
    return next((failure.detail_text(s) for s in reversed(verdict.steps) if s.detail), "")


def _summary(verdict: Verdict) -> dict[str, object]:
    """Return what the live view shows of a verdict."""
    tests = [t for s in verdict.steps for t in s.tests]
    return {
        "passed": verdict.passed,
        "grade": verdict.grade,
        "gates": {s.step: s.status for s in verdict.steps},
        "tests_passed": sum(t.status is Status.PASS for t in tests),
        "tests": len(tests),
        "metrics": to_json(verdict.metrics),
        "unmet": to_json(verdict.unmet),
    }
