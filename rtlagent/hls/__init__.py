"""C to Verilog: clang's IR to a CDFG, transformed, scheduled, bound and emitted. Runs no tool itself."""
