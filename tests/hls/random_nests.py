"""Random loop nests over arrays, with random directives, as the front end would make them."""

import random
from dataclasses import dataclass, field


@dataclass
class _Writer:
    rng: random.Random
    lines: list[str] = field(default_factory=list)
    count: int = 0
    counters: list[str] = field(default_factory=list)
    """Induction variables in scope, each below 8."""
    scalars: list[str] = field(default_factory=list)
    """Values in scope."""
    block: str = "entry"

    def name(self, prefix: str) -> str:
        self.count += 1
        return f"%{prefix}{self.count}"

    def put(self, text: str) -> None:
        self.lines.append(f"  {text}")

    def start(self, block: str, note: str = "") -> None:
        self.lines.append(f"{block}:{note}")
        self.block = block

    def value(self, opcode: str, *operands: str, width: int = 32) -> str:
        result = self.name("v")
        self.put(f"{result} = {opcode} {width} {', '.join(operands)}")
        return result

    def scalar(self) -> str:
        return self.rng.choice([*self.scalars[-6:], *self.counters, f"{self.rng.randint(-3, 20)}:32"])

    def subscript(self) -> str:
        """An index below 32: linear in the counters, or computed from data."""
        rng = self.rng
        kind = rng.random()
        if not self.counters or kind < 0.12:
            return str(rng.randrange(32))
        if kind < 0.25:
            return self.value("and", self.scalar(), "31")
        index = rng.choice(self.counters)
        if rng.random() < 0.3:
            index = self.value("shl", index, "1:32")
        if rng.random() < 0.5:
            index = self.value("add", index, str(rng.randint(0, 9)))
        if rng.random() < 0.3:
            index = self.value("add", index, rng.choice(self.counters))
        return self.value("sext", index, width=64) if rng.random() < 0.4 else index


def random_nest(seed: int) -> str:
    """Return the text of a module with a few nests one after another."""
    rng = random.Random(seed)
    w = _Writer(rng)
    w.scalars = ["%x", "%y"]
    memories = [
        _memory("a", "param", rng),
        _memory("b", "param", rng),
        _memory("l", "static init=[" + ",".join(str(n * 7 % 13) for n in range(40)) + "]", rng),
    ]
    w.start("entry")
    w.put("%z = and 32 %x, 7")
    for n in range(rng.randint(1, 2)):
        _loop(w, rng.randint(1, 3), f"n{n}")
    w.put(f"return {w.scalar() if w.scalars else 0}")
    body = "\n".join(w.lines)
    return "module top=f\n" + "\n".join(memories) + "\nfunction f(%x 32, %y 32) 32 {\n" + body + "\n}\n"


def _memory(name: str, kind: str, rng: random.Random) -> str:
    partition = rng.choice(["", "", '[[0,"cyclic",2]]', '[[0,"cyclic",3]]', '[[0,"block",4]]', '[[0,"complete",0]]'])
    return f"memory {name} 32 [40] {kind}" + (f" partitions={partition}" if partition and rng.random() < 0.4 else "")


def _directives(rng: random.Random, label: str) -> str:
    result = f' label="{label}"'
    if rng.random() < 0.25:
        result += f" unroll={rng.choice([0, 2, 3, 4])}"
    if rng.random() < 0.2:
        result += " pipeline_ii=1"
    if rng.random() < 0.1:
        result += rng.choice([" pipeline_off", " flatten=false", " flatten"])
    return result


def _loop(w: _Writer, depth: int, label: str) -> None:
    """A while loop with its test at the top, one or two carried values, and perhaps a second exit."""
    rng = w.rng
    before = w.block
    head, body, done = f"{label}_head", f"{label}_body", f"{label}_done"
    i, s = w.name("i"), w.name("s")
    step = rng.choice([1, 1, 1, 2])
    first = rng.choice(["0", "0", "1", w.counters[-1] if w.counters else "0"])
    bound = rng.choice([str(rng.randint(1, 8)), str(rng.randint(1, 8)), "%z"])
    carried = w.scalar()
    w.put(f"jump {head}")
    at = len(w.lines)
    w.start(head, _directives(rng, label))
    test = w.value(rng.choice(["slt", "ult"]), i, bound, width=1)
    w.put(f"branch {test}, {body}, {done}")
    w.start(body)
    outer = list(w.scalars)
    w.counters.append(i)
    w.scalars.append(s)
    leave = ""
    for n in range(rng.randint(1, 4)):
        kind = rng.random()
        if depth > 1 and (kind < 0.35 or n == 0):
            _loop(w, depth - 1, f"{label}_{n}")
        elif kind < 0.5:
            _condition(w, f"{label}_{n}")
        elif kind < 0.56 and not leave:
            leave = w.block
            test = w.value("eq", w.scalar(), f"{rng.randint(0, 3)}:32", width=1)
            w.put(f"branch {test}, {done}, {label}_{n}_on")
            w.start(f"{label}_{n}_on")
        else:
            _statement(w)
    following = w.value(rng.choice(["add", "add", "xor", "mul", "sub"]), s, w.scalar())
    after = w.value("add", i, str(step))
    w.put(f"jump {head}")
    last = w.block
    w.lines[at + 1 : at + 1] = [
        f"  {i} = phi 32 [{before}: {first}, {last}: {after}]",
        f"  {s} = phi 32 [{before}: {carried}, {last}: {following}]",
    ]
    w.start(done)
    w.counters.pop()
    w.scalars = [*outer, s]


def _condition(w: _Writer, label: str) -> None:
    rng = w.rng
    test = w.value(rng.choice(["slt", "ne", "ule"]), w.scalar(), w.scalar() if rng.random() < 0.5 else "5:32", width=1)
    before = w.block
    other = w.scalar()
    w.put(f"branch {test}, {label}_then, {label}_join")
    w.start(f"{label}_then")
    outer = list(w.scalars)
    for _ in range(rng.randint(1, 2)):
        _statement(w)
    result, chosen = w.scalar(), w.name("p")
    w.put(f"jump {label}_join")
    last = w.block
    w.scalars = outer
    w.start(f"{label}_join")
    w.put(f"{chosen} = phi 32 [{before}: {other}, {last}: {result}]")
    w.scalars.append(chosen)


def _statement(w: _Writer) -> None:
    rng = w.rng
    place = f"{rng.choice('aabbl')}[{w.subscript()}]"
    kind = rng.random()
    if kind < 0.4:
        loaded = w.name("m")
        w.put(f"{loaded} = load 32 {place}")
        w.scalars.append(loaded)
    elif kind < 0.6:
        w.put(f"store {place} = {w.scalar()}")
    elif kind < 0.8:
        loaded = w.name("m")
        w.put(f"{loaded} = load 32 {place}")
        total = w.value(rng.choice(["add", "xor", "sub"]), loaded, w.scalar())
        w.put(f"store {place} = {total}")
        w.scalars.append(total)
    else:
        w.scalars.append(w.value(rng.choice(["add", "sub", "mul", "and", "or", "ashr"]), w.scalar(), w.scalar()))
