"""Open everything that a session of a run needs, run it, and close it again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rtlagent.bench.executors import Place, open_executor
from rtlagent.bench.planning import config_of, own_prompts
from rtlagent.bench.problem import Problem
from rtlagent.bench.progress import View
from rtlagent.bench.record import record_here
from rtlagent.bench.run_folder import About, RunFolder
from rtlagent.bench.runner import Ending, Runner, Session
from rtlagent.bench.store import open_store
from rtlagent.config import Config


def run_session(
    folder: RunFolder,
    about: About,
    problems: Mapping[str, Problem],
    config: Config,
    view: View,
    *,
    db: str = "",
    retry_errors: bool = False,
) -> Ending:
    """Work on a run until nothing is left, or nothing more may be spent.

    Args:
        folder: The run's.
        about: What it is.
        problems: Of the suite, by name.
        config: This machine's settings.
        view: Is told how it goes.
        db: URL of the results base, with a password if it needs one; empty: as the run began.
        retry_errors: Tasks that a tool or the endpoint has spoilt are done again.

    Raises:
        RunError: another process works on the run.
        UsageError, ToolError, ModelError: what keeps every task from being done.
    """
    folder = RunFolder(folder.path.absolute())
    with folder.locked():
        folder.begin(about)
        now = record_here(about.executor)
        for change in about.record.changes(now):
            view.note(f"note: other versions than when the run began: {change}")
        with open_store(db or about.db or folder.base, create=True) as store:
            store.register(about.stored)
            hidden = (Path(about.suite_path),) if about.plan.blind else ()
            place = Place(folder.path, hidden, Path.cwd())
            executor = open_executor(about.executor, about.jobs, place, view.note)
            try:
                session = Session(
                    folder,
                    about,
                    problems,
                    config_of(about.plan, config),
                    retry_errors=retry_errors,
                    prompts_dir=own_prompts(),
                    check_data=about.executor != "local",
                )
                return Runner(session, executor, store, view).go()
            finally:
                executor.close()
