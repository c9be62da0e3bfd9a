#!/usr/bin/env node
/**
 * `npm run bench:durable [-- samples]`: what a journal costs in the loop of W3, and how long it takes to resume a run
 * from it. CPU time of separate processes, each warmed up by loops of the same kind. Processes with and without a
 * store take turns, and the figure is the median. A long journal is restored from a file, and its peak memory is
 * reported too.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { heading, number, table } from "./report.mjs";
import { linkPackage } from "./setup.mjs";
import { workloadOf } from "./workloads.mjs";

const WIRE = "anthropic";
const LENGTHS = [50, 200, 800];
const RESTORED = 800;
/** The number of iterations of the journal for the memory figure. */
const LONG = 3200;
const [given = "7", ...measured] = process.argv.slice(2);
const SAMPLES = Number(given);
/** Iterations of the loops in a process: those that warm it up, and those that count. */
const WARMING = 800;
const COUNTED = 1600;
const RESTORES = 6;
/** The maximum share of CPU for a journal in memory, and the maximum milliseconds to resume after 800 iterations. */
const TARGETS = { share: 0.1, restoreMs: 80 };

setFlagsFromString("--expose-gc");
const gc = runInNewContext("gc");
linkPackage();
const { settled, start } = await import("./contestants/looplet.mjs");
const { anthropic, createAgent } = await import("looplet");
const { memoryStore } = await import("looplet/stores");
const { fileStore } = await import("looplet/stores/node");

/** One W3 loop: the CPU time in milliseconds. */
async function loop(iterations, store) {
  const [session] = workloadOf(`W3-${iterations}`, WIRE).begin();
  const { task, fetch, options } = session;
  gc();
  const before = process.cpuUsage();
  const agentOptions = store === undefined ? {} : { store };
  const result = await settled(start(task, fetch, options, { onText: options.onText }, agentOptions));
  const ms = since(before);
  session.verify(result);
  return ms;
}

/** The journal of a W3 loop with an open last request, and its size in bytes at each request. */
async function journalOf(iterations) {
  const store = memoryStore();
  const [{ task, fetch, options }] = workloadOf(`W3-${iterations}`, WIRE).begin();
  const sizes = [];
  let isLast;
  const last = new Promise((resolve) => (isLast = resolve));
  let run;
  const counted = async (...given) => {
    await run.saved();
    sizes.push(store.load(run.id).reduce((sum, { json }) => sum + json.length + 1, 0));
    if (sizes.length <= iterations) return fetch(...given);
    isLast();
    return new Promise(() => {});
  };
  run = start(task, counted, options, { onText: options.onText }, { store });
  await last;
  const entries = store.load(run.id);
  run.abort();
  return { entries, sizes };
}

/** The CPU time in milliseconds from `resume` to the request that it sends. `journal` is its entries, or an id in the store. */
async function restore(journal, store) {
  const [{ options }] = workloadOf("W3-50", WIRE).begin();
  const { tools } = options;
  gc();
  let ms;
  let isAsked;
  const asked = new Promise((resolve) => (isAsked = resolve));
  const before = process.cpuUsage();
  const fetch = () => {
    ms = since(before);
    isAsked();
    return new Promise(() => {});
  };
  const agent = createAgent({
    model: anthropic("claude-sonnet-4-6", { apiKey: "x" }),
    tools: Object.fromEntries(tools.map(({ name, ...own }) => [name, { ...own, readOnly: true }])),
    limits: { maxIterations: LONG + 1 },
    fetch,
    ...(store && { store }),
  });
  const run = agent.resume(journal);
  const outcome = await Promise.race([asked, run.result]);
  if (outcome !== undefined) throw new Error(`${outcome.outcome}: ${outcome.error?.message}`);
  run.abort();
  await run.result;
  return ms;
}

