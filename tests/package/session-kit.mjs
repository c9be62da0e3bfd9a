// Sessions of `looplet/cloudflare` in workerd, for tests: a Worker with an object for each name, and clients of it.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { restartWorkerd, startWorkerd, workerds } from "./workerd.mjs";

const worker = `
import { anthropic, createAgent, custom, tool } from "looplet";
import { AgentObject } from "looplet/cloudflare";

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export class Session extends AgentObject {
  constructor(ctx, env) {
    super(ctx, env, { alarmMs: 300, base: /^\\/[^/]+$/, allowedOrigins: env.ORIGINS });
    ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS notes (note TEXT)");
  }
  note(note) {
    this.ctx.storage.sql.exec("INSERT INTO notes VALUES (?)", note);
  }
  agent(store) {
    if (this.isBroken) return createAgent({ model: anthropic("m"), store });
    const inputSchema = { type: "object", properties: {} };
    const pay = tool({
      description: "Pays",
      inputSchema,
      needsApproval: true,
      execute: () => (this.note("paid"), "paid"),
    });
    const read = tool({ description: "Reads", inputSchema, readOnly: true, maxResultChars: 10_000_000, execute: () => "🦊".repeat(800_000) });
    const model = custom(async function* ({ messages }) {
      const asked = messages.findLast(({ role, content }) => role === "user" && content[0].type === "text");
      const isAnswered = messages.at(-1) !== asked;
      if (asked.content[0].text === "Pay." && !isAnswered) yield { type: "tool_call", id: "p", name: "pay", input: {} };
      else if (asked.content[0].text === "Read." && !isAnswered) yield { type: "tool_call", id: "r", name: "read", input: {} };
      else if (asked.content[0].text === "Hang." && globalThis.isFirst) await new Promise(() => {});
      else for (let word = 1; word <= 20; word++) {
        yield "word" + word + " ";
        await wait(2);
        if (asked.content[0].text === "Stall." && word === 10 && globalThis.isFirst) await new Promise(() => {});
      }
    });
    globalThis.isFirst = this.env.FIRST === "yes";
    return createAgent({ model, tools: { pay, read }, store });
  }
  alarm() {
    this.note("alarm");
    return super.alarm();
  }
  async fetch(request) {
    // A look that wakes no run.
    this.isBroken = request.url.includes("/broken/");
    if (!request.url.endsWith("/notes")) return super.fetch(request);
    const { sql } = this.ctx.storage;
    const events = sql.exec("SELECT entry FROM looplet_entries WHERE key = 'looplet.events'").toArray().map(({ entry }) => JSON.parse(entry).event.type);
    return Response.json({ notes: sql.exec("SELECT note FROM notes").toArray().map(({ note }) => note), events });
  }
}
export default {
  fetch(request, { SESSIONS }) {
    const [, name] = new URL(request.url).pathname.split("/");
    return SESSIONS.get(SESSIONS.idFromName(name)).fetch(request);
  },
};`;

/**
 * workerd with the sessions, on a folder of its own. In the first process the prompt `Hang.` hangs, and `Stall.`
 * behind ten words. `origins` are the `allowedOrigins`.
 */
export async function startSessions(folder, origins) {
  writeFileSync(join(folder, "sessions.mjs"), worker);
  const persist = mkdtempSync(join(tmpdir(), "looplet-sessions-"));
  let flare, mine;
  const start = async (isFirst) => {
    const known = new Set(workerds());
    const options = {
      bindings: { FIRST: isFirst ? "yes" : "no", ...(origins && { ORIGINS: origins }) },
      durableObjects: { SESSIONS: { className: "Session", useSQLite: true } },
      durableObjectsPersist: persist,
    };
    flare = await (isFirst ? startWorkerd : restartWorkerd)(folder, "sessions.mjs", undefined, options);
    await flare.ready;
    mine = workerds().filter((pid) => !known.has(pid));
  };
  await start(true);
  return {
    fetch: (path, init) => flare.dispatchFetch(`http://sessions.test/${path}`, init),
    /** Kills the process, and starts another one on its files. */
    async crash() {
      for (const pid of mine) process.kill(pid, "SIGKILL");
      await flare.dispose().catch(() => {});
      await start(false);
    },
    async end() {
      await flare.dispose();
      rmSync(persist, { recursive: true, force: true });
    },
  };
}

/** A client of the session of this name. */
export function clientOf(sessions, name) {
  return {
    fetch: (path, init) => sessions.fetch(`${name}/${path}`, init),
    get: async (path) => (await sessions.fetch(`${name}/${path}`)).json(),
    async post(path, body = {}) {
      const response = await sessions.fetch(`${name}/${path}`, {
        method: "POST",
        body: JSON.stringify(body),
      });
      return { status: response.status, ...(await response.json()) };
    },
    /** The events behind a cursor, until one for which `isLast` says so; each with its number. */
    async follow(cursor, isLast) {
      const headers = cursor === undefined ? {} : { "last-event-id": `${cursor}` };
      const { body } = await sessions.fetch(`${name}/events`, { headers });
      const reader = body.pipeThrough(new TextDecoderStream()).getReader();
      const events = [];
      let text = "";
      for (;;) {
        const { value, done } = await reader.read();
        assert.ok(!done, `the stream ended: ${text}`);
        text += value;
        const blocks = text.split("\n\n");
        text = blocks.pop();
        for (const block of blocks) {
          const [, id, data] = /^id: (\d+)\ndata: (.*)$/.exec(block) ?? [];
          if (id === undefined) continue;
          events.push({ id: Number(id), ...JSON.parse(data) });
          if (!isLast(events.at(-1), events)) continue;
          await reader.cancel();
          return events;
        }
      }
    },
  };
}

export const isFinish = ({ type }) => type === "finish";
export const isQuestion = ({ type, data }) => type === "question" && data !== undefined;

/** What `look` finds, as soon as it finds something. */
export async function until(look) {
  for (;;) {
    const found = await look();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
