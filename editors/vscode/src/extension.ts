/** What VS Code calls: the commands, and the parts that live as long as the window. */

import * as path from "node:path";
import * as vscode from "vscode";

import { Judging } from "./judging";
import { Lenses, moduleAt, SELECTOR } from "./lenses";
import { isLintable, Linting } from "./linting";
import { ReportPanels } from "./reportPanel";
import { Rtlagent } from "./rtlagent";
import { runsIn } from "./runFolder";
import { RunStatus } from "./runStatus";
import { runsFolders } from "./settings";
import type { ToolResult } from "./toolOutput";

/** For other extensions, and for tests. */
export interface Api {
  /** Return what the status bar says of the newest run. */
  status(): string | undefined;
}

interface Parts {
  readonly tool: Rtlagent;
  readonly linting: Linting;
  readonly judging: Judging;
  readonly status: RunStatus;
  readonly reports: ReportPanels;
}

export function activate(context: vscode.ExtensionContext): Api {
  const tool = new Rtlagent();
  const parts: Parts = {
    tool,
    linting: new Linting(tool),
    judging: new Judging(tool),
    status: new RunStatus(tool.output),
    reports: new ReportPanels(tool),
  };
  const lenses = new Lenses();
  context.subscriptions.push(
    tool,
    parts.linting,
    parts.judging,
    parts.status,
    parts.reports,
    ...commands(parts),
    vscode.languages.registerCodeLensProvider(SELECTOR, lenses),
    vscode.workspace.onDidGrantWorkspaceTrust(() => { lenses.refresh(); }),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("rtlagent")) tool.forget();
    }),
    parts.status.onDidChange((run) => void parts.reports.refresh(run)),
  );
  return { status: () => parts.status.text };
}

function commands({ tool, linting, judging, status, reports }: Parts): vscode.Disposable[] {
  const on = (name: string, does: (...given: unknown[]) => unknown): vscode.Disposable =>
    vscode.commands.registerCommand(name, does);
  return [
    on("rtlagent.lint", async (uri) => {
      const file = await fileFor(uri);
      return file && linting.lint(file);
    }),
    on("rtlagent.simulate", (uri, module, tests) =>
      withModule(uri, module, (file, name) => judging.simulate(file, name, isTexts(tests) ? tests : undefined)),
    ),
    on("rtlagent.synthesize", (uri, module) =>
      withModule(uri, module, (file, name) => judging.synthesize(file, name)),
    ),
    on("rtlagent.cancel", () => {
      const count = tool.cancel();
      void vscode.window.showInformationMessage(count === 0 ? "rtlagent is not running." : "rtlagent was stopped.");
    }),
    on("rtlagent.showReport", async () => {
      if (status.run === undefined) tellNoRun();
      else await reports.show(status.run);
    }),
    on("rtlagent.pickReport", () => pickReport(reports)),
    on("rtlagent.showOutput", () => { tool.output.show(); }),
    on("rtlagent.openRunFile", (link) => reports.openFile(link)),
  ];
}

/** Return the Verilog file that a command is about: saved first, since the tools read the disk. */
async function fileFor(given: unknown): Promise<vscode.Uri | undefined> {
  const uri = given instanceof vscode.Uri ? given : vscode.window.activeTextEditor?.document.uri;
  const document = uri?.scheme === "file" ? await vscode.workspace.openTextDocument(uri) : undefined;
  if (!document || !isLintable(document)) {
    void vscode.window.showInformationMessage("Open a Verilog file first (.v, .sv, .vh or .svh).");
    return undefined;
  }
  if (document.isDirty && !(await document.save())) return undefined;
  return document.uri;
}

async function withModule(
  given: unknown,
  module: unknown,
  does: (file: vscode.Uri, name: string) => Promise<ToolResult | undefined>,
): Promise<ToolResult | undefined> {
  const file = await fileFor(given);
  if (!file) return undefined;
  if (typeof module === "string") return does(file, module);
  const editor = vscode.window.activeTextEditor;
  const document = await vscode.workspace.openTextDocument(file);
  const position = editor?.document === document ? editor.selection.active : new vscode.Position(0, 0);
  const name = moduleAt(document, position);
  if (name === undefined) {
    void vscode.window.showInformationMessage(`${path.basename(file.fsPath)} has no module.`);
    return undefined;
  }
  return does(file, name);
}

async function pickReport(reports: ReportPanels): Promise<void> {
  const runs = (await Promise.all(runsFolders().map(runsIn))).flat();
  if (runs.length === 0) {
    tellNoRun();
    return;
  }
  const items = runs.map((run) => ({ label: path.basename(run), description: path.dirname(run), run }));
  const chosen = await vscode.window.showQuickPick(items, { title: "Which run?" });
  if (chosen) await reports.show(chosen.run);
}

function tellNoRun(): void {
  const places = runsFolders().join(", ") || "this window";
  void vscode.window.showInformationMessage(`There is no run in ${places}. "rtlagent generate" makes one.`);
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}
