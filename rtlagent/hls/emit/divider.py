"""Dividers: an unsigned restoring unit that skips the quotient's leading zeros, and a fixed-latency one for pipelines.

The unit aligns the divisor with the dividend (count of leading zeros of both), so that a quotient of n
bits takes n steps instead of the full width.
"""

from __future__ import annotations

from rtlagent.hls.emit.expressions import literal

_COUNTED_AND_SHIFTED = 16
"""Greatest width at which leading zeros are counted and the divisor is shifted in one cycle."""


def sequential_divider(name: str, width: int) -> str:
    """Return a module that divides `width`-bit numbers, signed or unsigned, one at a time.

    `start` with operands; `done` is 1 in the cycle in which quotient and remainder are valid, some cycles later. By
    zero: quotient of
    magnitudes all ones, remainder the dividend.
    """
    count = max(1, width.bit_length())
    leading = _leading_zeros(width, count)
    zeros = f"""wire [{count - 1}:0] zeros_rest = leading_zeros(rest);
  wire [{count - 1}:0] zeros_divisor = leading_zeros(shifted);"""
    counting = counted = ""
    begin = "align"
    if width > _COUNTED_AND_SHIFTED:
        # To count and to shift is too long for one cycle.
        begin = "counting"
        zeros = f"""reg counting;
  reg [{count - 1}:0] zeros_rest;
  reg [{count - 1}:0] zeros_divisor;"""
        counting = "\n      align <= counting;"
        counted = """
    if (counting) begin
      zeros_rest <= leading_zeros(rest);
      zeros_divisor <= leading_zeros(shifted);
    end"""
    idle = "".join(f"      {name} <= 1'd0;\n" for name in dict.fromkeys((begin, "align", "busy", "finished")))
    return f"""module {name} (
  input  wire ap_clk,
  input  wire ap_rst,
  input  wire start,
  input  wire is_signed,
  input  wire [{width - 1}:0] dividend,
  input  wire [{width - 1}:0] divisor,
  output wire done,
  output wire [{width - 1}:0] quotient,
  output wire [{width - 1}:0] remainder
);
{leading}
  // Sign and magnitude, then alignment, then one quotient bit a cycle.
  reg align;
  reg busy;
  reg finished;
  reg negative_quotient;
  reg negative_remainder;
  reg by_zero;
  reg [{width - 1}:0] rest;
  reg [{width - 1}:0] shifted;
  reg [{width - 1}:0] result;
  reg [{count - 1}:0] steps;
  {zeros}
  wire smaller = zeros_divisor < zeros_rest;
  wire [{count - 1}:0] distance = zeros_divisor - zeros_rest;
  wire [{width}:0] difference = {{1'd0, rest}} - {{1'd0, shifted}};
  wire fits = ~difference[{width}];
  assign done = finished;
  assign quotient = negative_quotient ? -result : result;
  assign remainder = negative_remainder ? -rest : rest;
  always @(posedge ap_clk) begin
    if (ap_rst) begin
{idle}    end else begin
      {begin} <= start;{counting}
      finished <= 1'd0;
      if (align) begin
        if (smaller | by_zero) finished <= 1'd1;
        else busy <= 1'd1;
      end
      if (busy & (steps == {literal(0, count)})) begin
        busy <= 1'd0;
        finished <= 1'd1;
      end
    end{counted}
    if (start) begin
      negative_quotient <= is_signed & (dividend[{width - 1}] ^ divisor[{width - 1}]);
      negative_remainder <= is_signed & dividend[{width - 1}];
      by_zero <= divisor == {literal(0, width)};
      rest <= (is_signed & dividend[{width - 1}]) ? -dividend : dividend;
      shifted <= (is_signed & divisor[{width - 1}]) ? -divisor : divisor;
    end else if (align) begin
      steps <= distance;
      result <= {{{width}{{by_zero}}}};
      shifted <= shifted << distance;
    end else if (busy) begin
      steps <= steps - {literal(1, count)};
      shifted <= {{1'd0, shifted[{width - 1}:1]}};
      result <= {{result[{width - 2}:0], fits}};
      if (fits) rest <= difference[{width - 1}:0];
    end
  end
endmodule
"""


