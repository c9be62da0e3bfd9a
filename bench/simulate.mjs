#!/usr/bin/env node
/**
 * `npm run bench:simulate [-- runs]`: how long `simulate` of looplet/testing takes for runs of six iterations, in two
 * processes that share the seeds. The agent has one tool. With a store, processes crash and others resume the runs.
 */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { heading, table } from "./report.mjs";
import { linkPackage } from "./setup.mjs";

const [given = "10000", kind, from] = process.argv.slice(2);
const RUNS = Number(given);
/** Seconds for 10,000 runs on two cores, at most. */
const TARGET_S = 60;

if (kind === undefined) await report();
else console.log(JSON.stringify(await simulated(kind, Number(from))));

async function report() {
  heading(`${RUNS} runs of six iterations, in two processes`);
  const rows = [["runs", "CPU ms a run", "processes a run", "CPU s of 10,000 on two cores", "target"]];
  for (const kind of ["without a store", "with a store, and crashes"]) {
    const halves = [0, RUNS / 2].map(async (from) => {
      const args = [fileURLToPath(import.meta.url), String(RUNS / 2), kind, String(from)];
      return JSON.parse((await promisify(execFile)(process.execPath, args)).stdout);
    });
    const [one, other] = await Promise.all(halves);
    const cpuMs = (one.cpuMs + other.cpuMs) / RUNS;
    const seconds = ((cpuMs * 10_000) / 2 / 1000).toFixed(1);
    const ratio = ((one.processes + other.processes) / RUNS).toFixed(2);
    rows.push([kind, cpuMs.toFixed(2), ratio, seconds, String(TARGET_S)]);
  }
  table(rows);
}

/** Plays the runs of one process, and prints their CPU time. */
async function simulated(kind, from) {
  linkPackage();
  const { anthropic, createAgent, tool } = await import("looplet");
  const { memoryStore } = await import("looplet/stores");
  const { neverTwice, simulate } = await import("looplet/testing");
  const inputSchema = { type: "object", properties: { cents: { type: "integer" } }, required: ["cents"] };
  const charge = tool({ description: "Charges", inputSchema, execute: ({ cents }) => `${cents} paid` });
  const agent = createAgent({
    model: anthropic("claude-sonnet-4-6", { apiKey: "k" }),
    ...(kind === "without a store" ? {} : { store: memoryStore() }),
    timeouts: { toolMs: 60_000 },
    tools: { charge },
  });
  let processes = 0;
  const count = (run) => void (processes += run.processes.length);
  const calls = Array(5).fill({ toolCalls: [{ name: "charge", input: { cents: 3 } }] });
  const world = { model: [...calls, { text: "Done." }] };
  await simulate(agent, { seeds: 200, world });
  const before = process.cpuUsage();
  const seeds = Array.from({ length: RUNS }, (_, at) => from + at);
  await simulate(agent, { seeds, world, invariants: [neverTwice("charge"), count] });
  const { user, system } = process.cpuUsage(before);
  return { cpuMs: (user + system) / 1000, processes };
}
