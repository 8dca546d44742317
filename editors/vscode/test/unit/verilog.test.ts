import assert from "node:assert/strict";
import { test } from "node:test";

import { scan } from "../../src/verilog";

function names(text: string): string[] {
  return scan(text).modules.map((m) => m.name);
}

test("modules are found where they start", () => {
  const text = "// module no\n  module a; endmodule\nmodule b(input x);\nendmodule : b\n";
  assert.deepEqual(
    scan(text).modules.map((m) => [m.name, text.slice(m.offset, m.offset + 8)]),
    [["a", "module a"], ["b", "module b"]],
  );
});

test("comments, strings, attributes and macro bodies hold no module", () => {
  assert.deepEqual(names("/* module a; */ module /* b */ c // d\n;"), ["c"]);
  assert.deepEqual(names('module a; initial $display("module b; \\" module c;"); endmodule'), ["a"]);
  assert.deepEqual(names('(* note = "*) module a" *) module b; endmodule'), ["b"]);
  assert.deepEqual(names("(* keep *) module a; always @(*) x = 1; endmodule module b; endmodule"), ["a", "b"]);
  assert.deepEqual(names("module a; always @( * ) x = 1; always @ (*) begin end endmodule module b;"), ["a", "b"]);
  assert.deepEqual(names("`define M(x) module x; \\\n module y; \\\r\n endmodule\nmodule z; endmodule"), ["z"]);
  assert.deepEqual(names("`define EMPTY\nmodule z; endmodule"), ["z"]);
  assert.deepEqual(names("`define A /* over\n lines */ module no\nmodule z;"), ["z"]);
  assert.deepEqual(names("`module x; endmodule"), []);
});

test("every spelling of a module is one", () => {
  assert.deepEqual(names("macromodule a; endmodule module automatic b; endmodule module static c; endmodule"), ["a", "b", "c"]);
  assert.deepEqual(names("module \\odd+name (input a); endmodule"), ["odd+name"]);
  assert.deepEqual(names("`ifdef A\nmodule a;\n`else\nmodule b;\n`endif\nendmodule"), ["a", "b"]);
  assert.deepEqual(names("module\n  late\n  import p::*;\n  #(parameter W = 8) (input a);"), ["late"]);
});

test("what only looks like a module is none", () => {
  assert.deepEqual(names("extern module a(input x); module b; endmodule"), ["b"]);
  assert.deepEqual(names("wire module_x; assign y = my_module; endmodule"), []);
  assert.deepEqual(names("module"), []);
  assert.deepEqual(names("module `NAME (input a); endmodule"), []);
  assert.deepEqual(names("`protected\nmodule secret;\n`endprotected\nmodule open; endmodule"), ["open"]);
});

test("broken text has an answer", () => {
  assert.deepEqual(names('module a; "never closed\nmodule b;'), ["a", "b"]);
  assert.deepEqual(names("module a; /* never closed module b;"), ["a"]);
  assert.deepEqual(names("module a; (* never closed\nmodule b; endmodule"), ["a", "b"]);
  assert.deepEqual(names("\u0000\uffff module é; \\"), []);
  assert.deepEqual(names(""), []);
});

test("a large text is read in time that grows with its length", () => {
  for (const piece of ["(* ", '"', "/*", "`define x \\\n", "module m; ", "((((((((", "\\ ", "'", "a ", "* "]) {
    const start = process.hrtime.bigint();
    scan(piece.repeat(1_000_000 / piece.length));
    const ms = Number(process.hrtime.bigint() - start) / 1e6;
    assert.ok(ms < 5000, `${JSON.stringify(piece)}: ${ms} ms`);
  }
});

test("names of other files and files that are read are found", () => {
  const found = scan(`
    \`include "defs.vh"
    module top import p::*; (bus_if.master b, input clk);
      leaf u0 (.clk(clk));
      other #(.W(3)) u1 (.clk(clk));
      wire [q::W-1:0] x = counter + 1;
      initial $readmemh("image.mem", x);
    endmodule`);
  for (const name of ["leaf", "other", "p", "q", "bus_if"]) assert.ok(found.uses.has(name), name);
  assert.ok(!found.uses.has("counter"));
  assert.deepEqual(found.reads, ["defs.vh", "image.mem"]);
  assert.deepEqual([...found.declares], ["top"]);
});
