// Processes of Node that are killed or stand still, with stores on the disk. LOOPLET_SEED asks for other moments,
// LOOPLET_KILLS for another number of deaths.
import { spawn } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, test } from "node:test";
import { installPacked } from "../install.mjs";
import { KILLS, LEASE_IS_OUT_MS, World, freezeAtRandom, killAtRandom, serve } from "./world.mjs";

let installed, server, current;
before(async () => {
  installed = await installPacked();
  for (const module of ["killed-run.mjs", "node-life.mjs"])
    copyFileSync(new URL(module, import.meta.url), join(installed.folder, module));
  server = await serve(() => current.hear);
});
after(() => {
  server?.close();
  installed?.remove();
});

/**
 * A world with a store of this kind. The time of a dead process's lease passes before the next one begins, unless the
 * store can see that it is gone.
 */
const inWorldOf = (kind) => async (use) => {
  const folder = mkdtempSync(join(installed.folder, "world-"));
  mkdirSync(join(folder, "journals"));
  let passedMs = 0;
  const pass = (ms) => writeFileSync(join(folder, "passed"), String((passedMs += ms)));
  pass(0);
  current = new World();
  const children = [];
  try {
    await use(current, begin, () => pass(LEASE_IS_OUT_MS));
  } finally {
    for (const child of children) child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }

  /** Stops a process, but not in the middle of a statement: SQLite's lock would stay with it, and stop its successor too. */
  async function standStill(child) {
    for (let isLocked = true; isLocked;) {
      child.kill("SIGSTOP");
      await new Promise((resolve) => setTimeout(resolve, 5));
      isLocked = kind === "SQLite" && isLockedDatabase(join(folder, "runs.db"));
      if (isLocked) child.kill("SIGCONT");
    }
  }

  async function begin(life) {
    if (kind !== "files") pass(LEASE_IS_OUT_MS);
    const args = ["node-life.mjs", kind, folder, server.url + life.path];
    const child = spawn(process.execPath, args, {
      cwd: installed.folder,
      stdio: ["ignore", "ignore", "pipe"],
    });
    children.push(child);
    let errors = "";
    child.stderr.on("data", (bytes) => (errors += bytes));
    const gone = new Promise((resolve) => child.on("close", resolve));
    void gone.then((code) => life.fail(new Error(`The process ended with ${code}: ${errors}`)));
    const kill = async () => {
      child.kill("SIGKILL");
      await gone;
    };
    return Object.assign(kill, { standStill: () => standStill(child), wake: () => child.kill("SIGCONT") });
  }
};

function isLockedDatabase(file) {
  const database = new DatabaseSync(file);
  try {
    database.exec("BEGIN IMMEDIATE; ROLLBACK");
    return false;
  } catch {
    return true;
  } finally {
    database.close();
  }
}

for (const kind of ["files", "SQLite"]) {
  test(`a run on ${kind} survives the deaths of its processes`, (context) =>
    killAtRandom(context, kind, KILLS, inWorldOf(kind)));

  test(`a process that stood still makes no call on ${kind} that its successor has made`, (context) =>
    freezeAtRandom(context, kind, Math.ceil(KILLS / 5), inWorldOf(kind)));
}
