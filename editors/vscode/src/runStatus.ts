/** The newest run in the status bar, live. */

import * as path from "node:path";
import * as vscode from "vscode";

import { statusLines, statusText, type RunState } from "./run";
import { newestRun, RunLog } from "./runFolder";
import { runsFolders } from "./settings";

const EVERY_MS = 1000;
/** Which run is the newest is asked less often than how it stands. */
const LOOKS = 3;

export class RunStatus implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem("rtlagent.run", vscode.StatusBarAlignment.Left, 10);
  private readonly changed = new vscode.EventEmitter<string>();
  /** Fires with a run's folder when its state has changed. */
  readonly onDidChange = this.changed.event;
  private log: RunLog | undefined;
  private timer: NodeJS.Timeout | undefined;
  private shown: RunState | undefined;
  private disposed = false;

  constructor(private readonly output: vscode.OutputChannel) {
    this.item.name = "rtlagent run";
    this.item.command = "rtlagent.showReport";
    void this.tick(0);
  }

  /** The folder of the run that is shown. */
  get run(): string | undefined {
    return this.log?.folder;
  }

  /** What the status bar says; nothing while there is no run. */
  get text(): string | undefined {
    return this.log ? this.item.text : undefined;
  }

  dispose(): void {
    this.disposed = true;
    clearTimeout(this.timer);
    this.item.dispose();
    this.changed.dispose();
  }

  private async tick(count: number): Promise<void> {
    try {
      if (count % LOOKS === 0) await this.look();
      await this.update();
    } catch (error) {
      this.output.appendLine(`the run cannot be followed: ${String(error)}`);
    }
    if (!this.disposed) this.timer = setTimeout(() => void this.tick(count + 1), EVERY_MS);
  }

  private async look(): Promise<void> {
    const newest = await newestRun(runsFolders());
    if (newest === this.log?.folder) return;
    this.log = newest === undefined ? undefined : new RunLog(newest);
    this.shown = undefined;
  }

  private async update(): Promise<void> {
    if (!this.log) {
      this.item.hide();
      return;
    }
    const { log } = this;
    const state = await log.read();
    if (this.disposed || log !== this.log) return;
    if (state === this.shown) return;
    const ended = this.shown !== undefined && this.shown.phase !== state.phase;
    this.shown = state;
    this.show(state, path.basename(log.folder));
    if (ended || state.phase === "running") this.changed.fire(log.folder);
  }

  private show(state: RunState, id: string): void {
    const text = statusText(state);
    const tooltip = new vscode.MarkdownString();
    for (const line of [...statusLines(state, id), "Click for the report."]) {
      tooltip.appendText(line);
      tooltip.appendMarkdown("\n\n");
    }
    if (this.item.text !== text) this.item.text = text;
    this.item.tooltip = tooltip;
    this.item.accessibilityInformation = { label: `rtlagent: ${statusLines(state, id).join(", ")}` };
    const alarming = state.phase === "fail" || state.phase === "error";
    this.item.backgroundColor = alarming ? new vscode.ThemeColor("statusBarItem.errorBackground") : undefined;
    this.item.show();
  }
}
