// Print, as JSON, VS Code's schema of tasks.json, and what its problem matcher makes of a tool's output.
// node --import ./style_sheets.mjs read_tasks.mjs MATCHER.json OUTPUT.txt FOLDER
import { readFileSync, statSync } from "node:fs";

const nothing = () => ({ style: {}, appendChild() {}, setAttribute() {} });
globalThis.window ??= globalThis;
globalThis.self ??= globalThis;
globalThis.document ??= {
  createElement: nothing,
  createTextNode: nothing,
  head: nothing(),
  body: nothing(),
  documentElement: nothing(),
  addEventListener() {},
  getElementsByTagName: () => [],
  queryCommandSupported: () => false,
};

const tasks = "@codingame/monaco-vscode-task-service-override/vscode/src/vs/workbench/contrib/tasks/common";
const schema = (await import(`./node_modules/${tasks}/jsonSchema_v2.js`)).default;
const { createLineMatcher, ProblemMatcherParser } = await import(
  "@codingame/monaco-vscode-api/vscode/vs/workbench/contrib/tasks/common/problemMatcher"
);

const [matcherFile, outputFile, folder] = process.argv.slice(2);
const complaints = [];
const say = (text) => complaints.push(text);
const log = { info: say, warn: say, error: say, fatal: say, status: { isOK: () => complaints.length === 0 } };
const text = readFileSync(matcherFile, "utf8").replaceAll("${workspaceFolder}", folder);
const matcher = new ProblemMatcherParser(log).parse(JSON.parse(text));
// VS Code asks for files to tell a path in the folder from an absolute one.
const files = { stat: async (uri) => ({ isDirectory: statSync(uri.fsPath).isDirectory() }) };
const lineMatcher = createLineMatcher(matcher, files);
const markers = [];
const background = [];
for (const line of readFileSync(outputFile, "utf8").split("\n")) {
  if (matcher.watching?.beginsPattern.regexp.test(line)) background.push("begin");
  if (matcher.watching?.endsPattern.regexp.test(line)) background.push("end");
  const found = lineMatcher.handle([line]);
  if (found?.match) {
    const { severity, startLineNumber, startColumn, message, code } = found.match.marker;
    const resource = (await found.match.resource).fsPath;
    markers.push({ line, resource, severity, startLineNumber, startColumn, message, code: code ?? "" });
  }
}
console.log(JSON.stringify({ schema, complaints, markers, background }));
