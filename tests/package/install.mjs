// Packs looplet as npm would publish it and installs it into an empty folder, as a stranger would.
import { spawn } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

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

/** Standard output of a command; rejects with all its output when it fails or takes longer than a minute. */
export function run(command, args, cwd) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, stdio: ["ignore", "pipe", "pipe"], timeout: 60_000 });
    let [out, err] = ["", ""];
    child.stdout.on("data", (bytes) => (out += bytes));
    child.stderr.on("data", (bytes) => (err += bytes));
    child.on("error", reject);
    child.on("close", (code) =>
      code === 0 ? resolve(out) : reject(new Error(`${command} ended with ${code}\n${out}\n${err}`)),
    );
  });
}
