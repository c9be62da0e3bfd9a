// Packs looplet as npm would publish it and installs it into an empty folder, as a stranger would.
import { spawn, spawnSync } from "node:child_process";
import { copyFileSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";
import { Miniflare } from "miniflare";

export const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(dirname(here));

/** `{ folder, remove }`: a folder with looplet in its node_modules and `ten-lines.mjs` beside it. */
export async function installPacked() {
  const folder = mkdtempSync(join(tmpdir(), "looplet-package-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    const packed = await run(
      "npm",
      ["pack", "--json", "--ignore-scripts", "--pack-destination", folder],
      root,
    );
    const [{ filename }] = Object.values(JSON.parse(packed));
    writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }\n');
    await run("npm", ["install", "--offline", "--no-audit", "--no-fund", `./${filename}`], folder);
    copyFileSync(join(here, "ten-lines.mjs"), join(folder, "ten-lines.mjs"));
    writeFileSync(
      join(folder, "main.mjs"),
      'import { tenLines } from "./ten-lines.mjs";\nconsole.log(await tenLines());\n',
    );
    return { folder, remove };
  } catch (error) {
    remove();
    throw error;
  }
}

/** What `facades.mjs` says in every host. The second `system` message says that nobody knows the price of the model. */
export const added =
  /It is 42\. 42 It is 42\. 42 end_turn It is 42\. system assistant user assistant system It is 42\./;

/** `installPacked` with `facades.mjs`, a `facades-main.mjs` that prints what it says, and the peer of looplet/prompty. */
export async function installFacades() {
  const installed = await installPacked();
  const { folder } = installed;
  cpSync(new URL("../../node_modules/yaml", import.meta.url), join(folder, "node_modules/yaml"), {
    recursive: true,
  });
  copyFileSync(join(here, "facades.mjs"), join(folder, "facades.mjs"));
  writeFileSync(
    join(folder, "facades-main.mjs"),
    'import { facades } from "./facades.mjs";\nconsole.log(await facades());\n',
  );
  return installed;
}

/**
 * workerd with a Worker bundled as wrangler does: esbuild with the Worker conditions, the `.wasm` left to the
 * runtime. `folder` has looplet in its node_modules, `entry` is a path in it. `more` are further options of
 * Miniflare.
 */
export async function startWorkerd(folder, entry, compatibilityDate = "2026-07-01", more = {}) {
  const { outputFiles } = await esbuild.build({
    absWorkingDir: folder,
    entryPoints: [entry],
    bundle: true,
    format: "esm",
    target: "es2022",
    conditions: ["workerd", "worker"],
    external: ["*.wasm", "cloudflare:*"],
    write: false,
    logLevel: "warning",
  });
  return new Miniflare({
    ...more,
    cf: false,
    compatibilityDate,
    modules: [
      { type: "ESModule", path: "worker.js", contents: outputFiles[0].text },
      {
        type: "CompiledWasm",
        path: "looplet.wasm",
        contents: readFileSync(join(folder, "node_modules/looplet/dist/looplet.wasm")),
      },
    ],
  });
}

/**
 * `startWorkerd` on the files of a process that was killed, once it is ready. For some milliseconds workerd may find
 * its databases locked by their recovery, and ends; it is started again then.
 */
export async function restartWorkerd(...given) {
  for (let attempt = 1; ; attempt++) {
    const next = await startWorkerd(...given);
    try {
      await next.ready;
      return next;
    } catch (error) {
      await next.dispose().catch(() => {});
      if (attempt === 10 || !error.message.includes("SQLITE_BUSY")) throw error;
    }
  }
}

/** The ids of the workerd processes that this process has started. */
export function workerds() {
  const { stdout } = spawnSync("ps", ["-A", "-o", "pid=,ppid=,comm="], { encoding: "utf8" });
  const rows = stdout
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/));
  const mine = rows.filter(([, parent, name]) => Number(parent) === process.pid && name.includes("workerd"));
  return mine.map(([pid]) => Number(pid));
}

/** Standard output of a command; rejects with all its output when it fails or takes longer. */
export function run(command, args, cwd, timeoutMs = 60_000) {
  return new Promise((resolve, reject) => {
    // A test runner that finds this variable takes itself for the child of another one, and runs nothing.
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const child = spawn(command, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"], timeout: timeoutMs });
    let [out, err] = ["", ""];
    child.stdout.on("data", (bytes) => (out += bytes));
    child.stderr.on("data", (bytes) => (err += bytes));
    child.on("error", reject);
    child.on("close", (code) =>
      code === 0 ? resolve(out) : reject(new Error(`${command} ended with ${code}\n${out}\n${err}`)),
    );
  });
}
