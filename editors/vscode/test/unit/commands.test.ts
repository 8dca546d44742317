import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import * as path from "node:path";
import { test } from "node:test";

import { ArgumentError, checkedArguments, lintArguments, reportArguments, simArguments, synthArguments } from "../../src/commandLine";
import { linesOf, placeOf } from "../../src/ranges";
import { runTool } from "../../src/tool";
import { call, folder, missing, read, RTLAGENT } from "./tools";

const skip = missing();
const BAD = `module bad(input clk, input [7:0] a, output reg [3:0] q);
\talways @(posedge clk) q <= a + undefd;
  /* é😀 */ wire w = nope2;
endmodule
`;
const GOOD = "module good(input clk, input d, output reg q);\n  always @(posedge clk) q <= d;\nendmodule\n";
const BENCH = `module good_tb;
  reg clk = 0, d = 1; wire q;
  good u(.clk(clk), .d(d), .q(q));
  initial begin #1 clk = 1; #1 if (q !== 1) $display("FAIL"); else $display("PASS"); $finish; end
endmodule
`;

test("lint's diagnostics stand over the words they are about", { skip }, async (t) => {
  const root = folder(t, { "-bad name.v": BAD });
  const file = path.join(root, "-bad name.v");
  const result = await call(lintArguments([file]), root);
  assert.equal(result.status, "FAIL");
  const lines = linesOf(readFileSync(file, "utf8"));
  const marked = result.diagnostics.map((d) => {
    const place = placeOf(lines, d.line, d.column);
    assert.equal(d.path, file);
    return [d.code, lines[place.line]?.slice(place.start, place.end)];
  });
  for (const pair of [["UndeclaredIdentifier", "undefd"], ["UndeclaredIdentifier", "nope2"]]) {
    assert.ok(marked.some((m) => m[0] === pair[0] && m[1] === pair[1]), JSON.stringify(marked));
  }
});

test("a file that is gone is an error, not a finding", { skip }, async (t) => {
  const root = folder(t);
  const end = await runTool({ executable: RTLAGENT, args: lintArguments(["gone.v"]), cwd: root, timeoutMs: 30_000 });
  const said = read(end);
  assert.ok(said.kind === "error" && said.where === "gone.v");
});

test("a testbench is run, and a design synthesized", { skip }, async (t) => {
  const root = folder(t, { "good.v": GOOD, "good tb.sv": BENCH });
  const files = [path.join(root, "good.v")];
  const bench = { top: "good", cocotb: [], testbenches: [path.join(root, "good tb.sv")] };
  const simulated = await call(simArguments(files, bench), root);
  assert.deepEqual(simulated.tests.map((x) => [x.name, x.status]), [["good tb", "PASS"]]);
  const made = await call(synthArguments(files, "good", "ice40", ["--max-ffs", "0"]), root);
  assert.equal(made.status, "FAIL");
  assert.equal(made.metrics.get("ffs"), 1);
  assert.equal(made.metrics.has("fmax_mhz"), false);
});

test("paths cannot be options, and cocotb tests name their top", () => {
  assert.deepEqual(lintArguments(["--sandbox", "-x.v"], ["--strict"]), ["lint", "--json", "--strict", "--", "--sandbox", "-x.v"]);
  const tests = { top: "m", cocotb: ["-t.py"], testbenches: [] };
  assert.deepEqual(simArguments(["a.v"], tests, ["-s.py"], ["--seed", "7"]), [
    "sim", "--json", "--top=m", "--test=-t.py", "--support=-s.py", "--seed", "7", "--", "a.v",
  ]);
  assert.deepEqual(synthArguments(["a.v"], "--x", "xc7"), ["synth", "--json", "--top=--x", "--target=xc7", "--", "a.v"]);
  assert.deepEqual(reportArguments("-run"), ["report", "--json", "--", "-run"]);
});

test("a workspace cannot turn the sandbox off, and arguments are strings", () => {
  assert.deepEqual(checkedArguments(["--sandbox", "none"], "s", true), ["--sandbox", "none"]);
  for (const value of [["--sandbox", "none"], ["--sandbox=none"], "--strict", [1], null, ["--", "x"], ["a\0b"]]) {
    assert.throws(() => checkedArguments(value, "s", false), ArgumentError);
  }
});

test("a place is within the text whatever the numbers are", () => {
  const lines = linesOf("  wire x;\r\n\r\n\té😀ab = 1\r");
  assert.deepEqual(placeOf(lines, 1, 3), { line: 0, start: 2, end: 6 });
  assert.deepEqual(placeOf(lines, 1, 0), { line: 0, start: 2, end: 9 });
  assert.deepEqual(placeOf(lines, 3, 4), { line: 2, start: 4, end: 6 });
  assert.deepEqual(placeOf(lines, 1, 99), { line: 0, start: 8, end: 9 });
  for (const [line, column] of [[0, 0], [-1, 5], [99, 99], [2, 1], [1, -3]] as const) {
    const place = placeOf(lines, line, column);
    assert.ok(place.line >= 0 && place.line < lines.length && place.start >= 0 && place.end >= place.start);
    assert.ok(place.end <= (lines[place.line] ?? "").length);
  }
  assert.deepEqual(placeOf([], 1, 1), { line: 0, start: 0, end: 0 });
});
