/** A folder of runs on the disk: which is the newest, and how it stands. */

import { open, readdir, readFile, stat } from "node:fs/promises";
import * as path from "node:path";
import { StringDecoder } from "node:string_decoder";

import { advance, gradeOf, UNBEGUN, type RunState } from "./run";

const NAME = /^\d{8}-\d{6}-/;
const LOOKED_AT = 100;
const CHUNK_BYTES = 1_000_000;
const MAX_LINE = 20_000_000;
const MAX_REPORT_BYTES = 100_000_000;
/** After so long a silence it is asked whether anyone still works on a run. */
const SILENT_MS = 15_000;

/** Return the runs of a folder, the newest name first; none when there is no such folder. */
export async function runsIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const names = entries.filter((e) => e.isDirectory() && NAME.test(e.name)).map((e) => e.name);
  return names.sort().reverse().map((name) => path.join(folder, name));
}

/** Return the run of several folders in which something happened last; a resumed one can be older than others. */
export async function newestRun(folders: readonly string[]): Promise<string | undefined> {
  let newest: { run: string; time: number } | undefined;
  for (const folder of folders) {
    for (const run of (await runsIn(folder)).slice(0, LOOKED_AT)) {
      const time = (await stat(path.join(run, "events.jsonl")).catch(() => undefined))?.mtimeMs;
      if (time !== undefined && (!newest || time > newest.time)) newest = { run, time };
    }
  }
  return newest?.run;
}

/** Reads a run's log as it grows. */
export class RunLog {
  private state = UNBEGUN;
  private offset = 0;
  private rest = "";
  private decoder = new StringDecoder("utf8");

  constructor(readonly folder: string) {}

  /** Return how the run stands now. */
  async read(nowMs = Date.now()): Promise<RunState> {
    await this.readLog(path.join(this.folder, "events.jsonl"));
    if (this.state.phase === "pass" && this.state.grade === "") {
      this.state = { ...this.state, grade: await this.readGrade() };
    }
    const silent = this.state.phase === "running" && nowMs - this.state.lastMs > SILENT_MS;
    if (silent && (await isHeld(path.join(this.folder, ".lock"))) === false) {
      return { ...this.state, phase: "interrupted", reason: "no process of this machine works on it" };
    }
    return this.state;
  }

  private async readLog(file: string): Promise<void> {
    const handle = await open(file, "r").catch(() => undefined);
    if (!handle) return;
    try {
      if ((await handle.stat()).size < this.offset) this.restart(); // a torn line was cut off
      const buffer = Buffer.alloc(CHUNK_BYTES);
      for (;;) {
        const { bytesRead } = await handle.read(buffer, 0, CHUNK_BYTES, this.offset);
        if (bytesRead === 0) return;
        this.offset += bytesRead;
        this.take(this.decoder.write(buffer.subarray(0, bytesRead)));
      }
    } finally {
      await handle.close();
    }
  }

  private restart(): void {
    this.state = UNBEGUN;
    this.offset = 0;
    this.rest = "";
    this.decoder = new StringDecoder("utf8");
  }

  private take(text: string): void {
    const lines = (this.rest + text).split("\n");
    this.rest = lines.pop() ?? ""; // not finished yet
    if (this.rest.length > MAX_LINE) this.rest = "damaged";
    for (const line of lines) this.state = advance(this.state, line);
  }

  private async readGrade(): Promise<string> {
    const file = path.join(this.folder, "report.json");
    const found = await stat(file).catch(() => undefined);
    if (!found || found.size > MAX_REPORT_BYTES) return "";
    return gradeOf(await readFile(file, "utf8").catch(() => ""));
  }
}

/**
 * Tell whether a process of this machine holds the lock of a run, by Linux's table of locks.
 *
 * @returns Undefined where that cannot be known.
 */
export async function isHeld(lock: string, table = "/proc/locks"): Promise<boolean | undefined> {
  const [found, locks] = await Promise.all([
    stat(lock).catch(() => undefined),
    readFile(table, "utf8").catch(() => undefined),
  ]);
  if (!found || locks === undefined) return undefined;
  // "1: FLOCK  ADVISORY  WRITE 4711 fd:00:1234 0 EOF": the last number of the place is the inode.
  return locks.split("\n").some((line) => line.split(/\s+/).some((word) => word.endsWith(`:${found.ino}`) && word.split(":").length === 3));
}
