/*
 * packet_parser: a header of three words (version, size, type, flags, ports, sequence, checksum), options, payload.
 * Returns the payload's length, or what is wrong as a negative number.
 */
#include <stdint.h>
#include <string.h>

#define MAX_PACKET 64

enum error { TOO_SHORT = -1, BAD_VERSION = -2, BAD_LENGTH = -3, BAD_CHECKSUM = -4, BAD_OPTION = -5 };

union header {
    uint8_t byte[12];
    uint16_t half[6];
    struct {
        uint32_t version : 4, words : 4, type : 3, urgent : 1, more : 1, : 3, length : 16;
        uint16_t source, target;
        uint32_t sequence : 16;
        uint32_t checksum : 16;
    } field;
};

struct parsed {
    uint16_t source, target, sequence;
    uint8_t type, flags;
    uint32_t timestamp;
    uint8_t payload[48];
};

static int read_options(const uint8_t *packet, int at, int end, struct parsed *out)
{
    while (at < end) {
#pragma HLS loop_tripcount min=0 max=12 avg=2
        switch (packet[at]) {
        case 0: /* end of options */
            return 0;
        case 1: /* padding */
            at++;
            break;
        case 8: /* four bytes of time */
            if (at + 6 > end || packet[at + 1] != 6)
                return BAD_OPTION;
            memcpy(&out->timestamp, packet + at + 2, 4);
            at += 6;
            break;
        default: /* unknown ones tell their length */
            if (at + 1 >= end || packet[at + 1] < 2)
                return BAD_OPTION;
            at += packet[at + 1];
        }
    }
    return at == end ? 0 : BAD_OPTION;
}

int packet_parser(const uint8_t packet[MAX_PACKET], int received, struct parsed *out)
{
    union header header;
    if (received < 12 || received > MAX_PACKET)
        return TOO_SHORT;
    for (int i = 0; i < 12; i++)
        header.byte[i] = packet[i];
    if (header.field.version != 5)
        return BAD_VERSION;
    int start = (int)header.field.words * 4, length = header.field.length;
    if (start < 12 || start > length || length > received || length - start > 48)
        return BAD_LENGTH;

    uint32_t sum = 0;
checksum:
    for (int i = 0; i < length; i++) {
#pragma HLS loop_tripcount min=12 max=64
        sum += (uint32_t)packet[i] << (i & 1 ? 8 : 0);
    }
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    if (sum != 0xffff)
        return BAD_CHECKSUM;

    memset(out, 0, sizeof *out);
    int error = read_options(packet, 12, start, out);
    if (error)
        return error;
    out->source = header.field.source;
    out->target = header.half[3];
    out->sequence = (uint16_t)header.field.sequence;
    out->type = (uint8_t)header.field.type;
    out->flags = (uint8_t)(header.field.urgent << 1 | header.field.more);
payload:
    for (int i = start; i < length; i++) {
#pragma HLS loop_tripcount min=0 max=48
        out->payload[i - start] = packet[i];
    }
    return length - start;
}

static void seal(uint8_t *packet, int length)
{
    uint32_t sum = 0;
    packet[10] = packet[11] = 0;
    for (int i = 0; i < length; i += 2)
        sum += packet[i] + (i + 1 < length ? packet[i + 1] * 256u : 0u);
    while (sum > 0xffff)
        sum = sum % 0x10000 + sum / 0x10000;
    sum = 0xffff - sum;
    packet[10] = (uint8_t)(sum & 255);
    packet[11] = (uint8_t)(sum >> 8);
}

int main(void)
{
    static const uint8_t options[5][8] = {
        {1, 1, 8, 6, 0x44, 0x33, 0x22, 0x11}, {1, 9, 4, 3, 7, 1, 1, 0}, {0, 255, 255, 255, 0, 0, 0, 0},
        {9, 1, 0, 0, 0, 0, 0, 0},             {1, 1, 1, 8, 6, 1, 2, 3},
    };
    static const int outcome[5] = {0, 0, 0, BAD_OPTION, BAD_OPTION};
    uint32_t seed = 404;
    for (int call = 0; call < 12; call++) {
        uint8_t packet[MAX_PACKET];
        struct parsed parsed = {0};
        int has_options = call < 5, start = has_options ? 20 : 12, length = 64 - 3 * call;
        for (int i = 0; i < MAX_PACKET; i++) {
            seed = seed * 1664525u + 1013904223u;
            packet[i] = (uint8_t)(seed >> 24);
            if (has_options && i >= 12 && i < 20)
                packet[i] = options[call][i - 12];
        }
        if (start + 48 < length)
            length = start + 48;
        packet[0] = (uint8_t)(5 | (start / 4) << 4);
        packet[2] = (uint8_t)length;
        packet[3] = 0;
        seal(packet, length);
        int want = has_options && outcome[call] ? outcome[call] : length - start;
        int received = 64;
        switch (call) {
        case 8:
            packet[0] ^= 1;
            want = BAD_VERSION;
            break;
        case 9:
            received = length - 1;
            want = BAD_LENGTH;
            break;
        case 10:
            packet[5] ^= 16;
            want = BAD_CHECKSUM;
            break;
        case 11:
            received = 11;
            want = TOO_SHORT;
            break;
        }
        if (packet_parser(packet, received, &parsed) != want)
            return call + 1;
        if (want < 0)
            continue;
        if (parsed.source != packet[4] + packet[5] * 256 || parsed.target != packet[6] + packet[7] * 256)
            return 21;
        if (parsed.sequence != packet[8] + packet[9] * 256 || parsed.type != packet[1] % 8)
            return 22;
        if (parsed.flags != (packet[1] >> 3 & 1) * 2 + (packet[1] >> 4 & 1))
            return 23;
        if (parsed.timestamp != (call == 0 ? 0x11223344u : 0u))
            return 24;
        for (int i = 0; i < 48; i++)
            if (parsed.payload[i] != (i < want ? packet[start + i] : 0))
                return 25;
    }
    return 0;
}
