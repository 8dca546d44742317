/** A run's report in a panel. */

import { readFile, realpath, stat } from "node:fs/promises";
import * as path from "node:path";
import * as vscode from "vscode";

import { reportArguments } from "./commandLine";
import { fileOfRun, framed, page } from "./reportHtml";
import type { Rtlagent } from "./rtlagent";
import { readToolOutput } from "./toolOutput";

const OPEN_FILE = "rtlagent.openRunFile";
const MAX_BYTES = 20_000_000;
/** A run ends its log before it writes its report. */
const LAG_MS = 2000;

interface Panel {
  readonly view: vscode.WebviewPanel;
  /** Of the report that is shown; 0: none. */
  time: number;
}

export class ReportPanels implements vscode.Disposable {
  private readonly panels = new Map<string, Panel>();
  private last: string | undefined;

  constructor(private readonly tool: Rtlagent) {}

  /** Show the report of a run; one that has none, or went on since, gets one where rtlagent may run. */
  async show(run: string): Promise<void> {
    const file = path.join(run, "report.html");
    if (vscode.workspace.isTrusted && (await isBehind(run, file))) await this.make(run);
    const size = (await stat(file).catch(() => undefined))?.size;
    if (size === undefined) {
      void vscode.window.showInformationMessage(`The run ${path.basename(run)} has no report yet.`);
      return;
    }
    if (size > MAX_BYTES) {
      await vscode.env.openExternal(vscode.Uri.file(file));
      return;
    }
    const panel = this.panels.get(run) ?? this.create(run);
    panel.view.reveal(undefined, false);
    await this.load(run, panel);
  }

  /** Load a report that is shown again if it has changed. */
  async refresh(run: string): Promise<void> {
    const panel = this.panels.get(run);
    if (panel) await this.load(run, panel);
  }

  /** Open a file of the run whose report was looked at last; none outside of it. */
  async openFile(link: unknown): Promise<void> {
    const run = this.last;
    const file = run === undefined ? undefined : fileOfRun(run, link);
    if (run === undefined || file === undefined) return;
    const [real, folder] = await Promise.all([realpath(file).catch(() => undefined), realpath(run)]);
    if (real === undefined || fileOfRun(folder, real) === undefined) {
      void vscode.window.showInformationMessage(`${path.basename(file)} is not in the run's folder.`);
      return;
    }
    await vscode.window.showTextDocument(vscode.Uri.file(file), { preview: true, viewColumn: vscode.ViewColumn.Beside });
  }

  dispose(): void {
    for (const { view } of this.panels.values()) view.dispose();
  }

  private create(run: string): Panel {
    const title = `Report: ${path.basename(run)}`;
    const view = vscode.window.createWebviewPanel("rtlagent.report", title, vscode.ViewColumn.Active, {
      enableScripts: false,
      enableForms: false,
      enableFindWidget: true,
      enableCommandUris: [OPEN_FILE],
      localResourceRoots: [], // the report is one file; nothing else is loaded
    });
    const panel = { view, time: 0 };
    this.panels.set(run, panel);
    this.last = run;
    view.onDidChangeViewState(() => { if (view.active) this.last = run; });
    view.onDidDispose(() => { this.panels.delete(run); });
    return panel;
  }

  private async load(run: string, panel: Panel): Promise<void> {
    const file = path.join(run, "report.html");
    const time = (await stat(file).catch(() => undefined))?.mtimeMs ?? 0;
    if (time === panel.time && time > 0) return;
    panel.time = time;
    const html = await readFile(file, "utf8").catch(() => undefined);
    panel.view.webview.html = html === undefined ? page("The report is gone.") : framed(html, OPEN_FILE);
  }

  private async make(run: string): Promise<void> {
    const folder = vscode.workspace.getWorkspaceFolder(vscode.Uri.file(run))?.uri ?? vscode.Uri.file(run);
    const location = vscode.ProgressLocation.Window;
    const ended = await vscode.window.withProgress({ location, title: "rtlagent: report" }, () =>
      this.tool.run(reportArguments(run), folder),
    );
    const said = ended && readToolOutput(ended.stdout);
    if (said?.kind === "error") this.tool.tell(`report: ${said.where ? `${said.where}: ` : ""}${said.message}`, false);
  }
}

async function isBehind(run: string, file: string): Promise<boolean> {
  const [report, log] = await Promise.all([
    stat(file).catch(() => undefined),
    stat(path.join(run, "events.jsonl")).catch(() => undefined),
  ]);
  return !report || (log !== undefined && log.mtimeMs > report.mtimeMs + LAG_MS);
}
