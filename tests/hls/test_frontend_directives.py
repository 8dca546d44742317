"""Pragmas on loops, functions, arrays and ports, after inlining and promotion."""

import pytest
from native_differential import Lowering, assert_as_gcc, lowered

from rtlagent.hls.ir import LoopDirectives, Memory


def loop(found: Lowering, label: str) -> LoopDirectives:
    return next(
        b.directives
        for f in found.module.functions
        for b in f.blocks
        if b.directives is not None and b.directives.label == label
    )


def memory(found: Lowering, name: str) -> Memory:
    return next(m for m in found.module.memories if m.name == name)


def warnings(found: Lowering) -> list[str]:
    return [d.message for d in found.remarks.diagnostics]


def test_directives_of_a_loop() -> None:
    found = assert_as_gcc(
        """
        void f(int a[16], int b[16]) {
            outer: for (int i = 0; i < 4; i++) {
        #pragma HLS loop_flatten off
        #pragma HLS loop_tripcount min=2 max=9
                for (int j = 0; j < 4; j++) {
        #pragma HLS PIPELINE II=2
        #pragma HLS UNROLL FACTOR=2
        #pragma HLS dependence variable=a type=inter dependent=false
        #pragma HLS latency min=3 max=7
                    a[i * 4 + j] += b[j];
                }
            }
            for (int k = 0; k < 16; k++) {
        #pragma HLS pipeline off
                b[k] = 0;
            }
        }
        """
    )
    outer, inner, last = loop(found, "outer"), loop(found, "loop_6"), loop(found, "loop_14")
    assert (outer.flatten, outer.trip_min, outer.trip_max, outer.pipeline_ii) == (False, 2, 9, None)
    assert (inner.pipeline_ii, inner.unroll, inner.independent) == (2, 2, ("a",))
    assert (inner.latency_min, inner.latency_max) == (3, 7)
    assert (last.pipeline_off, last.pipeline_ii) == (True, None)
    assert not warnings(found)


def test_dependence_with_a_direction() -> None:
    found = lowered(
        """\
        void f(int a[16], const int k[16]) {
            for (int i = 0; i < 16; i++) {
        #pragma HLS dependence variable=a inter RAW false
                a[k[i]] += a[i];
            }
            for (int i = 0; i < 16; i++) {
        #pragma HLS dependence type=inter direction=WAR dependent=false
        #pragma HLS dependence variable=a direction=sideways false
                a[k[i]] += a[i];
            }
        }
        """
    )
    assert loop(found, "loop_2").independent == ("a:raw",)
    assert loop(found, "loop_6").independent == ("*:war",)
    (warning,) = warnings(found)
    assert "sideways" in warning


def test_labels_and_places() -> None:
    found = lowered(
        "int f(int n) {\n  int s = 0;\n  sum:\n  while (n > 0) {\n    s += n--;\n  }\n  do s ^= n++; while (n < 5);\n  return s;\n}"
    )
    assert (loop(found, "sum").place.line, loop(found, "loop_7").place.line) == (4, 7)  # type: ignore[union-attr]


def test_a_pragma_of_an_inlined_function_stays_with_it() -> None:
    found = assert_as_gcc(
        """
        static int sum(int v[4]) {
        #pragma HLS pipeline II=1
            int s = 0;
            for (int j = 0; j < 4; j++) s += v[j];
            return s;
        }
        void f(int a[3][4], int out[3]) { for (int i = 0; i < 3; i++) out[i] = sum(a[i]); }
        """
    )
    assert loop(found, "loop_5").unroll == 0
    assert loop(found, "loop_8").pipeline_ii is None
    assert not warnings(found)


def test_directives_of_functions() -> None:
    found = assert_as_gcc(
        """
        static int g(int x) {
        #pragma HLS inline off
        #pragma HLS latency max=9
            return x * x + 1;
        }
        static int h(int x) { return x - 3; }
        int f(int x) {
        #pragma HLS pipeline II=3
        #pragma HLS allocation operation instances=mul limit=1
        #pragma HLS allocation function instances=h limit=1
        #pragma HLS bind_op variable=y op=mul impl=dsp latency=2
            int y = x * 5;
            return g(x) + g(y) + h(x);
        }
        """
    )
    functions = {g.name: g for g in found.module.functions}
    assert set(functions) == {"f", "g", "h"}
    assert functions["g"].latency_max == 9
    assert functions["f"].pipeline_ii == 3
    assert functions["f"].allocation == {"mul": 1, "h": 1}
    assert functions["f"].bind_ops == {"y": ("dsp", 2)}


def test_arrays_are_found_by_name_and_function() -> None:
    found = assert_as_gcc(
        """
        static short table[6] = {1, 2, 3, 4, 5, 6};
        static int g(int x, int v[4]) {
            int buffer[4];
        #pragma HLS array_partition variable=buffer type=cyclic factor=2
        #pragma HLS array_partition variable=v complete
        #pragma HLS bind_storage variable=table type=rom_1p impl=lutram latency=2
            for (int i = 0; i < 4; i++) buffer[i] = v[i] * x + table[i];
            return buffer[x & 3];
        }
        int f(int x, int a[4][3], unsigned char k) {
            int buffer[4], w[4];
        #pragma HLS array_partition variable=a dim=2 type=block factor=3
        #pragma HLS array_partition variable=buffer complete
            for (int i = 0; i < 4; i++) { buffer[i] = a[i][x & 1]; w[i] = i * x; }
            return buffer[k & 3] + g(x, w) + g(k, buffer);
        }
        """
    )
    assert [(p.kind, p.dim) for p in memory(found, "a").partitions] == [("block", 1)]
    # `buffer` of f, which g also partitions as `v`; then the copies of g's own.
    kinds = [sorted({p.kind for p in m.partitions}) for m in found.module.memories if m.name.startswith("buffer")]
    assert sorted(kinds) == [["complete"], ["cyclic"], ["cyclic"]]
    assert [p.kind for p in memory(found, "w").partitions] == ["complete"]
    table = memory(found, "table")
    assert (table.storage, table.storage_latency, table.ports) == ("lutram", 2, 1)
    assert not warnings(found)


