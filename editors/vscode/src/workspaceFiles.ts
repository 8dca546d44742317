/** The Verilog files and tests below a folder, and what stands in them. */

import { readdir, readFile, stat } from "node:fs/promises";
import * as path from "node:path";

import { isVerilog } from "./design";
import { scan, type Scan } from "./verilog";

const MAX_FOLDERS = 20_000;
const MAX_FILES = 5000;
const MAX_BYTES = 4_000_000;
const LEFT_OUT = new Set(["node_modules", "__pycache__", "sim_build", "obj_dir"]);

export interface Found {
  readonly verilog: readonly string[];
  /** Files named like cocotb tests. */
  readonly tests: readonly string[];
}

/**
 * List what lies below a folder; links to folders and names that start with a dot are not followed.
 *
 * @param without Folders to leave out, such as that of the runs.
 * @param deep Whether to look into folders at all.
 */
export async function findFiles(root: string, without: ReadonlySet<string>, deep = true): Promise<Found> {
  const verilog: string[] = [];
  const tests: string[] = [];
  const folders = [root];
  for (let at = 0; at < folders.length && at < MAX_FOLDERS && verilog.length < MAX_FILES; at += 1) {
    const folder = folders[at] ?? root;
    for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
      const place = path.join(folder, entry.name);
      if (entry.isDirectory()) {
        if (deep && !entry.name.startsWith(".") && !LEFT_OUT.has(entry.name) && !without.has(place)) folders.push(place);
      } else if (isVerilog(entry.name)) verilog.push(place);
      else if (/^test_.*\.py$|_test\.py$/.test(entry.name)) tests.push(place);
    }
  }
  return { verilog: verilog.sort(), tests: tests.sort() };
}

/** Keeps what was read of each file until the file changes. */
export class ScanCache {
  private readonly kept = new Map<string, { readonly stamp: string; readonly scan: Scan }>();

  /** Read files; those that are gone, or too large for hand-written code, are left out. */
  async scans(files: readonly string[]): Promise<Map<string, Scan>> {
    const found = new Map<string, Scan>();
    for (const file of files) {
      const one = await this.one(file);
      if (one) found.set(file, one);
    }
    for (const file of this.kept.keys()) if (!found.has(file) && this.kept.size > 2 * MAX_FILES) this.kept.delete(file);
    return found;
  }

  private async one(file: string): Promise<Scan | undefined> {
    const about = await stat(file).catch(() => undefined);
    if (!about?.isFile() || about.size > MAX_BYTES) return undefined;
    const stamp = `${about.mtimeMs} ${about.size} ${about.ino}`;
    const known = this.kept.get(file);
    if (known?.stamp === stamp) return known.scan;
    const text = await readFile(file, "utf8").catch(() => undefined);
    if (text === undefined) return undefined;
    const made = scan(text);
    this.kept.set(file, { stamp, scan: made });
    return made;
  }
}
