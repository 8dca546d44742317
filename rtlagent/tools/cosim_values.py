"""Values as the simulators print them and as people read them."""

from __future__ import annotations


def decode(digits: str, width: int) -> int | None:
    """Return the value of hex digits, or None if any bit is x or z."""
    try:
        return int(digits, 16) & ((1 << width) - 1)
    except ValueError:
        return None


def shown_expected(value: int, width: int, signed: bool) -> str:
    """Return `-3 (0xfffffffd)`."""
    digits = f"{value:0{-(-width // 4)}x}"
    return f"{to_signed(value, width) if signed else value} (0x{digits})"


def shown_got(digits: str, width: int, signed: bool) -> str:
    """Return the same of hex digits, or `unknown (0xxxxx)` if there are x or z among them."""
    value = decode(digits, width)
    return f"unknown (0x{digits})" if value is None else shown_expected(value, width, signed)


def to_signed(value: int, width: int) -> int:
    """Return a bit pattern's value in two's complement."""
    return value - (1 << width) if value >> (width - 1) & 1 else value
