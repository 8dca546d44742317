/** Calls of rtlagent from the editor: only in a trusted workspace, with a message for whatever goes wrong. */

import * as vscode from "vscode";

import * as settings from "./settings";
import { runTool, type ToolEnd } from "./tool";
import { printable, readToolOutput, type ToolError, type ToolResult } from "./toolOutput";

type Ended = ToolEnd & { readonly kind: "ended" };

const OPEN_SETTINGS = "Open Settings";
const SHOW_OUTPUT = "Show Output";

/** The folder that a file belongs to, and where the tool runs. */
export function folderOf(file: vscode.Uri): vscode.Uri {
  return vscode.workspace.getWorkspaceFolder(file)?.uri ?? vscode.Uri.joinPath(file, "..");
}

export class Rtlagent implements vscode.Disposable {
  readonly output = vscode.window.createOutputChannel("rtlagent");
  private readonly running = new Set<AbortController>();
  private readonly told = new Set<string>();

  /**
   * Call rtlagent with `args` in `folder` and read its result.
   *
   * @param background Nobody asked for it: what goes wrong is told once a session.
   * @returns What it said; nothing when there is nothing to say, or the user has been told why.
   */
  async call(
    args: readonly string[],
    folder: vscode.Uri,
    signal?: AbortSignal,
    background = false,
  ): Promise<ToolResult | ToolError | undefined> {
    const ended = await this.run(args, folder, signal, background);
    return ended && this.read(ended, background);
  }

  /** The same, for what prints no result: returns how it ended. */
  async run(
    args: readonly string[],
    folder: vscode.Uri,
    signal?: AbortSignal,
    background = false,
  ): Promise<Ended | undefined> {
    if (!vscode.workspace.isTrusted) {
      this.tell("rtlagent runs in trusted workspaces only.", background, []);
      return undefined;
    }
    if (signal?.aborted) return undefined;
    const own = new AbortController();
    const abort = (): void => { own.abort(); };
    signal?.addEventListener("abort", abort);
    this.running.add(own);
    const executable = settings.executable();
    const timeoutMs = settings.timeoutMs(folder);
    this.output.appendLine(printable(`> ${[executable, ...args].map(quoted).join(" ")}`));
    try {
      const end = await runTool({ executable, args, cwd: folder.fsPath, timeoutMs }, own.signal);
      if (end.kind === "ended") return end;
      this.tellEnd(end, background, timeoutMs);
      return undefined;
    } finally {
      signal?.removeEventListener("abort", abort);
      this.running.delete(own);
    }
  }

  /** End all that is running; return how many calls that were. */
  cancel(): number {
    const count = this.running.size;
    for (const call of this.running) call.abort();
    return count;
  }

  dispose(): void {
    this.cancel();
    this.output.dispose();
  }

  /** Forget what the user has been told, because the settings have changed. */
  forget(): void {
    this.told.clear();
  }

  /** Say something that needs the user; in the background only once. */
  tell(text: string, background: boolean, actions: readonly string[] = [SHOW_OUTPUT]): void {
    this.output.appendLine(printable(text));
    if (background && this.told.has(text)) return;
    this.told.add(text);
    void vscode.window.showErrorMessage(printable(text), ...actions).then((chosen) => {
      if (chosen === SHOW_OUTPUT) this.output.show(true);
      if (chosen === OPEN_SETTINGS) void vscode.commands.executeCommand("workbench.action.openSettings", "rtlagent.executable");
    });
  }

  private tellEnd(end: Exclude<ToolEnd, Ended>, background: boolean, timeoutMs: number): void {
    switch (end.kind) {
      case "cancelled":
        this.output.appendLine("cancelled");
        break;
      case "missing":
        this.tell(
          `rtlagent was not found as "${end.executable}". Install it, or set rtlagent.executable to its absolute path.`,
          background,
          [OPEN_SETTINGS],
        );
        break;
      case "refused":
        this.tell(`rtlagent cannot be started: ${end.reason}`, background, [OPEN_SETTINGS]);
        break;
      case "timeout":
        this.tell(`rtlagent was ended after ${timeoutMs / 1000} s (rtlagent.timeoutSeconds).`, background);
        break;
      case "too much":
        this.tell("rtlagent was ended: it printed more than 64 MB.", background);
    }
  }

  private read(end: Ended, background: boolean): ToolResult | ToolError | undefined {
    const said = readToolOutput(end.stdout);
    if (said.kind !== "junk") return said;
    if (end.stderr.trim()) this.output.appendLine(printable(end.stderr.trimEnd()));
    const code = end.code === null ? "ended by a signal" : `exit code ${end.code}`;
    this.tell(`What "${settings.executable()}" printed is not rtlagent's (${code}): ${said.reason}`, background, [
      SHOW_OUTPUT,
      OPEN_SETTINGS,
    ]);
    return undefined;
  }
}

/** For the eye only: nothing is ever run from this text. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
