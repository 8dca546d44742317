"""rtlagent: from a spec in prose to Verilog that real tools have judged."""

__version__ = "0.1.0"
