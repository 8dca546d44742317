import assert from "node:assert/strict";
import * as path from "node:path";
import { test } from "node:test";

import { needsOf, testbenchesOf } from "../../src/design";
import { importsOf, mentions } from "../../src/pythonTest";
import { findFiles, ScanCache } from "../../src/workspaceFiles";
import { folder } from "./tools";

async function scansOf(root: string, without: ReadonlySet<string> = new Set()) {
  return new ScanCache().scans((await findFiles(root, without)).verilog);
}

test("a file's needs are followed through files", async (t) => {
  const root = folder(t, {
    "rtl/top.sv": '`include "defs.vh"\nmodule top; mid u(); endmodule',
    "rtl/mid.sv": "module mid; leaf #(3) u(); initial $readmemh(\"../mem/a.mem\", m); endmodule",
    "rtl/leaf.v": "module leaf; endmodule",
    "rtl/defs.vh": "`define W 8",
    "rtl/alone.v": "module alone; endmodule",
    "old/leaf.v": "module leaf; broken",
    "mem/a.mem": "00",
  });
  const file = (name: string): string => path.join(root, name);
  const found = needsOf(file("rtl/top.sv"), await scansOf(root), (f) => f === file("mem/a.mem"));
  assert.deepEqual([...found.files].sort(), ["rtl/defs.vh", "rtl/leaf.v", "rtl/mid.sv", "rtl/top.sv"].map(file));
  assert.equal(found.files[0], file("rtl/top.sv"));
  assert.deepEqual(found.data, [file("mem/a.mem")]);
});

test("files that need each other are each taken once", async (t) => {
  const root = folder(t, { "a.v": "module a; b u(); endmodule", "b.v": "module b; a u(); endmodule" });
  assert.equal(needsOf(path.join(root, "a.v"), await scansOf(root)).files.length, 2);
});

test("runs, hidden folders and packages are not looked into", async (t) => {
  const root = folder(t, {
    "a.v": "module a; endmodule",
    "runs/20261201-100000-x/rtl/b.v": "module b; endmodule",
    ".hidden/c.v": "module c; endmodule",
    "node_modules/d.v": "module d; endmodule",
    "test_a.py": "",
    "helper.py": "",
  });
  const found = await findFiles(root, new Set([path.join(root, "runs")]));
  assert.deepEqual(found, { verilog: [path.join(root, "a.v")], tests: [path.join(root, "test_a.py")] });
});

test("a testbench is known by its name and what it holds", async (t) => {
  const root = folder(t, {
    "fifo.v": "module fifo; endmodule",
    "fifo_tb.sv": "module bench; fifo u(); endmodule",
    "tb_other.v": "module bench2; other u(); endmodule",
    "wrapper.v": "module wrapper; fifo u(); endmodule",
  });
  assert.deepEqual(testbenchesOf("fifo", await scansOf(root)), [path.join(root, "fifo_tb.sv")]);
});

test("a cocotb test is known by its name or its text, its imports by their lines", () => {
  assert.ok(mentions("/x/test_fifo.py", "", "fifo"));
  assert.ok(mentions("/x/test_a.py", "# drives sync_fifo", "sync_fifo"));
  assert.ok(!mentions("/x/test_a.py", "# drives sync_fifo2", "sync_fifo"));
  assert.ok(!mentions("/x/test_a.py", "xx", "x+"));
  assert.deepEqual(importsOf("import cocotb, model as m\nfrom golden.x import y\n# import no\n  import late"), [
    "cocotb", "model", "golden", "late",
  ]);
});
