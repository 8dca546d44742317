"""Pragmas on what they speak about: loops, functions, arrays, ports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from rtlagent.errors import suggestion
from rtlagent.hls.analysis.loops import Loop, find_loops
from rtlagent.hls.ir import Block, Function, LoopDirectives, Memory, MemoryKind, Module, Partition, Place
from rtlagent.hls.options import Remarks
from rtlagent.hls.pragmas import Pragma

_STORAGE = {"bram": "bram", "uram": "bram", "lutram": "lutram", "srl": "lutram", "register": "register", "auto": None}
_DIRECTIONS = ("raw", "war", "waw")
_LOOP = frozenset({"pipeline", "unroll", "loop_tripcount", "loop_flatten", "dependence", "latency", "dataflow"})
_PORT_MODES = frozenset({"ap_none", "ap_vld", "ap_memory", "s_axilite", "bram"})
_CONTROL_MODES = frozenset({"ap_ctrl_hs", "ap_ctrl_none", "s_axilite"})


def label_loops(
    function: Function, places: Mapping[Block, Place], labels: Mapping[int, str], fallback: Place | None
) -> None:
    """Give each loop's header its label and place; of several loops in a line the outermost has the C label."""
    used: set[str] = set()
    for loop in sorted(find_loops(function), key=lambda found: found.depth):
        place = (
            next((places[latch] for latch in loop.latches if latch in places), None) or _first_place(loop) or fallback
        )
        if loop.header.directives is None:
            line = place.line if place else 0
            label, number = labels.get(line, f"loop_{line}"), 2
            while label in used:
                label, number = f"loop_{line}_{number}" if f"loop_{line}" in used else f"loop_{line}", number + 1
            used.add(label)
            loop.header.directives = LoopDirectives(label=label, place=place)


def _first_place(loop: Loop) -> Place | None:
    places = [op.place for op in loop.header.ops if op.place is not None]
    return places[0] if places else None


Resolve = Callable[[str, str], "list[Memory] | None"]
"""(C expression of a variable, C function in which the pragma stands) -> memories; None: there is no such variable."""


@dataclass(frozen=True)
class Marked:
    """Where a pragma's marker stands."""

    pragma: Pragma
    function: str
    """C name of the function in which it was written."""
    in_loop: bool
    """In a loop of that function, not only of a caller's."""


