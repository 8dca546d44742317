// Main program of a SystemVerilog testbench: runs until $finish or until nothing can happen.
#include <cstring>
#include <memory>

#include "Vtop.h"

VerilatedTraceBaseC* rtlagent_trace_base(BoundedVcd* vcd) { return vcd->base(); }

int main(int argc, char** argv) {
    VerilatedContext* const context = Verilated::threadContextp();
    Verilated::commandArgs(argc, argv);
    const char* wave = nullptr;
    for (int i = 1; i + 1 < argc; ++i) {
        if (std::strcmp(argv[i], "--trace-file") == 0) wave = argv[i + 1];
    }
    const auto top = std::make_unique<Vtop>("");
    BoundedVcd vcd;
    if (wave) {
        Verilated::traceEverOn(true);
        top->trace(&vcd, 99);
        vcd.open(wave);
    }
    while (!context->gotFinish()) {
        top->eval_step();
        top->eval_end_step();
        if (wave) vcd.dump(context->time());
        if (!top->eventsPending()) break;
        context->time(top->nextTimeSlot());
    }
    top->final();
    if (wave) vcd.close();
    // Not errorCount(): it counts $stop like a failed assertion. Assertions have printed a line each.
    return 0;
}
