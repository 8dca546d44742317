"""LLVM types and constants, read from their text: llvmlite shows them in no other form.

Sizes and offsets follow the x86_64 data layout.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property


@dataclass(frozen=True)
class IntType:
    """iN; `ptr` is not one."""

    width: int

    @property
    def size(self) -> int:
        """Bytes that it takes in an array."""
        stored = -(-self.width // 8)
        return 1 << (stored - 1).bit_length() if stored <= 8 else -(-stored // 16) * 16

    @property
    def align(self) -> int:
        """Alignment in bytes."""
        return min(self.size, 16)


@dataclass(frozen=True)
class PtrType:
    """A pointer."""

    size: int = 8
    align: int = 8


@dataclass(frozen=True)
class FloatType:
    """float, double, x86_fp80 and the like: only ever carried along, never computed with."""

    name: str

    @property
    def size(self) -> int:
        """Bytes."""
        return {"half": 2, "float": 4, "double": 8}.get(self.name, 16)

    @property
    def align(self) -> int:
        """Alignment in bytes."""
        return self.size


@dataclass(frozen=True)
class ArrayType:
    """[count x element]."""

    count: int
    element: Type

    @cached_property
    def size(self) -> int:
        """Bytes."""
        return self.count * self.element.size

    @cached_property
    def align(self) -> int:
        """Alignment in bytes."""
        return self.element.align


@dataclass(frozen=True)
class StructType:
    """{ ... } or <{ ... }>."""

    fields: tuple[Type, ...]
    packed: bool = False
    is_union: bool = False
    """A C union, of which `fields` are the greatest member and padding."""

    @cached_property
    def align(self) -> int:
        """Alignment in bytes."""
        return 1 if self.packed else max((f.align for f in self.fields), default=1)

    @cached_property
    def offsets(self) -> tuple[int, ...]:
        """Where each field begins, in bytes."""
        found, at = [], 0
        for f in self.fields:
            align = 1 if self.packed else f.align
            at = -(-at // align) * align
            found.append(at)
            at += f.size
        return tuple(found)

    @cached_property
    def size(self) -> int:
        """Bytes, padding at the end included."""
        if not self.fields:
            return 0
        end = self.offsets[-1] + self.fields[-1].size
        return -(-end // self.align) * self.align


@dataclass(frozen=True)
class VoidType:
    """No value."""

    size: int = 0
    align: int = 1


Type = IntType | PtrType | FloatType | ArrayType | StructType | VoidType


@dataclass(frozen=True)
class Address:
    """A constant pointer: a global's name and a byte offset; name empty: null plus offset."""

    name: str
    offset: int = 0


@dataclass
class Image:
    """A constant as it lies in memory: bytes, and where pointers are."""

    data: bytearray
    pointers: dict[int, Address] = field(default_factory=dict)
    """Byte offset -> what the eight bytes there point to."""


class UnreadableTextError(Exception):
    """A construct that this reader does not know."""


_TOKEN = re.compile(
    r'\s*(c"(?:[^"\\]|\\.)*"|[@%]"[^"]*"|[@%][-\w.$]+|<\{|\}>|[\[\]{}()<>,=*]|"[^"]*"|[-+]?\d+\.\d+(?:e[-+]?\d+)?|[-!#]?[\w.$]+)'
)
_TABLE = re.compile(r"\[(\d+) x i(8|16|32|64)\] \[((?:i\d+ -?\d+(?:, )?)+)\]")
_FLAGS = frozenset(
    {"inbounds", "nuw", "nsw", "nusw", "exact", "disjoint", "inrange", "samesign", "dso_local_equivalent"}
)
_FLOATS = frozenset({"half", "bfloat", "float", "double", "x86_fp80", "fp128", "ppc_fp128"})


