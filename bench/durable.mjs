#!/usr/bin/env node
/**
 * `npm run bench:durable [-- samples]`: what a journal costs in the loop of W3, and how long a run takes to go on from it.
 * CPU time of this process; samples with and without a store take turns, and the figure is the median.
 */
import { cpus } from "node:os";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { heading, number, table } from "./report.mjs";
import { linkPackage } from "./setup.mjs";
import { workloadOf } from "./workloads.mjs";

const WIRE = "anthropic";
const LENGTHS = [50, 200, 800];
const RESTORED = 800;
const SAMPLES = Number(process.argv[2] ?? 7);
const WARMUPS = 2;
/** At most this share of CPU for a journal in memory, and milliseconds to go on after 800 iterations. */
const TARGETS = { share: 0.1, restoreMs: 100 };

setFlagsFromString("--expose-gc");
const gc = runInNewContext("gc");
linkPackage();
const { settled, start } = await import("./contestants/looplet.mjs");
const { anthropic, createAgent } = await import("looplet");
const { memoryStore } = await import("looplet/stores");

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

/** The journal of a W3 loop whose last request is still open, and the bytes that it had at each request. */
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

/** The CPU time in milliseconds from `resume` to the request that it sends. */
async function restore(entries) {
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
    maxIterations: RESTORED + 1,
    fetch,
  });
  const run = agent.resume(entries);
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

const median = (values) => values.toSorted((left, right) => left - right)[values.length >> 1];
const verdict = (value, target) => (value <= target ? "pass" : "MISS");

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
const rows = [];
for (const length of LENGTHS) {
  const [without, withStore] = [[], []];
  for (let sample = -WARMUPS; sample < SAMPLES; sample++) {
    const [plain, stored] = [await loop(length), await loop(length, memoryStore())];
    if (sample < 0) continue;
    without.push(plain);
    withStore.push(stored);
  }
  const [plain, stored] = [median(without), median(withStore)];
  const share = stored / plain - 1;
  const cells = [plain / length, stored / length].map(number);
  rows.push([`W3-${length}`, ...cells, `${(100 * share).toFixed(0)} %`, verdict(share, TARGETS.share)]);
}
table([["", "no store", "memoryStore", "added", `≤ ${100 * TARGETS.share} %`], ...rows]);

heading(`From resume to the next request after ${RESTORED} iterations · ms of CPU`);
const { entries } = journals.get(RESTORED);
const taken = [];
for (let sample = -WARMUPS; sample < SAMPLES; sample++) {
  const ms = await restore(entries);
  if (sample >= 0) taken.push(ms);
}
table([
  ["", "median", "best", `≤ ${TARGETS.restoreMs}`],
  ["resume", number(median(taken)), number(Math.min(...taken)), verdict(median(taken), TARGETS.restoreMs)],
]);
process.exit();
