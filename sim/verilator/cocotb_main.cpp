// cocotb's own main program, over Vtop.h's face and its bounded VCD.
#include "Vtop.h"

#define VerilatedVcdC BoundedVcd
#define VM_TRACE 1
#include COCOTB_MAIN

VerilatedTraceBaseC* rtlagent_trace_base(BoundedVcd* vcd) { return vcd->base(); }
