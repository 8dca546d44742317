/** The files that a call is about, found on the disk below the file's workspace folder. */

import { existsSync } from "node:fs";
import * as path from "node:path";
import * as vscode from "vscode";

import { needsOf, type Needs } from "./design";
import { folderOf } from "./rtlagent";
import { runsFolders } from "./settings";
import type { Scan } from "./verilog";
import { findFiles, ScanCache } from "./workspaceFiles";

export interface Surroundings {
  readonly folder: vscode.Uri;
  readonly scans: ReadonlyMap<string, Scan>;
  readonly tests: readonly string[];
}

const cache = new ScanCache();

/** Read the Verilog files around a file; outside every workspace folder, those beside it. */
export async function surroundings(file: vscode.Uri): Promise<Surroundings> {
  const folder = folderOf(file);
  const inside = vscode.workspace.getWorkspaceFolder(file) !== undefined;
  const found = await findFiles(folder.fsPath, new Set(runsFolders()), inside);
  // A file of a run, or below a hidden folder, has its neighbours.
  const beside = found.verilog.includes(file.fsPath)
    ? []
    : (await findFiles(path.dirname(file.fsPath), new Set(), false)).verilog;
  return { folder, scans: await cache.scans([...new Set([...found.verilog, ...beside, file.fsPath])]), tests: found.tests };
}

/** Return the files that `file` needs. */
export function needs(file: vscode.Uri, around: Surroundings): Needs {
  return needsOf(file.fsPath, around.scans, (name) => existsSync(name));
}
