// A server of Node over files that is killed while a page has a run there. The page stays. LOOPLET_SEED asks for
// other moments, LOOPLET_KILLS for another number of deaths: a fifth of it.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { installPacked } from "../install.mjs";
import { KILLS, World, killAtRandom, serve } from "./world.mjs";

let installed, server, current, connectAgent, checkTranscript;
before(async () => {
  installed = await installPacked();
  for (const module of ["killed-run.mjs", "server-life.mjs"])
    copyFileSync(new URL(module, import.meta.url), join(installed.folder, module));
  const load = (file) =>
    import(pathToFileURL(join(installed.folder, "node_modules/looplet/dist", file)).href);
  ({ connectAgent } = await load("workers.js"));
  ({ checkTranscript } = await load("transcript.js"));
  server = await serve(() => current.hear);
});
after(() => {
  server?.close();
  installed?.remove();
});

/** A page that has the run of the chat "order", whatever happens to its server. */
class Page {
  #up = Promise.withResolvers();
  #events = [];
  #fetch = async (url, init) => fetch(url.replace("http://server.test", await this.#up.promise), init);
  #agent = connectAgent("http://server.test/api", { maxAttempts: null, fetch: this.#fetch });

  /** Resolves with the end of the run. */
  async converse() {
    const chat = await this.#agent.openChat("order");
    const run = chat.run("Pay.");
    for await (const event of run) {
      this.#events.push(event);
      if (event.type === "question") run.answer(event.questionId, { behavior: "allow" });
    }
    const end = endOf(await run.result);
    const seqs = this.#events.map(({ seq }) => seq);
    assert.ok(
      seqs.every((seq, at) => at === 0 || seq > seqs[at - 1]),
      `the page got the events ${seqs}`,
    );
    // The journal has what a crash has kept from the log of the session.
    assert.deepEqual(saidBy(this.#events), saidIn(end.end));
    // A page that is loaded later has the same chat, and no run under way.
    const other = connectAgent("http://server.test/api", { fetch: this.#fetch });
    const later = await other.openChat("order");
    other.disconnect();
    assert.deepEqual([later.messages, later.current], [end.end.messages, undefined]);
    return end;
  }

  serverIs(url) {
    this.#up.resolve(url);
  }

  serverIsGone() {
    this.#up = Promise.withResolvers();
  }

  close() {
    this.#up.promise.catch(() => {});
    this.#up.reject(new Error("the page is closed"));
    this.#agent.disconnect();
  }
}

/** The text of each answer and the result of each call, as the events of a run have them. */
function saidBy(events) {
  const [texts, calls] = [new Map(), new Map()];
  for (const event of events) {
    if (event.type === "attempt-start") texts.delete(event.iteration);
    if (event.type === "text-delta")
      texts.set(event.iteration, (texts.get(event.iteration) ?? "") + event.text);
    if (event.type === "tool-result") calls.set(event.toolCallId, event.output);
  }
  return { texts: [...texts.values()], calls: [...calls].sort() };
}

/** The same, as the end of the run has it. */
function saidIn({ messages, calls }) {
  const texts = messages
    .filter(({ role }) => role === "assistant")
    .map(({ content }) => content.map(({ type, text }) => (type === "text" ? text : "")).join(""));
  return { texts, calls: [...calls].sort() };
}

function endOf({ outcome, text, iterations, messages, toolCalls }) {
  const calls = toolCalls.map(({ toolCallId, output }) => [toolCallId, output]);
  const problems = checkTranscript(messages, "looplet");
  return { outcome, end: { text, iterations, calls, messages, problems } };
}

async function inWorld(use) {
  const folder = mkdtempSync(join(installed.folder, "chats-"));
  const world = (current = new World());
  const page = new Page();
  const children = [];
  let conversation;
  try {
    await use(world, begin);
  } finally {
    for (const child of children) child.kill("SIGKILL");
    page.close();
    rmSync(folder, { recursive: true, force: true });
  }

  async function begin(life) {
    const args = ["server-life.mjs", folder, server.url + life.path];
    const child = spawn(process.execPath, args, {
      cwd: installed.folder,
      stdio: ["ignore", "pipe", "pipe"],
    });
    children.push(child);
    let errors = "";
    child.stderr.on("data", (bytes) => (errors += bytes));
    const gone = new Promise((resolve) => child.on("close", resolve));
    void gone.then((code) => life.fail(new Error(`The server ended with ${code}: ${errors}`)));
    child.stdout.once("data", (bytes) => page.serverIs(String(bytes).trim()));
    conversation ??= page.converse().then(
      (end) => world.lives.at(-1).end(end),
      (error) => world.lives.at(-1).fail(error),
    );
    return async () => {
      page.serverIsGone();
      child.kill("SIGKILL");
      await gone;
    };
  }
}

test("a run of a page survives the deaths of its server", (context) =>
  killAtRandom(context, "server", Math.ceil(KILLS / 5), inWorld));
