/** The argument lists of rtlagent's commands. A path always stands behind `--`: none can be read as an option. */

export type Target = "generic" | "ice40" | "ecp5" | "xc7";

/** Arguments from the settings that cannot be used, with the reason. */
export class ArgumentError extends Error {}

/** Return the arguments of `rtlagent lint`. */
export function lintArguments(files: readonly string[], extra: readonly string[] = []): string[] {
  return ["lint", "--json", ...extra, "--", ...files];
}

/** Return the arguments of `rtlagent sim`: a cocotb test drives `top`, a testbench is a top of its own. */
export function simArguments(
  files: readonly string[],
  test: { readonly top: string; readonly cocotb: readonly string[]; readonly testbenches: readonly string[] },
  support: readonly string[] = [],
  extra: readonly string[] = [],
): string[] {
  return [
    "sim",
    "--json",
    ...(test.cocotb.length > 0 ? [`--top=${test.top}`] : []),
    ...test.cocotb.map((file) => `--test=${file}`),
    ...test.testbenches.map((file) => `--tb=${file}`),
    ...support.map((file) => `--support=${file}`),
    ...extra,
    "--",
    ...files,
  ];
}

/** Return the arguments of `rtlagent synth`. */
export function synthArguments(
  files: readonly string[],
  top: string,
  target: Target,
  extra: readonly string[] = [],
): string[] {
  return ["synth", "--json", `--top=${top}`, `--target=${target}`, ...extra, "--", ...files];
}

/** Return the arguments of `rtlagent report`. */
export function reportArguments(run: string): string[] {
  return ["report", "--json", "--", run];
}

/**
 * Check further arguments that a setting gives.
 *
 * @param trusted Whether they are the user's own; a workspace may not turn the sandbox off.
 * @throws ArgumentError
 */
export function checkedArguments(value: unknown, setting: string, trusted: boolean): string[] {
  if (!Array.isArray(value) || !value.every((item): item is string => typeof item === "string")) {
    throw new ArgumentError(`${setting} is not a list of strings`);
  }
  if (value.some((item) => item === "--" || item.includes("\0"))) {
    throw new ArgumentError(`${setting} may not hold "--"`);
  }
  if (!trusted && value.some((item) => item.startsWith("--sandbox"))) {
    throw new ArgumentError(`${setting}: --sandbox is heeded in user settings only, not in a workspace's`);
  }
  return [...value];
}
