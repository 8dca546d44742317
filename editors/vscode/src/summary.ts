/** What a tool's result says, in words. */

import type { ToolResult } from "./toolOutput";

const FIGURES: readonly (readonly [string, string, string])[] = [
  ["luts", "LUT", ""],
  ["ffs", "FF", ""],
  ["brams", "BRAM", ""],
  ["dsps", "DSP", ""],
  ["latches", "latches", ""],
  ["fmax_mhz", "fmax", " MHz"],
];

/** Return one line: the status and what was measured or counted. */
export function headline(what: string, result: ToolResult): string {
  const passed = result.tests.filter((t) => t.status === "PASS").length;
  const tests = result.tests.length > 0 ? [`${passed} of ${result.tests.length} tests passed`] : [];
  const figures = FIGURES.flatMap(([name, title, unit]) => {
    const value = result.metrics.get(name);
    return value === undefined ? [] : [`${value} ${title}${unit}`];
  });
  const said = [...tests, ...figures].join(", ");
  return `${what}: ${result.status}${said ? `, ${said}` : ""}`;
}

/** Return every diagnostic and every test, one a line, in the form that the command line prints. */
export function lines(result: ToolResult): string[] {
  const found = result.diagnostics.map((d) => {
    const code = d.code ? ` [${d.code}]` : "";
    const hint = d.hint ? `\n    hint: ${d.hint}` : "";
    return `${d.path}:${d.line}:${d.column}: ${d.severity}: ${d.message}${code}${hint}`;
  });
  const tests = result.tests.map((t) => {
    const cycle = t.cycle === undefined ? "" : ` at cycle ${t.cycle}`;
    const seed = t.seed === undefined ? "" : ` (seed ${t.seed})`;
    return `${t.status} ${t.name}${cycle}${seed}${t.status === "PASS" || !t.message ? "" : `\n${t.message.trimEnd()}`}`;
  });
  return [...found, ...tests];
}