function since(before) {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/**
 * One figure, measured in a separate process: milliseconds per iteration of loops of this length, or of a `resume`.
 */
async function measure([what, store]) {
  if (what === "long") return JSON.stringify(await restoreLong(store));
  if (what === "restore") {
    const { entries } = await journalOf(RESTORED);
    const taken = [];
    for (let at = 0; at < RESTORES; at++) taken.push(await restore(entries));
    return median(taken.slice(RESTORES / 2));
  }
  const length = Number(what);
  const once = () => loop(length, store && memoryStore());
  for (let done = 0; done < WARMING; done += length) await once();
  let ms = 0;
  for (let done = 0; done < COUNTED; done += length) ms += await once();
  return ms / COUNTED;
}

/** CPU time and peak memory in megabytes of a process that resumes the run in this folder. */
async function restoreLong(folder) {
  const ms = await restore("long", fileStore(folder));
  return { ms, peakMb: process.resourceUsage().maxRSS / 1000 };
}

/** The figures of processes that restore a journal of this many iterations from a file. */
async function longRestored(iterations) {
  const folder = mkdtempSync(join(tmpdir(), "looplet-bench-"));
  try {
    const { entries } = await journalOf(iterations);
    const store = fileStore(folder);
    for (let at = 0; at < entries.length; at += 500)
      await store.append("long", entries.slice(at, at + 500), at);
    const [, self] = process.argv;
    const one = () =>
      JSON.parse(execFileSync(process.execPath, [self, given, "long", folder], { encoding: "utf8" }));
    const figures = Array.from({ length: SAMPLES }, one);
    return ["ms", "peakMb"].map((name) => median(figures.map((figure) => figure[name])));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The median figure of each of these measurements, of processes that take turns. */
function inTurns(...measurements) {
  const [, self] = process.argv;
  const figures = measurements.map(() => []);
  for (let sample = 0; sample < SAMPLES; sample++)
    for (const [at, words] of measurements.entries())
      figures[at].push(Number(execFileSync(process.execPath, [self, given, ...words], { encoding: "utf8" })));
  return figures.map(median);
}

const median = (values) => values.toSorted((left, right) => left - right)[values.length >> 1];
const verdict = (value, target) => (value <= target ? "pass" : "MISS");

if (measured.length > 0) {
  console.log(await measure(measured));
  process.exit();
}

console.log(`${cpus()[0].model}, ${cpus().length} cores · Node ${process.version} · ${SAMPLES} samples`);

const journals = new Map();
for (const length of LENGTHS) journals.set(length, await journalOf(length));

heading("The journal of W3: 3 tool calls with results of 1 KiB an iteration · bytes");
const bytesRows = LENGTHS.map((length) => {
  const { entries, sizes } = journals.get(length);
  const of = (from, to) => number((sizes[to] - sizes[from]) / (to - from));
  const tenth = length / 10;
  return [
    String(length),
    of(1, 1 + tenth),
    of(length - tenth, length),
    String(sizes.at(-1)),
    String(entries.length),
  ];
});
table([["iterations", "each of the first tenth", "each of the last tenth", "all", "entries"], ...bytesRows]);

heading("W3 with a journal to memory · ms/iteration");
const rows = LENGTHS.map((length) => {
  const [plain, stored] = inTurns([String(length)], [String(length), "store"]);
  const share = stored / plain - 1;
  return [
    `W3-${length}`,
    ...[plain, stored].map(number),
    `${(100 * share).toFixed(0)} %`,
    verdict(share, TARGETS.share),
  ];
});
table([["", "no store", "memoryStore", "added", `≤ ${100 * TARGETS.share} %`], ...rows]);

heading(`From resume to the next request after ${RESTORED} iterations · ms of CPU`);
const [restored] = inTurns(["restore"]);
table([
  ["", "median", `≤ ${TARGETS.restoreMs}`],
  ["resume", number(restored), verdict(restored, TARGETS.restoreMs)],
]);

heading("From resume to the next request in a fresh process, from a file · ms of CPU, MB at the peak");
const longRows = [];
for (const iterations of [1, LONG]) {
  const [ms, peakMb] = await longRestored(iterations);
  longRows.push([String(iterations), number(ms), number(peakMb)]);
}
table([["iterations", "CPU", "memory"], ...longRows]);
process.exit();
