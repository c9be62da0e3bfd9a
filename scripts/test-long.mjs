// npm run test:long: what takes too long for every change, or needs more than CI installs.
//   npm run test:long -- firefox      these parts only
//   npm run test:long -- kills --count 500
// Parts: builds (what the native build has recorded replays in WebAssembly to the same, and the other way round:
// 10,000 random schedules and the recordings of providers), schedules (a million random schedules and 200,000 cases
// of each property; LOOPLET_CASES of both), firefox (the shell in Firefox, where apt can install it), hosts (the
// package in Bun, Firefox, Next and further bundlers; files of all recordings of providers and of a thousand
// simulated runs, which play to equal bytes in six hosts; a thousand sessions in a workerd that is killed; the types
// of looplet/agent-sdk beside those of the newest Claude Agent SDK; stores in Postgres, Bun and Firefox; runs as
// steps of Restate; an extension that an alarm wakes), kills (processes that die or stand still in the middle of a
// run, with stores in files, SQLite, workerd and Chromium, and behind a server; ordinary runs of a minute whose
// leases are renewed while others open them; damaged journals; `--count` is the number of deaths on files and on
// SQLite, 30 by default, and the other numbers are shares of it), seeds (simulated runs: 10,000 seeds of agents with
// a planted fault, of their mended twins, of the facades, of servers and of the examples; LOOPLET_SEEDS), stories
// (100,000 conversations against servers that check what precedes reasoning; LOOPLET_STORIES), readers (10,000 runs
// with readers that begin late, by all consumers of events; LOOPLET_STORIES).
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { build } from "./build.mjs";
import { findBrowser } from "./lib/browser.mjs";
import { SetupError, fail, output, root, run, step, versions, withCacheLock } from "./lib/machine.mjs";
import { Report, packageTest, ran, skipped, sum, wasmTests } from "./lib/report.mjs";
import { cargoInstall, toolFolder } from "./lib/rust.mjs";
import { modernNode, npmTool, setup } from "./setup.mjs";

const parts = { builds, schedules, firefox, hosts, kills, seeds, stories, readers };

async function main() {
  const { values, positionals: wanted } = parseArgs({
    allowPositionals: true,
    options: { count: { type: "string", default: process.env.LOOPLET_KILLS || "30" } },
  });
  const unknown = wanted.find((name) => !(name in parts));
  if (unknown)
    throw new SetupError(`There is no part "${unknown}". Parts: ${Object.keys(parts).join(", ")}.`);
  const names = wanted.length ? wanted : Object.keys(parts);
  const machine = await setup({
    test: true,
    firefox: names.some((name) => name === "firefox" || name === "hosts"),
  });
  const report = new Report();
  for (const name of names) await report.part(name, () => parts[name](machine, Number(values.count)));
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
    await run(process.execPath, [vitest, "run", "--silent=false", "tests/typescript/long"], {
      capture: true,
      env,
    }),
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
  const newest = async (name, ...flags) =>
    join(
      await npmTool(name, output("npm", ["view", name, "version"]) ?? versions[name], ...flags),
      "node_modules",
    );
  const env = {
    LOOPLET_NODE: process.execPath,
    LOOPLET_DENO: join(await folder("deno"), ".bin/deno"),
    LOOPLET_BUN: join(await folder("bun"), ".bin/bun"),
    LOOPLET_WEBPACK: await folder("webpack"),
    LOOPLET_ROLLUP: await folder("rollup"),
    LOOPLET_PARCEL: await folder("parcel"),
    LOOPLET_NEXT: versions.next,
    LOOPLET_COPILOTKIT: versions["@copilotkit/react-core"],
    LOOPLET_ASSISTANT_UI: versions["@assistant-ui/react"],
    LOOPLET_ASSISTANT_UI_AG_UI: versions["@assistant-ui/react-ag-ui"],
    // Its types; what it leaves out are binaries of 356 MB.
    LOOPLET_CLAUDE_SDK: await newest("@anthropic-ai/claude-agent-sdk", "--omit=optional"),
    LOOPLET_PGLITE: await folder("@electric-sql/pglite"),
    LOOPLET_RESTATE: await folder("@restatedev/restate-sdk"),
    LOOPLET_RESTATE_SERVER: join(await folder("@restatedev/restate-server"), ".bin/restate-server"),
    LOOPLET_FIREFOX: findBrowser("firefox")?.browser ?? "",
    LOOPLET_CHROMIUM: findBrowser("chromium")?.browser ?? "",
  };
  return packageTest(await modernNode(), "tests/package/long", env, 60);
}

async function seeds(machine) {
  await build({ machine, glueOnly: true });
  const env = { ...process.env, LOOPLET_SEEDS: process.env.LOOPLET_SEEDS || "10000" };
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const tests = ["run", "--silent=false", "tests/typescript/lab/simulation"];
  return ran(await run(await modernNode(), [vitest, ...tests], { capture: true, env }));
}

async function stories(machine) {
  return storiesIn(machine, "tests/typescript/core/models/proof", "100000");
}

async function readers(machine) {
  return storiesIn(machine, "tests/typescript/ui/fold", "10000");
}

/** The stories per process. Its memory grows with the output of the tests. */
const STORIES = 5000;

/** Runs the tests of a folder with as many random stories. */
async function storiesIn(machine, folder, count) {
  await build({ machine, glueOnly: true });
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const last = Number(process.env.LOOPLET_STORIES || count);
  const runs = [];
  for (let first = 1; first <= last; first += STORIES) {
    const stories = { LOOPLET_FIRST_STORY: first, LOOPLET_STORIES: Math.min(STORIES, last - first + 1) };
    const env = { ...process.env, ...stories };
    const tests = ["run", "--silent=false", folder];
    runs.push(await run(await modernNode(), [vitest, ...tests], { capture: true, env }));
  }
  return ran(...runs);
}

/**
 * `count` crashes on files and on SQLite, a tenth of it in workerd and Chromium, a fifth of it of servers, two fifths
 * of it ordinary runs, and as many damaged journals of each kind.
 */
async function kills(machine, count) {
  await build({ machine });
  const env = {
    ...process.env,
    LOOPLET_KILLS: String(count),
    LOOPLET_DAMAGED: String(Math.ceil((count * 2) / 5)),
    LOOPLET_CHROMIUM: findBrowser("chromium")?.browser ?? "",
  };
  const node = await modernNode();
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const tests = ["tests/typescript/core/damaged-journals.test.ts", "tests/typescript/frozen.test.ts"];
  return sum(
    await packageTest(node, "tests/package/kills", env, 120),
    ran(await run(node, [vitest, "run", ...tests], { capture: true, env })),
  );
}

await main().catch(fail);