class Directives:
    """Applies the pragmas of a function's markers."""

    def __init__(
        self,
        module: Module,
        resolve: Resolve,
        names: Iterable[str],
        streams: frozenset[str],
        remarks: Remarks,
        *,
        dataflow: bool,
    ) -> None:
        self._dataflow = dataflow
        self._streams = streams
        self._module = module
        self._resolve = resolve
        self._names = sorted(set(names))
        self._remarks = remarks

    def apply(
        self, function: Function, marked: Marked, blocks: Iterable[Block], loops_of: Callable[[str], list[Block]]
    ) -> None:
        """Apply one pragma.

        Args:
            function: That its markers are in after inlining.
            marked: The pragma and where it was written.
            blocks: In which its markers stand; several after inlining.
            loops_of: C function -> headers of loops that were written in it.
        """
        pragma = marked.pragma
        if pragma.kind in _LOOP:
            if not marked.in_loop:
                self._function(function, marked, loops_of)
                return
            forest = find_loops(function)
            for block in blocks:
                loop = forest.innermost.get(block)
                if loop is None:
                    self._ignore(pragma, "its loop runs at most once")
                else:
                    assert loop.header.directives is not None
                    self._loop(loop.header.directives, marked)
        elif pragma.kind in ("array_partition", "bind_storage", "stream"):
            self._array(marked)
        elif pragma.kind == "interface":
            self._interface(marked)
        elif pragma.kind == "allocation":
            self._allocation(function, pragma)
        elif pragma.kind == "bind_op":
            variable = pragma.options.get("variable", "")
            latency = pragma.number_of("latency")
            function.bind_ops[variable] = (pragma.options.get("impl", "auto").lower(), latency)

    def _ignore(self, pragma: Pragma, why: str, hint: str = "") -> None:
        self._remarks.warn("PRAGMA_IGNORED", f"#pragma HLS {pragma.kind} is ignored: {why}", pragma.place, hint=hint)

    def _function(self, function: Function, marked: Marked, loops_of: Callable[[str], list[Block]]) -> None:
        """Apply a pragma that stands in no loop: to its function, or to what became of it by inlining."""
        pragma = marked.pragma
        own = function.name == marked.function
        if pragma.kind == "pipeline":
            self._pipeline_function(function, marked, [] if own else loops_of(marked.function))
        elif pragma.kind == "dependence":
            for header in loops_of(marked.function):
                if header.directives is not None:
                    self._loop(header.directives, marked)
        elif pragma.kind == "dataflow" and not own:
            # The inlined call knows of it; without dataflow it has to be said, unless the reason was.
            if not self._dataflow and not self._remarks.spoke_of("DATAFLOW", pragma.place):
                self._ignore(pragma, f"{marked.function} is inlined, and its parts run one after the other")
        elif pragma.kind == "latency" and not own:
            self._ignore(pragma, f"{marked.function} is inlined; `#pragma HLS inline off` keeps it a function")
        elif pragma.kind == "latency":
            function.latency_min, function.latency_max = pragma.number_of("min"), pragma.number_of("max")
        elif pragma.kind == "dataflow":
            function.dataflow = True
            function.place = function.place or pragma.place
        elif pragma.kind != "loop_flatten" or "off" not in pragma.options:
            self._ignore(pragma, "it is not inside a loop")

    def _pipeline_function(self, function: Function, marked: Marked, inlined: list[Block]) -> None:
        """Pipeline a function; what an inlined one contains is unrolled, as its pipeline would want it."""
        if "off" in marked.pragma.options:
            return
        if function.name == marked.function:
            function.pipeline_ii = marked.pragma.number_of("ii") or 0
        for header in inlined:
            if header.directives is not None and header.directives.unroll is None:
                header.directives.unroll = 0

    def _loop(self, loop: LoopDirectives, marked: Marked) -> None:
        pragma = marked.pragma
        options = pragma.options
        if pragma.kind == "pipeline":
            loop.pipeline_off = "off" in options
            if not loop.pipeline_off:
                loop.pipeline_ii = pragma.number_of("ii") or 0
        elif pragma.kind == "unroll":
            factor = pragma.number_of("factor")
            loop.unroll = 1 if "off" in options else factor if factor is not None else 0
        elif pragma.kind == "loop_tripcount":
            loop.trip_min, loop.trip_max = pragma.number_of("min"), pragma.number_of("max")
        elif pragma.kind == "loop_flatten":
            loop.flatten = "off" not in options
        elif pragma.kind == "latency":
            loop.latency_min, loop.latency_max = pragma.number_of("min"), pragma.number_of("max")
        elif pragma.kind == "dataflow":
            loop.dataflow = True
        elif pragma.kind == "dependence":
            self._dependence(loop, marked)

    def _dependence(self, loop: LoopDirectives, marked: Marked) -> None:
        pragma = marked.pragma
        options = pragma.options
        said = options.get("dependent", "").lower() == "false" or "false" in options
        if not said:
            self._ignore(pragma, "only `false` says something that is not known already")
            return
        if "intra" in options or options.get("type", "").lower() == "intra":
            self._ignore(pragma, "dependences within an iteration are exact already")
            return
        variable = options.get("variable", "*")
        memories = self._resolve(variable, marked.function) if variable != "*" else []
        if memories is None:
            self._unknown(pragma, variable)
            return
        direction = options.get("direction", "").lower() or next((d for d in _DIRECTIONS if d in options), "")
        if direction and direction not in _DIRECTIONS:
            self._ignore(pragma, f"there is no direction {direction!r}: RAW, WAR or WAW")
            return
        names = {m.name for m in memories} if variable != "*" else {"*"}
        if direction:
            names = {f"{name}:{direction}" for name in names}
        loop.independent = tuple(sorted({*loop.independent, *names}))

    def _unknown(self, pragma: Pragma, variable: str) -> None:
        self._ignore(pragma, f"there is no array {variable!r}", suggestion(variable, self._names))

    def _array(self, marked: Marked) -> None:
        pragma = marked.pragma
        variable = pragma.options.get("variable", "")
        if pragma.kind == "stream" and variable in self._streams:
            return  # its depth was taken when the stream was made
        memories = self._resolve(variable, marked.function)
        if memories is None:
            self._unknown(pragma, variable)
            return
        if pragma.kind == "bind_storage":
            impl = pragma.options.get("impl", "auto").lower()
            if impl not in _STORAGE:
                self._ignore(pragma, f"unknown impl {impl}", suggestion(impl, sorted(_STORAGE)))
                return
            for memory in memories:
                memory.storage = _STORAGE[impl]
                memory.storage_latency = pragma.number_of("latency")
                if pragma.options.get("type", "").lower() in ("ram_1p", "rom_1p"):
                    memory.ports = 1
            return
        if pragma.kind == "stream":
            self._ignore(pragma, "arrays are kept as memories")
            return
        self._partition(pragma, memories)

    def _partition(self, pragma: Pragma, memories: list[Memory]) -> None:
        options = pragma.options
        kind = options.get("type", "").lower() or next(
            (k for k in ("complete", "cyclic", "block") if k in options), "complete"
        )
        dim = pragma.number_of("dim")
        dim = 1 if dim is None else dim
        factor = pragma.number_of("factor") or 0
        if kind not in ("complete", "cyclic", "block"):
            self._ignore(pragma, f"unknown type {kind}")
            return
        if kind != "complete" and factor < 2:
            self._ignore(pragma, f"{kind} takes a factor of at least 2")
            return
        for memory in memories:
            if dim > len(memory.dims):
                self._ignore(pragma, f"{memory.name} has {len(memory.dims)} dimensions, not {dim}")
                continue
            memory.partitions.append(Partition(dim - 1, kind, factor, pragma.place))

    def _interface(self, marked: Marked) -> None:
        pragma = marked.pragma
        options = pragma.options
        if marked.function != self._module.top.name:
            self._ignore(pragma, "it stands in a function that is not the top")
            return
        mode = options.get("mode", "").lower() or next((o for o in options if _is_mode(o)), "")
        port = options.get("port", options.get("variable", ""))
        if port in ("", "return"):
            if mode in _CONTROL_MODES:
                self._module.control = mode
            else:
                self._ignore(pragma, f"{mode or 'no mode'} is no control protocol", ", ".join(sorted(_CONTROL_MODES)))
            return
        if port in self._streams:
            if mode not in ("ap_fifo", ""):
                self._ignore(pragma, f"the stream {port} has the ports of a FIFO", "mode=ap_fifo")
            return
        if mode not in _PORT_MODES:
            if mode or "depth" not in options:
                wrong = f"mode {mode} is not supported" if mode else "it names no mode"
                self._ignore(pragma, wrong, ", ".join(sorted(_PORT_MODES)))
            return
        memories = [m for m in self._resolve(port, marked.function) or [] if m.kind is MemoryKind.PARAM]
        if any(p.name == port for p in self._module.top.params):
            self._scalar_port(pragma, port, mode)
        elif memories:
            for memory in memories:
                self._memory_port(pragma, memory, mode)
        elif self._resolve(port, marked.function) is None:
            self._ignore(pragma, f"there is no argument {port!r}", suggestion(port, self._names))

    def _scalar_port(self, pragma: Pragma, port: str, mode: str) -> None:
        if mode in ("ap_none", "s_axilite"):
            self._module.scalar_interfaces[port] = mode
        else:
            self._ignore(pragma, f"{mode} is not for scalar inputs", "ap_none or s_axilite")

    def _memory_port(self, pragma: Pragma, memory: Memory, mode: str) -> None:
        if mode == "s_axilite":
            self._ignore(pragma, f"s_axilite is for scalars and control; {memory.name} keeps its own ports")
        elif mode in ("ap_vld", "ap_none") and memory.depth > 1:
            self._ignore(pragma, f"{mode} is for single values; {memory.name} has {memory.depth} elements")
        else:
            memory.interface = {"bram": "ap_memory", "ap_none": "ap_vld"}.get(mode, mode)

    def _allocation(self, function: Function, pragma: Pragma) -> None:
        limit = pragma.number_of("limit")
        name = pragma.options.get("instances", "").lower()
        if limit is None or not name or limit < 1:
            self._ignore(pragma, "it takes instances=NAME and limit=N")
            return
        function.allocation[name] = limit


def _is_mode(option: str) -> bool:
    return option.startswith(("ap_", "m_axi", "s_axilite", "axis")) or option == "bram"
