"""Split products: whatever the operands, the shifted parts add up to the product."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rtlagent.hls.schedule.multiplier import Limb, partial_products


def read(value: int, limb: Limb) -> int:
    field = value >> limb.low & ((1 << limb.width) - 1)
    return field - (1 << limb.width) if limb.signed and field >> (limb.width - 1) else field


@given(st.data())
def test_the_parts_add_up_and_fit(data: st.DataObject) -> None:
    width = data.draw(st.integers(2, 130))
    limb = data.draw(st.sampled_from([4, 7, 17]))
    bits = (data.draw(st.integers(2, width)), data.draw(st.integers(2, width)))
    left, right = (data.draw(st.integers(-(1 << (b - 1)), (1 << (b - 1)) - 1)) for b in bits)
    total = 0
    for part in partial_products(width, limb, bits):
        product = read(left, part.left) * read(right, part.right)
        if part.left.signed or part.right.signed:
            assert -(1 << (part.width - 1)) <= product < 1 << (part.width - 1)
        else:
            assert 0 <= product < 1 << part.width
        total += product << part.shift
    assert (total - left * right) % (1 << width) == 0


def test_a_32_by_32_bit_product_takes_four_blocks_of_18_bits() -> None:
    parts = partial_products(64, 17, (32, 32))
    assert [(p.left.width, p.right.width) for p in parts] == [(17, 17), (17, 15), (15, 17), (15, 15)]
    assert len(partial_products(64, 17)) == 10  # nothing known of the operands
    assert len(partial_products(32, 17, (18, 18))) == 1
