/** The workspace of the tests, and patience. */

import { existsSync, writeFileSync } from "node:fs";
import * as path from "node:path";
import * as vscode from "vscode";

import type { Api } from "../../src/extension";

export function root(): string {
  const folder = vscode.workspace.workspaceFolders?.[0];
  if (!folder) throw new Error("no workspace folder");
  return folder.uri.fsPath;
}

export function file(name: string): string {
  return path.join(root(), name);
}

export function uri(name: string): vscode.Uri {
  return vscode.Uri.file(file(name));
}

/** Put a text into a file as an editor does, and save it. */
export async function save(name: string, text: string): Promise<vscode.TextDocument> {
  if (!existsSync(file(name))) writeFileSync(file(name), "");
  const document = await vscode.workspace.openTextDocument(uri(name));
  const editor = await vscode.window.showTextDocument(document);
  const end = document.lineAt(document.lineCount - 1).range.end;
  await editor.edit((edit) => {
    edit.replace(new vscode.Range(new vscode.Position(0, 0), end), text);
  });
  await document.save();
  return document;
}

export async function until<T>(what: string, look: () => T | undefined | false, seconds = 40): Promise<T> {
  const start = Date.now();
  while (Date.now() - start < seconds * 1000) {
    const found = look();
    if (found !== undefined && found !== false) return found;
    await pause(100);
  }
  throw new Error(`waited ${seconds} s for ${what}`);
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

/** Return our diagnostics of a file, as code and marked text. */
export async function marked(name: string): Promise<string[]> {
  const document = await vscode.workspace.openTextDocument(uri(name));
  return ours(name).map((d) => `${typeof d.code === "string" ? d.code : "-"} ${document.getText(d.range)}`);
}

export function ours(name: string): vscode.Diagnostic[] {
  return vscode.languages.getDiagnostics(uri(name)).filter((d) => d.source?.startsWith("rtlagent"));
}

export async function api(): Promise<Api> {
  const extension = vscode.extensions.getExtension<Api>("rtlagent.rtlagent");
  if (!extension) throw new Error("the extension is not there");
  return extension.activate();
}

export async function lenses(name: string): Promise<vscode.CodeLens[]> {
  await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri(name)));
  const found = await vscode.commands.executeCommand<vscode.CodeLens[] | undefined>("vscode.executeCodeLensProvider", uri(name), 100);
  return (found ?? []).filter((lens) => lens.command?.command.startsWith("rtlagent."));
}
