// Processes of Node that are killed or stand still, with stores on the disk. LOOPLET_SEED asks for other moments, LOOPLET_KILLS
// for another number of deaths.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, test } from "node:test";
import { seeded } from "../../../bench/random.mjs";
import { installPacked } from "../install.mjs";
import { KILLS, SEED, World, killAtRandom, report, serve, wholeLife } from "./world.mjs";

/** Longer than a lease. */
const LEASE_IS_OUT_MS = 100_000;

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
 * A world with a store of this kind. `begin(life)` begins a process and gives `kill`, with the process as `kill.child`. The time
 * of a dead process's lease passes before the next one begins, unless the store can see that it is gone.
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
    await use(current, begin, () => pass(LEASE_IS_OUT_MS), standStill);
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
    return Object.assign(kill, { child });
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

  // The world's answers are the latency of the store: each save is held until it has answered.
  test(`a process that stood still makes no call on ${kind} that its successor has made`, async (context) => {
    const random = seeded(SEED);
    const inWorld = inWorldOf(kind);
    const whole = await wholeLife(inWorld);
    const count = Math.ceil(KILLS / 5);
    const sums = { frozen: 0, questions: 0, refused: 0, cancelled: 0 };
    const seen = new Set();
    while (sums.frozen < count) {
      await inWorld(async (world, begin, pass, standStill) => {
        const frozen = world.begin(random.between(0, whole.steps.length - 1));
        const { child } = await begin(frozen);
        const { heldAt } = await frozen.over;
        // The number of saves differs a little.
        if (heldAt === undefined) return;
        const message = `LOOPLET_SEED=${SEED}, process ${sums.frozen}, stood still at ${frozen.cut} (${heldAt})`;
        await standStill(child);
        pass();
        const next = world.begin();
        await begin(next);
        const again = await next.over;
        world.assertWhole(again, whole.end, message);
        frozen.letGo();
        child.kill("SIGCONT");
        const woken = await frozen.over;
        // It had ended already, or ends again with the result of its successor.
        if (woken.outcome === "completed") assert.deepEqual(woken.end, whole.end, message);
        else assert.equal(woken.outcome, "cancelled", message);
        world.assertWhole(again, whole.end, message);
        // Nothing in a process can see that it stood still in the middle of a tool.
        if (heldAt !== "before effect") assert.equal(world.refused, 0, message);
        seen.add(heldAt);
        sums.frozen += 1;
        sums.questions += world.questions;
        sums.refused += world.refused;
        sums.cancelled += Number(woken.outcome === "cancelled");
      });
    }
    context.diagnostic(`LOOPLET_SEED=${SEED}, stood still at ${[...seen].sort().join(", ")}`);
    report(
      kind,
      `${sums.frozen} frozen processes, 0 effects twice, ${sums.questions} questions, ${sums.refused} effects refused by their fence, ${sums.cancelled} woken runs cancelled`,
    );
  });
}
