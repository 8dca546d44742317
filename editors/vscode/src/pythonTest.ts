/** What can be told of a cocotb test from its text. */

const IMPORT = /^[ \t]*(?:from[ \t]+([A-Za-z_]\w*)(?:\.\w+)*[ \t]+import\b|import[ \t]+([^#\n]+))/gm;

/** Return the modules that a Python text imports, by the first part of their names. */
export function importsOf(text: string): string[] {
  const found = new Set<string>();
  for (const [, from, list] of text.matchAll(IMPORT)) {
    if (from !== undefined) found.add(from);
    for (const part of (list ?? "").split(",")) {
      const name = /^\s*([A-Za-z_]\w*)/.exec(part)?.[1];
      if (name !== undefined) found.add(name);
    }
  }
  return [...found];
}

/** Tell whether a test speaks of a module: by its own name, or in its text. */
export function mentions(file: string, text: string, module: string): boolean {
  const stem = file.replace(/^.*[/\\]/, "").replace(/\.py$/, "");
  if (stem === `test_${module}` || stem === `${module}_test`) return true;
  const escaped = module.replace(/[^\w]/g, "\\$&");
  return new RegExp(`(?<![\\w$])${escaped}(?![\\w$])`).test(text);
}
