#!/usr/bin/env node
/**
 * `node bench/sockets.mjs [W3-200] [raw-js,raw-js-bytes,looplet] [samples]`: W3 or W7 with the host's own `fetch` and
 * a server in a separate process. Prints the CPU time of the client's process in ms for the whole workload. The
 * contestants take turns.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { setUp } from "./setup.mjs";
import { workloadOf } from "./workloads.mjs";

const WIRE = "anthropic";
const WARMUPS = 1;

const [mode, ...rest] = process.argv.slice(2);
if (mode === "server") await serve(...rest);
else if (mode === "client") await ask(...rest);
else await measure(mode, ...rest);

async function measure(id = "W3-200", names = "raw-js,raw-js-bytes,looplet", samples = "5") {
  const execPath = setUp();
  const start = (args) => fork(fileURLToPath(import.meta.url), args, { execPath, execArgv: ["--expose-gc"] });
  const server = start(["server", id]);
  const [port] = await once(server, "message");
  const racers = names
    .split(",")
    .map((name) => ({ name, taken: [], child: start(["client", id, name, port]) }));
  for (const { child } of racers) await once(child, "message");
  for (let round = -WARMUPS; round < Number(samples); round += 1) {
    for (const { child, taken } of racers) {
      child.send("run");
      const [ms] = await once(child, "message");
      if (round >= 0) taken.push(ms);
    }
  }
  for (const { name, taken, child } of racers) {
    taken.sort((left, right) => left - right);
    const [best, median] = [taken[0], taken[taken.length >> 1]].map((ms) => ms.toFixed(0));
    console.log(`${id} over sockets  ${name.padEnd(14)} median ${median} ms  best ${best} ms`);
    child.disconnect();
  }
  server.disconnect();
}

/** Answers the requests to each path in turn with the workload's responses. */
async function serve(id) {
  const responses = await responsesOf(id);
  const asked = new Map();
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      const at = asked.get(request.url) ?? 0;
      asked.set(request.url, at + 1);
      response.writeHead(200, { "content-type": "text/event-stream" }).end(responses[at]);
    });
  });
  server.listen(0, "127.0.0.1", () => process.send(server.address().port));
  process.on("disconnect", () => process.exit());
}

async function responsesOf(id) {
  const [{ fetch, task }] = workloadOf(id, WIRE).begin();
  const bodies = [];
  while (bodies.length < task.requests) bodies.push(Buffer.from(await (await fetch("", {})).arrayBuffer()));
  return bodies;
}

async function ask(id, name, port) {
  const { run } = await import(`./contestants/${name}.mjs`);
  const workload = workloadOf(id, WIRE);
  let paths = 0;
  process.on("message", async () => {
    const sessions = workload.begin();
    globalThis.gc();
    const before = process.cpuUsage();
    await Promise.all(
      sessions.map(({ task, options }) => {
        const url = `http://127.0.0.1:${port}/${name}/${paths++}`;
        return run(task, (_, init) => fetch(url, init), options);
      }),
    );
    const { user, system } = process.cpuUsage(before);
    process.send((user + system) / 1000);
  });
  process.send("ready");
}
