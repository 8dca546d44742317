/* call_tree: a 6 x 6 picture; numbers have 10 fraction bits. Returns how many pixels see the sphere. */
#define SIZE 6
#define BITS 10
#define ONE (1 << BITS)

typedef struct {
    int x, y, z;
} vector;

typedef struct {
    int hit;
    int distance;
} crossing;

static int multiply(int a, int b)
{
#pragma HLS inline off
    return (int)(((long long)a * b) >> BITS);
}

static vector add(vector a, vector b)
{
    vector sum = {a.x + b.x, a.y + b.y, a.z + b.z};
    return sum;
}

static vector scale(vector a, int factor)
{
    vector scaled = {multiply(a.x, factor), multiply(a.y, factor), multiply(a.z, factor)};
    return scaled;
}

static vector minus(vector a, vector b)
{
    return add(a, scale(b, -ONE));
}

static int dot(vector a, vector b)
{
    return multiply(a.x, b.x) + multiply(a.y, b.y) + multiply(a.z, b.z);
}

/* The root of a number with 10 fraction bits, bit by bit. */
static int root(int number)
{
#pragma HLS inline off
    unsigned rest = (unsigned)number << BITS, result = 0;
    for (unsigned bit = 1u << 30; bit != 0; bit >>= 2) {
        if (rest >= result + bit) {
            rest -= result + bit;
            result = (result >> 1) + bit;
        } else {
            result >>= 1;
        }
    }
    return (int)result;
}

static vector unit(vector v)
{
    int length = root(dot(v, v));
    vector direction = {0, 0, 0};
    if (length != 0) {
        direction.x = v.x * ONE / length;
        direction.y = v.y * ONE / length;
        direction.z = v.z * ONE / length;
    }
    return direction;
}

static crossing meet(vector origin, vector direction, vector centre, int radius)
{
    vector to_centre = minus(centre, origin);
    int along = dot(to_centre, direction);
    int square = multiply(radius, radius) - (dot(to_centre, to_centre) - multiply(along, along));
    crossing none = {0, 0};
    if (square < 0)
        return none;
    return (crossing){1, along - root(square)};
}

static int shade(vector point, vector centre, vector light)
{
    int brightness = dot(unit(minus(point, centre)), unit(minus(light, point)));
    return brightness < 0 ? 0 : brightness > ONE ? 255 : brightness * 255 / ONE;
}

static int trace(int px, int py, vector centre, vector light)
{
    vector eye = {0, 0, -4 * ONE};
    vector through = {(2 * px - SIZE + 1) * ONE / SIZE, (2 * py - SIZE + 1) * ONE / SIZE, 0};
    vector direction = unit(minus(through, eye));
    crossing c = meet(eye, direction, centre, ONE);
    if (!c.hit)
        return -1;
    return shade(add(eye, scale(direction, c.distance)), centre, light);
}

int call_tree(int centre_x, int light_y, unsigned char picture[SIZE][SIZE])
{
    vector centre = {centre_x, 0, ONE}, light = {3 * ONE, light_y, -3 * ONE};
    int seen = 0;
row:
    for (int y = 0; y < SIZE; y++) {
pixel:
        for (int x = 0; x < SIZE; x++) {
            int value = trace(x, y, centre, light);
            picture[y][x] = (unsigned char)(value < 0 ? 16 : value);
            seen += value >= 0;
        }
    }
    return seen;
}

static long long product(long long a, long long b)
{
    long long p = a * b;
    return p >= 0 ? p / ONE : -((-p + ONE - 1) / ONE);
}

static long long square_root(long long number)
{
    long long r = 0;
    while ((r + 1) * (r + 1) <= number * ONE)
        r++;
    return r;
}

/* The same numbers, flat, with arrays for vectors. */
static int flat(int x, int y, int centre_x, int light_y)
{
    long long eye[3] = {0, 0, -4 * ONE}, centre[3] = {centre_x, 0, ONE}, light[3] = {3 * ONE, light_y, -3 * ONE};
    long long way[3] = {(2 * x - SIZE + 1) * ONE / SIZE, (2 * y - SIZE + 1) * ONE / SIZE, 4 * ONE};
    long long length = 0, along = 0, far = 0, n[3], l[3], n_length = 0, l_length = 0, brightness = 0;
    for (int i = 0; i < 3; i++)
        length += product(way[i], way[i]);
    length = square_root(length);
    for (int i = 0; i < 3; i++) {
        way[i] = way[i] * ONE / length;
        along += product(centre[i] - eye[i], way[i]);
        far += product(centre[i] - eye[i], centre[i] - eye[i]);
    }
    long long square = ONE - far + product(along, along);
    if (square < 0)
        return -1;
    long long distance = along - square_root(square);
    for (int i = 0; i < 3; i++) {
        long long point = eye[i] + product(way[i], distance);
        n[i] = point - centre[i];
        l[i] = light[i] - point;
        n_length += product(n[i], n[i]);
        l_length += product(l[i], l[i]);
    }
    n_length = square_root(n_length);
    l_length = square_root(l_length);
    for (int i = 0; i < 3; i++)
        brightness += product(n_length ? n[i] * ONE / n_length : 0, l_length ? l[i] * ONE / l_length : 0);
    return brightness < 0 ? 0 : brightness > ONE ? 255 : (int)(brightness * 255 / ONE);
}

int main(void)
{
    static const int centres[2] = {0, -ONE / 3}, lights[2] = {2 * ONE, -5 * ONE};
    for (int call = 0; call < 2; call++) {
        unsigned char picture[SIZE][SIZE] = {{0}};
        int seen = call_tree(centres[call], lights[call], picture);
        if (seen == 0 || seen == SIZE * SIZE)
            return 1;
        for (int i = 0; i < SIZE * SIZE; i++) {
            int expected = flat(i % SIZE, i / SIZE, centres[call], lights[call]);
            seen -= expected >= 0;
            if (picture[i / SIZE][i % SIZE] != (expected < 0 ? 16 : expected))
                return 2;
        }
        if (seen != 0)
            return 3;
    }
    return 0;
}