def _leading_zeros(width: int, count: int) -> str:
    """Return a function that counts leading zeros: of pairs, of pairs of these, and so on, each level a multiplexer."""
    size = 1
    while size < width:
        size *= 2
    levels = size.bit_length() - 1
    pad = size - width
    lines = [f"  function [{count - 1}:0] leading_zeros(input [{width - 1}:0] x);", "    integer g;"]
    lines.append(f"    reg [{size - 1}:0] none_0;")
    for k in range(1, levels + 1):
        groups = size >> k
        lines += [f"    reg [{groups - 1}:0] none_{k};", f"    reg [{groups * k - 1}:0] zeros_{k};"]
    lines.append("    begin")
    lines.append(f"      none_0 = {{~x, {literal(0, pad)}}};" if pad else "      none_0 = ~x;")
    for k in range(1, levels + 1):
        lower = k - 1
        high, low = (f", zeros_{lower}[(2 * g + {half}) * {lower} +: {lower}]" if lower else "" for half in (1, 0))
        lines += [
            f"      for (g = 0; g < {size >> k}; g = g + 1) begin",
            f"        none_{k}[g] = none_{lower}[2 * g + 1] & none_{lower}[2 * g];",
            f"        zeros_{k}[g * {k} +: {k}] = none_{lower}[2 * g + 1] ? {{1'd1{low}}} : {{1'd0{high}}};",
            "      end",
        ]
    fitted = f"zeros_{levels}" if count == levels else f"{{{literal(0, count - levels)}, zeros_{levels}}}"
    lines.append(f"      leading_zeros = none_{levels}[0] ? {literal(width, count)} : {fitted};")
    lines += ["    end", "  endfunction"]
    return "\n".join(lines)


def pipeline_divider(name: str, width: int, latency: int) -> str:
    """Return a unit of fixed latency for one division after the other: two quotient bits a cycle.

    `start` with operands in cycle 0, quotient and remainder valid in cycle `latency`, where a new `start` may already
    come.

    Raises:
        ValueError: the latency does not suffice.
    """
    steps = -(-width // 2)
    if latency < steps + 2:
        raise ValueError(f"{width} bits take {steps + 2} cycles, not {latency}")
    wide = 2 * steps
    count = max(1, steps.bit_length())
    return f"""module {name} (
  input  wire ap_clk,
  input  wire ap_ce,
  input  wire start,
  input  wire is_signed,
  input  wire [{width - 1}:0] dividend,
  input  wire [{width - 1}:0] divisor,
  output wire [{width - 1}:0] quotient,
  output wire [{width - 1}:0] remainder
);
  reg negative_quotient;
  reg negative_remainder;
  reg by_zero;
  reg [{count - 1}:0] steps;
  reg [{width - 1}:0] magnitude;
  reg [{wide - 1}:0] bits;
  reg [{width - 1}:0] rest;
  wire [{width}:0] first = {{rest, bits[{wide - 1}]}};
  wire [{width}:0] first_difference = first - {{1'd0, magnitude}};
  wire first_fits = first >= {{1'd0, magnitude}};
  wire [{width - 1}:0] between = first_fits ? first_difference[{width - 1}:0] : first[{width - 1}:0];
  wire [{width}:0] second = {{between, bits[{wide - 2}]}};
  wire [{width}:0] second_difference = second - {{1'd0, magnitude}};
  wire second_fits = second >= {{1'd0, magnitude}};
  wire [{wide - 1}:0] start_bits = {
        _widened("(is_signed & dividend[" + str(width - 1) + "]) ? -dividend : dividend", width, wide)
    };
  wire [{width - 1}:0] result = by_zero ? {{{width}{{1'd1}}}} : bits[{width - 1}:0];
  assign quotient = negative_quotient ? -result : result;
  assign remainder = negative_remainder ? -rest : rest;
  always @(posedge ap_clk) begin
    if (ap_ce & start) begin
      negative_quotient <= is_signed & (dividend[{width - 1}] ^ divisor[{width - 1}]);
      negative_remainder <= is_signed & dividend[{width - 1}];
      by_zero <= divisor == {literal(0, width)};
      steps <= {literal(steps, count)};
      magnitude <= (is_signed & divisor[{width - 1}]) ? -divisor : divisor;
      bits <= start_bits;
      rest <= {literal(0, width)};
    end else if (ap_ce & (steps != {literal(0, count)})) begin
      steps <= steps - {literal(1, count)};
      bits <= {{bits[{wide - 3}:0], first_fits, second_fits}};
      rest <= second_fits ? second_difference[{width - 1}:0] : second[{width - 1}:0];
    end
  end
endmodule
"""


def _widened(text: str, width: int, wide: int) -> str:
    return f"({text})" if wide == width else f"{{{literal(0, wide - width)}, ({text})}}"
