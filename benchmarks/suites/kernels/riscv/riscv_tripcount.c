/*
 * riscv: runs `program` from address 0 until ebreak, an instruction it does not know, or `limit` instructions.
 * Data are in `memory`, at addresses from 0 (loads and stores do not see the program). Returns x10 (a0).
 */
#include <stdint.h>

#define PROGRAM 32
#define MEMORY 32

enum opcode {
    LOAD = 0x03,
    OP_IMM = 0x13,
    AUIPC = 0x17,
    STORE = 0x23,
    OP = 0x33,
    LUI = 0x37,
    BRANCH = 0x63,
    JALR = 0x67,
    JAL = 0x6f,
};

static int32_t sign_extend(uint32_t x, int bits)
{
    uint32_t top = (uint32_t)1 << (bits - 1);
    return (int32_t)((x ^ top) - top);
}

static uint32_t arithmetic(unsigned kind, int other, uint32_t a, uint32_t b)
{
    switch (kind) {
    case 0:
        return other ? a - b : a + b;
    case 1:
        return a << (b & 31);
    case 2:
        return (int32_t)a < (int32_t)b;
    case 3:
        return a < b;
    case 4:
        return a ^ b;
    case 5:
        return other ? (uint32_t)((int32_t)a >> (b & 31)) : a >> (b & 31);
    case 6:
        return a | b;
    default:
        return a & b;
    }
}

static int taken(unsigned kind, uint32_t a, uint32_t b)
{
    int holds;
    switch (kind >> 1) {
    case 0:
        holds = a == b;
        break;
    case 2:
        holds = (int32_t)a < (int32_t)b;
        break;
    default:
        holds = a < b;
    }
    return holds ^ (int)(kind & 1);
}

uint32_t riscv(const uint32_t program[PROGRAM], uint32_t memory[MEMORY], int limit)
{
    uint32_t x[32] = {0};
    uint32_t pc = 0;

instruction:
    while (limit-- > 0) {
#pragma HLS loop_tripcount min=1 max=600 avg=120
        uint32_t code = program[pc / 4 % PROGRAM];
        unsigned rd = code >> 7 & 31, kind = code >> 12 & 7;
        uint32_t a = x[code >> 15 & 31], b = x[code >> 20 & 31];
        uint32_t result = 0, next = pc + 4;
        int32_t immediate = sign_extend(code >> 20, 12);

        switch (code & 0x7f) {
        case LUI:
            result = code & 0xfffff000u;
            break;
        case AUIPC:
            result = pc + (code & 0xfffff000u);
            break;
        case JAL: {
            uint32_t offset = (code >> 31 << 20) | (code >> 12 & 0xff) << 12 | (code >> 20 & 1) << 11;
            offset |= (code >> 21 & 0x3ff) << 1;
            result = next;
            next = pc + (uint32_t)sign_extend(offset, 21);
            break;
        }
        case JALR:
            result = next;
            next = (a + (uint32_t)immediate) & ~1u;
            break;
        case BRANCH: {
            uint32_t offset = (code >> 31 << 12) | (code >> 7 & 1) << 11 | (code >> 25 & 0x3f) << 5;
            offset |= (code >> 8 & 15) << 1;
            if (taken(kind, a, b))
                next = pc + (uint32_t)sign_extend(offset, 13);
            rd = 0;
            break;
        }
        case LOAD: {
            uint32_t address = a + (uint32_t)immediate;
            uint32_t word = memory[address / 4 % MEMORY] >> (address % 4 * 8);
            if ((kind & 3) == 0)
                result = kind & 4 ? word & 0xff : (uint32_t)sign_extend(word & 0xff, 8);
            else if ((kind & 3) == 1)
                result = kind & 4 ? word & 0xffff : (uint32_t)sign_extend(word & 0xffff, 16);
            else
                result = word;
            break;
        }
        case STORE: {
            uint32_t address = a + (uint32_t)sign_extend(code >> 25 << 5 | rd, 12);
            uint32_t mask = kind == 0 ? 0xffu : kind == 1 ? 0xffffu : 0xffffffffu;
            unsigned shift = address % 4 * 8;
            uint32_t *word = &memory[address / 4 % MEMORY];
            *word = (*word & ~(mask << shift)) | (b & mask) << shift;
            rd = 0;
            break;
        }
        case OP_IMM:
            result = arithmetic(kind, kind == 5 && code >> 30 & 1, a, (uint32_t)immediate);
            break;
        case OP:
            result = arithmetic(kind, code >> 30 & 1, a, b);
            break;
        default:
            goto halt;
        }
        if (rd != 0)
            x[rd] = result;
        pc = next;
    }
halt:
    return x[10];
}

