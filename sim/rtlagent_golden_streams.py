"""Record the stream style of a golden model: items sent and items expected."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from random import Random
from typing import Any

import rtlagent_golden_stimulus as stimulus
from rtlagent_golden_record import Design, GoldenFile, scenario_name

MAX_ITEMS = 20_000
_KEYS = {"name", "direction", "data", "valid", "ready", "clock", "data_delay"}
# Periods of further clocks, as multiples of the spec's: none is harmonic with it or with another.
_PERIOD_RATIOS = (1.37, 0.73, 1.79, 0.59, 2.23)


class StreamRecorder:
    """Reads STREAMS and runs transact() over every stream scenario."""

    def __init__(self, golden: GoldenFile, design: Design, clock_period_ns: float) -> None:
        self.golden = golden
        self.design = design
        self.clock_period_ns = clock_period_ns
        self.scenarios: list[dict[str, Any]] = []
        self.ports = self._read_streams()
        names = [p["clock"] for p in self.ports if p["clock"]]
        self.clock_names = [c for c in dict.fromkeys(names) if c != design.clock]
        function = golden.function("transact")
        if function is None:
            raise golden.problem("GOLDEN_PROTOCOL", "STREAMS without a function `transact`", at="STREAMS")
        self.transact = function

    def clocks(self) -> list[dict[str, Any]]:
        """Return the clocks beside the spec's, each with a period of its own."""
        if len(self.clock_names) > len(_PERIOD_RATIOS):
            raise self.golden.problem("GOLDEN_PROTOCOL", "STREAMS names too many clocks", at="STREAMS")
        periods = [round(self.clock_period_ns * ratio, 2) for ratio in _PERIOD_RATIOS]
        pairs = zip(self.clock_names, periods, strict=False)
        return [{"port": name, "edge": "posedge", "period_ns": period} for name, period in pairs]

    def record(self) -> list[dict[str, Any]]:
        """Return every scenario: each directed one twice, random ones at three rates."""
        function = self.golden.function("directed_items")
        if function is not None:
            with self.golden.blame("in directed_items()"):
                given = function()
                if not isinstance(given, Mapping):
                    self._wrong("directed_items", "directed_items() must return a dict of scenarios")
                directed = {scenario_name(n): items for n, items in given.items()}
            for name, items in directed.items():
                for gap in (0, 40):
                    self._run(f"{name}@{gap}", items, gap, at="directed_items")
        for gap in (0, 30, 80):
            self._run(f"random_items@{gap}", self._random(gap), gap, at="random_items")
        return self.scenarios

    def _random(self, gap: int) -> Any:
        rng = Random(f"{self.design.seed}:items:{gap}")
        count = max(16, min(500, self.design.random_cycles // (4 if gap < 50 else 10)))
        function = self.golden.function("random_items")
        if function is not None:
            with self.golden.blame("in random_items()"):
                return function(rng, count)
        senders = [p for p in self.ports if p["direction"] == "input"]
        widths = {p["name"]: {d: self.design.inputs[d] for d in p["data"]} for p in senders}
        return {name: [stimulus.random_item(rng, w) for _ in range(count)] for name, w in widths.items()}

    def _run(self, name: str, given: Any, gap: int, *, at: str) -> None:
        place = self.golden.place
        place.scenario, place.cycle, place.inputs = name, None, {}
        if not isinstance(given, Mapping):
            self._wrong(at, f"{at}(): a scenario must be a dict from input stream to items")
        with self.golden.blame(f"in {at}()"):
            settings = self._values(given.get("settings", {}), at, "settings")
            known = [p["name"] for p in self.ports if p["direction"] == "input"]
            for stream in given:
                if stream not in known and stream != "settings":
                    self._wrong(at, f"{at}(): `{stream}` is no input stream ({place})", f"they are: {', '.join(known)}")
            inputs = {stream: self._items(given.get(stream, []), stream, at) for stream in known}
        with self.golden.blame("in transact()"):
            shown: dict[str, Any] = copy.deepcopy(inputs)
            if "settings" in given:
                shown["settings"] = dict(settings)
            answer = self.transact(shown)
            if not isinstance(answer, Mapping):
                self._wrong("transact", "transact() must return a dict from output stream to items")
            expected = {}
            for port in self.ports:
                if port["direction"] == "output":
                    if port["name"] not in answer:
                        self._wrong("transact", f"transact() gives nothing for output stream `{port['name']}`")
                    expected[port["name"]] = self._items(answer[port["name"]], port["name"], "transact")
            for stream in answer:
                if stream not in expected:
                    self._wrong("transact", f"transact(): `{stream}` is no output stream")
        place.scenario = ""
        self.scenarios.append(
            {"name": name, "inputs": inputs, "expected": expected, "settings": settings, "gap_percent": gap}
        )

    def _items(self, given: Any, stream: str, at: str) -> list[dict[str, int]]:
        port = next(p for p in self.ports if p["name"] == stream)
        widths = self.design.inputs if port["direction"] == "input" else self.design.outputs
        data = {d: widths[d] for d in port["data"]}
        items: list[dict[str, int]] = []
        if isinstance(given, Mapping | str):
            self._wrong(at, f"{at}(): the items of `{stream}` must be a list ({self.golden.place})")
        for item in given:
            # A bare number is unambiguous where a stream has one data port.
            full = {port["data"][0]: item} if len(data) == 1 and not isinstance(item, Mapping) else item
            items.append(self.golden.checked_values(full, data, at=at, what=f"item {len(items)} of `{stream}`"))
            if port["direction"] == "input" and len(items[-1]) != len(data):
                self._wrong(at, f"{at}(): item {len(items) - 1} of `{stream}` lacks a data port ({self.golden.place})")
            if len(items) > MAX_ITEMS:
                raise self.golden.problem("GOLDEN_TOO_LONG", f"{at}() gives more than {MAX_ITEMS} items", at=at)
        return items

    def _values(self, given: Any, at: str, what: str) -> dict[str, int]:
        return self.golden.checked_values(given, self.design.inputs, at=at, what=what)

    def _read_streams(self) -> list[dict[str, Any]]:
        given = self.golden.names["STREAMS"]
        if not isinstance(given, list | tuple) or not given:
            self._wrong("STREAMS", "STREAMS must be a list of dicts")
        ports = [self._read_stream(s) for s in given]
        if len({p["name"] for p in ports}) != len(ports):
            self._wrong("STREAMS", "STREAMS: two streams have the same name")
        if all(p["direction"] == "input" for p in ports):
            self._wrong("STREAMS", "STREAMS: no output stream, so nothing would be checked")
        return ports

    def _read_stream(self, given: Any) -> dict[str, Any]:
        if not isinstance(given, Mapping):
            self._wrong("STREAMS", "STREAMS must be a list of dicts")
        unknown = sorted(str(k) for k in given if k not in _KEYS)
        name, direction = scenario_name(given.get("name")), given.get("direction")
        if unknown:
            self._wrong("STREAMS", f"STREAMS: `{name}`: unknown key {unknown[0]}", f"keys: {', '.join(sorted(_KEYS))}")
        if direction not in ("input", "output"):
            self._wrong("STREAMS", f'STREAMS: `{name}`: direction must be "input" or "output"')
        inputs, outputs = self.design.inputs, self.design.outputs
        forward, back = (inputs, outputs) if direction == "input" else (outputs, inputs)
        data = given.get("data") or []
        data = [data] if isinstance(data, str) else list(data)
        for port in data:
            self._require(port, forward, f"`{name}`: data", direction)
        self._require_bit(given.get("valid"), forward, f"`{name}`: valid", direction)
        if given.get("ready") is not None:
            self._require_bit(given["ready"], back, f"`{name}`: ready", "output" if direction == "input" else "input")
        clock = given.get("clock") or self.design.clock
        if clock is None:
            self._wrong("STREAMS", f"STREAMS: `{name}`: needs a clock")
        if clock != self.design.clock:
            self._require_bit(clock, inputs, f"`{name}`: clock", "input")
        delay = given.get("data_delay") or 0
        if not isinstance(delay, int) or not 0 <= delay <= 64 or (delay and direction == "input"):
            self._wrong("STREAMS", f"STREAMS: `{name}`: data_delay is 0 to 64, and only for outputs")
        return {
            "name": name,
            "direction": direction,
            "data": data,
            "valid": given["valid"],
            "ready": given.get("ready"),
            "clock": clock,
            "data_delay": int(delay),
        }

    def _require(self, port: Any, widths: Mapping[str, int], what: str, direction: str) -> None:
        if not isinstance(port, str) or port not in widths:
            known = ", ".join(widths) or "none"
            self._wrong("STREAMS", f"STREAMS: {what} {port!r} is no {direction} port", f"{direction} ports: {known}")

    def _require_bit(self, port: Any, widths: Mapping[str, int], what: str, direction: str) -> None:
        bare = port.removeprefix("!") if isinstance(port, str) else port
        self._require(bare, widths, what, direction)
        if widths[bare] != 1:
            self._wrong("STREAMS", f"STREAMS: {what} {bare} is {widths[bare]} bits wide, not 1")

    def _wrong(self, at: str, message: str, hint: str = "") -> Any:
        raise self.golden.problem("GOLDEN_PROTOCOL", message, at=at, hint=hint)
