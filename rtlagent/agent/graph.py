"""Wire the steps into a LangGraph graph with a SQLite checkpointer.

```
understand -> oracle -> generate -> verify -+-> finish
                  (spec has tests too)  ^   +-> repair ----+-> verify
                                        |   +-> arbitrate -+   (golden model mended, or ruling -> repair)
                                        +---+-> fresh, widen
```
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

from rtlagent.agent.nodes import Nodes
from rtlagent.agent.state import LoopState
from rtlagent.errors import RunError

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph

NODES = ("understand", "oracle", "generate", "verify", "repair", "arbitrate", "fresh", "widen", "finish")
_MAX_STEPS = 10_000
"""LangGraph's own bound on steps; ours are the iteration limit and the strategy's."""


@contextmanager
def open_graph(nodes: Nodes) -> Iterator[Loop]:
    """Open the run's checkpoints and give the loop over them.

    Raises:
        RunError: the checkpoint file is damaged.
    """
    from langgraph.checkpoint.sqlite import SqliteSaver
    from langgraph.graph import END, START, StateGraph

    builder = StateGraph(LoopState)
    for name in NODES:
        builder.add_node(name, getattr(nodes, name))
    builder.add_edge(START, "understand")
    for name in NODES[:-1]:
        builder.add_conditional_edges(name, _next, {n: n for n in NODES})
    builder.add_edge("finish", END)
    path = nodes.session.run.folder / "checkpoint.sqlite"
    try:
        with closing(sqlite3.connect(path, check_same_thread=False)) as connection:
            yield Loop(builder.compile(checkpointer=SqliteSaver(connection)), nodes.session.run.id)
    except sqlite3.DatabaseError as error:
        hint = "move it away: the run then goes through its steps again, asking the model nothing twice"
        raise RunError(f"the checkpoint file is damaged: {error}", where=str(path), hint=hint) from error


def _next(state: LoopState) -> str:
    return state["next"]


class Loop:
    """A compiled graph bound to one run."""

    def __init__(self, graph: CompiledStateGraph[Any, Any, Any, Any], run_id: str) -> None:
        self._graph = graph
        self._config: Any = {"configurable": {"thread_id": run_id}, "recursion_limit": _MAX_STEPS}

    def state(self) -> Mapping[str, Any]:
        """Return the latest checkpoint; empty before the first one."""
        values: Mapping[str, Any] = self._graph.get_state(self._config).values
        return values

    def go(self) -> None:
        """Run from the latest checkpoint to the end; each step is on disk before the next one starts."""
        values = self.state()
        if values.get("outcome"):
            return  # finished earlier
        # `next` of the snapshot does not tell: it is empty too when a step's result was written but the
        # checkpoint after it was not.
        start: Any = None if values else {"next": "understand"}
        self._graph.invoke(start, self._config, durability="sync")
