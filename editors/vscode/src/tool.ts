/** Run a program with an argument list (never a shell), within limits of time and output. */

import { spawn, type ChildProcessByStdio } from "node:child_process";
import { stat } from "node:fs/promises";
import * as os from "node:os";
import * as path from "node:path";
import type { Readable } from "node:stream";

export interface ToolCall {
  readonly executable: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly timeoutMs: number;
  /** Of standard output; of standard error only the end is kept. */
  readonly maxBytes?: number;
  /** From the polite signal to the other one. */
  readonly graceMs?: number;
}

export type ToolEnd =
  | { readonly kind: "ended"; readonly code: number | null; readonly stdout: string; readonly stderr: string }
  | { readonly kind: "missing"; readonly executable: string }
  | { readonly kind: "refused"; readonly reason: string }
  | { readonly kind: "timeout" }
  | { readonly kind: "cancelled" }
  | { readonly kind: "too much" };

type Child = ChildProcessByStdio<null, Readable, Readable>;

const MAX_BYTES = 64_000_000;
const MAX_ERROR_BYTES = 100_000;
const GRACE_MS = 3000;
const LAST_WORDS_MS = 1000;

/** Return what to start for a setting, or nothing: a path relative to some folder would be the workspace's choice. */
export function executablePath(setting: string): string | undefined {
  const name = setting.trim();
  if (name === "" || name.includes("\0")) return undefined;
  if (name.startsWith("~/")) return path.join(os.homedir(), name.slice(2));
  const isName = !name.includes("/") && !name.includes("\\") && name !== "." && name !== "..";
  return isName || path.isAbsolute(name) ? name : undefined;
}

/**
 * Look a name up in `PATH`, as the system would but for its relative entries: they would be the workspace's.
 *
 * @returns The path, the name itself if it is one, or nothing.
 */
export async function lookUp(name: string, searched = process.env["PATH"] ?? ""): Promise<string | undefined> {
  if (path.isAbsolute(name)) return name;
  for (const folder of searched.split(path.delimiter).filter((f) => path.isAbsolute(f))) {
    const candidate = path.join(folder, name);
    const found = await stat(candidate).catch(() => undefined);
    if (found?.isFile() && (found.mode & 0o111) !== 0) return candidate;
  }
  return undefined;
}

/** Run a program to its end, its limit or the signal; it leaves nothing running. */
export async function runTool(call: ToolCall, signal?: AbortSignal): Promise<ToolEnd> {
  if (signal?.aborted) return { kind: "cancelled" };
  const executable = executablePath(call.executable);
  if (executable === undefined) {
    return { kind: "refused", reason: `${JSON.stringify(call.executable)} is neither a name nor an absolute path` };
  }
  const program = await lookUp(executable);
  if (program === undefined) return { kind: "missing", executable };
  const folder = await stat(call.cwd).catch(() => undefined);
  if (!folder?.isDirectory()) return { kind: "refused", reason: `${call.cwd} is not a folder` };
  try {
    // A group of its own: the tools that it starts end with it.
    const options = { cwd: call.cwd, detached: process.platform !== "win32", windowsHide: true, shell: false };
    const child = spawn(program, [...call.args], { ...options, stdio: ["ignore", "pipe", "pipe"] });
    return await follow(child, executable, call, signal);
  } catch (error) {
    return { kind: "refused", reason: String(error) }; // such as an argument list that is too long
  }
}

function follow(child: Child, executable: string, call: ToolCall, signal?: AbortSignal): Promise<ToolEnd> {
  return new Promise((resolve) => {
    const output: Buffer[] = [];
    let size = 0;
    let errors = Buffer.alloc(0);
    let ending: ToolEnd | undefined;
    const timers: NodeJS.Timeout[] = [];
    const finish = (end: ToolEnd): void => {
      timers.forEach(clearTimeout);
      signal?.removeEventListener("abort", cancel);
      child.stdout.destroy();
      child.stderr.destroy();
      resolve(end);
    };
    const stop = (end: ToolEnd): void => {
      if (ending) return;
      ending = end;
      kill(child, "SIGTERM");
      timers.push(setTimeout(() => { kill(child, "SIGKILL"); }, call.graceMs ?? GRACE_MS));
      timers.push(setTimeout(() => { finish(end); }, (call.graceMs ?? GRACE_MS) + LAST_WORDS_MS));
    };
    const cancel = (): void => { stop({ kind: "cancelled" }); };
    timers.push(setTimeout(() => { stop({ kind: "timeout" }); }, call.timeoutMs));
    signal?.addEventListener("abort", cancel);
    child.stdout.on("data", (part: Buffer) => {
      if (ending) return; // read on, so that the pipe is no reason to hang
      size += part.length;
      if (size > (call.maxBytes ?? MAX_BYTES)) {
        output.length = 0;
        stop({ kind: "too much" });
      } else output.push(part);
    });
    child.stderr.on("data", (part: Buffer) => { errors = Buffer.concat([errors, part]).subarray(-MAX_ERROR_BYTES); });
    child.on("error", (error: NodeJS.ErrnoException) => {
      // ENOENT of a file that is there: the interpreter in its first line is gone.
      finish(error.code === "ENOENT" ? { kind: "missing", executable } : { kind: "refused", reason: error.message });
    });
    child.on("close", (code) => {
      if (ending) kill(child, "SIGKILL"); // whoever of the group is left
      const stdout = Buffer.concat(output).toString("utf8");
      finish(ending ?? { kind: "ended", code, stdout, stderr: errors.toString("utf8") });
    });
  });
}

function kill(child: Child, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    if (process.platform === "win32") child.kill(signal);
    else process.kill(-child.pid, signal);
  } catch (error) {
    // ESRCH: all have ended. EPERM: so they have, and macOS says it like this.
    if (!["ESRCH", "EPERM"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
  }
}
