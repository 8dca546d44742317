"""C objects: globals, variables of functions that have an address, and what arguments point to.

Each scalar of an object's layout becomes one memory; the arrays around it are the memory's dimensions.

```
struct { short x; int y[4]; } s[8];   ->   memory s_x 16 [8],  memory s_y 32 [8][4]
```
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from rtlagent.hls.frontend.layout import Array, Node, Record, Scalar, node_of
from rtlagent.hls.frontend.llvm_text import Address, Image, StructType, Type
from rtlagent.hls.ir import Memory, MemoryKind, Place

Encode = Callable[[Address], int]
"""A constant pointer as it is stored."""


@dataclass(eq=False)
class Object:
    """Something with an address."""

    name: str
    type: Type
    kind: MemoryKind
    number: int
    """Its tag in pointers; from 1."""
    image: Image | None = None
    place: Place | None = None
    argument: str = ""
    """The argument or global that a PARAM stands for."""
    signed: bool = False
    debug_type: int | None = None
    """Metadata number of its C type."""
    c_name: str = ""
    """In the source; empty if it has none."""
    function: str = ""
    """C name of the function whose variable it is."""
    assumed: bool = False
    """How many elements it has is not known: one."""
    tree: Node = field(init=False)
    memories: dict[int, Memory] = field(default_factory=dict)
    """Key of a scalar -> memory."""

    def __post_init__(self) -> None:
        self.tree = node_of(self.type)

    @property
    def size(self) -> int:
        """Bytes."""
        return self.type.size

    @property
    def is_place(self) -> bool:
        """False for what null pointers and numbers point to."""
        return self.number > 0

    def __repr__(self) -> str:
        return self.name


NULL = Object("null", StructType(()), MemoryKind.LOCAL, 0)
"""What a null pointer points to."""
NUMBER = Object("number", StructType(()), MemoryKind.LOCAL, 0)
"""What a pointer made of a number points to."""


@dataclass(frozen=True)
class Leaf:
    """A scalar of an object and the arrays around it."""

    key: int
    scalar: Scalar
    counts: tuple[int, ...]
    strides: tuple[int, ...]


def leaf_of(thing: Object, key: int) -> Leaf:
    """Return the scalar with a key."""
    node, rest = thing.tree, key
    counts: list[int] = []
    strides: list[int] = []
    while not isinstance(node, Scalar):
        if isinstance(node, Array):
            if node.count > 1:
                counts.append(node.count)
                strides.append(node.element.size)
            node = node.element
        else:
            offset, node = _field_with(node, rest)
            rest -= offset
    return Leaf(key, node, tuple(counts), tuple(strides))


def _field_with(node: Record, at: int) -> tuple[int, Node]:
    return next((offset, part) for offset, part in node.fields if offset <= at < offset + part.size)


def make_memory(thing: Object, key: int, *, name: str, width: int, encode: Encode, path: tuple[str, ...]) -> Memory:
    """Make the memory of a scalar.

    Args:
        thing: The object.
        key: Of the scalar.
        name: The memory's.
        width: Of an element.
        encode: For pointers in the initial value.
        path: C names of the fields that lead there.
    """
    leaf = leaf_of(thing, key)
    outside = thing.kind is MemoryKind.PARAM
    # A scalar is an array of one element.
    counts, strides = leaf.counts or (1,), leaf.strides or (leaf.scalar.size,)
    return Memory(
        name,
        width,
        counts,
        thing.kind,
        init=_elements(thing, leaf, width, encode),
        signed=thing.signed,
        place=thing.place,
        argument=thing.argument,
        field_path=path,
        byte_offset=key if outside else 0,
        byte_strides=strides if outside else (),
    )


def _elements(thing: Object, leaf: Leaf, width: int, encode: Encode) -> tuple[int, ...] | None:
    if thing.image is None:
        return None
    data, pointers = thing.image.data, thing.image.pointers
    places = [leaf.key]
    for count, stride in zip(leaf.counts, leaf.strides, strict=True):
        places = [p + stride * i for p in places for i in range(count)]
    mask = (1 << width) - 1
    size = leaf.scalar.size
    if leaf.scalar.is_pointer:
        return tuple(encode(pointers.get(p, Address(""))) & mask for p in places)
    if pointers:
        data = bytearray(data)
        for at, address in pointers.items():
            data[at : at + 8] = encode(address).to_bytes(8, "little")
    return tuple(int.from_bytes(data[p : p + size], "little") & mask for p in places)
