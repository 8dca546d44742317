/* particles: one time step in 1/16 pixel units; returns totals of the step as a struct through a pointer. */
#include <stdint.h>

#define COUNT 12
#define BOX 4096
#define GRAVITY 5

typedef struct {
    int16_t position, velocity;
} axis_t;

typedef struct {
    axis_t x, y;
    uint8_t alive : 1;
    uint8_t kind : 3;
    uint16_t bounces;
} particle_t;

typedef struct {
    int32_t momentum_x, momentum_y;
    uint32_t energy;
    uint8_t living;
} totals_t;

typedef struct {
    axis_t axis;
    _Bool bounced;
} moved_t;

static moved_t move(axis_t axis, int push, int drag)
{
    moved_t result = {axis, 0};
    int velocity = axis.velocity + push;
    velocity -= (velocity * drag) >> 8;
    int position = axis.position + velocity;
    if (position < 0) {
        position = -position;
        velocity = -velocity;
        result.bounced = 1;
    } else if (position >= BOX) {
        position = 2 * (BOX - 1) - position;
        velocity = -velocity;
        result.bounced = 1;
    }
    result.axis.position = (int16_t)position;
    result.axis.velocity = (int16_t)velocity;
    return result;
}

void particles(particle_t particle[COUNT], int wind, totals_t *totals)
{
    totals_t sum = {0, 0, 0, 0};
each:
    for (int i = 0; i < COUNT; i++) {
#pragma HLS pipeline
        particle_t p = particle[i];
        if (!p.alive)
            continue;
        int drag = p.kind;
        moved_t x = move(p.x, wind >> p.kind, drag);
        moved_t y = move(p.y, GRAVITY, drag);
        p.x = x.axis;
        p.y = y.axis;
        p.bounces += x.bounced + y.bounced;
        if (p.bounces > 1)
            p.alive = 0;
        particle[i] = p;
        sum.momentum_x += p.x.velocity;
        sum.momentum_y += p.y.velocity;
        sum.energy += (uint32_t)(p.x.velocity * p.x.velocity + p.y.velocity * p.y.velocity) >> 1;
        sum.living += p.alive;
    }
    *totals = sum;
}

int main(void)
{
    particle_t particle[COUNT] = {0};
    int px[COUNT], py[COUNT], vx[COUNT], vy[COUNT], bounces[COUNT], alive[COUNT];
    uint32_t seed = 20;
    for (int i = 0; i < COUNT; i++) {
        seed = seed * 1664525u + 1013904223u;
        particle[i].x.position = (int16_t)(px[i] = (int)(seed >> 20));
        particle[i].y.position = (int16_t)(py[i] = (int)(seed >> 8 & 0xfff));
        particle[i].x.velocity = (int16_t)(vx[i] = (int)(seed >> 13 & 0x7ff) - 1024);
        particle[i].y.velocity = (int16_t)(vy[i] = (int)(seed >> 17 & 0x3ff) - 512);
        particle[i].kind = (uint8_t)(i & 7);
        particle[i].alive = (uint8_t)(alive[i] = i != 4);
        bounces[i] = 0;
    }
    for (int call = 0; call < 10; call++) {
        totals_t totals = {0, 0, 0, 0};
        int wind = call % 3 * 64 - 64, mx = 0, my = 0, living = 0;
        unsigned energy = 0;
        particles(particle, wind, &totals);
        for (int i = 0; i < COUNT; i++) {
            if (alive[i]) {
                int *at[2] = {&px[i], &py[i]}, *speed[2] = {&vx[i], &vy[i]};
                for (int a = 0; a < 2; a++) {
                    int push = wind < 0 ? -(-wind >> (i & 7)) - (-wind % (1 << (i & 7)) != 0) : wind >> (i & 7);
                    int v = *speed[a] + (a ? GRAVITY : push);
                    int lost = v * (i & 7) / 256;
                    if (v < 0 && v * (i & 7) % 256 != 0)
                        lost--;
                    v -= lost;
                    int reached = *at[a] + v;
                    int folded = reached < 0 ? -reached : reached >= BOX ? 2 * BOX - 2 - reached : reached;
                    bounces[i] += folded != reached;
                    *at[a] = folded;
                    *speed[a] = reached == folded ? v : -v;
                }
                alive[i] = bounces[i] <= 1;
                mx += vx[i];
                my += vy[i];
                energy += (unsigned)(vx[i] * vx[i] + vy[i] * vy[i]) / 2u;
                living += alive[i];
            }
            if (particle[i].x.position != px[i] || particle[i].y.velocity != vy[i] || particle[i].alive != alive[i])
                return 1;
            if (particle[i].y.position != py[i] || particle[i].x.velocity != vx[i] || particle[i].bounces != bounces[i])
                return 2;
        }
        if (totals.momentum_x != mx || totals.momentum_y != my || totals.energy != energy || totals.living != living)
            return 3;
    }
    return 0;
}
