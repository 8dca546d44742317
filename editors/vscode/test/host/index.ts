/**
 * What VS Code's extension host calls: the extension in a real editor, with the real rtlagent.
 *
 * The workspace is laid out by tests/editors/test_extension.py; its .vscode/settings.json names a program that must never run.
 */

import * as vscode from "vscode";

import { restricted } from "./restricted";
import { trusted } from "./trusted";

type Check = () => Promise<void>;

export async function run(): Promise<void> {
  const checks: Readonly<Record<string, Check>> = vscode.workspace.isTrusted ? trusted : restricted;
  const failed: string[] = [];
  for (const [name, check] of Object.entries(checks)) {
    try {
      await check();
      console.log(`host: ok: ${name}`);
    } catch (error) {
      failed.push(name);
      console.error(`host: FAILED: ${name}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    }
  }
  console.log(`host: ${Object.keys(checks).length - failed.length} of ${Object.keys(checks).length} passed`);
  if (failed.length > 0) throw new Error(`failed: ${failed.join(", ")}`);
}
