/** The state of a run, told by the lines of its events.jsonl. */

import { isFields, number, printable, string } from "./toolOutput";

export type Phase = "running" | "interrupted" | "pass" | "fail" | "limit" | "error";

export interface RunState {
  readonly phase: Phase;
  /** The specification's name. */
  readonly name: string;
  /** The attempt that is judged, or was last; 0: none yet. */
  readonly iteration: number;
  /** What goes on. */
  readonly doing: string;
  /** The gates of this attempt, in the order in which they were passed. */
  readonly gates: ReadonlyMap<string, string>;
  readonly tokens: number;
  /** Undefined: unknown. */
  readonly costUsd: number | undefined;
  readonly reason: string;
  /** Of the evidence of a PASS: weak, moderate, strong; empty: not known. */
  readonly grade: string;
  /** Time of the last event, in milliseconds; 0: none. */
  readonly lastMs: number;
  /** Lines that could not be read. */
  readonly damaged: number;
}

export const UNBEGUN: RunState = {
  phase: "running",
  name: "",
  iteration: 0,
  doing: "begins",
  gates: new Map(),
  tokens: 0,
  costUsd: 0,
  reason: "",
  grade: "",
  lastMs: 0,
  damaged: 0,
};

const PHASES: Readonly<Record<string, Phase>> = { pass: "pass", fail: "fail", limit: "limit" };
const PURPOSES: Readonly<Record<string, string>> = {
  understand: "reads the specification",
  oracle: "writes the golden model",
  generate: "writes the RTL",
  repair: "repairs",
};

/** Take one line of the log into account. */
export function advance(state: RunState, line: string): RunState {
  if (line.trim() === "") return state;
  let event: unknown;
  try {
    event = JSON.parse(line);
  } catch {
    return { ...state, damaged: state.damaged + 1 };
  }
  if (!isFields(event) || typeof event["event"] !== "string") return { ...state, damaged: state.damaged + 1 };
  const now = { ...state, lastMs: (number(event["time"]) ?? 0) * 1000 };
  return step(now, event["event"], event);
}

function step(state: RunState, kind: string, event: Readonly<Record<string, unknown>>): RunState {
  switch (kind) {
    case "started":
      return { ...state, phase: "running", reason: "", doing: "begins", name: printable(string(event["spec"])) };
    case "model_call": {
      const purpose = string(event["purpose"]);
      return { ...state, doing: `the model ${PURPOSES[purpose] ?? `answers (${printable(purpose)})`}` };
    }
    case "model_reply":
      return { ...spent(state, event["usage"]), doing: "goes on" };
    case "judging":
      return { ...state, iteration: number(event["iteration"]) ?? state.iteration + 1, gates: new Map(), doing: "judged" };
    case "compiled":
      return { ...state, iteration: state.iteration + 1, gates: new Map(), doing: "judged" };
    case "step":
    case "gate": {
      const name = printable(string(event["step"]));
      const gates = new Map([...state.gates, [name, printable(string(event["status"]))]]);
      return { ...state, gates, doing: `past ${name}` };
    }
    case "decision":
      return { ...state, doing: printable(string(event["next"])) };
    case "interrupted":
      return { ...state, phase: "interrupted", doing: "" };
    case "ended": {
      const phase = PHASES[string(event["outcome"])] ?? "error";
      return { ...state, phase, reason: printable(string(event["reason"])), doing: "", ...total(event["usage"]) };
    }
    default:
      return state;
  }
}

function spent(state: RunState, usage: unknown): RunState {
  if (!isFields(usage)) return { ...state, costUsd: undefined };
  const cost = number(usage["cost_usd"]);
  const tokens = state.tokens + (number(usage["tokens_in"]) ?? 0) + (number(usage["tokens_out"]) ?? 0);
  // One reply of unknown cost makes the sum unknown.
  return { ...state, tokens, costUsd: cost === undefined || state.costUsd === undefined ? undefined : state.costUsd + cost };
}

function total(usage: unknown): Partial<RunState> {
  if (!isFields(usage)) return {};
  const tokens = (number(usage["tokens_in"]) ?? 0) + (number(usage["tokens_out"]) ?? 0);
  return { tokens, costUsd: number(usage["cost_usd"]) };
}

/** Return the grade of a PASS from the text of report.json; empty when it says none. */
export function gradeOf(report: string): string {
  try {
    const value: unknown = JSON.parse(report);
    const verdict = isFields(value) ? value["verdict"] : undefined;
    return isFields(verdict) && verdict["passed"] === true ? printable(string(verdict["grade"])).slice(0, 20) : "";
  } catch {
    return "";
  }
}

const ICONS: Readonly<Record<Phase, string>> = {
  running: "$(sync~spin)",
  interrupted: "$(debug-pause)",
  pass: "$(pass)",
  fail: "$(error)",
  limit: "$(watch)",
  error: "$(warning)",
};
const WORDS: Readonly<Record<Phase, string>> = {
  running: "",
  interrupted: "interrupted",
  pass: "PASS",
  fail: "FAIL",
  limit: "limit reached",
  error: "ERROR",
};
const MAX_NAME = 30;

/** Return the text of the status bar. */
export function statusText(state: RunState): string {
  const name = shortened(iconless(state.name || "run"), MAX_NAME);
  if (state.phase !== "running") {
    return `${ICONS[state.phase]} ${name}: ${WORDS[state.phase]}${state.grade ? ` (${iconless(state.grade)})` : ""}`;
  }
  const attempt = state.iteration > 0 ? ` [${state.iteration}]` : "";
  return `${ICONS.running} ${name}${attempt}: ${shortened(iconless(state.doing), 40)}`;
}

/** Return what the tooltip says, as plain text. */
export function statusLines(state: RunState, id: string): string[] {
  const lines = [id];
  if (state.phase === "running") lines.push(`goes on: ${state.doing}`);
  else lines.push(`${WORDS[state.phase]}${state.grade ? `, evidence ${state.grade}` : ""}`);
  if (state.reason) lines.push(shortened(state.reason, 300));
  if (state.iteration > 0) lines.push(`attempts: ${state.iteration}`);
  if (state.gates.size > 0) lines.push([...state.gates].map(([gate, status]) => `${gate} ${status}`).join(", "));
  if (state.tokens > 0) {
    const cost = state.costUsd === undefined ? "unknown" : `$${state.costUsd.toFixed(4)}`;
    lines.push(`tokens: ${state.tokens}, cost: ${cost}`);
  }
  if (state.damaged > 0) lines.push(`${state.damaged} lines of events.jsonl cannot be read`);
  return lines;
}

/** The status bar draws `$(name)` as an icon; a run's name shall not. */
function iconless(text: string): string {
  return text.replaceAll("$(", "$ (").replaceAll("\n", " ");
}

function shortened(text: string, limit: number): string {
  const characters = Array.from(text);
  return characters.length <= limit ? text : `${characters.slice(0, limit - 1).join("")}…`;
}
