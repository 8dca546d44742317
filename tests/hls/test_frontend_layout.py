"""Layouts of objects: what accesses make of a C type."""

from native_differential import lowered

from rtlagent.hls.frontend.copies import Loop, Move, Side, plan
from rtlagent.hls.frontend.layout import Array, Conflict, Record, Scalar, Spot, changed, locate, pieces
from rtlagent.hls.frontend.llvm_text import ArrayType, IntType, StructType
from rtlagent.hls.frontend.merge import merged
from rtlagent.hls.frontend.objects import Object
from rtlagent.hls.frontend.reach import Kind, Reach, Stride, join
from rtlagent.hls.ir import MemoryKind

INT, BYTE = Scalar(4, 32), Scalar(1, 8)
MATRIX = Array(4, Array(6, INT))
RECORDS = Array(8, Record(((0, INT), (4, Array(4, INT))), 20))


def settled(root, reach: Reach, size: int = 4):
    while True:
        try:
            return root, list(pieces(root, reach, size))
        except Conflict as conflict:
            root = changed(root, conflict)


def walk(size: int) -> Stride:
    return Stride(size, Kind.WALK)


def typed(size: int, count: int) -> Stride:
    return Stride(size, Kind.TYPED, size * count)


def test_subscripts_stay_dimensions() -> None:
    reach = Reach().with_stride(typed(24, 4)).with_stride(typed(4, 6))
    spot = locate(MATRIX, reach)
    assert isinstance(spot, Spot)
    assert [(level.stride, level.count, level.index) for level in spot.levels] == [(24, 4, 0), (4, 6, 0)]


def test_constant_subscripts_between_others() -> None:
    cube = Array(2, Array(3, Array(4, INT)))
    spot = locate(cube, Reach(32).with_stride(typed(48, 2)).with_stride(typed(4, 4)))
    assert isinstance(spot, Spot)
    assert [level.index for level in spot.levels] == [0, 2, 0]


def test_a_row_stays_a_row_where_the_walk_is_bounded() -> None:
    row = Reach().with_stride(typed(24, 4))
    assert settled(MATRIX, row.with_stride(typed(4, 6)))[0] == MATRIX
    assert settled(MATRIX, row.with_stride(walk(4)))[0] == Array(24, INT)
    assert settled(MATRIX, Reach().with_stride(walk(4)))[0] == Array(24, INT)
    bounded = Reach().with_stride(typed(4, 6))
    assert settled(MATRIX, bounded)[0] == MATRIX
    assert settled(MATRIX, Reach().with_stride(typed(4, 7)))[0] == Array(24, INT)


def test_neighbours_of_an_indexed_element_may_be_in_another_row() -> None:
    here = Reach().with_stride(typed(24, 4)).with_stride(typed(4, 6))
    assert settled(MATRIX, here.walked(-24))[0] == Array(24, INT)


def test_fields_of_records_are_scalars_of_their_own() -> None:
    spot = locate(RECORDS, Reach().with_stride(walk(20)).field(4, 16).with_stride(typed(4, 4)))
    assert isinstance(spot, Spot)
    assert (spot.key, len(spot.levels)) == (4, 2)
    assert settled(RECORDS, Reach().with_stride(walk(4)))[0] == Array(40, INT)


def test_a_constant_part_of_a_scalar_needs_no_change() -> None:
    root, parts = settled(INT, Reach(2), 1)
    assert root == INT
    assert parts[0].spot is not None and parts[0].spot.within == 2
    assert settled(INT, Reach().with_stride(typed(1, 4)), 1)[0] == Array(4, BYTE)


def test_an_access_of_several_scalars_is_split() -> None:
    _, parts = settled(Record(((0, BYTE), (1, BYTE), (4, INT)), 8), Reach(), 8)
    assert [(p.at, p.size, p.spot is not None) for p in parts] == [
        (0, 1, True),
        (1, 1, True),
        (2, 2, False),
        (4, 4, True),
    ]


def test_padding_of_a_union_is_data() -> None:
    union = Record(((0, Record(((0, BYTE), (4, INT)), 8)),), 8, is_union=True)
    root, parts = settled(union, Reach(), 8)
    assert sum(p.size for p in parts if p.spot is not None) == 8
    assert root != union


def test_what_is_accessed_together_is_merged() -> None:
    record = Record(((0, BYTE), (1, BYTE), (2, Array(2, BYTE)), (4, INT)), 8)
    assert merged(record, [(Reach(), 4), (Reach(4), 4)]) == Record(((0, Scalar(4, 32)), (4, INT)), 8)
    assert merged(record, [(Reach(), 4), (Reach(1), 1)]) == record
    assert merged(Array(3, record), [(Reach().with_stride(walk(8)), 8)]) == Array(3, Record(((0, Scalar(8, 64)),), 8))


def test_moving_pointers_have_one_stride() -> None:
    up = Reach(8)
    for _ in range(3):
        up = join(up, up.moved(12))
    assert up == Reach(8, (Stride(12, Kind.DYNAMIC),))
    down = join(Reach(36), Reach(36).moved(-4))
    assert down == Reach(0, (Stride(4, Kind.DYNAMIC),))
    assert join(Reach(4), Reach(4)) == Reach(4)


def test_copies_follow_the_coarser_layout() -> None:
    words = Object("w", ArrayType(16, IntType(32)), MemoryKind.LOCAL, 1)
    raw = Object("b", ArrayType(64, IntType(8)), MemoryKind.LOCAL, 2)
    assert plan([Side(words, Reach()), Side(raw, Reach())], 64) == tuple(Move(4 * k, 4) for k in range(16))
    more = Object("m", ArrayType(100, IntType(32)), MemoryKind.LOCAL, 3)
    assert plan([Side(more, Reach())], 400) == (Loop(100, 4, (Move(0, 4),)),)
    assert plan([Side(words, Reach(8)), Side(raw, Reach(3))], 9) == (Move(0, 4), Move(4, 4), Move(8, 1))
    pair = StructType((IntType(16), IntType(32)))
    structs = Object("s", ArrayType(9, pair), MemoryKind.LOCAL, 4)
    assert plan([Side(structs, Reach())], 72) == (Loop(9, 8, (Move(0, 2), Move(4, 4))),)
    assert plan([Side(words, Reach())], None, factor=8) == (Loop(None, 4, (Move(0, 4),)),)
    assert plan([Side(words, Reach())], None) == (Loop(None, 1, (Move(0, 1),)),)


def test_pointers_that_lead_to_one_place_cost_nothing() -> None:
    found = lowered("static int x; int f(int k) { int *p = &x, **pp = &p; if (k) pp = &p; **pp += k; return *p; }")
    assert [(m.name, m.dims) for m in found.module.memories] == [("x", (1,))]


def test_pointers_into_one_array_are_indices() -> None:
    found = lowered(
        "struct n { int v; struct n *next; }; static struct n pool[10], *head;\n"
        "int f(int k) { struct n *n = &pool[k % 10u]; n->v = k; n->next = n == pool ? n : &pool[0]; head = n;"
        " return head->next->v; }"
    )
    widths = {m.name: m.width for m in found.module.memories}
    # An index of up to ten, its sign and one past the end; `head` can be null too.
    assert widths["pool_v"] == 32
    assert widths["pool_next"] < 16
