/** In a trusted workspace. */

import assert from "node:assert/strict";
import { existsSync, renameSync } from "node:fs";
import * as vscode from "vscode";

import type { ToolResult } from "../../src/toolOutput";
import { api, file, lenses, marked, ours, pause, root, save, until, uri } from "./scene";

const LEAF = "module leaf(input clk, input d, output reg q);\n  always @(posedge clk) q <= d;\nendmodule\n";
const BROKEN = LEAF.replace("<= d", "<= nothing");

export const trusted = {
  "commands, with titles, are there": async () => {
    await api();
    const known = await vscode.commands.getCommands(true);
    for (const name of ["lint", "simulate", "synthesize", "cancel", "showReport", "pickReport", "showOutput"]) {
      assert.ok(known.includes(`rtlagent.${name}`), name);
    }
  },

  "a workspace cannot name the program": async () => {
    await api();
    const written = vscode.workspace.getConfiguration("rtlagent").inspect("executable");
    assert.ok(existsSync(file("evil")), "the scene has no evil");
    assert.equal(existsSync(file("owned")), false);
    assert.notEqual(vscode.workspace.getConfiguration("rtlagent").get("executable"), file("evil"));
    assert.notEqual(written?.globalValue, file("evil"));
  },

  "a save lints: the word is marked, and cleared when mended": async () => {
    await save("rtl/leaf.v", BROKEN);
    await until("the diagnostic", () => ours("rtl/leaf.v").length > 0);
    assert.ok((await marked("rtl/leaf.v")).includes("UndeclaredIdentifier nothing"), (await marked("rtl/leaf.v")).join());
    await save("rtl/leaf.v", LEAF);
    await until("a clean file", () => ours("rtl/leaf.v").length === 0);
  },

  "files that are needed come along, and their users are judged again": async () => {
    await vscode.commands.executeCommand("rtlagent.lint", uri("rtl/top file.sv"));
    assert.deepEqual(await marked("rtl/top file.sv"), []);
    await save("rtl/leaf.v", LEAF.replace("input d,", "").replace("<= d", "<= ~q"));
    await until("the user's diagnostic", () => ours("rtl/top file.sv").length > 0);
    await save("rtl/leaf.v", LEAF);
    await until("a clean user", () => ours("rtl/top file.sv").length === 0);
  },

  "lenses are above every module": async () => {
    const found = await lenses("rtl/top file.sv");
    assert.deepEqual(found.map((l) => [l.range.start.line, l.command?.title]), [
      [2, "lint"], [2, "simulate"], [2, "synthesize"],
    ]);
  },

  "a lens simulates and synthesizes": async () => {
    const found = await lenses("rtl/leaf.v");
    const act = async (title: string): Promise<ToolResult | undefined> => {
      const command = found.find((l) => l.command?.title === title)?.command;
      assert.ok(command, title);
      return vscode.commands.executeCommand(command.command, ...(command.arguments as unknown[]));
    };
    const simulated = await act("simulate");
    assert.equal(simulated?.status, "PASS");
    assert.deepEqual(simulated.tests.map((t) => t.status), ["PASS"]);
    const made = await act("synthesize");
    assert.equal(made?.status, "PASS");
    assert.equal(made.metrics.get("ffs"), 1);
  },

  "a file that is renamed while it is linted leaves no diagnostics behind": async () => {
    await save("rtl/moving.v", BROKEN.replace("leaf", "moving"));
    const edit = new vscode.WorkspaceEdit();
    edit.renameFile(uri("rtl/moving.v"), uri("rtl/moved.v"));
    await vscode.workspace.applyEdit(edit);
    await until("the diagnostic under the new name", () => ours("rtl/moved.v").length > 0);
    assert.equal(ours("rtl/moving.v").length, 0);
    await save("rtl/going.v", BROKEN.replace("leaf", "going"));
    renameSync(file("rtl/going.v"), file("rtl/gone.v")); // behind the editor's back
    await pause(8000);
    assert.equal(ours("rtl/going.v").length, 0);
  },

  "arguments of a workspace do not turn the sandbox off": async () => {
    const settings = vscode.workspace.getConfiguration("rtlagent", uri("rtl/leaf.v"));
    await settings.update("lintArguments", ["--sandbox", "none"], vscode.ConfigurationTarget.Workspace);
    assert.equal(await vscode.commands.executeCommand("rtlagent.lint", uri("rtl/leaf.v")), undefined);
    await settings.update("lintArguments", ["--strict"], vscode.ConfigurationTarget.Workspace);
    const strict = await vscode.commands.executeCommand<ToolResult>("rtlagent.lint", uri("rtl/warned.v"));
    assert.equal(strict.status, "FAIL");
    await settings.update("lintArguments", undefined, vscode.ConfigurationTarget.Workspace);
    const loose = await vscode.commands.executeCommand<ToolResult>("rtlagent.lint", uri("rtl/warned.v"));
    assert.equal(loose.status, "PASS");
  },

  "a time limit ends the tool": async () => {
    const settings = vscode.workspace.getConfiguration("rtlagent", uri("rtl/leaf.v"));
    await settings.update("timeoutSeconds", 1, vscode.ConfigurationTarget.Workspace);
    const made = await vscode.commands.executeCommand("rtlagent.synthesize", uri("rtl/leaf.v"), "leaf");
    assert.equal(made, undefined);
    await settings.update("timeoutSeconds", undefined, vscode.ConfigurationTarget.Workspace);
  },

  "the newest run is in the status bar, and its report in a panel": async () => {
    const extension = await api();
    await until("the verdict", () => extension.status()?.includes("PASS"));
    assert.equal(extension.status(), "$(pass) sync_fifo: PASS (strong)");
    await vscode.commands.executeCommand("rtlagent.showReport");
    const tabs = (): vscode.Tab[] => vscode.window.tabGroups.all.flatMap((g) => g.tabs);
    const tab = await until("the panel", () => tabs().find((t) => t.label.startsWith("Report: ")));
    assert.ok(tab.input instanceof vscode.TabInputWebview);
    await until("the screenshot", () => existsSync(file("report seen")), 60);
    await vscode.commands.executeCommand("rtlagent.openRunFile", "rtl/sync_fifo.v");
    assert.ok(isOpen("/rtl/sync_fifo.v"));
    await vscode.commands.executeCommand("rtlagent.openRunFile", "../../evil");
    assert.ok(isOpen("/rtl/sync_fifo.v"));
  },

  "nothing of the workspace's was run": async () => {
    await pause(100);
    assert.equal(existsSync(file("owned")), false, root());
  },
};

function isOpen(ending: string): boolean {
  return vscode.window.activeTextEditor?.document.uri.fsPath.endsWith(ending) ?? false;
}
