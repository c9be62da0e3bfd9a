// npm run test:long: what takes too long for every change, or needs more than CI installs.
//   npm run test:long -- firefox      these parts only
// Parts: builds (what the native build has recorded replays in WebAssembly to the same, and the other way round: 10,000
// random schedules and the recordings of providers), schedules (a million random schedules and 200,000 cases of each property; LOOPLET_CASES of both), firefox (the shell in
// Firefox, where apt can install it), hosts (the package in Bun, Firefox, Next and further bundlers, and in a workerd that is killed 30 times; the types of looplet/agent-sdk beside the published ones; stores in Postgres, Bun and Firefox; runs as steps of Restate; an extension that an alarm wakes).
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { build } from "./build.mjs";
import { findBrowser } from "./lib/browser.mjs";
import { SetupError, fail, root, run, step, versions, withCacheLock } from "./lib/machine.mjs";
import { Report, nodeTest, ran, skipped, wasmTests } from "./lib/report.mjs";
import { cargoInstall, toolFolder } from "./lib/rust.mjs";
import { modernNode, npmTool, setup } from "./setup.mjs";

const parts = { builds, schedules, firefox, hosts };

async function main() {
  const wanted = process.argv.slice(2);
  const unknown = wanted.find((name) => !(name in parts));
  if (unknown)
    throw new SetupError(`There is no part "${unknown}". Parts: ${Object.keys(parts).join(", ")}.`);
  const names = wanted.length ? wanted : Object.keys(parts);
  const machine = await setup({
    test: true,
    firefox: names.some((name) => name === "firefox" || name === "hosts"),
  });
  const report = new Report();
  for (const name of names) await report.part(name, () => parts[name](machine));
  report.end();
}

async function schedules({ rust, env }) {
  const cases = process.env.LOOPLET_CASES || "1000000";
  const args = ["test", "--profile", "recordings", "--lib", "--tests", "--", "--include-ignored"];
  return ran(
    await run(join(rust.bin, "cargo"), args, {
      capture: true,
      env: { ...env, LOOPLET_CASES: cases, PROPTEST_CASES: process.env.LOOPLET_CASES || "200000" },
    }),
  );
}

async function builds(machine) {
  await build({ machine, glueOnly: true });
  const loops = join(root, "target/loops");
  rmSync(loops, { recursive: true, force: true });
  mkdirSync(loops, { recursive: true });
  const env = { ...machine.env, LOOPLET_LOOPS: loops };
  const cargo = (...args) =>
    run(join(machine.rust.bin, "cargo"), ["test", "--profile", "recordings", ...args], {
      capture: true,
      env,
    });
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  return ran(
    await cargo("--test", "run", "every_random_schedule"),
    await cargo("--test", "wire", "conversations_replay_through_the_run"),
    await run(process.execPath, [vitest, "run", "--silent=false", "tests/face/long"], { capture: true, env }),
    await cargo("--test", "run", "what_webassembly_has_recorded"),
  );
}

async function firefox({ rust, env }) {
  const found = findBrowser("firefox");
  if (!found) return skipped("no Firefox");
  const driver = found.driver ?? (await geckodriver(rust));
  return ran(await wasmTests(env, "--firefox", "--geckodriver", driver));
}

async function geckodriver(rust) {
  if (!existsSync(toolFolder("geckodriver")))
    await withCacheLock(() =>
      step(`installing geckodriver ${versions.geckodriver} from the crates registry`, () =>
        cargoInstall(rust, "geckodriver"),
      ),
    );
  return join(toolFolder("geckodriver"), "bin/geckodriver");
}

async function hosts(machine) {
  await build({ machine });
  const folder = async (name, ...flags) =>
    join(await npmTool(name, versions[name], ...flags), "node_modules");
  const env = {
    LOOPLET_BUN: join(await folder("bun"), ".bin/bun"),
    LOOPLET_WEBPACK: await folder("webpack"),
    LOOPLET_ROLLUP: await folder("rollup"),
    LOOPLET_NEXT: versions.next,
    // Its types; what it leaves out are binaries of 356 MB.
    LOOPLET_CLAUDE_SDK: await folder("@anthropic-ai/claude-agent-sdk", "--omit=optional"),
    LOOPLET_PGLITE: await folder("@electric-sql/pglite"),
    LOOPLET_RESTATE: await folder("@restatedev/restate-sdk"),
    LOOPLET_RESTATE_SERVER: join(await folder("@restatedev/restate-server"), ".bin/restate-server"),
    LOOPLET_FIREFOX: findBrowser("firefox")?.browser ?? "",
    LOOPLET_CHROMIUM: findBrowser("chromium")?.browser ?? "",
  };
  return nodeTest(await modernNode(), "tests/package/long", env, 60);
}

await main().catch(fail);
