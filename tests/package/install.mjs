// Packs looplet as npm would publish it and installs it into an empty folder, as a stranger would.
import { spawn } from "node:child_process";
import { copyFileSync, cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(dirname(here));

/**
 * `{ folder, remove }`: a folder with looplet in its node_modules and `ten-lines.mjs` beside it. npm takes seconds of
 * all cores, so the files of one suite get copies of the folder that `LOOPLET_INSTALLED` names.
 */
export async function installPacked() {
  const folder = mkdtempSync(join(tmpdir(), "looplet-package-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const installed = process.env.LOOPLET_INSTALLED;
  try {
    if (installed) cpSync(installed, folder, { recursive: true, verbatimSymlinks: true });
    else await packInto(folder);
    return { folder, remove };
  } catch (error) {
    remove();
    throw error;
  }
}

async function packInto(folder) {
  const packed = await run("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", folder], root);
  const [{ filename }] = Object.values(JSON.parse(packed));
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }\n');
  await run("npm", ["install", "--offline", "--no-audit", "--no-fund", `./${filename}`], folder);
  copyFileSync(join(here, "ten-lines.mjs"), join(folder, "ten-lines.mjs"));
  writeFileSync(
    join(folder, "main.mjs"),
    'import { tenLines } from "./ten-lines.mjs";\nconsole.log(await tenLines());\n',
  );
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