/* A small assembler. */
#define I(op, kind, rd, rs, imm) ((uint32_t)(imm) << 20 | (rs) << 15 | (kind) << 12 | (rd) << 7 | (op))
#define R(kind, rd, ra, rb, alt) ((uint32_t)(alt) << 30 | (rb) << 20 | I(0x33u, kind, rd, ra, 0))
#define U(op, rd, imm) ((uint32_t)(imm) << 12 | (rd) << 7 | (op))
#define S(kind, rs, base, imm) \
    ((uint32_t)(imm) >> 5 << 25 | (rs) << 20 | (base) << 15 | (kind) << 12 | ((uint32_t)(imm) & 31u) << 7 | 0x23u)
#define B(kind, ra, rb, imm) \
    (((uint32_t)(imm) >> 12 & 1u) << 31 | ((uint32_t)(imm) >> 5 & 63u) << 25 | (rb) << 20 | (ra) << 15 | \
     (kind) << 12 | ((uint32_t)(imm) >> 1 & 15u) << 8 | ((uint32_t)(imm) >> 11 & 1u) << 7 | 0x63u)
#define J(rd, imm) \
    (((uint32_t)(imm) >> 20 & 1u) << 31 | ((uint32_t)(imm) >> 1 & 0x3ffu) << 21 | ((uint32_t)(imm) >> 11 & 1u) << 20 | \
     ((uint32_t)(imm) >> 12 & 0xffu) << 12 | (rd) << 7 | 0x6fu)
#define ADDI(rd, rs, imm) I(0x13u, 0u, rd, rs, imm)
#define EBREAK 0x00100073u

/* Sum of the bytes at addresses 0 to 15, as signed values, by a subroutine. */
static const uint32_t sum_bytes[PROGRAM] = {
    ADDI(5u, 0u, 16),        /*  0: x5 = 16 */
    ADDI(10u, 0u, 0),        /*  4: a0 = 0 */
    ADDI(5u, 5u, -1),        /*  8: loop: x5 -= 1 */
    J(1u, 16),               /* 12: call 28 */
    B(1u, 5u, 0u, -8),       /* 16: bne x5, 0, loop */
    S(2u, 10u, 0u, 64),      /* 20: sw a0, 64 */
    EBREAK,                  /* 24 */
    I(0x03u, 0u, 6u, 5u, 0), /* 28: lb x6, 0(x5) */
    R(0u, 10u, 10u, 6u, 0),  /* 32: a0 += x6 */
    I(0x67u, 0u, 0u, 1u, 0), /* 36: ret */
};

/* Product of the words at 0 and 4 by shifting and adding; a0 = low word. */
static const uint32_t multiply[PROGRAM] = {
    I(0x03u, 2u, 5u, 0u, 0),        /*  0: lw x5, 0 */
    I(0x03u, 2u, 6u, 0u, 4),        /*  4: lw x6, 4 */
    ADDI(10u, 0u, 0),               /*  8 */
    B(0u, 6u, 0u, 28),              /* 12: loop: beq x6, 0, end */
    I(0x13u, 7u, 7u, 6u, 1),        /* 16: andi x7, x6, 1 */
    B(0u, 7u, 0u, 8),               /* 20: beq x7, 0, skip */
    R(0u, 10u, 10u, 5u, 0),         /* 24: a0 += x5 */
    I(0x13u, 1u, 5u, 5u, 1),        /* 28: skip: slli x5, x5, 1 */
    I(0x13u, 5u, 6u, 6u, 1),        /* 32: srli x6, x6, 1 */
    J(0u, -24),                     /* 36: j loop */
    EBREAK,                         /* 40: end */
};

