/** Diagnostics in the editor. */

import { readFile } from "node:fs/promises";
import * as path from "node:path";
import * as vscode from "vscode";

import { linesOf, placeOf } from "./ranges";
import type { ToolDiagnostic } from "./toolOutput";

const SEVERITIES = {
  error: vscode.DiagnosticSeverity.Error,
  warning: vscode.DiagnosticSeverity.Warning,
  note: vscode.DiagnosticSeverity.Information,
} as const;
const MAX_SHOWN = 2000;

/** Diagnostics by the file they stand in. */
export type Found = ReadonlyMap<string, readonly vscode.Diagnostic[]>;

/**
 * Give diagnostics their places.
 *
 * @param folder Where the tool ran.
 * @param root Takes what is of no file, or of one that is gone.
 */
export async function located(
  diagnostics: readonly ToolDiagnostic[],
  folder: string,
  root: string,
): Promise<Map<string, vscode.Diagnostic[]>> {
  const texts = new Map<string, string[] | undefined>();
  const found = new Map<string, vscode.Diagnostic[]>();
  for (const said of diagnostics.slice(0, MAX_SHOWN)) {
    let file = said.path ? path.resolve(folder, said.path) : root;
    if (!texts.has(file)) texts.set(file, await readLines(file));
    const known = texts.get(file) !== undefined;
    if (!known) file = root;
    const lines = texts.get(file) ?? [];
    const place = placeOf(lines, known && said.path ? said.line : 0, known ? said.column : 0);
    const range = new vscode.Range(place.line, place.start, place.line, place.end);
    const message = said.hint ? `${said.message}\nhint: ${said.hint}` : said.message;
    const diagnostic = new vscode.Diagnostic(range, message, SEVERITIES[said.severity]);
    diagnostic.source = said.tool ? `rtlagent, ${said.tool}` : "rtlagent";
    if (said.code) diagnostic.code = said.code;
    found.set(file, [...(found.get(file) ?? []), diagnostic]);
  }
  return found;
}

async function readLines(file: string): Promise<string[] | undefined> {
  const text = await readFile(file, "utf8").catch(() => undefined);
  return text === undefined ? undefined : linesOf(text);
}

/**
 * What was found in files that were judged each by itself, with those they need.
 *
 * A file's own judgement says what is wrong in it; others' are shown while it has none.
 */
export class Problems implements vscode.Disposable {
  private readonly collection: vscode.DiagnosticCollection;
  private readonly results = new Map<string, { readonly files: ReadonlySet<string>; readonly found: Found }>();

  constructor(name: string) {
    this.collection = vscode.languages.createDiagnosticCollection(name);
  }

  /** Take a judgement of `root` in the place of the one before. */
  set(root: string, files: Iterable<string>, found: Found): void {
    const before = this.results.get(root);
    this.results.set(root, { files: new Set(files), found });
    for (const file of new Set([...(before?.found.keys() ?? []), ...found.keys(), root])) this.publish(file);
  }

  /** Forget the judgement of `root`. */
  delete(root: string): void {
    const before = this.results.get(root);
    if (!this.results.delete(root)) return;
    for (const file of new Set([...(before?.found.keys() ?? []), root])) this.publish(file);
  }

  /** Forget all about a file or a folder that is gone. */
  forget(gone: string): void {
    const isGone = (file: string): boolean => file === gone || file.startsWith(gone + path.sep);
    for (const root of [...this.results.keys()].filter(isGone)) this.delete(root);
    this.collection.forEach((uri) => {
      if (isGone(uri.fsPath)) this.collection.delete(uri);
    });
  }

  /** Return the files whose judgement took `file` into account. */
  rootsWith(file: string): string[] {
    return [...this.results].filter(([, result]) => result.files.has(file)).map(([root]) => root);
  }

  dispose(): void {
    this.collection.dispose();
  }

  private publish(file: string): void {
    const own = this.results.get(file);
    const all = own ? [own.found.get(file) ?? []] : [...this.results.values()].map((r) => r.found.get(file) ?? []);
    const shown = new Map(all.flat().map((d) => [`${d.range.start.line}:${d.range.start.character} ${d.message}`, d]));
    this.collection.set(vscode.Uri.file(file), [...shown.values()]);
  }
}
