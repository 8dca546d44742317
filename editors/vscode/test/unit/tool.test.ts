import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import * as path from "node:path";
import { test } from "node:test";

import { executablePath, lookUp, runTool } from "../../src/tool";
import { readToolOutput } from "../../src/toolOutput";
import { folder, impostor } from "./tools";

const CALL = { args: [], cwd: "/", timeoutMs: 20_000, graceMs: 200 };

test("a relative path, which the workspace would choose, is no program", async (t) => {
  for (const name of ["./rtlagent", "bin/rtlagent", "../x", "", ".", "..", "a\0b", "..\\x"]) {
    assert.equal(executablePath(name), undefined, name);
  }
  const root = folder(t, { "rtlagent": "#!/bin/sh\ntouch owned\n" });
  chmodSync(path.join(root, "rtlagent"), 0o755);
  assert.equal((await runTool({ ...CALL, cwd: root, executable: "./rtlagent" })).kind, "refused");
  for (const searched of [".", "", ":", ".:relative"]) {
    assert.equal(await lookUp("rtlagent", searched), undefined);
  }
  assert.equal(await lookUp("rtlagent", root), path.join(root, "rtlagent"));
});

test("a program that is missing, or whose interpreter is, is told apart from one that may not run", async (t) => {
  const root = folder(t, { "no interpreter": "#!/nowhere/python\n", "no program": "text" });
  chmodSync(path.join(root, "no interpreter"), 0o755);
  assert.equal((await runTool({ ...CALL, executable: "rtlagent-that-is-nowhere" })).kind, "missing");
  assert.equal((await runTool({ ...CALL, executable: path.join(root, "gone") })).kind, "missing");
  assert.equal((await runTool({ ...CALL, executable: path.join(root, "no interpreter") })).kind, "missing");
  const refused = await runTool({ ...CALL, executable: path.join(root, "no program") });
  assert.equal(refused.kind, "refused");
  const nowhere = await runTool({ ...CALL, cwd: path.join(root, "gone"), executable: "sh" });
  assert.equal(nowhere.kind, "refused");
});

test("arguments reach the program as they are: there is no shell", async (t) => {
  const executable = impostor(t, 'printf "%s\\n" "$@"');
  const args = ["a b", "$(touch /tmp/owned)", "; exit 3", "*", "'\"", "--x=é😀"];
  const end = await runTool({ ...CALL, executable, args });
  assert.ok(end.kind === "ended");
  assert.equal(end.stdout, args.map((a) => `${a}\n`).join(""));
});

test("a program that hangs is ended with all that it started", async (t) => {
  const mark = `600.${process.pid}1`;
  const executable = impostor(t, `trap '' TERM\n(trap '' TERM; sleep ${mark}) & sleep ${mark}; sleep ${mark}`);
  const start = Date.now();
  assert.deepEqual(await runTool({ ...CALL, executable, timeoutMs: 300 }), { kind: "timeout" });
  assert.ok(Date.now() - start < 5000);
  assert.equal(processes(mark), "");
});

test("a call can be cancelled before and while it runs", async (t) => {
  const executable = impostor(t, `sleep 600.${process.pid}2`);
  const early = new AbortController();
  early.abort();
  assert.deepEqual(await runTool({ ...CALL, executable }, early.signal), { kind: "cancelled" });
  const late = new AbortController();
  setTimeout(() => { late.abort(); }, 200);
  assert.deepEqual(await runTool({ ...CALL, executable }, late.signal), { kind: "cancelled" });
  assert.equal(processes(`600.${process.pid}2`), "");
});

test("huge output ends the call; a flood of errors keeps its end only", async (t) => {
  const flood = impostor(t, "exec yes 'all work and no play'");
  assert.deepEqual(await runTool({ ...CALL, executable: flood, maxBytes: 1_000_000 }), { kind: "too much" });
  const errors = impostor(t, "yes x | head -c 3000000 >&2; echo last >&2; echo '{}'");
  const end = await runTool({ ...CALL, executable: errors });
  assert.ok(end.kind === "ended");
  assert.equal(end.stdout, "{}\n");
  assert.ok(end.stderr.length <= 100_000 && end.stderr.endsWith("last\n"));
});

test("an argument list that is too long is an answer", async () => {
  const end = await runTool({ ...CALL, executable: "sh", args: ["x".repeat(10_000_000)] });
  assert.equal(end.kind, "refused");
});

test("what is no result of rtlagent's is junk, never a PASS", () => {
  for (const text of ["", "hello", "[]", "null", '{"status": "PASS"}', '{"step": 1, "status": "PASS", "diagnostics": [], "tests": []}', "{", "\u0000\u001b[31m"]) {
    assert.equal(readToolOutput(text).kind, "junk", text);
  }
  const odd = readToolOutput('{"step":"lint","status":"FAIL","diagnostics":[1,null,{"line":"x","severity":"fatal","message":"a\\u001b[2J"}],"tests":[7],"metrics":{"luts":null,"ffs":0}}');
  assert.ok(odd.kind === "result");
  assert.equal(odd.diagnostics.length, 1);
  assert.deepEqual({ ...odd.diagnostics[0] }, {
    tool: "", severity: "error", code: "", message: "a\ufffd[2J", path: "", line: 0, column: 0, hint: "",
  });
  assert.deepEqual([...odd.metrics], [["ffs", 0]]);
});

function processes(mark: string): string {
  const found = execFileSync("ps", ["-eo", "args"], { encoding: "utf8" });
  return found.split("\n").filter((line) => line.startsWith("sleep") && line.includes(mark)).join("\n");
}

test("a result is read the same whatever pieces it comes in", async (t) => {
  const root = folder(t);
  const file = path.join(root, "out.json");
  writeFileSync(file, JSON.stringify({ error: { message: "é😀".repeat(50_000), where: "", hint: "" } }));
  const executable = impostor(t, `dd if='${file}' bs=7 2>/dev/null`);
  const end = await runTool({ ...CALL, executable });
  assert.ok(end.kind === "ended");
  const said = readToolOutput(end.stdout);
  assert.ok(said.kind === "error" && said.message === "é😀".repeat(50_000));
});
