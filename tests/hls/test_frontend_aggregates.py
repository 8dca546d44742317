"""Arrays, structures, unions and bit-fields of C as gcc lays them out."""

from native_differential import assert_as_gcc

from rtlagent.hls.ir import MemoryKind


def test_arrays_of_three_dimensions() -> None:
    result = assert_as_gcc(
        """
        int f(short a[2][3][4], int i, int j, int k) {
            int cube[3][4][2]; int s = 0;
            for (int x = 0; x < 2; x++) for (int y = 0; y < 3; y++) for (int z = 0; z < 4; z++) cube[y][z][x] = a[x][y][z] * 3;
            for (int x = 0; x < 2; x++) for (int y = 0; y < 3; y++) for (int z = 0; z < 4; z++) s = s * 5 + cube[y][z][x];
            a[i & 1][j & 1][k & 3] = s;
            return s;
        }
        """
    )
    assert next(m for m in result.module.memories if m.name == "cube").dims == (3, 4, 2)


def test_initialised_tables() -> None:
    result = assert_as_gcc(
        """
        static const unsigned char box[4][4] = {{1, 2, 3, 4}, {5, 6}, {[2] = 9}, {255, 254, 253, 252}};
        static const long long wide[3] = {-1, 1LL << 40, 7};
        static const char text[8] = "hi\\n\\x7f";
        static int state[4] = {[1] = 5, [3] = -7};
        long long f(unsigned i, unsigned j) {
            static const short inner[5] = {-3, 2, 1};
            state[i % 4]++;
            return box[i % 4][j % 4] + wide[j % 3] + text[i % 8] * 256 + inner[j % 5] + state[j % 4];
        }
        """,
        calls=30,
    )
    assert next(m for m in result.module.memories if "state" in m.name).kind is MemoryKind.STATIC


def test_local_arrays_with_initialisers() -> None:
    assert_as_gcc(
        """
        int f(int x) {
            int zero[20] = {0}; int a[5] = {1, x, 3}; char s[6] = "abcd"; int m[2][3] = {{1, 2, 3}, {4, 5, 6}};
            zero[x & 15] = x; a[4] += a[1]; s[0] ^= x; m[1][x & 1] = 0;
            int r = 0;
            for (int i = 0; i < 20; i++) r += zero[i] * i;
            for (int i = 0; i < 5; i++) r = r * 3 + a[i] + s[i] + m[i & 1][i % 3];
            return r;
        }
        """
    )


def test_structures_by_pointer() -> None:
    result = assert_as_gcc(
        """
        struct point { short x; int y; unsigned char tag[3]; };
        int f(struct point *p, struct point q[4]) {
            int s = p->x + p->y;
            for (int i = 0; i < 4; i++) { q[i].x += i; s += q[i].y * q[i].tag[i % 3]; q[i].tag[1] = s; }
            p->y = s; p->tag[2]++;
            return s;
        }
        """.replace("unsigned char tag[3]; };", "unsigned char tag[3]; };"),
        ranges=None,
    )
    assert {"q_x", "q_y", "q_tag"} <= {m.name for m in result.module.memories}


def test_structures_by_value() -> None:
    assert_as_gcc(
        """
        struct pair { int a; short b; }; struct big { int v[6]; char c; };
        static struct pair make(int a, short b) { struct pair r = {a, b}; return r; }
        static struct pair add(struct pair x, struct pair y) { x.a += y.a; x.b = (short)(x.b - y.b); return x; }
        static struct big fill(int k) { struct big r; for (int i = 0; i < 6; i++) r.v[i] = k + i; r.c = (char)k; return r; }
        static int sum(struct big b) { int s = b.c; for (int i = 0; i < 6; i++) s += b.v[i]; b.v[0] = 99; return s; }
        int f(int x, short y) {
            struct pair p = add(make(x, y), make(y, 3)), q = p, arr[3] = {p, q};
            struct big b = fill(x), c = b;
            q.a++; arr[2] = q; arr[y & 1].b = 7; c.v[x & 3] = 5;
            return p.a * 3 + p.b + q.a + arr[2].a + arr[1].b + sum(b) + sum(c) + sum(fill(y));
        }
        """
    )


def test_structures_as_arguments_of_the_top() -> None:
    assert_as_gcc(
        """
        struct s { int a; short b; char c; };
        int f(struct s p[1], int k) { struct s t = p[0]; t.a += k; p[0] = t; return t.a + t.b * t.c; }
        """
    )


def test_nested_structures() -> None:
    assert_as_gcc(
        """
        typedef struct { int x, y; } point; typedef struct { point corner[2]; struct { char r, g, b; } colour; int id; } box;
        static box boxes[3];
        int f(int k, unsigned i) {
            box *b = &boxes[i % 3]; point *p = &b->corner[i & 1];
            p->x += k; p->y -= k; b->colour.g = (char)k; b->id++;
            box copy = *b; boxes[(i + 1) % 3] = copy; boxes[2].corner[0] = boxes[0].corner[1];
            int s = 0;
            for (int j = 0; j < 3; j++) s = s * 7 + boxes[j].corner[0].x + boxes[j].corner[1].y + boxes[j].colour.g + boxes[j].id;
            return s;
        }
        """,
        calls=30,
    )


