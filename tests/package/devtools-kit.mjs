// Programs with `serveDevtools` for tests: started, asked over HTTP, and ended.
import { spawn } from "node:child_process";
import { copyFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { here } from "./install.mjs";

/** The commands of the runtimes, by name: Node, and those that LOOPLET_DENO and LOOPLET_BUN name. */
export const runtimes = {
  node: [process.execPath],
  ...(process.env.LOOPLET_DENO && { deno: [process.env.LOOPLET_DENO, "run", "-A"] }),
  ...(process.env.LOOPLET_BUN && { bun: [process.env.LOOPLET_BUN] }),
};

/**
 * Starts the program in the folder. `{ url, line, send, ended }`: the address; the next line that begins so; writes a
 * line to it; its exit code.
 */
export async function startProgram(folder, options = {}, [command, ...args] = runtimes.node) {
  copyFileSync(join(here, "devtools-program.mjs"), join(folder, "devtools-program.mjs"));
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const child = spawn(command, [...args, "devtools-program.mjs", JSON.stringify(options)], {
    cwd: folder,
    env,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = [];
  const waiting = new Set();
  createInterface({ input: child.stdout }).on("line", (line) => {
    lines.push(line);
    for (const look of waiting) look();
  });
  const ended = new Promise((resolve) => child.on("exit", (code) => resolve(code)));
  const line = (start) =>
    new Promise((resolve, reject) => {
      const look = () => {
        const found = lines.find((one) => one.startsWith(start));
        if (found === undefined) return;
        waiting.delete(look);
        resolve(found);
      };
      waiting.add(look);
      look();
      void ended.then((code) => reject(new Error(`the program ended with ${code}: ${lines.join("\n")}`)));
    });
  const url = (await line("looplet devtools: ")).split(" ").at(-1);
  const send = (text) => child.stdin.write(`${text}\n`);
  return { url, line, send, ended, lines, kill: () => child.kill("SIGKILL") };
}

/** The status, headers and text of an answer. `fetch` would not send another Host. */
export function ask(url, { method = "GET", headers = {}, body } = {}) {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (more) => (text += more));
      response.on("end", () => resolve({ status: response.statusCode, headers: response.headers, text }));
      response.on("error", reject);
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

/** The events of the address: `{ next, ended }`, the next message that fits, and when the stream is over. */
export async function follow(url) {
  const response = await fetch(`${url}events`);
  const messages = [];
  const waiting = new Set();
  const read = async () => {
    let text = "";
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
      const events = (text += chunk).split("\n\n");
      text = events.pop();
      for (const event of events)
        if (event.startsWith("data: ")) messages.push(JSON.parse(event.slice("data: ".length)));
      for (const look of waiting) look();
    }
  };
  const ended = read().catch(() => {});
  const next = (fits) =>
    new Promise((resolve) => {
      const look = () => {
        const found = messages.find(fits);
        if (found === undefined) return;
        waiting.delete(look);
        resolve(found);
      };
      waiting.add(look);
      look();
    });
  return { response, next, ended };
}
