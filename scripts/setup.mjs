// Makes a fresh machine able to build and test looplet. Needs Node 20 and nothing else.
//   node scripts/setup.mjs             all that `npm start` and `npm run build` need
//   node scripts/setup.mjs --test      also wasm-pack and Chromium, for `npm test`
//   node scripts/setup.mjs --firefox   also Firefox, for `npm run test:long`
//   node scripts/setup.mjs --env       prints the environment for cargo as shell exports: eval "$(node scripts/setup.mjs --env)"
// Every tool is installed once per version into the cache folder; a second run only looks.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findBrowser, installBrowser } from "./lib/browser.mjs";
import { SetupError, cache, fail, isMain, root, runQuietly, step } from "./lib/machine.mjs";
import { versions, withCacheLock } from "./lib/machine.mjs";
import { cargoEnv, findRust, missingRustTools, needLinters } from "./lib/rust.mjs";

/**
 * Installs what is missing and returns the machine: `{ rust, env, chromium }`, where `env` is the environment for
 * cargo and `chromium` is undefined where no Chromium with its driver can be had. `test`: wasm-pack and Chromium too;
 * `lint`: clippy and rustfmt.
 */
export async function setup({ test = false, lint = false, firefox = false } = {}) {
  checkNode();
  const tools = test ? ["wasm-bindgen-cli", "wasm-pack"] : ["wasm-bindgen-cli"];
  let rust = await findRust();
  const needsLock =
    !rust || missingRustTools(rust, tools).length > 0 || !npmIsFresh() || (test && !findBrowser("chromium"));
  if (needsLock || firefox)
    await withCacheLock(async () => {
      rust = await findRust({ install: true });
      const work = missingRustTools(rust, tools);
      if (!npmIsFresh()) work.push(["installing the npm packages of package-lock.json", installNpm]);
      for (const [what, install] of work) await step(what, install);
      if (test) await installBrowser("chromium");
      if (firefox) await installBrowser("firefox");
    });
  if (lint) await needLinters(rust);
  return { rust, env: cargoEnv(rust), chromium: test ? findBrowser("chromium") : undefined };
}

/** Installs only the npm packages, for what needs no Rust. */
export async function setupNpm() {
  checkNode();
  if (npmIsFresh()) return;
  await withCacheLock(() => step("installing the npm packages of package-lock.json", installNpm));
}

function checkNode() {
  if (Number(process.versions.node.split(".")[0]) < 20)
    throw new SetupError(`looplet's scripts need Node 20 or newer, this is ${process.version}.`);
}

const npmStamp = join(root, "node_modules/.looplet-lock");
const lockHash = () =>
  createHash("sha256")
    .update(readFileSync(join(root, "package-lock.json")))
    .digest("hex");
const npmIsFresh = () => existsSync(npmStamp) && readFileSync(npmStamp, "utf8") === lockHash();

async function installNpm() {
  const npm = process.platform === "win32" ? "npm.cmd" : "npm";
  await runQuietly("npm ci", npm, ["ci", "--no-audit", "--no-fund"]);
  writeFileSync(npmStamp, lockHash());
}

/** A Node of the pinned major version for tools that do not run on Node 20; this one where it is new enough. */
export async function modernNode() {
  if (Number(process.versions.node.split(".")[0]) >= 22) return process.execPath;
  const name = `node-${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;
  const binary = join(await npmTool(name, versions.node), "node_modules", name, "bin/node");
  if (!existsSync(binary))
    throw new SetupError(
      `There is no Node ${versions.node} in the npm package ${name}: use Node 22 or newer.`,
    );
  return binary;
}

/** The folder into which an npm package that is not a development dependency was installed, once per version. */
export async function npmTool(name, version, ...flags) {
  const folder = join(cache, `npm-${name}-${version}`);
  if (existsSync(folder)) return folder;
  await withCacheLock(() =>
    step(`installing ${name} ${version} from the npm registry`, async () => {
      rmSync(`${folder}.part`, { recursive: true, force: true });
      mkdirSync(`${folder}.part`, { recursive: true });
      writeFileSync(join(`${folder}.part`, "package.json"), '{ "private": true }\n');
      await runQuietly(
        "npm install",
        "npm",
        ["install", "--no-audit", "--no-fund", ...flags, `${name}@${version}`],
        {
          cwd: `${folder}.part`,
        },
      );
      if (!existsSync(folder)) renameSync(`${folder}.part`, folder);
    }),
  );
  return folder;
}

if (isMain(import.meta.url)) {
  const startedMs = Date.now();
  if (process.argv.includes("--env")) {
    const rust = await findRust();
    if (!rust) fail(new SetupError("Run `node scripts/setup.mjs` first."));
    const env = cargoEnv(rust);
    for (const name of ["PATH", "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS"])
      console.log(`export ${name}='${env[name]}'`);
  } else {
    const firefox = process.argv.includes("--firefox");
    const test = firefox || process.argv.includes("--test");
    const machine = await setup({ test, firefox }).catch(fail);
    console.log(
      `Ready in ${((Date.now() - startedMs) / 1000).toFixed(1)} s: Rust ${machine.rust.version}, wasm-bindgen ${versions["wasm-bindgen-cli"]}, Node ${process.versions.node}, ${machine.chromium ? "Chromium with its driver" : test ? "NO Chromium: browser tests will be skipped" : "no browser"}.`,
    );
  }
}