/* One of each of the others; a0 mixes the results. */
static const uint32_t medley[PROGRAM] = {
    I(0x03u, 2u, 5u, 0u, 0),             /* lw x5 */
    I(0x03u, 1u, 6u, 0u, 6),             /* lh x6 */
    I(0x03u, 5u, 7u, 0u, 2),             /* lhu x7 */
    I(0x03u, 4u, 8u, 0u, 7),             /* lbu x8 */
    I(0x13u, 5u, 9u, 5u, 0x400 | 3),     /* srai x9, x5, 3 */
    R(5u, 11u, 6u, 8u, 1),               /* sra x11, x6, x8 */
    R(2u, 12u, 5u, 7u, 0),               /* slt */
    R(3u, 13u, 5u, 7u, 0),               /* sltu */
    U(0x37u, 14u, 0xabcde),              /* lui */
    U(0x17u, 15u, 1),                    /* auipc: 36 + 4096 */
    R(4u, 10u, 9u, 11u, 0),              /* xor */
    R(1u, 16u, 12u, 8u, 0),              /* sll */
    R(6u, 10u, 10u, 16u, 0),             /* or */
    R(0u, 10u, 10u, 13u, 1),             /* sub */
    R(0u, 10u, 10u, 14u, 0),             /* add */
    R(4u, 10u, 10u, 15u, 0),             /* xor */
    S(0u, 10u, 0u, 9),                   /* sb a0, 9 */
    S(1u, 10u, 0u, 14),                  /* sh a0, 14 */
    ADDI(0u, 0u, 7),                     /* x0 stays 0 */
    R(0u, 10u, 10u, 0u, 0),              /* add x0 */
    B(5u, 9u, 9u, 8),                    /* bge: taken */
    ADDI(10u, 0u, 1),                    /* skipped */
    B(6u, 5u, 5u, 8),                    /* bltu: not taken */
    I(0x13u, 4u, 10u, 10u, -1),          /* xori */
    EBREAK,
};

static uint32_t medley_in_c(const uint32_t *memory)
{
    int32_t x5 = (int32_t)memory[0];
    int16_t x6 = (int16_t)(memory[1] >> 16);
    uint32_t x7 = memory[0] >> 16, x8 = memory[1] >> 24;
    uint32_t a0 = (uint32_t)((x5 >> 3) ^ (x6 >> (x8 & 31)));
    a0 |= (uint32_t)(x5 < (int32_t)x7) << (x8 & 31);
    a0 -= (uint32_t)x5 < x7;
    a0 += 0xabcde000u;
    a0 ^= 4132;
    return ~a0;
}

int main(void)
{
    uint32_t seed = 271828;
    uint32_t memory[MEMORY];
    for (int call = 0; call < 9; call++) {
        int32_t sum = 0;
        for (int i = 0; i < MEMORY; i++) {
            seed = seed * 1664525u + 1013904223u;
            memory[i] = call == 8 ? 0x80808080u : seed ^ seed >> 15;
        }
        for (int i = 0; i < 16; i++)
            sum += (int8_t)(memory[i / 4] >> (i % 4 * 8));
        if (call % 3 == 0) {
            if (riscv(sum_bytes, memory, 1000) != (uint32_t)sum || memory[16] != (uint32_t)sum)
                return 1;
        } else if (call % 3 == 1) {
            uint32_t product = memory[0] * memory[1];
            if (riscv(multiply, memory, 1000) != product)
                return 2;
        } else {
            uint32_t want = medley_in_c(memory), before = memory[3];
            uint32_t got = riscv(medley, memory, 1000);
            if (got != want || memory[3] != ((~got << 16) | (before & 0xffffu)))
                return 3;
            if ((memory[2] >> 8 & 255u) != (~got & 255u))
                return 4;
        }
    }
    return riscv(multiply, memory, 2) == 0 ? 0 : 5; /* stopped by the limit */
}
