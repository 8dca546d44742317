"""Pragmas on what they speak about: loops, functions, arrays, ports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rtlagent.errors import suggestion
from rtlagent.hls.analysis.loops import Loop, find_loops
from rtlagent.hls.ir import Block, Function, LoopDirectives, Memory, MemoryKind, Module, Partition, Place
from rtlagent.hls.options import Remarks
from rtlagent.hls.pragmas import Pragma

_STORAGE = {"bram": "bram", "uram": "bram", "lutram": "lutram", "srl": "lutram", "register": "register", "auto": None}
_LOOP = frozenset({"pipeline", "unroll", "loop_tripcount", "loop_flatten", "dependence", "latency", "dataflow"})
_PORT_MODES = frozenset({"ap_none", "ap_vld", "ap_memory", "s_axilite", "axis", "ap_fifo", "bram"})
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


class Directives:
    """Applies the pragmas of a function's markers."""

    def __init__(self, module: Module, memories: Mapping[str, list[Memory]], remarks: Remarks) -> None:
        self._module = module
        self._memories = memories
        self._remarks = remarks

    def apply(self, function: Function, pragma: Pragma, blocks: Iterable[Block]) -> None:
        """Apply one pragma, given the blocks in which its marker stands (several after inlining)."""
        if pragma.kind in _LOOP:
            forest = find_loops(function)
            for block in blocks:
                loop = forest.innermost.get(block)
                if loop is None:
                    self._function(function, pragma)
                else:
                    assert loop.header.directives is not None
                    self._loop(loop.header.directives, pragma)
        elif pragma.kind in ("array_partition", "bind_storage", "stream"):
            self._array(pragma)
        elif pragma.kind == "interface":
            self._interface(pragma)
        elif pragma.kind == "allocation":
            self._allocation(function, pragma)
        elif pragma.kind == "bind_op":
            variable = pragma.options.get("variable", "")
            latency = pragma.number_of("latency")
            function.bind_ops[variable] = (pragma.options.get("impl", "auto").lower(), latency)

    def _ignore(self, pragma: Pragma, why: str, hint: str = "") -> None:
        self._remarks.warn("PRAGMA_IGNORED", f"#pragma HLS {pragma.kind} is ignored: {why}", pragma.place, hint=hint)

    def _function(self, function: Function, pragma: Pragma) -> None:
        if pragma.kind == "pipeline":
            if "off" not in pragma.options:
                function.pipeline_ii = pragma.number_of("ii") or 0
        elif pragma.kind == "latency":
            function.latency_min, function.latency_max = pragma.number_of("min"), pragma.number_of("max")
        elif pragma.kind == "dataflow":
            function.dataflow = True
        elif pragma.kind == "dependence":
            for block in function.blocks:
                if block.directives is not None:
                    self._loop(block.directives, pragma)
        else:
            self._ignore(pragma, "it is not inside a loop")

    def _loop(self, loop: LoopDirectives, pragma: Pragma) -> None:
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
            self._dependence(loop, pragma)

    def _dependence(self, loop: LoopDirectives, pragma: Pragma) -> None:
        options = pragma.options
        said = options.get("dependent", "").lower() == "false" or "false" in options
        if not said:
            self._ignore(pragma, "only `false` says something that is not known already")
            return
        if "intra" in options or options.get("type", "").lower() == "intra":
            self._ignore(pragma, "dependences within an iteration are exact already")
            return
        variable = options.get("variable", "*")
        names = {m.name for m in self._memories.get(variable, [])} or {variable}
        loop.independent = tuple(sorted({*loop.independent, *names}))

    def _array(self, pragma: Pragma) -> None:
        variable = pragma.options.get("variable", "")
        memories = self._memories.get(variable)
        if not memories:
            self._ignore(pragma, f"there is no array {variable!r}", suggestion(variable, sorted(self._memories)))
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

    def _interface(self, pragma: Pragma) -> None:
        options = pragma.options
        mode = options.get("mode", "").lower() or next((o for o in options if o in _PORT_MODES | _CONTROL_MODES), "")
        port = options.get("port", options.get("variable", ""))
        if not mode:
            if "depth" not in options:
                unknown = next((o for o in options if o.startswith(("ap_", "m_axi"))), "none given")
                self._ignore(pragma, f"mode {unknown} is not supported", "ap_none, ap_vld, ap_memory, s_axilite")
            return
        if port in ("", "return"):
            if mode in _CONTROL_MODES:
                self._module.control = mode
            else:
                self._ignore(pragma, f"{mode} is no control protocol")
            return
        memories = [m for m in self._memories.get(port, []) if m.kind is MemoryKind.PARAM]
        if memories and mode != "s_axilite":
            for memory in memories:
                memory.interface = "ap_memory" if mode == "bram" else mode
        elif any(p.name == port for p in self._module.top.params):
            self._module.scalar_interfaces[port] = mode
        elif memories:
            self._ignore(pragma, f"{mode} is for scalars and control; {port} keeps its memory ports")
        else:
            self._ignore(pragma, f"there is no argument {port!r}")

    def _allocation(self, function: Function, pragma: Pragma) -> None:
        limit = pragma.number_of("limit")
        name = pragma.options.get("instances", "").lower()
        if limit is None or not name or limit < 1:
            self._ignore(pragma, "it takes instances=NAME and limit=N")
            return
        function.allocation[name] = limit
