/**
 * One process with one contestant: `child.mjs <mode> <contestant> [workload] [wire]`, speaking over the IPC channel.
 * `serve` runs one sample for each message `{ id, wire }`; `cold`, `memory` and `workerd` run one workload and end.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { run as drainAll } from "./contestants/drain.mjs";
import { firstDeltaInWorkerd } from "./workerd.mjs";
import { workloadOf } from "./workloads.mjs";

const [mode, name, id, wire] = process.argv.slice(2);
const load = () => import(`./contestants/${name}.mjs`);

if (mode === "serve") await serve();
else if (mode === "cold") await answer(() => coldStart(id, wire));
else if (mode === "workerd") await answer(() => firstDeltaInWorkerd(name, id, wire));
else await answer(() => memory(id, wire));

async function serve() {
  const contestant = await load().catch((error) => fail("importError", error.message));
  if (contestant === undefined) return process.disconnect();
  const { title, isPeer = false, slowBeyond = {} } = contestant;
  let current = {};
  process.on("message", async (job) => {
    try {
      if (job.id !== current.id || job.wire !== current.wire)
        current = { ...job, workload: workloadOf(job.id, job.wire) };
      process.send(await sample(contestant, current.workload));
    } catch (error) {
      fail("error", error);
    }
  });
  process.send({ title, isPeer, slowBeyond });
}

async function sample(contestant, workload) {
  const sessions = workload.begin();
  globalThis.gc();
  const startedAt = process.hrtime.bigint();
  const before = process.cpuUsage();
  const results = await Promise.all(
    sessions.map(({ task, fetch, options }) => contestant.run(task, fetch, options)),
  );
  const { user, system } = process.cpuUsage(before);
  const wallMs = Number(process.hrtime.bigint() - startedAt) / 1e6;
  sessions.forEach((session, at) => session.verify(results[at]));
  return { cpuUs: user + system, wallMs };
}

/**
 * CPU from before the contestant's import to its first delta: module loading, compilation, request, stream. The
 * host's own `Response` and `ReadableStream`, which Node loads on first use, are loaded before.
 */
async function coldStart(id, wire) {
  const workload = workloadOf(id, wire);
  const [spare] = workload.begin();
  await drainAll(spare.task, spare.fetch);
  const [session] = workload.begin();
  let firstDelta;
  const before = process.cpuUsage();
  const { run } = await load();
  const onText = (delta) => {
    firstDelta ??= process.cpuUsage(before);
    session.options.onText(delta);
  };
  const result = await run(session.task, session.fetch, { ...session.options, onText });
  const { user, system } = firstDelta ?? process.cpuUsage(before);
  session.verify(result);
  return { cpuUs: user + system };
}

/** The peak of resident memory while the workload runs once; on Linux the peak of preparing it is forgotten first. */
async function memory(id, wire) {
  const { run } = await load();
  const [session] = workloadOf(id, wire).begin();
  globalThis.gc();
  if (process.platform === "linux") writeFileSync("/proc/self/clear_refs", "5");
  const before = process.cpuUsage();
  const result = await run(session.task, session.fetch, session.options);
  const { user, system } = process.cpuUsage(before);
  const peakMb = peakRssKib() / 1024;
  session.verify(result);
  return { peakMb, cpuUs: user + system };
}

/** On Linux a forked process reports its parent's peak in `resourceUsage`, so its own figure is read there. */
function peakRssKib() {
  if (process.platform !== "linux") return process.resourceUsage().maxRSS;
  return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync("/proc/self/status", "utf8"))[1]);
}

async function answer(work) {
  try {
    process.send(await work());
  } catch (error) {
    fail("error", error);
  }
  process.disconnect();
}

function fail(kind, error) {
  process.send({
    [kind]: String(error?.stack ?? error)
      .split("\n")
      .slice(0, 3)
      .join(" "),
  });
}
