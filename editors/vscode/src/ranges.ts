/** Where in a text a diagnostic stands. */

export interface Place {
  readonly line: number;
  readonly start: number;
  readonly end: number;
}

const WORD = /^(?:`?[A-Za-z_$][\w$]*|\\\S+|\d[\w'.]*|'[\w]+|[^\s\w]{1,2})/;

/**
 * Turn a line and a column into a range: from 0, in UTF-16 units, over the word that starts there.
 *
 * @param line From 1; 0 or less: not known.
 * @param column From 1, in code points, a tab is one; 0 or less: not known, the whole line is meant.
 */
export function placeOf(lines: readonly string[], line: number, column: number): Place {
  const at = Math.min(Math.max(line - 1, 0), Math.max(lines.length - 1, 0));
  const text = lines[at] ?? "";
  const margin = text.length - text.trimStart().length;
  const whole = { line: at, start: Math.min(margin, text.length), end: Math.max(text.trimEnd().length, margin) };
  if (column < 1 || line < 1 || line > lines.length) return whole;
  const before = Array.from(text).slice(0, column - 1).join("");
  if (before.length >= text.length) {
    // Past the end, as for a missing semicolon: the last character is marked.
    return { line: at, start: Math.max(whole.end - 1, 0), end: text.length };
  }
  const word = WORD.exec(text.slice(before.length))?.[0];
  return { line: at, start: before.length, end: before.length + (word?.length ?? 1) };
}

/** Cut a text into the lines that editors show. */
export function linesOf(text: string): string[] {
  return text.split(/\r\n|\r|\n/);
}
