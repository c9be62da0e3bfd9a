#!/usr/bin/env node
/**
 * `npm run bench -- [--only W1,W3-200] [--contestants looplet,ai-sdk] [--wires anthropic,openai-chat] [--json file]
 * [--quick]`
 *
 * Every contestant lives in its own process; the samples of one workload are taken in turn, so that all of them see
 * the same minutes of the machine. What counts is process CPU time; the printed figure is the median.
 */
import { fork, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { report } from "./report.mjs";
import { setUp } from "./setup.mjs";
import { figureOf, workloadIds } from "./workloads.mjs";

const CONTESTANTS = [
  "drain",
  "raw-js",
  "raw-js-bytes",
  "looplet",
  "looplet-for-await",
  "looplet-unjoined",
  "ai-sdk",
  "pi",
];
const FLOOR = "raw-js";
const SAMPLE_TIMEOUT_MS = 120_000;
/** A peer that has used this much CPU in one workload is not run again in it; its last sample counts. */
const PATIENCE_WITH_PEERS_MS = 4000;

/** Unmeasured and measured samples. `W3-800` follows `W3-200` in the same process, which is its warm-up. */
const plans = {
  W1: { warmups: 4, samples: 9 },
  W2: { warmups: 2, samples: 5 },
  "W2-4M": { warmups: 1, samples: 3 },
  W3: { warmups: 1, samples: 5 },
  "W3-800": { warmups: 0, samples: 3 },
  W4: { warmups: 1, samples: 7 },
  W6: { warmups: 0, samples: 3 },
  W7: { warmups: 1, samples: 3 },
};

const { values: flags } = parseArgs({
  options: {
    only: { type: "string" },
    contestants: { type: "string" },
    wires: { type: "string" },
    json: { type: "string" },
    quick: { type: "boolean", default: false },
  },
});
const list = (text) => text.split(",").map((part) => part.trim());
const ids = workloadIds.filter(
  (id) => !flags.only || list(flags.only).some((only) => id === only || groupOf(id) === only),
);
const names = CONTESTANTS.filter(
  (name) => name === FLOOR || !flags.contestants || list(flags.contestants).includes(name),
);
if (ids.length === 0) throw new Error(`--only ${flags.only}: the workloads are ${workloadIds.join(", ")}`);

const node = setUp();
const childFile = fileURLToPath(new URL("./child.mjs", import.meta.url));
const problems = [];
const figures = [];
const contestants = await present();

console.log(`${cpus()[0].model}, ${cpus().length} cores · ${nodeVersion()}${flags.quick ? " · quick" : ""}`);
for (const id of ids) {
  for (const wire of flags.wires
    ? list(flags.wires)
    : groupOf(id) === "W1"
      ? ["anthropic", "openai-chat"]
      : ["anthropic"]) {
    process.stderr.write(`… ${id} ${wire}\n`);
    await measure(id, wire);
  }
}
for (const { child } of contestants) if (child.connected) child.disconnect();
report(figures, contestants);
for (const problem of problems) console.log(`\n!! ${problem}`);
if (flags.json) {
  const about = { cpu: cpus()[0].model, cores: cpus().length, node: nodeVersion(), quick: flags.quick };
  writeFileSync(flags.json, `${JSON.stringify({ about, figures, problems }, null, 2)}\n`);
}

/** The contestants that can be imported; the others are named now and once more at the end. */
async function present() {
  const found = [];
  for (const name of names) {
    const child = start("serve", name);
    const greeting = await reply(child);
    if (greeting.title !== undefined) {
      found.push({ name, child, ...greeting });
      continue;
    }
    const problem = `SKIPPED ${name}: ${greeting.importError ?? greeting.error}`;
    console.log(problem);
    problems.push(problem);
  }
  return found;
}

async function measure(id, wire) {
  const { warmups, samples } = planOf(id);
  const racers = contestants
    .filter((contestant) => takesPart(contestant, id, wire))
    .map((contestant) => ({ contestant, taken: [], spentUs: 0, isOut: false }));
  for (let round = -warmups; round < samples; round += 1) {
    for (const racer of racers.filter(({ isOut }) => !isOut)) await race(racer, id, wire, round < 0);
  }
  for (const { contestant, taken } of racers) {
    if (taken.length === 0) continue;
    const values = taken.map(({ cpuUs, peakMb }) => peakMb ?? figureOf(id, cpuUs));
    figures.push({ contestant: contestant.name, workload: id, wire, value: median(values), samples: values });
  }
}

async function race(racer, id, wire, isWarmup) {
  const outcome = await sample(racer.contestant, id, wire);
  if (outcome.error !== undefined) {
    const { name } = racer.contestant;
    problems.push(`FAILED ${name} ${id} ${wire}: ${outcome.error}`);
    figures.push({ contestant: name, workload: id, wire, note: "FAILED" });
    Object.assign(racer, { taken: [], isOut: true });
    process.exitCode = 1;
    return;
  }
  racer.spentUs += outcome.cpuUs;
  racer.isOut = racer.contestant.isPeer && racer.spentUs > PATIENCE_WITH_PEERS_MS * 1000;
  if (!isWarmup || racer.isOut) racer.taken.push(outcome);
}

async function sample(contestant, id, wire) {
  if (id === "W4-workerd") return reply(start("workerd", contestant.name, id, wire));
  if (groupOf(id) === "W4") return reply(start("cold", contestant.name, id, wire));
  if (groupOf(id) === "W6") return reply(start("memory", contestant.name, id, wire));
  if (!contestant.child.connected) {
    contestant.child = start("serve", contestant.name);
    await reply(contestant.child);
  }
  contestant.child.send({ id, wire });
  return reply(contestant.child);
}

function takesPart({ name, isPeer, slowBeyond }, id, wire) {
  if (name === "drain" && groupOf(id) === "W4") return false;
  if (isPeer && id === "W4-workerd") return false;
  const limit = slowBeyond[groupOf(id)];
  if (limit === undefined || workloadIds.indexOf(id) <= workloadIds.indexOf(limit)) return true;
  figures.push({ contestant: name, workload: id, wire, note: "too slow" });
  return false;
}

function start(mode, ...args) {
  const execArgv = mode === "cold" ? [] : ["--expose-gc"];
  return fork(childFile, [mode, ...args], {
    execPath: node,
    execArgv,
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
}

/** The child's next message; a child that ends or stays silent is a failed sample. */
function reply(child) {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      child.kill();
      settle({ error: `no answer within ${SAMPLE_TIMEOUT_MS / 1000} s` });
    }, SAMPLE_TIMEOUT_MS);
    const onExit = (code, signal) => settle({ error: `process ended (${signal ?? code})` });
    child.once("message", settle);
    child.once("exit", onExit);
    function settle(outcome) {
      clearTimeout(timer);
      child.off("message", settle);
      child.off("exit", onExit);
      resolve(outcome);
    }
  });
}

function planOf(id) {
  const { warmups, samples } = plans[id] ?? plans[groupOf(id)];
  return flags.quick
    ? { warmups: Math.min(1, warmups), samples: Math.min(2, samples) }
    : { warmups, samples };
}

function groupOf(id) {
  return id.split("-")[0];
}

function nodeVersion() {
  return `Node ${spawnSync(node, ["--version"], { encoding: "utf8" }).stdout.trim()}`;
}

function median(values) {
  const sorted = values.toSorted((left, right) => left - right);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