class Reader:
    """A recursive-descent reader of types and constants."""

    def __init__(self, text: str, named: dict[str, Type]) -> None:
        self._tokens = _tokens(text)
        self._named = named
        self._next: str | None = next(self._tokens, None)

    def peek(self) -> str:
        """Return the next token; empty at the end."""
        return self._next or ""

    def take(self, wanted: str | None = None) -> str:
        """Return the next token and go on.

        Raises:
            UnreadableTextError: it is not `wanted`.
        """
        token = self._next
        if token is None or (wanted is not None and token != wanted):
            raise UnreadableTextError(f"expected {wanted}, found {token}")
        self._next = next(self._tokens, None)
        return token

    def skip_flags(self) -> None:
        """Pass over words such as `inbounds`."""
        while self.peek() in _FLAGS:
            token = self.take()
            if token == "inrange" and self.peek() == "(":
                while self.take() != ")":
                    pass

    def type(self) -> Type:
        """Read a type."""
        token = self.take()
        if re.fullmatch(r"i\d+", token):
            return IntType(int(token[1:]))
        if token == "ptr":
            if self.peek() == "addrspace":
                raise UnreadableTextError("address space")
            return PtrType()
        if token == "void":
            return VoidType()
        if token in _FLOATS:
            return FloatType(token)
        if token == "[":
            count = int(self.take())
            self.take("x")
            element = self.type()
            self.take("]")
            return ArrayType(count, element)
        if token in ("{", "<{"):
            end = "}" if token == "{" else "}>"
            fields = []
            while self.peek() != end:
                fields.append(self.type())
                if self.peek() == ",":
                    self.take()
            self.take(end)
            return StructType(tuple(fields), packed=token == "<{")
        if token.startswith("%"):
            if token not in self._named:
                raise UnreadableTextError(f"type {token}")
            return self._named[token]
        raise UnreadableTextError(f"type {token}")

    def constant(self, kind: Type) -> Image:
        """Read a constant of a type, as bytes in memory."""
        token = self.peek()
        if token in ("zeroinitializer", "undef", "poison", "null", "none"):
            self.take()
            return Image(bytearray(kind.size))
        if isinstance(kind, IntType):
            return self._integer(kind)
        if isinstance(kind, PtrType):
            image = Image(bytearray(8))
            image.pointers[0] = self.address()
            return image
        if isinstance(kind, FloatType):
            return _float(self.take(), kind)
        if isinstance(kind, ArrayType) and token.startswith('c"'):
            self.take()
            return Image(bytearray(_string(token[2:-1])))
        if isinstance(kind, ArrayType | StructType):
            return self._aggregate(kind)
        raise UnreadableTextError(f"constant {token}")

    def _aggregate(self, kind: ArrayType | StructType) -> Image:
        end = {"[": "]", "{": "}", "<{": "}>"}[self.take()]
        image = Image(bytearray(kind.size))
        number = 0
        while self.peek() != end:
            element = self.type()
            at = kind.offsets[number] if isinstance(kind, StructType) else number * kind.element.size
            part = self.constant(element)
            image.data[at : at + len(part.data)] = part.data
            image.pointers |= {at + k: v for k, v in part.pointers.items()}
            number += 1
            if self.peek() == ",":
                self.take()
        self.take(end)
        return image

    def _integer(self, kind: IntType) -> Image:
        token = self.take()
        size = kind.size
        if token in ("true", "false"):
            return Image(bytearray(int(token == "true").to_bytes(size, "little")))
        if token == "ptrtoint":
            self.take("(")
            self.type()
            image = Image(bytearray(size))
            image.pointers[0] = self.address()
            self.take("to")
            self.type()
            self.take(")")
            return image
        if not re.fullmatch(r"-?\d+", token):
            raise UnreadableTextError(f"constant expression {token}")
        return Image(bytearray((int(token) & ((1 << (8 * size)) - 1)).to_bytes(size, "little")))

    def address(self) -> Address:
        """Read a constant pointer."""
        token = self.take()
        if token in ("null", "undef", "poison", "zeroinitializer"):
            return Address("")
        if token.startswith("@"):
            return Address(token[1:].strip('"'))
        if token in ("getelementptr", "bitcast", "addrspacecast", "inttoptr"):
            return self._address_expression(token)
        raise UnreadableTextError(f"pointer constant {token}")

    def _address_expression(self, operation: str) -> Address:
        self.skip_flags()
        self.take("(")
        if operation == "inttoptr":
            kind = self.type()
            image = self.constant(kind)
            self.take("to")
            self.type()
            self.take(")")
            return image.pointers.get(0, Address("", int.from_bytes(image.data, "little")))
        if operation != "getelementptr":
            self.type()
            found = self.address()
            self.take("to")
            self.type()
            self.take(")")
            return found
        source = self.type()
        self.take(",")
        self.type()
        base = self.address()
        indices = []
        while self.peek() == ",":
            self.take()
            self.skip_flags()
            kind = self.type()
            assert isinstance(kind, IntType)
            indices.append(_signed(int.from_bytes(self.constant(kind).data, "little"), kind.size * 8))
        self.take(")")
        return Address(base.name, base.offset + constant_offset(source, indices))


