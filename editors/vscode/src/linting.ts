/** Lint on save and on command. */

import { stat } from "node:fs/promises";
import * as vscode from "vscode";

import { ArgumentError, lintArguments } from "./commandLine";
import { isVerilog } from "./design";
import { located, Problems } from "./problems";
import type { Rtlagent } from "./rtlagent";
import * as settings from "./settings";
import { needs, surroundings } from "./sources";
import { headline } from "./summary";
import type { ToolError, ToolResult } from "./toolOutput";

const MAX_USERS = 4;
const MAX_RENAMED = 8;

/** Tell whether a document is a Verilog file on a disk, saved or not. */
export function isLintable(document: vscode.TextDocument): boolean {
  return document.uri.scheme === "file" && isVerilog(document.uri.fsPath);
}

/** Lints one file after the other; a newer request for a file ends the older one. */
export class Linting implements vscode.Disposable {
  private readonly problems = new Problems("rtlagent-lint");
  private readonly current = new Map<string, AbortController>();
  private readonly subscriptions: vscode.Disposable[];
  private queue: Promise<void> = Promise.resolve();

  constructor(private readonly tool: Rtlagent) {
    const watcher = vscode.workspace.createFileSystemWatcher("**/*.{v,sv,vh,svh,V,SV}", true, true);
    this.subscriptions = [
      watcher,
      watcher.onDidDelete((uri) => { this.forget(uri); }),
      vscode.workspace.onDidSaveTextDocument((document) => {
        const wanted = isLintable(document) && vscode.workspace.isTrusted && settings.lintsOnSave(document.uri);
        if (wanted) void this.lint(document.uri, true);
      }),
      vscode.workspace.onDidDeleteFiles((event) => { event.files.forEach((uri) => { this.forget(uri); }); }),
      vscode.workspace.onDidRenameFiles((event) => { void this.follow(event.files); }),
    ];
  }

  /** Lint a file, and after it those whose last judgement had it in it. */
  async lint(uri: vscode.Uri, background = false): Promise<ToolResult | undefined> {
    const users = this.problems.rootsWith(uri.fsPath).filter((root) => root !== uri.fsPath);
    const result = await this.enqueue(uri, background);
    for (const user of users.slice(0, MAX_USERS)) await this.enqueue(vscode.Uri.file(user), true);
    return result;
  }

  dispose(): void {
    for (const call of this.current.values()) call.abort();
    this.subscriptions.forEach((s) => { s.dispose(); });
    this.problems.dispose();
  }

  private forget(uri: vscode.Uri): void {
    this.current.get(uri.fsPath)?.abort();
    this.problems.forget(uri.fsPath);
  }

  private async follow(files: readonly { readonly oldUri: vscode.Uri; readonly newUri: vscode.Uri }[]): Promise<void> {
    for (const { oldUri } of files) this.forget(oldUri);
    const renamed = files.map((f) => f.newUri).filter((uri) => uri.scheme === "file" && isVerilog(uri.fsPath));
    for (const uri of renamed.slice(0, MAX_RENAMED)) {
      if (vscode.workspace.isTrusted && settings.lintsOnSave(uri)) await this.lint(uri, true);
    }
  }

  private async enqueue(uri: vscode.Uri, background: boolean): Promise<ToolResult | undefined> {
    const file = uri.fsPath;
    this.current.get(file)?.abort();
    const own = new AbortController();
    this.current.set(file, own);
    const turn = this.queue.then(() => this.run(uri, own.signal, background));
    this.queue = turn.then(() => undefined, () => undefined);
    try {
      return await turn;
    } finally {
      if (this.current.get(file) === own) this.current.delete(file);
    }
  }

  private async run(uri: vscode.Uri, signal: AbortSignal, background: boolean): Promise<ToolResult | undefined> {
    if (signal.aborted) return undefined;
    const around = await surroundings(uri);
    const { files } = needs(uri, around);
    const root = uri.fsPath;
    try {
      const args = lintArguments(files, settings.furtherArguments("lint", uri));
      const location = vscode.ProgressLocation.Window;
      const said = await vscode.window.withProgress({ location, title: "rtlagent: lint" }, () =>
        this.tool.call(args, around.folder, signal, background),
      );
      if (isAborted(signal)) return undefined;
      if (!(await stat(root).catch(() => undefined))) {
        this.problems.forget(root); // renamed or deleted meanwhile
        return undefined;
      }
      return await this.take(said, root, files, around.folder.fsPath, background);
    } catch (error) {
      if (!(error instanceof ArgumentError)) throw error;
      this.tool.tell(error.message, background, []);
      this.problems.delete(root);
      return undefined;
    }
  }

  private async take(
    said: ToolResult | ToolError | undefined,
    root: string,
    files: readonly string[],
    folder: string,
    background: boolean,
  ): Promise<ToolResult | undefined> {
    if (said?.kind === "result" && ["PASS", "FAIL"].includes(said.status)) {
      this.problems.set(root, files, await located(said.diagnostics, folder, root));
      this.tool.output.appendLine(headline("lint", said));
      return said;
    }
    // What is wrong is not known any longer: old findings would be a guess.
    this.problems.delete(root);
    if (said?.kind === "error") {
      const hint = said.hint ? ` (${said.hint})` : "";
      this.tool.tell(`lint: ${said.where ? `${said.where}: ` : ""}${said.message}${hint}`, background);
    } else if (said) {
      this.tool.tell(`lint: ${said.status}: ${said.detail.split("\n", 1)[0] ?? ""}`, background);
    }
    return undefined;
  }
}

/** Ask the signal again: what the compiler knows of it is from before the wait. */
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}
