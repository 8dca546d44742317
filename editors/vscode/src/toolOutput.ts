/** Read what `rtlagent COMMAND --json` prints; nothing in it is believed before it has been looked at. */

export type Severity = "error" | "warning" | "note";

export interface ToolDiagnostic {
  readonly tool: string;
  readonly severity: Severity;
  readonly code: string;
  readonly message: string;
  /** As the path was given; empty: of no file. */
  readonly path: string;
  readonly line: number;
  readonly column: number;
  readonly hint: string;
}

export interface ToolTest {
  readonly name: string;
  readonly status: string;
  readonly cycle: number | undefined;
  readonly seed: number | undefined;
  readonly message: string;
}

export interface ToolResult {
  readonly kind: "result";
  readonly step: string;
  /** PASS, FAIL, ERROR, TIMEOUT, SKIPPED or UNPROVEN. */
  readonly status: string;
  readonly diagnostics: readonly ToolDiagnostic[];
  readonly tests: readonly ToolTest[];
  /** What was measured. */
  readonly metrics: ReadonlyMap<string, number>;
  readonly detail: string;
}

/** The user's input, or the set-up, is wrong. */
export interface ToolError {
  readonly kind: "error";
  readonly message: string;
  readonly where: string;
  readonly hint: string;
}

/** Not what rtlagent prints. */
export interface Junk {
  readonly kind: "junk";
  readonly reason: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** Read standard output. */
export function readToolOutput(text: string): ToolResult | ToolError | Junk {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    const first = text.trim().split("\n", 1)[0] ?? "";
    return { kind: "junk", reason: first === "" ? "nothing" : printable(first).slice(0, 120) };
  }
  if (!isFields(value)) return { kind: "junk", reason: "JSON that is no object" };
  if (isFields(value["error"])) {
    const error = value["error"];
    return { kind: "error", message: string(error["message"]), where: string(error["where"]), hint: string(error["hint"]) };
  }
  const { step, status, diagnostics, tests } = value;
  if (typeof step !== "string" || typeof status !== "string" || !Array.isArray(diagnostics) || !Array.isArray(tests)) {
    return { kind: "junk", reason: "JSON without step, status, diagnostics and tests" };
  }
  return {
    kind: "result",
    step,
    status,
    diagnostics: diagnostics.filter(isFields).map(readDiagnostic),
    tests: tests.filter(isFields).map(readTest),
    metrics: readMetrics(value["metrics"]),
    detail: string(value["detail"]),
  };
}

/** Return a text without control characters that would change how it is shown. */
export function printable(text: string): string {
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "\ufffd");
}

function readDiagnostic(fields: Fields): ToolDiagnostic {
  const severity = fields["severity"];
  return {
    tool: string(fields["tool"]),
    severity: severity === "warning" || severity === "note" ? severity : "error",
    code: string(fields["code"]),
    message: printable(string(fields["message"])),
    path: string(fields["path"]),
    line: number(fields["line"]) ?? 0,
    column: number(fields["column"]) ?? 0,
    hint: printable(string(fields["hint"])),
  };
}

function readTest(fields: Fields): ToolTest {
  return {
    name: printable(string(fields["name"])),
    status: string(fields["status"]),
    cycle: number(fields["cycle"]),
    seed: number(fields["seed"]),
    message: printable(string(fields["message"])),
  };
}

function readMetrics(value: unknown): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const [name, figure] of Object.entries(isFields(value) ? value : {})) {
    const measured = number(figure);
    if (measured !== undefined) found.set(name, measured);
  }
  return found;
}

/** Tell whether a value is an object with named fields. */
export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Return a string, or an empty one for anything else. */
export function string(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Return a finite number, or nothing: what was not measured is not 0. */
export function number(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}
