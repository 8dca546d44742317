/** "lint", "simulate", "synthesize" above every module. */

import * as vscode from "vscode";

import { scan } from "./verilog";

const MAX_CHARACTERS = 2_000_000;
const MAX_MODULES = 500;

/** On whatever language other extensions give to these files. */
export const SELECTOR: vscode.DocumentSelector = { scheme: "file", pattern: "**/*.{v,sv,vh,svh,V,SV}" };

export class Lenses implements vscode.CodeLensProvider {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.changed.event;

  /** Ask again, as when trust is granted. */
  refresh(): void {
    this.changed.fire();
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    if (!vscode.workspace.isTrusted) return [];
    const text = document.getText();
    if (text.length > MAX_CHARACTERS) return [];
    return scan(text).modules.slice(0, MAX_MODULES).flatMap(({ name, offset }) => {
      const at = document.positionAt(offset);
      const range = new vscode.Range(at, at);
      return [
        new vscode.CodeLens(range, { command: "rtlagent.lint", title: "lint", arguments: [document.uri] }),
        new vscode.CodeLens(range, { command: "rtlagent.simulate", title: "simulate", arguments: [document.uri, name] }),
        new vscode.CodeLens(range, { command: "rtlagent.synthesize", title: "synthesize", arguments: [document.uri, name] }),
      ];
    });
  }
}

/** Return the module that a position is in or behind, else the first one. */
export function moduleAt(document: vscode.TextDocument, position: vscode.Position): string | undefined {
  const { modules } = scan(document.getText());
  const offset = document.offsetAt(position);
  return (modules.filter((m) => m.offset <= offset).at(-1) ?? modules[0])?.name;
}
