// The face of a Verilated model towards the main programs, which are compiled once and for all
// designs (Verilator's own class differs from design to design). model.cpp implements it.
#ifndef RTLAGENT_VTOP_H_
#define RTLAGENT_VTOP_H_

#include <cstdint>
#include <cstdlib>

#include "verilated.h"
#include "verilated_vcd_c.h"

// Counts what is written, so that a dump can be stopped before it fills the disk.
class CountingVcdFile final : public VerilatedVcdFile {
public:
    explicit CountingVcdFile(uint64_t& written) : m_written{written} {}
    ssize_t write(const char* bufp, ssize_t len) override {
        m_written += static_cast<uint64_t>(len);
        return VerilatedVcdFile::write(bufp, len);
    }

private:
    uint64_t& m_written;
};

// A VCD that starts late (RTLAGENT_WAVE_FROM_NS) and stops at a size (RTLAGENT_WAVE_BYTES).
class BoundedVcd final {
public:
    BoundedVcd() : m_fromNs{number("RTLAGENT_WAVE_FROM_NS", 0)}, m_limit{number("RTLAGENT_WAVE_BYTES", UINT64_MAX)} {}
    VerilatedTraceBaseC* base() { return &m_vcd; }
    void open(const char* filename) { m_vcd.open(filename); }
    void close() { m_vcd.close(); }
    void flush() { m_vcd.flush(); }
    void dump(uint64_t time) {
        if (m_written > m_limit) return;
        // Precision is a power of ten, such as -12; it is known only once the model exists.
        if (m_from == UINT64_MAX) {
            m_from = m_fromNs;
            for (int p = Verilated::threadContextp()->timeprecision(); p < -9; ++p) m_from *= 10;
        }
        if (time >= m_from) m_vcd.dump(time);
    }

private:
    static uint64_t number(const char* name, uint64_t otherwise) {
        const char* const text = std::getenv(name);
        return text && *text ? std::strtoull(text, nullptr, 10) : otherwise;
    }
    uint64_t m_written = 0;
    uint64_t m_fromNs;
    uint64_t m_limit;
    uint64_t m_from = UINT64_MAX;
    CountingVcdFile m_file{m_written};
    VerilatedVcdC m_vcd{&m_file};
};

class Vtop final {
public:
    explicit Vtop(const char* name);
    ~Vtop();
    void eval_step();
    void eval_end_step();
    bool eventsPending();
    uint64_t nextTimeSlot();
    void final();
    void trace(BoundedVcd* vcd, int levels);

private:
    void* const m_model;
};

#endif
