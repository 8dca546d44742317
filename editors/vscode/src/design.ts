/** Which files of a workspace a Verilog file needs, so that a tool can be given all of them. */

import * as path from "node:path";

import type { Scan } from "./verilog";

/** Files that one Verilog file needs. */
export interface Needs {
  /** The file itself first, then what it instantiates, imports and includes. */
  readonly files: readonly string[];
  /** Memory images. */
  readonly data: readonly string[];
}

const RTL = /\.(?:v|sv|vh|svh)$/i;
const TESTBENCH = /(?:^|[_.-])(?:tb|test|testbench)(?:[_.-]|$)/i;

/** Tell whether a path names Verilog, headers included. */
export function isVerilog(file: string): boolean {
  return RTL.test(file);
}

/**
 * Follow names from `root` through the files that declare them.
 *
 * Where several files declare a name, the one that shares most folders with its user is taken.
 *
 * @param exists Tells whether a path is a file, for memory images and headers that are no part of `scans`.
 */
export function needsOf(
  root: string,
  scans: ReadonlyMap<string, Scan>,
  exists: (file: string) => boolean = () => false,
): Needs {
  const declarers = new Map<string, string[]>();
  for (const [file, found] of scans) {
    for (const name of found.declares) declarers.set(name, [...(declarers.get(name) ?? []), file]);
  }
  const files = new Set([root]);
  const known = new Set<string>();
  const data = new Set<string>();
  for (const file of files) {
    const found = scans.get(file);
    if (!found) continue;
    for (const name of found.declares) known.add(name);
    for (const name of found.uses) {
      if (known.has(name)) continue;
      const nearest = closest(file, declarers.get(name) ?? []);
      if (nearest === undefined) continue;
      known.add(name);
      files.add(nearest);
    }
    for (const name of found.reads) {
      const read = readFile(file, name, scans, exists);
      if (read !== undefined) (isVerilog(read) ? files : data).add(read);
    }
  }
  return { files: [...files], data: [...data] };
}

/** Return the files that need `file`, that is where an error of it can show, and whose errors it can be. */
export function usersOf(file: string, scans: ReadonlyMap<string, Scan>): string[] {
  const own = scans.get(file)?.declares ?? new Set<string>();
  return [...scans].filter(([other, s]) => other !== file && [...own].some((n) => s.uses.has(n))).map(([f]) => f);
}

/** Return the files that look like a testbench of `module`. */
export function testbenchesOf(module: string, scans: ReadonlyMap<string, Scan>): string[] {
  return [...scans]
    .filter(([file, s]) => TESTBENCH.test(path.parse(file).name) && s.uses.has(module) && !s.declares.has(module))
    .map(([file]) => file)
    .sort();
}

function readFile(
  user: string,
  name: string,
  scans: ReadonlyMap<string, Scan>,
  exists: (file: string) => boolean,
): string | undefined {
  if (name === "" || name.includes("\0")) return undefined;
  const direct = path.resolve(path.dirname(user), name);
  if (scans.has(direct) || exists(direct)) return direct;
  const ending = path.sep + path.normalize(name);
  return closest(
    user,
    [...scans.keys()].filter((file) => file.endsWith(ending)),
  );
}

function closest(user: string, files: readonly string[]): string | undefined {
  const parts = path.dirname(user).split(path.sep);
  const shared = (file: string): number => {
    const others = path.dirname(file).split(path.sep);
    const differs = parts.findIndex((part, at) => part !== others[at]);
    return differs < 0 ? parts.length : differs;
  };
  const order = [...files].sort(
    (a, b) => shared(b) - shared(a) || a.split(path.sep).length - b.split(path.sep).length || (a < b ? -1 : 1),
  );
  return order[0];
}
