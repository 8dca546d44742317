/** The extension's settings, as they are for a file. */

import * as path from "node:path";
import * as vscode from "vscode";

import { checkedArguments, type Target } from "./commandLine";

const SECTION = "rtlagent";
const TARGETS: readonly Target[] = ["generic", "ice40", "ecp5", "xc7"];

/** Return the program to run; a workspace cannot choose it, whatever is written in its settings. */
export function executable(): string {
  const found = vscode.workspace.getConfiguration(SECTION).inspect<string>("executable");
  const value: unknown = found?.globalValue ?? found?.defaultValue;
  return typeof value === "string" ? value : "";
}

/** Tell whether files are linted when they are saved. */
export function lintsOnSave(scope: vscode.Uri): boolean {
  return vscode.workspace.getConfiguration(SECTION, scope).get<unknown>("lintOnSave") === true;
}

/** Return what synthesis maps to. */
export function target(scope: vscode.Uri): Target {
  const value = vscode.workspace.getConfiguration(SECTION, scope).get<unknown>("target");
  return TARGETS.find((t) => t === value) ?? "generic";
}

/** Return the limit of time of one call. */
export function timeoutMs(scope: vscode.Uri): number {
  const value = vscode.workspace.getConfiguration(SECTION, scope).get<unknown>("timeoutSeconds");
  const seconds = typeof value === "number" && Number.isFinite(value) ? value : 300;
  return Math.min(Math.max(seconds, 1), 86_400) * 1000;
}

/**
 * Return the further arguments of a command.
 *
 * @throws ArgumentError
 */
export function furtherArguments(command: "lint" | "sim" | "synth", scope: vscode.Uri): string[] {
  const name = `${command}Arguments`;
  const configuration = vscode.workspace.getConfiguration(SECTION, scope);
  const found = configuration.inspect<unknown>(name);
  const isOwn = found?.workspaceValue === undefined && found?.workspaceFolderValue === undefined;
  return checkedArguments(configuration.get<unknown>(name), `${SECTION}.${name}`, isOwn);
}

/** Return where the runs of a workspace folder are. */
export function runsFolder(folder: vscode.WorkspaceFolder): string {
  const value = vscode.workspace.getConfiguration(SECTION, folder.uri).get<unknown>("runsFolder");
  return path.resolve(folder.uri.fsPath, typeof value === "string" && value.trim() !== "" ? value : "runs");
}

/** Return the runs' folders of all workspace folders that are on a disk. */
export function runsFolders(): string[] {
  const folders = vscode.workspace.workspaceFolders ?? [];
  return folders.filter((f) => f.uri.scheme === "file").map(runsFolder);
}
