"""`cocotb.binary`: the value class of cocotb 1.x, over cocotb 2's LogicArray; index 0 is the leftmost bit."""

from cocotb.types import LogicArray


class BinaryRepresentation:
    """How a value's bits are read."""

    UNSIGNED = 0
    SIGNED_MAGNITUDE = 1
    TWOS_COMPLEMENT = 2


class BinaryValue(LogicArray):
    """Bits that can be read as text or as a number."""

    def __init__(self, value=None, n_bits=None, bigEndian=True, binaryRepresentation=0, bits=None):
        width = n_bits if n_bits is not None else bits
        if isinstance(value, bytes):
            value = int.from_bytes(value, "big" if bigEndian else "little")
        if value is None:
            value = "x" * (width or 1)
        elif isinstance(value, int):
            width = width or max(value.bit_length(), 1)
            value = format(value & ((1 << width) - 1), f"0{width}b")
        text = str(value).replace("_", "")
        super().__init__(text.rjust(width, "0") if width else text)
        self.big_endian = bigEndian
        self._signed = binaryRepresentation == BinaryRepresentation.TWOS_COMPLEMENT

    @property
    def value(self):
        """The number."""
        return self.to_signed() if self._signed else self.to_unsigned()

    def get_value(self):
        """Return the number."""
        return self.value

    def __getitem__(self, key):
        if isinstance(key, int):
            return BinaryValue(str(self)[key])
        return BinaryValue(str(self)[key.start : None if key.stop is None else key.stop + 1])

    def __str__(self):
        return "".join(
            str(bit) for bit in reversed([super(BinaryValue, self).__getitem__(k) for k in range(len(self))])
        )


__all__ = ["BinaryRepresentation", "BinaryValue"]
