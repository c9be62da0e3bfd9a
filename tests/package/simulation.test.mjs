// Equal seeds play equal runs, byte for byte, in every host.
import assert from "node:assert/strict";
import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { askWorkerd } from "./edges.mjs";
import { installPacked, run } from "./install.mjs";
import { browse, writePage } from "./page.mjs";

const node = process.env.LOOPLET_NODE || process.execPath;
const deno = process.env.LOOPLET_DENO;
const browserPath = process.env.LOOPLET_CHROMIUM;
let installed, told;

before(async () => {
  installed = await installPacked();
  const script = fileURLToPath(new URL("simulated.mjs", import.meta.url));
  copyFileSync(script, join(installed.folder, "simulated.mjs"));
  const print = 'import { simulated } from "./simulated.mjs";\nconsole.log(await simulated());\n';
  writeFileSync(join(installed.folder, "print.mjs"), print);
  told = (await run(node, ["print.mjs"], installed.folder)).trim();
});
after(() => installed?.remove());

test("Node plays the runs, and finds the payment that is made twice", () => {
  assert.match(told, /^[0-9a-f]{16}\n.*completed/);
  assert.match(told, /^neverTwice\("payment"\) is broken: payment \w+ happened 2 times$/m);
});

test("Chromium plays the same runs", { skip: !browserPath && "no Chromium" }, async () => {
  const dist = "/node_modules/looplet/dist";
  const names = { looplet: "default", "looplet/stores": "stores", "looplet/testing": "testing" };
  const files = Object.entries(names).map(([name, file]) => [name, `${dist}/${file}.js`]);
  writePage(installed.folder, "simulated", Object.fromEntries(files));
  const script =
    'import { simulated } from "../simulated.mjs";\n' +
    'simulated().catch(String).then((told) => { document.body.append(told); document.title = "done: all"; });\n';
  writeFileSync(join(installed.folder, "simulated/main.js"), script);
  const launch = () =>
    chromium.launch({ executablePath: browserPath, args: ["--no-sandbox", "--disable-gpu"] });
  const shown = await browse(
    { folder: installed.folder, path: "/simulated/", launch },
    async (page, errors) => {
      const ended = page.waitForFunction(() => document.title.startsWith("done: "), null, {
        timeout: 60_000,
      });
      await ended.catch(() => {});
      return (await page.evaluate(() => document.body.textContent)) + errors.join(" ");
    },
  );
  assert.equal(shown.trim(), told);
});

test("workerd plays the same runs", async () => {
  assert.equal((await askWorkerd(installed.folder, "simulated.mjs", "simulated")).trim(), told);
});

test("Deno plays the same runs", { skip: !deno && "no Deno" }, async () => {
  assert.equal((await run(deno, ["run", "--no-prompt", "print.mjs"], installed.folder)).trim(), told);
});
