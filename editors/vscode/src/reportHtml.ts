/** Make a run's report.html fit for a webview. */

import * as path from "node:path";

/** Nothing is fetched and no script runs, whatever the file holds; the report's own policy narrows this further. */
export const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:";

const LINK = /href="\.\/([^"]+)"/g;
const LIST = [
  [/&#39;/g, "'"],
  [/&#34;|&quot;/g, '"'],
  [/&lt;/g, "<"],
  [/&gt;/g, ">"],
  [/&amp;/g, "&"],
] as const;

/**
 * Return a report with our policy before all else, and its links to the run's files as calls of `command`.
 *
 * A webview follows no relative link; the command gets the path as it stands in the report.
 */
export function framed(html: string, command: string): string {
  const linked = html.replace(LINK, (_all, target: string) => {
    const named = LIST.reduce((text, [pattern, mark]) => text.replace(pattern, mark), target);
    return `href="command:${command}?${encodeURIComponent(JSON.stringify([decoded(named.replace(/[?#].*$/, ""))]))}"`;
  });
  const policy = `<meta http-equiv="Content-Security-Policy" content="${POLICY}">`;
  const body = linked.replace(/^\ufeff?\s*<!doctype html>/i, "");
  return `<!doctype html>\n${policy}${body}`;
}

/** Return a page that only says something. */
export function page(text: string): string {
  const said = text.replace(/[&<>"']/g, (mark) => `&#${mark.charCodeAt(0)};`);
  return `<!doctype html><meta http-equiv="Content-Security-Policy" content="${POLICY}"><p>${said}</p>`;
}

/** Return the file of a run that a link means, or nothing if it would lie outside. */
export function fileOfRun(folder: string, link: unknown): string | undefined {
  if (typeof link !== "string" || link === "" || link.includes("\0")) return undefined;
  const file = path.resolve(folder, link);
  return file.startsWith(folder.endsWith(path.sep) ? folder : folder + path.sep) ? file : undefined;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
