/** "Simulate" and "Synthesize": one module, asked for by the user. */

import { readFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import * as path from "node:path";
import * as vscode from "vscode";

import { ArgumentError, simArguments, synthArguments } from "./commandLine";
import { needsOf, testbenchesOf } from "./design";
import { located, Problems } from "./problems";
import { importsOf, mentions } from "./pythonTest";
import { folderOf, type Rtlagent } from "./rtlagent";
import * as settings from "./settings";
import { needs, surroundings, type Surroundings } from "./sources";
import { headline, lines } from "./summary";
import { printable, type ToolResult } from "./toolOutput";

const SHOW_OUTPUT = "Show Output";
const OTHER = "Another file...";

export class Judging implements vscode.Disposable {
  private readonly problems = { sim: new Problems("rtlagent-sim"), synth: new Problems("rtlagent-synth") };
  private readonly saved: vscode.Disposable;

  constructor(private readonly tool: Rtlagent) {
    // What was judged is not what is there now.
    this.saved = vscode.workspace.onDidSaveTextDocument((document) => {
      for (const problems of [this.problems.sim, this.problems.synth]) {
        for (const root of problems.rootsWith(document.uri.fsPath)) problems.delete(root);
      }
    });
  }

  /**
   * Simulate a module under tests.
   *
   * @param tests The tests' paths; without, those that speak of the module are offered.
   */
  async simulate(uri: vscode.Uri, module: string, tests?: readonly string[]): Promise<ToolResult | undefined> {
    const around = await surroundings(uri);
    const chosen = tests ?? (await chooseTests(module, around));
    if (!chosen || chosen.length === 0) return undefined;
    const cocotb = chosen.filter((file) => file.endsWith(".py"));
    const testbenches = chosen.filter((file) => !file.endsWith(".py"));
    const all = [uri.fsPath, ...testbenches].map((file) => needsOf(file, around.scans, (name) => existsSync(name)));
    const files = new Set(all.flatMap((n) => [...n.files, ...n.data]).filter((file) => !testbenches.includes(file)));
    const support = await supportOf(cocotb);
    const extra = this.further("sim", uri);
    if (!extra) return undefined;
    const args = simArguments([...files], { top: module, cocotb, testbenches }, support, extra);
    return this.judge("sim", module, uri, args, [...files, ...chosen]);
  }

  /** Synthesize a module. */
  async synthesize(uri: vscode.Uri, module: string): Promise<ToolResult | undefined> {
    const extra = this.further("synth", uri);
    if (!extra) return undefined;
    const { files, data } = needs(uri, await surroundings(uri));
    const args = synthArguments([...files, ...data], module, settings.target(uri), extra);
    return this.judge("synth", module, uri, args, files);
  }

  dispose(): void {
    this.saved.dispose();
    this.problems.sim.dispose();
    this.problems.synth.dispose();
  }

  private further(command: "sim" | "synth", uri: vscode.Uri): string[] | undefined {
    try {
      return settings.furtherArguments(command, uri);
    } catch (error) {
      if (!(error instanceof ArgumentError)) throw error;
      this.tool.tell(error.message, false, []);
      return undefined;
    }
  }

  private async judge(
    command: "sim" | "synth",
    module: string,
    uri: vscode.Uri,
    args: readonly string[],
    files: readonly string[],
  ): Promise<ToolResult | undefined> {
    const title = `rtlagent: ${command === "sim" ? "simulating" : "synthesizing"} ${module}`;
    const folder = folderOf(uri);
    const options = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
    const said = await vscode.window.withProgress(options, (_progress, token) => {
      const own = new AbortController();
      token.onCancellationRequested(() => { own.abort(); });
      return this.tool.call(args, folder, own.signal);
    });
    const problems = this.problems[command];
    problems.delete(uri.fsPath);
    if (!said) return undefined;
    if (said.kind === "error") {
      const hint = said.hint ? ` (${said.hint})` : "";
      this.tool.tell(`${command} ${module}: ${said.where ? `${said.where}: ` : ""}${said.message}${hint}`, false);
      return undefined;
    }
    problems.set(uri.fsPath, files, await located(said.diagnostics, folder.fsPath, uri.fsPath));
    this.report(`${command} ${module}`, said);
    return said;
  }

  private report(what: string, result: ToolResult): void {
    const line = printable(headline(what, result));
    this.tool.output.appendLine([...lines(result), line].map(printable).join("\n"));
    const show = result.status === "PASS" ? vscode.window.showInformationMessage : vscode.window.showErrorMessage;
    void show(line, SHOW_OUTPUT).then((chosen) => {
      if (chosen === SHOW_OUTPUT) this.tool.output.show(true);
    });
  }
}

/** Return the modules beside the tests that these import. */
async function supportOf(tests: readonly string[]): Promise<string[]> {
  const found = new Set<string>();
  for (const test of tests) {
    for (const name of importsOf(await readFile(test, "utf8").catch(() => ""))) {
      const file = path.join(path.dirname(test), `${name}.py`);
      if (existsSync(file) && !tests.includes(file)) found.add(file);
    }
  }
  return [...found];
}

async function chooseTests(module: string, around: Surroundings): Promise<string[] | undefined> {
  const fitting: string[] = [];
  for (const test of around.tests) {
    if (mentions(test, await readFile(test, "utf8").catch(() => ""), module)) fitting.push(test);
  }
  fitting.push(...testbenchesOf(module, around.scans));
  const only = fitting.length === 1 ? fitting[0] : undefined;
  if (only !== undefined) return [only];
  if (fitting.length === 0) return openTest(around.folder);
  const items = [...fitting.map((file) => ({ label: path.relative(around.folder.fsPath, file), file })), { label: OTHER, file: "" }];
  const title = `Which test of ${module}?`;
  const chosen = await vscode.window.showQuickPick(items, { title });
  return chosen && (chosen.file === "" ? openTest(around.folder) : [chosen.file]);
}

async function openTest(folder: vscode.Uri): Promise<string[] | undefined> {
  const chosen = await vscode.window.showOpenDialog({
    defaultUri: folder,
    title: "A cocotb test or a Verilog testbench",
    openLabel: "Simulate",
    filters: { Tests: ["py", "v", "sv"] },
  });
  return chosen?.map((uri) => uri.fsPath);
}
