// Recordings of all providers and a thousand simulated runs come to equal bytes in all hosts.
import assert from "node:assert/strict";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { HOSTS } from "../hosts.mjs";
import { here, installPacked } from "../install.mjs";
import { testReplays } from "../replay-tests.mjs";

const hosts = ["Node", "Chromium", "Firefox", "workerd", "Deno", "Bun"];
const SEEDS = 334;

testReplays(hosts, 1, SEEDS);

let installed, told;
before(async () => {
  installed = await installPacked();
  copyFileSync(join(here, "simulated.mjs"), join(installed.folder, "simulated.mjs"));
});
after(() => installed?.remove());

for (const host of hosts)
  test(`${host} simulates equal runs`, { skip: !HOSTS[host] && `no ${host}` }, async () => {
    const said = await HOSTS[host](installed.folder, "simulated.mjs", "simulated", String(SEEDS));
    assert.match(said, /^[0-9a-f]{16}\n.*completed/);
    assert.equal(said, (told ??= said));
  });
