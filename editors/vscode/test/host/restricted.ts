/** In a workspace that is not trusted: nothing is run. */

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import * as vscode from "vscode";

import { api, file, lenses, ours, pause, save, until, uri } from "./scene";

export const restricted = {
  "the newest run is shown": async () => {
    const extension = await api();
    await until("the verdict", () => extension.status()?.includes("PASS"));
  },

  "nothing is linted, no lens is drawn, no command runs the tool": async () => {
    await save("rtl/untrusted.v", "module untrusted(input d, output q);\n  assign q = nothing;\nendmodule\n");
    await pause(6000);
    assert.deepEqual(ours("rtl/untrusted.v"), []);
    assert.deepEqual(await lenses("rtl/untrusted.v"), []);
    assert.equal(await vscode.commands.executeCommand("rtlagent.lint", uri("rtl/untrusted.v")), undefined);
    assert.equal(existsSync(file("owned")), false);
  },
};
