// npm test: sets the machine up, builds the package and runs every test, part by part.
//   npm test -- native typescript     these parts only
//   npm test -- server          a wing only: the tests in tests/typescript/server
// Parts: native (engine, on this machine), wasm (the shell in Chromium), typescript (Vitest), package (npm pack,
// loaded by Node, Deno and workerd), page (the playground in Chromium). What a machine cannot run is skipped and the
// last line says so; in CI (CI=true) a skipped part is a failure.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { build } from "./build.mjs";
import { SetupError, fail, output, root, run, versions } from "./lib/machine.mjs";
import { Report, nodeTest, packageTest, ran, skipped, wasmTests } from "./lib/report.mjs";
import { modernNode, npmTool, setup } from "./setup.mjs";

const CLAUDE_SDK = "@anthropic-ai/claude-agent-sdk";

const parts = { native, wasm, typescript: () => typescript(), package: packed, page };
const wings = Object.fromEntries(
  readdirSync(join(root, "src/typescript")).map((wing) => [
    wing,
    () => typescript(`tests/typescript/${wing}/`),
  ]),
);

async function main() {
  const known = { ...parts, ...wings };
  const wanted = process.argv.slice(2);
  const unknown = wanted.find((name) => !(name in known));
  if (unknown)
    throw new SetupError(`There is no part "${unknown}". Parts: ${Object.keys(known).join(", ")}.`);
  const names = wanted.length ? wanted : Object.keys(parts);
  const machine = await setup({ test: names.some((name) => ["wasm", "package", "page"].includes(name)) });
  const report = new Report();
  for (const name of names)
    await report.part(name, async () => {
      if (name !== "native" && name !== "wasm") await builtOnce(machine);
      return known[name](machine);
    });
  report.end();
}

let built;
const builtOnce = (machine) => (built ??= build({ machine }));

/**
 * The recordings are long, and random schedules are many: they run optimised, everything else (and some schedules)
 * with the checks of a debug build.
 */
async function native({ rust, env }) {
  const cargo = join(rust.bin, "cargo");
  const metadata = JSON.parse(
    output(cargo, ["metadata", "--no-deps", "--format-version", "1"], { cwd: root, env }),
  );
  const targets = metadata.packages
    .flatMap(({ targets }) => targets)
    .filter(({ kind }) => kind.includes("test"))
    .map(({ name }) => name);
  const quick = targets
    .filter((name) => name !== "wire" && name !== "wasm")
    .flatMap((name) => ["--test", name]);
  const some = { ...env, LOOPLET_CASES: env.LOOPLET_CASES ?? "300" };
  const cargoTest = (args, own = env) => run(cargo, ["test", ...args], { env: own, capture: true });
  const optimised = ["--profile", "recordings", "--test"];
  return ran(
    await cargoTest(["--lib", ...quick], some),
    await cargoTest(["--doc"]),
    await cargoTest([...optimised, "wire"]),
    await cargoTest([...optimised, "run", "random"]),
  );
}

async function wasm({ env, chromium }) {
  if (!chromium) return skipped("no Chromium with its driver");
  return ran(await wasmTests(env, "--chrome", "--chromedriver", chromium.driver));
}

/** All tests of the TypeScript, or those of some folders. */
async function typescript(...folders) {
  return ran(
    await run(await modernNode(), [join(root, "node_modules/vitest/vitest.mjs"), "run", ...folders], {
      capture: true,
      env: { ...process.env, NO_COLOR: "1" },
    }),
  );
}

/** miniflare needs a newer Node than the package does: LOOPLET_NODE names the one that loads the package. */
async function packed({ chromium }) {
  const deno = join(await npmTool("deno", versions.deno), "node_modules/.bin/deno");
  const edge = join(await npmTool("edge-runtime", versions["edge-runtime"]), "node_modules");
  const jest = join(await npmTool("jest", versions.jest), "node_modules");
  // With the React of its major version.
  const react = join(await npmTool("react-dom", versions["react-dom"]), "node_modules");
  // Its types; what it leaves out are binaries of 356 MB.
  const claude = await npmTool(CLAUDE_SDK, versions[CLAUDE_SDK], "--omit=optional");
  return packageTest(await modernNode(), "tests/package", {
    LOOPLET_CLAUDE_SDK: join(claude, "node_modules"),
    LOOPLET_DENO: deno,
    LOOPLET_EDGE: edge,
    LOOPLET_JEST: jest,
    LOOPLET_REACT_18: react,
    LOOPLET_NODE: process.execPath,
    LOOPLET_CHROMIUM: chromium?.browser ?? "",
  });
}

async function page({ chromium }) {
  if (!chromium) return skipped("no Chromium");
  return nodeTest(await modernNode(), "tests/page", { LOOPLET_CHROMIUM: chromium.browser });
}

await main().catch(fail);
