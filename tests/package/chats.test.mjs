// A chat in files: its Node process is killed in the middle of its second run, and another one opens it again.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { copyFileSync, existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { expectedChat, moments } from "./durable-run.mjs";
import { here, installPacked, run } from "./install.mjs";

let installed;
before(async () => {
  installed = await installPacked();
  for (const name of ["chat-process.mjs", "durable-run.mjs"])
    copyFileSync(join(here, name), join(installed.folder, name));
});
after(() => installed?.remove());

for (const moment of moments) {
  test(`a chat whose process is killed at the moment "${moment}" of its second run goes on in another`, async () => {
    const { folder } = installed;
    for (const name of ["held", "payments", "chats"])
      rmSync(join(folder, name), { recursive: true, force: true });
    const first = spawn(process.execPath, ["chat-process.mjs", moment], { cwd: folder, stdio: "inherit" });
    const ended = new Promise((resolve) => first.on("exit", (code, signal) => resolve(code ?? signal)));
    while (!existsSync(join(folder, "held")) && first.exitCode === null)
      await new Promise((resolve) => setTimeout(resolve, 10));
    first.kill("SIGKILL");
    assert.equal(await ended, "SIGKILL");
    const told = JSON.parse(await run(process.execPath, ["chat-process.mjs"], folder));
    assert.deepEqual(told, { texts: expectedChat, payments: ["b"] });
  });
}
