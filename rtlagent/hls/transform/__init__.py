"""Passes over the CDFG, one a module, each `run(module, options, remarks)` in place."""
