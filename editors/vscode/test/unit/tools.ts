/** The real rtlagent, and folders to work in. */

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import type { TestContext } from "node:test";

import { runTool, type ToolEnd } from "../../src/tool";
import { readToolOutput, type ToolError, type ToolResult } from "../../src/toolOutput";

/** EXTENSION_TEST_REPOSITORY names it for a copy of the extension that lies elsewhere. */
export const REPOSITORY = process.env["EXTENSION_TEST_REPOSITORY"] ?? path.resolve(__dirname, "../../../../..");
/** The installed command; EXTENSION_TEST_RTLAGENT names another one. */
export const RTLAGENT = process.env["EXTENSION_TEST_RTLAGENT"] ?? "rtlagent";

/** Make a folder with a blank in its name that is gone after the test. */
export function folder(t: TestContext, files: Readonly<Record<string, string>> = {}): string {
  const made = mkdtempSync(path.join(os.tmpdir(), "rtl agent-"));
  t.after(() => { rmSync(made, { recursive: true, force: true }); });
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(made, name)), { recursive: true });
    writeFileSync(path.join(made, name), text);
  }
  return made;
}

/** Write a program that stands where rtlagent should. */
export function impostor(t: TestContext, script: string): string {
  const file = path.join(folder(t), "rtlagent");
  writeFileSync(file, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return file;
}

/** Tell why the real tool cannot be used here, or nothing. */
export function missing(): string | false {
  try {
    execFileSync(RTLAGENT, ["--version"], { stdio: "ignore", timeout: 30_000 });
    return false;
  } catch {
    return "rtlagent is not installed; EXTENSION_TEST_RTLAGENT names one";
  }
}

/** Call the real tool as the extension does. */
export async function call(args: readonly string[], cwd: string): Promise<ToolResult> {
  const end = await runTool({ executable: RTLAGENT, args, cwd, timeoutMs: 55_000 });
  const said = read(end);
  if (said.kind !== "result") throw new Error(JSON.stringify(said));
  return said;
}

export function read(end: ToolEnd): ToolResult | ToolError {
  if (end.kind !== "ended") throw new Error(end.kind);
  const said = readToolOutput(end.stdout);
  if (said.kind === "junk") throw new Error(`${said.reason}\n${end.stderr}`);
  return said;
}