def test_fields_of_structures() -> None:
    found = assert_as_gcc(
        """
        struct s { int x[8]; int y[8]; };
        int f(struct s *p, unsigned k) {
        #pragma HLS array_partition variable=p->x complete
            p->y[k & 7] += p->x[k & 3];
            return p->y[1];
        }
        """
    )
    assert len(memory(found, "p_x").partitions) == 1
    assert not memory(found, "p_y").partitions


def test_ports() -> None:
    found = lowered(
        """
        void f(int n, int *out, int data[4]) {
        #pragma HLS interface s_axilite port=return bundle=control
        #pragma HLS interface mode=s_axilite port=n
        #pragma HLS interface ap_memory port=out
        #pragma HLS interface mode=bram port=data
            for (int i = 0; i < 4; i++) { *out += data[i] * n; }
        }
        """
    )
    assert found.module.control == "s_axilite"
    assert found.module.scalar_interfaces == {"n": "s_axilite"}
    assert memory(found, "out").interface == "ap_memory"
    assert memory(found, "data").interface == "ap_memory"
    assert not warnings(found)


@pytest.mark.parametrize(
    ("pragma", "message"),
    [
        ("array_partition variable=b complete", "array_partition is ignored: there is no array 'b'"),
        ("array_partition variable=a type=diagonal", "array_partition is ignored: unknown type diagonal"),
        ("array_partition variable=a cyclic", "array_partition is ignored: cyclic takes a factor of at least 2"),
        ("array_partition variable=a dim=2", "array_partition is ignored: a has 1 dimensions, not 2"),
        ("bind_storage variable=a impl=drum", "bind_storage is ignored: unknown impl drum"),
        ("unroll", "unroll is ignored: it is not inside a loop"),
        ("loop_tripcount max=3", "loop_tripcount is ignored: it is not inside a loop"),
        ("interface m_axi port=a", "interface is ignored: mode m_axi is not supported"),
        ("interface ap_vld port=a", "interface is ignored: ap_vld is for single values; a has 8 elements"),
        ("interface ap_none port=z", "interface is ignored: there is no argument 'z'"),
        ("interface ap_fifo port=return", "interface is ignored: ap_fifo is no control protocol"),
        ("allocation limit=2", "allocation is ignored: it takes instances=NAME and limit=N"),
        (
            "dependence variable=a inter true",
            "dependence is ignored: only `false` says something that is not known already",
        ),
        ("dependence variable=q inter false", "dependence is ignored: there is no array 'q'"),
    ],
)
def test_what_cannot_be_honoured_is_warned_about(pragma: str, message: str) -> None:
    found = lowered(
        f"int f(int a[8], int n) {{\n#pragma HLS {pragma}\nint s = 0; for (int i = 0; i < 8; i++) s += a[i] * n; return s; }}"
    )
    assert warnings(found) == [f"#pragma HLS {message}"]
    assert found.remarks.diagnostics[0].line == 2


def test_what_is_promoted_needs_no_partition() -> None:
    found = lowered(
        "int f(int x) {\n int t[2];\n#pragma HLS array_partition variable=t complete\n t[0] = x; t[1] = x * 2; return t[0] + t[1]; }"
    )
    assert not found.module.memories
    assert not warnings(found)


def test_markers_leave_nothing_behind() -> None:
    plain = "int f(int a[8]) { int s = 0; for (int i = 0; i < 8; i++) {\n s += a[i]; } return s; }"
    with_pragma = plain.replace("{\n", "{\n#pragma HLS pipeline\n")
    ops = [[[op.opcode for op in b.ops] for b in lowered(text).module.top.blocks] for text in (plain, with_pragma)]
    assert ops[0] == ops[1]


def test_pragmas_can_be_left_out() -> None:
    found = lowered(
        "void f(int a[8]) { for (int i = 0; i < 8; i++) {\n#pragma HLS pipeline\n a[i]++; } }", use_pragmas=False
    )
    assert loop(found, "loop_1").pipeline_ii is None


def test_what_a_pipelined_loop_calls_is_inlined() -> None:
    body = " ".join(f"x = x * {k} + (x >> {k % 7 + 1}); x ^= {k * 77};" for k in range(1, 40))
    text = f"static int g(int x) {{ {body} return x; }}\nint f(int a[8]) {{ int s = g(3) + g(4);\nfor (int i = 0; i < 8; i++) {{\n%s s += g(a[i]); }} return s + g(s) + g(s + 1); }}"
    assert [x.name for x in lowered(text % "").module.functions] == ["f", "g"]
    assert [x.name for x in lowered(text % "\n#pragma HLS pipeline\n").module.functions] == ["f"]


def test_shared_functions_of_cpp_have_their_names() -> None:
    found = lowered(
        """
        namespace n { static int g(int x) {
        #pragma HLS inline off
            return x * x; } }
        static int g(short x) {
        #pragma HLS inline off
            return x + 1; }
        int f(int x) { return n::g(x) + g((short)x) + n::g(x + 1) + g((short)3); }
        """,
        language="c++",
    )
    assert [x.name for x in found.module.functions] == ["f", "g_2", "g"]
    assert found.module.functions[1].place is not None
