// Equal seeds play equal runs, byte for byte, in every host.
import assert from "node:assert/strict";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { HOSTS } from "./hosts.mjs";
import { installPacked } from "./install.mjs";

let installed, told;
const simulatedIn = (host) => HOSTS[host](installed.folder, "simulated.mjs", "simulated");

before(async () => {
  installed = await installPacked();
  const script = fileURLToPath(new URL("simulated.mjs", import.meta.url));
  copyFileSync(script, join(installed.folder, "simulated.mjs"));
  told = await simulatedIn("Node");
});
after(() => installed?.remove());

test("Node plays the runs, and finds the payment that is made twice", () => {
  assert.match(told, /^[0-9a-f]{16}\n.*completed/);
  assert.match(told, /^neverTwice\("payment"\) is broken: payment \w+ happened 2 times$/m);
});

for (const host of ["Chromium", "workerd", "Deno"])
  test(`${host} plays the same runs`, { skip: !HOSTS[host] && `no ${host}` }, async () => {
    assert.equal(await simulatedIn(host), told);
  });