def constant_offset(source: Type, indices: list[int]) -> int:
    """Return the bytes that constant getelementptr indices add."""
    offset = indices[0] * source.size
    kind = source
    for index in indices[1:]:
        if isinstance(kind, StructType):
            offset += kind.offsets[index]
            kind = kind.fields[index]
        elif isinstance(kind, ArrayType):
            kind = kind.element
            offset += index * kind.size
        else:
            raise UnreadableTextError("index into a scalar")
    return offset


def _tokens(text: str) -> Iterator[str]:
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if not found:
            if text[at:].strip():
                raise UnreadableTextError(f"text {text[at : at + 20]!r}")
            return
        at = found.end()
        yield found[1]


def _string(body: str) -> bytes:
    out = bytearray()
    at = 0
    while at < len(body):
        if body[at : at + 2] == "\\\\":
            out += b"\\"
            at += 2
        elif body[at] == "\\":
            out.append(int(body[at + 1 : at + 3], 16))
            at += 3
        else:
            out += body[at].encode()
            at += 1
    return bytes(out)


def _float(token: str, kind: FloatType) -> Image:
    if token.startswith("0x") and kind.name in ("float", "double"):
        bits = int(token[2:], 16)
        value = struct.unpack("<d", bits.to_bytes(8, "little"))[0]
    elif kind.name in ("float", "double"):
        value = float(token)
    else:
        return Image(bytearray(kind.size))
    return Image(bytearray(struct.pack("<f" if kind.name == "float" else "<d", value)))


def _signed(value: int, width: int) -> int:
    return value - (1 << width) if value >> (width - 1) & 1 else value


def read_constant(text: str, named: dict[str, Type]) -> tuple[Type, Image | None]:
    """Read a type and the constant behind it; None if there is none.

    Raises:
        UnreadableTextError: something in it is not known.
    """
    table = _TABLE.fullmatch(text)
    if table:
        kind = ArrayType(int(table[1]), IntType(int(table[2])))
        size = kind.element.size
        mask = (1 << 8 * size) - 1
        values = (int(v) & mask for v in re.findall(r" (-?\d+)", table[3]))
        return kind, Image(bytearray(b"".join(v.to_bytes(size, "little") for v in values)))
    reader = Reader(text, named)
    other = reader.type()
    return other, reader.constant(other) if reader.peek() else None


def read_named_types(module_text: str) -> dict[str, Type]:
    """Read the module's `%name = type ...` lines; opaque types are left out."""
    lines = dict(re.findall(r'^(%(?:"[^"]*"|[-\w.$]+)) = type (.*)$', module_text, re.M))
    named: dict[str, Type] = {}
    pending = {k: v for k, v in lines.items() if v != "opaque"}
    while pending:
        solved = []
        for name, text in pending.items():
            try:
                kind = Reader(text, named).type()
            except UnreadableTextError:
                continue
            if isinstance(kind, StructType) and name.startswith(("%union.", '%"union.')):
                kind = replace(kind, is_union=True)
            named[name] = kind
            solved.append(name)
        if not solved:
            break
        for name in solved:
            del pending[name]
    return named
