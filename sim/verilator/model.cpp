// Compiled with each design: joins Verilator's generated class Vrtl to Vtop.h's face. It repeats
// that face instead of including it, to keep the VCD headers out of every build.
#include "Vrtl.h"

class BoundedVcd;
VerilatedTraceBaseC* rtlagent_trace_base(BoundedVcd* vcd);

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

static Vrtl* rtl(void* model) { return static_cast<Vrtl*>(model); }

Vtop::Vtop(const char* name) : m_model{new Vrtl{name}} {
    // $stop and $fatal end the simulation in order, instead of with abort(): reports get written.
    Verilated::fatalOnError(false);
}
Vtop::~Vtop() { delete rtl(m_model); }
void Vtop::eval_step() { rtl(m_model)->eval_step(); }
void Vtop::eval_end_step() { rtl(m_model)->eval_end_step(); }
bool Vtop::eventsPending() { return rtl(m_model)->eventsPending(); }
uint64_t Vtop::nextTimeSlot() { return rtl(m_model)->nextTimeSlot(); }
void Vtop::final() { rtl(m_model)->final(); }
void Vtop::trace(BoundedVcd* vcd, int levels) {
#ifdef RTLAGENT_TRACE
    rtl(m_model)->trace(rtlagent_trace_base(vcd), levels);
#endif
}
