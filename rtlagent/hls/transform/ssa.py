"""Keep SSA form when a value gets several definitions.

After Braun et al. 2013, "Simple and efficient construction of static single assignment form".

```
a: %x.1 = add 32 %n, 1            a: %x.1 = add 32 %n, 1
   jump c                            jump c
b: jump c        (a copy of a)    b: %x.2 = add 32 %n, 1
                                     jump c
c: use %x.1                       c: %x.3 = phi 32 [a: %x.1, b: %x.2]
                                     use %x.3
```
"""

from __future__ import annotations

from rtlagent.hls.ir import (
    Block,
    Branch,
    Const,
    Function,
    Op,
    Phi,
    Return,
    Switch,
    Terminator,
    Value,
    predecessors,
    replace_uses,
    same_value,
)


def repair(function: Function, definitions: dict[Value, dict[Block, Value]]) -> None:
    """Make every use of a value see the definition that reaches it.

    Args:
        function: Its control flow is final.
        definitions: For each value, the blocks at whose end another (or the same) value stands for it. The block where
            the value itself is defined must be among them. Uses after the definition in its own block stay.
    """
    if not definitions:
        return
    sources = predecessors(function)
    home = homes(function)
    users = uses(function)
    made: list[tuple[Block, Phi]] = []
    for value, at in definitions.items():
        reader = Reader(value, at, sources, made)
        # A phi that was made to stand for the value is there from the start of its block on.
        reader.at_start.update({b: v for b, v in at.items() if isinstance(v, Phi) and v in b.phis})
        reader.rewrite(home.get(value), users.get(value, []))
    remove_trivial_phis(function, [phi for _, phi in made])


class Reader:
    """Finds the definition of one value that reaches a block."""

    def __init__(
        self,
        value: Value,
        definitions: dict[Block, Value],
        sources: dict[Block, list[Block]],
        made: list[tuple[Block, Phi]],
    ) -> None:
        self.value = value
        self.at_end = dict(definitions)
        self.at_start: dict[Block, Value] = {}
        self.sources = sources
        self.made = made

    def end(self, block: Block) -> Value:
        """Return the value at the end of a block."""
        chain: list[Block] = []
        while block not in self.at_end:
            if block in self.at_start:
                self.at_end[block] = self.at_start[block]
                break
            before = self.sources[block]
            if len(before) != 1:
                self.at_end[block] = self.start(block)
                break
            chain.append(block)
            block = before[0]
        found = self.at_end[block]
        for passed in chain:
            self.at_start[passed] = self.at_end[passed] = found
        return found

    def start(self, block: Block) -> Value:
        """Return the value at the start of a block."""
        if block in self.at_start:
            return self.at_start[block]
        before = self.sources[block]
        if not before:
            # Nothing reaches the use: the block cannot be reached or the value is not used there in fact.
            found: Value = Const(0, self.value.width)
        elif len(before) == 1:
            found = self.end(before[0])
        else:
            phi = Phi(self.value.width, name=getattr(self.value, "name", ""), place=getattr(self.value, "place", None))
            self.at_start[block] = phi
            for source in before:
                phi.incoming[source] = self.end(source)
            block.phis.append(phi)
            self.made.append((block, phi))
            return phi
        self.at_start[block] = found
        return found

    def rewrite(self, home: Block | None, users: list[tuple[Block, Op | Phi | None]]) -> None:
        """Replace the value in its users, as `uses` lists them; those in its own block come after it and stay."""
        value = self.value
        for block, user in users:
            if isinstance(user, Phi):
                user.incoming[block] = self.end(block)
            elif block is home:
                continue
            elif isinstance(user, Op):
                here = self.start(block)
                user.args = [here if a is value else a for a in user.args]
                user.predicate = here if user.predicate is value else user.predicate
            else:
                end = block.terminator
                if isinstance(end, Branch):
                    end.condition = self.start(block)
                elif isinstance(end, Switch | Return):
                    end.value = self.start(block)


def remove_trivial_phis(function: Function, candidates: list[Phi] | None = None) -> dict[Value, Value]:
    """Replace phis that have one value only, apart from themselves, and return the replacements.

    Without `candidates` all phis are looked at.
    """
    phis = candidates if candidates is not None else [p for block in function.blocks for p in block.phis]
    replacement: dict[Value, Value] = {}

    def final(value: Value) -> Value:
        while value in replacement:
            value = replacement[value]
        return value

    users: dict[Value, list[Phi]] = {}
    for phi in phis:
        for value in phi.incoming.values():
            users.setdefault(value, []).append(phi)
    work = list(phis)
    while work:
        phi = work.pop()
        if phi in replacement or not phi.incoming:
            continue
        others: list[Value] = []
        for value in map(final, phi.incoming.values()):
            if value is not phi and not any(same_value(value, o) for o in others):
                others.append(value)
        if len(others) == 1:
            replacement[phi] = others[0]
            work.extend(users.get(phi, []))
            users.setdefault(others[0], []).extend(users.get(phi, []))
    if replacement:
        for block in function.blocks:
            block.phis = [p for p in block.phis if p not in replacement]
        replace_uses(function, replacement)
    return replacement


def homes(function: Function) -> dict[Value, Block]:
    """Map each phi and operation to its block."""
    return {v: block for block in function.blocks for v in (*block.phis, *block.ops)}


def uses(function: Function) -> dict[Value, list[tuple[Block, Op | Phi | None]]]:
    """Map each value to its users.

    A user is (block, operation), (source block of the edge, phi) or (block, None) for a terminator.
    """
    result: dict[Value, list[tuple[Block, Op | Phi | None]]] = {}
    for block in function.blocks:
        for phi in block.phis:
            for source, value in phi.incoming.items():
                result.setdefault(value, []).append((source, phi))
        for op in block.ops:
            for value in op.operands():
                result.setdefault(value, []).append((block, op))
        end = block.terminator
        used = condition_of(end)
        if used is not None:
            result.setdefault(used, []).append((block, None))
    return result


def condition_of(end: Terminator) -> Value | None:
    """Return the value that a terminator uses."""
    if isinstance(end, Branch):
        return end.condition
    return end.value if isinstance(end, Switch | Return) else None
