/*
 * conv2d: valid part of a 3 x 3 convolution (as image processing has it: the kernel is not mirrored).
 * Each pixel is read once. Two line buffers hold what came before; the window slides over them.
 */
#define HEIGHT 16
#define WIDTH 16

typedef unsigned char pixel_t;

void conv2d(const pixel_t image[HEIGHT][WIDTH], const signed char weights[3][3],
            int result[HEIGHT - 2][WIDTH - 2])
{
    pixel_t line[2][WIDTH];
    pixel_t window[3][3];
    signed char weight[3][3];
#pragma HLS array_partition variable=line type=complete dim=1
#pragma HLS array_partition variable=window type=complete dim=0
#pragma HLS array_partition variable=weight type=complete dim=0

load:
    for (int i = 0; i < 9; i++)
        weight[i / 3][i % 3] = weights[i / 3][i % 3];
clear:
    for (int x = 0; x < WIDTH; x++)
        line[0][x] = line[1][x] = 0;
reset:
    for (int i = 0; i < 9; i++)
        window[i / 3][i % 3] = 0;

row:
    for (int y = 0; y < HEIGHT; y++) {
column:
        for (int x = 0; x < WIDTH; x++) {
#pragma HLS pipeline II=1
#pragma HLS loop_flatten
            pixel_t fresh = image[y][x];
            for (int i = 0; i < 3; i++) {
                window[i][0] = window[i][1];
                window[i][1] = window[i][2];
            }
            window[0][2] = line[0][x];
            window[1][2] = line[1][x];
            window[2][2] = fresh;
            line[0][x] = line[1][x];
            line[1][x] = fresh;
            if (y >= 2 && x >= 2) {
                int sum = 0;
                for (int i = 0; i < 3; i++)
                    for (int j = 0; j < 3; j++)
                        sum += window[i][j] * weight[i][j];
                result[y - 2][x - 2] = sum;
            }
        }
    }
}

int main(void)
{
    static const signed char kernels[2][3][3] = {
        {{-128, -128, -128}, {-128, -128, -128}, {-128, -128, -128}},
        {{-1, 0, 5}, {127, -8, 3}, {0, 77, -30}},
    };
    static pixel_t image[HEIGHT][WIDTH];
    static int result[HEIGHT - 2][WIDTH - 2];
    unsigned seed = 7;
    for (int call = 0; call < 2; call++) {
        for (int i = 0; i < HEIGHT * WIDTH; i++) {
            seed = seed * 69069u + 1u;
            image[i / WIDTH][i % WIDTH] = call == 0 ? 255 : (pixel_t)(seed >> 24);
        }
        conv2d((const pixel_t(*)[WIDTH])image, kernels[call], result);
        for (int y = 0; y < HEIGHT - 2; y++)
            for (int x = 0; x < WIDTH - 2; x++) {
                int expected = 0;
                for (int i = 0; i < 9; i++)
                    expected += image[y + i / 3][x + i % 3] * kernels[call][i / 3][i % 3];
                if (result[y][x] != expected)
                    return 1;
            }
    }
    return 0;
}
