/**
 * A chat service on Node 24. Its conversations are in one SQLite file, and a run resumes in the next process if its
 * process ended.
 *
 *   node server.mjs runs.db 8080
 *   curl -N localhost:8080/chats/ada -d '{"prompt": "What time is it in Tokyo?"}'
 *   curl localhost:8080/chats
 *
 * `/chats/ada/session` is the whole chat as text, which the other examples can import. `PUT` imports theirs.
 */
import { createServer } from "node:http";
import { DatabaseSync } from "node:sqlite";
import { anthropic, createAgent } from "looplet";
import { practice } from "looplet/practice";
import { sessionsOf } from "looplet/sessions";
import { sqliteStore } from "looplet/stores";
import { time } from "../tools/time.mjs";

const [, , path = "runs.db", port = "8080"] = process.argv;
const database = new DatabaseSync(path, { timeout: 5000 });
database.exec("PRAGMA journal_mode = WAL");
const store = sqliteStore(database);
const sessions = sessionsOf(store);
const apiKey = process.env.ANTHROPIC_API_KEY;
const agent = createAgent({
  model: anthropic("claude-sonnet-4-6", apiKey ? { apiKey } : { fetch: practice({ delayMs: 50 }) }),
  tools: { time },
  store,
  limits: { maxIterations: 10 },
  timeouts: { toolMs: 30_000 },
});

/** The open chats of this process. @type {Map<string, Promise<import("looplet").Chat>>} */
const chats = new Map();
/** @param {string} id */
const chatOf = (id) => {
  const chat = chats.get(id) ?? sessions.open(agent, id);
  chats.set(id, chat);
  return chat;
};

/**
 * The events of a run, until the client disconnects. The run continues without it.
 *
 * @param {import("looplet").Run} run
 * @param {import("node:http").ServerResponse} response
 */
async function stream(run, response) {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for await (const event of run.events({ detached: true })) {
    if (response.destroyed) return;
    response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  }
  response.end();
}

/** @param {import("node:http").IncomingMessage} request @param {import("node:http").ServerResponse} response */
async function answer(request, response) {
  const [, , id, part] = new URL(request.url ?? "/", "http://localhost").pathname.split("/");
  const body = async () => Buffer.concat(await request.toArray()).toString();
  /** @param {unknown} value */
  const json = (value, status = 200) => {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(value));
  };
  if (!id) return json(await sessions.list());
  if (part === "session" && request.method === "PUT") {
    await sessions.import(agent, id, await body());
    chats.delete(id);
    return json({ taken: true });
  }
  if (part === "session") {
    await (await chats.get(id))?.saved();
    return response.end(await sessions.export(id));
  }
  if (request.method !== "POST") return json((await agent.readChat(id)) ?? { messages: [] });
  const chat = await chatOf(id);
  if (chat.current) return json({ error: "A run of this chat is in progress." }, 409);
  const { prompt } = JSON.parse(await body());
  const run = chat.run(prompt);
  await run.saved();
  await stream(run, response);
}

const server = createServer((request, response) => {
  answer(request, response).catch((error) => {
    if (!response.headersSent) response.writeHead(400, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: error.message }));
  });
});

// What an earlier process was at when it ended. One process at a time has this file, so nobody else holds its runs.
for (const { id } of await sessions.list()) {
  if (!(await agent.readChat(id))?.isRunning) continue;
  chats.set(id, sessions.open(agent, id, { takeOver: true }));
  console.log(`Going on with ${id}.`);
}
server.listen(Number(port), "127.0.0.1", () => {
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  console.log(`http://127.0.0.1:${port}/chats`);
});