def test_bit_fields() -> None:
    assert_as_gcc(
        """
        struct flags { unsigned a : 3; int b : 5; unsigned c : 17; signed d : 9; unsigned : 0; unsigned long long e : 40; };
        static struct flags g = {5, -3, 1000, -7, 12345678};
        int f(int x, struct flags *p) {
            struct flags l = g;
            g.a += x; g.b = x >> 3; g.c ^= x; g.d--; g.e = g.e * 3 + x;
            l.b++; l.a = g.c; p->c = l.b; p->a = x; p->d = p->b;
            return g.a + g.b * 8 + g.c + g.d + (int)(g.e >> 7) + l.a + l.b + p->c;
        }
        """,
        calls=30,
    )


def test_packed_structures() -> None:
    assert_as_gcc(
        """
        #pragma pack(push, 1)
        struct p { char a; int b; short c; long long d; };
        #pragma pack(pop)
        static struct p g[3];
        long long f(int x, struct p *q) {
            g[x & 1].b = x; g[x & 1].d += x * 3LL; g[2] = g[0]; g[1].a = (char)x; q->b += q->a; q->d ^= x;
            return g[0].b + g[2].d + g[1].a + q->c;
        }
        """,
        calls=20,
    )


def test_unions_share_their_bytes() -> None:
    assert_as_gcc(
        """
        union u { unsigned w; unsigned short h[2]; unsigned char b[4]; struct { unsigned lo : 12, hi : 20; } f; };
        static union u g[3];
        unsigned f(unsigned x, unsigned i) {
            union u l; l.w = x;
            unsigned char t = l.b[0]; l.b[0] = l.b[3]; l.b[3] = t; l.h[1] ^= 0x55;
            g[i % 3].w = l.w; g[(i + 1) % 3].b[i & 3]++; g[0].f.hi += 5; g[1].h[i & 1] = (unsigned short)x;
            return g[i % 3].w ^ g[0].h[1] ^ l.f.lo ^ g[2].b[1];
        }
        """,
        calls=30,
    )


def test_unions_of_structures() -> None:
    assert_as_gcc(
        """
        typedef union { struct { char kind; int value; } a; struct { char kind; short x, y; } b; long long raw; } item;
        static item items[4];
        long long f(int k, unsigned i) {
            item *p = &items[i % 4];
            if (k & 1) { p->a.kind = 1; p->a.value = k; } else { p->b.kind = 2; p->b.x = (short)k; p->b.y = 3; }
            item c = *p; c.raw++;
            items[(i + 1) % 4] = c;
            return p->a.kind == 1 ? p->a.value : p->b.x + c.b.kind;
        }
        """,
        calls=30,
    )


def test_floats_are_carried_as_bits() -> None:
    assert_as_gcc(
        """
        union pun { float f; unsigned u; };
        unsigned f(unsigned a[3]) {
            union pun p; p.u = a[0]; float t = p.f; union pun q; q.f = t;
            static const float k[2] = {1.5f, -2.0f}; union pun r; r.f = k[a[1] & 1];
            return q.u ^ r.u;
        }
        """
    )


def test_compound_literals_and_designators() -> None:
    assert_as_gcc(
        """
        struct v { int x, y, z; };
        static int norm(struct v a) { return a.x * a.x + a.y * a.y - a.z; }
        static int pick(const int *p, unsigned i) { return p[i % 4]; }
        int f(int a, unsigned i) {
            struct v t = {.z = a, .x = 2};
            t = (struct v){a, .z = 3};
            return norm(t) + norm((struct v){1, a, 2}) + pick((int[]){a, 1, 2, a * 2}, i);
        }
        """
    )


def test_parameters_that_are_arrays_of_structures_with_arrays() -> None:
    assert_as_gcc(
        """
        typedef struct { unsigned char key[4]; unsigned short next; } entry;
        int f(entry table[5], unsigned char key[4]) {
            int at = 0;
            for (int n = 0; n < 5; n++) {
                int same = 1;
                for (int i = 0; i < 4; i++) if ((table[at].key[i] ^ key[i]) & 1) { same = 0; break; }
                if (same) return at;
                at = table[at].next % 5;
            }
            table[at].next = 3;
            return -1;
        }
        """,
        calls=30,
    )


def test_global_structures_as_ports() -> None:
    result = assert_as_gcc(
        """
        struct s { int a; short b[3]; } state; unsigned char table[3][2];
        int f(int i) { state.a += i; state.b[i & 1] = table[i & 1][1]; table[2][0] ^= i; return state.a; }
        int main(void) { state.a = 2; table[0][0] = 1; return f(3); }
        """
    )
    assert {a.name for a in result.arguments if a.is_global} == {"state", "table"}


def test_copies_of_arrays_in_structures() -> None:
    assert_as_gcc(
        """
        struct block { int w[16]; int n; };
        static struct block a, b[2];
        int f(int x) {
            a.w[x & 15] += x; a.n++;
            b[x & 1] = a; struct block t = b[0]; t.w[3]++; b[1].n += t.w[3];
            int s = 0;
            for (int i = 0; i < 16; i++) s = s * 3 + b[0].w[i] + b[1].w[i];
            return s + b[1].n;
        }
        """
    )
