import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { appendFileSync, mkdirSync, openSync, closeSync, readFileSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import * as path from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

import { fileOfRun, framed, page, POLICY } from "../../src/reportHtml";
import { advance, gradeOf, statusLines, statusText, UNBEGUN, type RunState } from "../../src/run";
import { isHeld, newestRun, RunLog, runsIn } from "../../src/runFolder";
import { folder, missing, REPOSITORY, RTLAGENT } from "./tools";

function told(...events: object[]): RunState {
  return events.map((e) => JSON.stringify({ time: 1, ...e })).reduce(advance, UNBEGUN);
}

test("a real run is followed to its verdict, live", { skip: missing(), timeout: 280_000 }, async (t) => {
  const root = folder(t);
  const example = path.join(REPOSITORY, "examples/sync_fifo");
  const args = ["generate", `${example}/spec.md`, "--model", `replay:${example}/replies.jsonl`, "--plain"];
  const running = promisify(execFile)(RTLAGENT, args, { cwd: root, timeout: 270_000 });
  const ends = { seen: false };
  void running.finally(() => { ends.seen = true; });
  const seen = new Set<string>();
  let log: RunLog | undefined;
  while (!ends.seen) {
    const run = await newestRun([path.join(root, "runs")]);
    if (run) {
      log ??= new RunLog(run);
      seen.add(statusText(await log.read()));
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  await running;
  assert.ok(log);
  const state = await log.read();
  assert.equal(statusText(state), "$(pass) sync_fifo: PASS (strong)");
  assert.equal(state.iteration, 2);
  assert.equal(state.gates.get("simulate"), "PASS");
  assert.equal(state.costUsd, 0);
  assert.equal(state.damaged, 0);
  assert.ok([...seen].some((s) => s.startsWith("$(sync~spin) sync_fifo [1]: past ")), [...seen].join("\n"));
  assert.ok([...seen].some((s) => s.startsWith("$(sync~spin) sync_fifo [2]: ")));
  const html = framed(readFileSync(path.join(log.folder, "report.html"), "utf8"), "rtlagent.openRunFile");
  assert.ok(html.startsWith(`<!doctype html>\n<meta http-equiv="Content-Security-Policy" content="${POLICY}">`));
  assert.ok(html.includes("command:rtlagent.openRunFile?%5B%22rtl%2Fsync_fifo.v%22%5D"));
  assert.ok(!html.includes('href="./'));
});

test("each end of a run has its word; a tool's error is no FAIL", () => {
  const begun = { event: "started", spec: "fifo" };
  const end = (outcome: string): string => statusText(told(begun, { event: "ended", outcome, reason: "r" }));
  assert.equal(end("pass"), "$(pass) fifo: PASS");
  assert.equal(end("fail"), "$(error) fifo: FAIL");
  assert.equal(end("limit"), "$(watch) fifo: limit reached");
  for (const outcome of ["tool", "model", "whatever is new"]) assert.equal(end(outcome), "$(warning) fifo: ERROR");
  assert.equal(statusText(told(begun, { event: "interrupted" })), "$(debug-pause) fifo: interrupted");
  assert.equal(told(begun, { event: "interrupted" }, begun).phase, "running");
});

test("an unknown cost is unknown, not 0", () => {
  const reply = (cost_usd: number | null): object => ({ event: "model_reply", usage: { tokens_in: 5, tokens_out: 1, cost_usd } });
  assert.equal(told(reply(0.5), reply(0.25)).costUsd, 0.75);
  const unknown = told(reply(0.5), reply(null), reply(1));
  assert.equal(unknown.costUsd, undefined);
  assert.ok(statusLines(unknown, "id").includes("tokens: 18, cost: unknown"));
});

test("a C run counts its attempts by what was compiled", () => {
  const state = told({ event: "started", spec: "fir" }, { event: "compiled" }, { event: "gate", step: "lint", status: "PASS" }, { event: "compiled" });
  assert.equal(state.iteration, 2);
  assert.equal(state.gates.size, 0);
});

test("hostile names draw no icons and no lines", () => {
  const text = statusText(told({ event: "started", spec: `$(flame)\n\u001b[31m${"x".repeat(500)}` }));
  assert.ok(!text.slice(2).includes("$("));
  assert.ok(!text.includes("\n") && !text.includes("\u001b"));
  assert.ok(text.length < 100);
});

test("damaged lines are counted, and the rest is read", async (t) => {
  const first = '{"time": 1, "event": "started", "spec": "é"}\n';
  const root = folder(t, { "20261201-100000-x/events.jsonl": `${first}hello\n[]\n{"event": 3}\n` });
  const run = path.join(root, "20261201-100000-x");
  const log = new RunLog(run);
  const now = 1000;
  assert.equal((await log.read(now)).damaged, 3);
  appendFileSync(path.join(run, "events.jsonl"), '{"time": 2, "event": "ended", "outc');
  assert.equal((await log.read(now)).phase, "running");
  appendFileSync(path.join(run, "events.jsonl"), 'ome": "fail"}\n');
  assert.equal((await log.read(now)).phase, "fail");
  truncateSync(path.join(run, "events.jsonl"), Buffer.byteLength(first));
  assert.equal((await log.read(now)).damaged, 0);
  assert.equal((await log.read(now)).name, "é");
});

test("a log of 60 MB is read in little time", async (t) => {
  const root = folder(t);
  const line = `${JSON.stringify({ time: 1, event: "step", step: "lint", status: "PASS", argv: ["x".repeat(1000)] })}\n`;
  writeFileSync(path.join(root, "events.jsonl"), line.repeat(60_000));
  const start = Date.now();
  const state = await new RunLog(root).read(1000);
  assert.equal(state.gates.get("lint"), "PASS");
  assert.ok(Date.now() - start < 5000, `${Date.now() - start} ms`);
});

test("a run that nobody works on is interrupted", { skip: process.platform === "linux" ? false : "needs /proc/locks" }, async (t) => {
  const root = folder(t, { "events.jsonl": '{"time": 1, "event": "started", "spec": "x"}\n', ".lock": "" });
  assert.equal((await new RunLog(root).read()).phase, "interrupted");
  assert.equal((await new RunLog(root).read(2000)).phase, "running");
  assert.equal(await isHeld(path.join(root, "none")), undefined);
  assert.equal(await isHeld(path.join(root, ".lock"), path.join(root, "no table")), undefined);
  const holder = execFile("flock", [path.join(root, ".lock"), "sleep", "20"]);
  t.after(() => holder.kill());
  for (let tries = 0; tries < 50 && !(await isHeld(path.join(root, ".lock"))); tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert.equal((await new RunLog(root).read()).phase, "running");
});

test("the newest run is the one in which something happened last", async (t) => {
  const root = folder(t, {
    "20261201-100000-a/events.jsonl": "",
    "20261202-100000-b/events.jsonl": "",
    "sim/events.jsonl": "",
    "20261203-100000-c/other": "",
  });
  utimesSync(path.join(root, "20261202-100000-b/events.jsonl"), 1000, 1000);
  assert.equal(await newestRun([root, path.join(root, "none")]), path.join(root, "20261201-100000-a"));
  assert.deepEqual((await runsIn(root)).map((r) => path.basename(r)), ["20261203-100000-c", "20261202-100000-b", "20261201-100000-a"]);
  mkdirSync(path.join(root, "file is a folder"));
  closeSync(openSync(path.join(root, "20261204-100000-file"), "w"));
  assert.equal((await runsIn(root)).length, 3);
});

test("grades are read from whole reports only", () => {
  assert.equal(gradeOf('{"verdict": {"passed": true, "grade": "strong"}}'), "strong");
  for (const text of ["", "{", "[]", '{"verdict": null}', '{"verdict": {"passed": false, "grade": "strong"}}']) assert.equal(gradeOf(text), "");
});

test("a report's links lead to the run's files only", () => {
  const html = framed('<!doctype html><a href="./logs/a&#39;b%20c.log#L3">x</a><a href="#top">y</a><a href="https://x.test/">z</a>', "c");
  assert.ok(html.includes(`command:c?${encodeURIComponent('["logs/a\'b c.log"]')}`));
  assert.ok(html.includes('href="#top"') && html.includes('href="https://x.test/"'));
  assert.equal(fileOfRun("/runs/a", "logs/x.log"), "/runs/a/logs/x.log");
  for (const link of ["../b/x", "/etc/passwd", "..", "", 3, undefined, "a\0b", "logs/../../x", "."]) {
    assert.equal(fileOfRun("/runs/a", link), undefined, String(link));
  }
  assert.ok(page("<script>").includes("&#60;script&#62;"));
});
