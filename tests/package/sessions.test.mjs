// `looplet/cloudflare` in workerd: sessions in Durable Objects, whose clients leave and come back, and whose process
// is killed.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { pathToFileURL } from "node:url";
import { examples } from "./docs-examples.mjs";
import { installPacked } from "./install.mjs";
import { clientOf, isFinish, isQuestion, startSessions, until } from "./session-kit.mjs";
import { startWorkerd } from "./workerd.mjs";

let installed, sessions, client;
before(async () => {
  installed = await installPacked();
});
after(() => installed?.remove());
beforeEach(async () => {
  sessions = await startSessions(installed.folder);
  client = clientOf(sessions, "one");
});
afterEach(() => sessions.end());

test("a client that loses its connection gets exactly what it has missed", async () => {
  const whole = client.follow(undefined, isFinish);
  const parts = [];
  assert.deepEqual(await client.post("run", { prompt: "Count.", requestId: "r1" }), {
    status: 200,
    taken: true,
    after: "0",
  });
  for (let ended = false; !ended; ended = parts.some(isFinish))
    parts.push(
      ...(await client.follow(parts.at(-1)?.id, (event, now) => isFinish(event) || now.length === 3)),
    );
  assert.deepEqual(parts, await whole);
  assert.deepEqual(
    parts.map(({ id }) => id),
    parts.map((_, index) => index + 1),
  );
  const said = parts.flatMap(({ type, text }) => (type === "text-delta" ? [text] : [])).join("");
  assert.match(said, /^word1 word2 .* word20 $/);
  const { messages, isRunning, cursor } = await client.get("");
  assert.deepEqual([messages.length, isRunning, cursor], [2, false, `${parts.length}`]);
  assert.equal((await client.post("run", { prompt: "Count.", requestId: "r1" })).taken, false);
  assert.equal((await client.get("")).messages.length, 2);
});

test("an event that is longer than a row of the database may be comes whole, also to a client that comes later", async () => {
  await client.post("run", { prompt: "Read." });
  const live = await client.follow(0, isFinish);
  const result = live.find(({ type }) => type === "tool-result");
  assert.equal(JSON.stringify(result).split("🦊").length - 1, 800_000);
  assert.deepEqual(await client.follow(0, isFinish), live);
  assert.match(JSON.stringify((await client.get("")).messages), /🦊{800}/u);
});

test("other requests answer and abort", async () => {
  await client.post("run", { prompt: "Pay." });
  const asked = (await client.follow(0, isQuestion)).at(-1);
  assert.equal(
    (await client.post("answer", { questionId: 999, answer: { behavior: "allow" } })).taken,
    false,
  );
  const answer = { questionId: asked.questionId, answer: { behavior: "allow" } };
  assert.equal((await client.post("answer", answer)).taken, true);
  assert.equal((await client.follow(asked.id, isFinish)).at(-1).outcome.outcome, "completed");
  assert.deepEqual(
    (await client.get("notes")).notes.filter((note) => note === "paid"),
    ["paid"],
  );
  await client.post("run", { prompt: "Hang." });
  assert.equal((await client.post("abort", { reason: "enough" })).taken, true);
  assert.equal((await client.post("abort")).taken, false);
  assert.equal((await client.get("")).isRunning, false);
});

test("a message of a request joins a run once, also if it comes again when the run has ended", async () => {
  await client.post("run", { prompt: "Pay." });
  const { id, questionId } = (await client.follow(0, isQuestion)).at(-1);
  const more = { prompt: "More.", requestId: "r1" };
  for (const taken of [true, false]) assert.equal((await client.post("run", more)).taken, taken);
  await client.post("answer", { questionId, answer: { behavior: "allow" } });
  await client.follow(id, isFinish);
  assert.equal((await client.post("run", more)).taken, false);
  const said = JSON.stringify((await client.get("")).messages);
  assert.equal(said.split("More.").length - 1, 1);
  // One that no call took may come again.
  await client.post("run", { prompt: "Hang." });
  const late = { prompt: "Late.", requestId: "r2" };
  assert.equal((await client.post("run", late)).taken, true);
  await client.post("abort");
  await until(async () => !(await client.get("")).isRunning);
  assert.equal((await client.post("run", late)).taken, true);
});

test("a session goes as text into another object, whose clients get its messages", async () => {
  const put = (client, body) => client.fetch("session", { method: "PUT", body });
  const other = clientOf(sessions, "two");
  assert.equal((await client.fetch("session")).status, 404);
  await client.post("run", { prompt: "Count." });
  await client.follow(0, isFinish);
  const text = await (await client.fetch("session")).text();
  assert.deepEqual(await (await put(other, text)).json(), { taken: true });
  assert.deepEqual((await other.get("")).messages, (await client.get("")).messages);
  const [seen] = await other.follow(0, ({ type }) => type === "snapshot");
  assert.equal(seen.messages.length, 2);
  await other.post("run", { prompt: "Hang." });
  assert.equal((await put(other, text)).status, 409);
  await other.post("abort");
  assert.equal((await put(other, "no chat")).status, 400);
  await client.post("run", { prompt: "Pay." });
  await client.follow(0, isQuestion);
  const open = await (await client.fetch("session")).text();
  const refused = await put(clientOf(sessions, "three"), open);
  assert.equal(refused.status, 400);
  assert.match((await refused.json()).error, /has an unfinished run/);
  assert.equal((await clientOf(sessions, "three").get("")).messages.length, 0);
  assert.equal((await other.get("")).messages.length, 3);
});

test("a WebSocket gets the events and sends orders", async () => {
  const open = async (after) => {
    const headers = { upgrade: "websocket" };
    const { webSocket } = await client.fetch(`events?after=${after}`, { headers });
    const messages = [];
    let wake = () => {};
    webSocket.addEventListener("message", ({ data }) => (messages.push(JSON.parse(data)), wake()));
    webSocket.accept();
    const next = async (isIt) => {
      for (;;) {
        const found = messages.find(isIt);
        if (found) return found;
        await new Promise((resolve) => (wake = resolve));
      }
    };
    return { webSocket, messages, next };
  };
  const first = await open(0);
  first.webSocket.send(JSON.stringify({ do: "run", prompt: "Pay." }));
  const asked = await first.next(({ event }) => event !== undefined && isQuestion(event));
  first.webSocket.close(1000);
  const second = await open(asked.id);
  second.webSocket.send("nonsense");
  assert.match((await second.next(({ error }) => error)).error, /not JSON/);
  const { questionId } = asked.event;
  second.webSocket.send(JSON.stringify({ do: "answer", questionId, answer: { behavior: "allow" } }));
  await second.next(({ event }) => event?.type === "finish");
  // What comes behind the question may reach both.
  const seen = first.messages.slice(0, first.messages.indexOf(asked) + 1);
  const ids = [...seen, ...second.messages].flatMap(({ id }) => (id === undefined ? [] : [Number(id)]));
  assert.deepEqual(
    ids,
    ids.map((_, index) => index + 1),
  );
  second.webSocket.close(1000);
});

test("bad requests are told what they need", async () => {
  const told = async (path, init) => {
    const response = await client.fetch(path, init);
    return `${response.status} ${(await response.json()).error}`;
  };
  const body = (text) => ({ method: "POST", body: text });
  assert.match(await told("run", body("{")), /^400 The body is not JSON/);
  assert.match(await told("run", body("{}")), /^400 run needs \{ "prompt"/);
  assert.match(await told("run", body('{"prompt":" "}')), /^400 .*prompt/);
  assert.match(await told("answer", body("{}")), /^400 answer needs/);
  assert.match(await told("dance", body("{}")), /^404 There is no \/one\/dance here/);
  assert.match(await told("dance"), /^404 There is no \/one\/dance here/);
  assert.match(await told("dance/run", body('{"prompt":"Hi"}')), /^404 /);
  assert.match(await told("events", body("{}")), /^404 /);
  assert.match(await told("run"), /^405 run needs the method POST/);
  assert.match(await told("events?after=x", {}), /^400 There is no event "x"/);
  assert.match(await told("run", { method: "PUT" }), /^405/);
});

test("a mistake of the server is told to its log and to no client", async () => {
  const broken = clientOf(sessions, "broken");
  for (const response of [
    await broken.fetch(""),
    await broken.fetch("run", { method: "POST", body: '{"prompt":"Hi"}' }),
  ]) {
    assert.equal(response.status, 500);
    assert.deepEqual(await response.json(), { error: "The server cannot do this. Its log says why." });
  }
});

test("a page of another origin may not use the cookies of a session, or is refused altogether", async () => {
  const asked = async (headers, name = "one") => (await sessions.fetch(`${name}/events`, { headers })).status;
  const [foreign, own] = [{ origin: "https://evil.test" }, { origin: "http://sessions.test" }];
  const cookie = { cookie: "session=1" };
  assert.equal(await asked({ ...foreign, ...cookie }), 403);
  assert.equal(await asked({ origin: "null", ...cookie, upgrade: "websocket" }), 403);
  assert.equal(await asked({ ...own, ...cookie }), 200);
  // The Worker in front has given the request another address.
  assert.equal(await asked({ origin: "https://chat.test", "sec-fetch-site": "same-origin", ...cookie }), 200);
  assert.equal(await asked({ origin: "https://chat.test", "sec-fetch-site": "same-site", ...cookie }), 403);
  assert.equal(await asked(foreign), 200);
  await sessions.end();
  sessions = await startSessions(installed.folder, ["https://app.test"]);
  assert.equal(await asked(foreign), 403);
  assert.equal(await asked({ origin: "https://app.test", ...cookie }), 200);
  assert.equal(await asked({ ...own, ...cookie }), 200);
  assert.equal(await asked({}), 200);
});

test("an alarm goes on with a run whose process was killed, without any request", async () => {
  await client.post("run", { prompt: "Hang." });
  await client.follow(0, ({ type }) => type === "attempt-start");
  await sessions.crash();
  const { notes } = await until(async () => {
    const looked = await client.get("notes");
    return looked.events.includes("finish") && looked;
  });
  assert.ok(notes.includes("alarm"));
  const events = await client.follow(0, isFinish);
  assert.equal(events.at(-1).outcome.outcome, "completed");
  assert.match(JSON.stringify((await client.get("")).messages), /word20/);
});

test("the events of a run whose process was killed go on behind the number of the last one", async () => {
  await client.post("run", { prompt: "Stall." });
  const before = await client.follow(
    0,
    ({ type, text }) => type === "text-delta" && text.includes("word10 "),
  );
  await sessions.crash();
  const after = await client.follow(before.at(-1).id, isFinish);
  const numbers = [...before, ...after].map(({ seq }) => seq);
  assert.deepEqual(
    numbers,
    [...new Set(numbers)].sort((one, other) => one - other),
  );
  assert.equal(after[0].seq, before.at(-1).seq + 1);
});

test("an answer wakes a run that waits for a person after its process was killed, and the tool runs once", async () => {
  await client.post("run", { prompt: "Pay.", requestId: "order" });
  const asked = (await client.follow(0, isQuestion)).at(-1);
  await sessions.crash();
  assert.equal((await client.post("run", { prompt: "Pay.", requestId: "order" })).taken, false);
  const answer = { questionId: asked.questionId, answer: { behavior: "allow" } };
  assert.equal((await client.post("answer", answer)).taken, true);
  const rest = await client.follow(asked.id, isFinish);
  assert.equal(rest[0].id, asked.id + 1);
  assert.equal(rest.at(-1).outcome.outcome, "completed");
  assert.deepEqual(
    (await client.get("notes")).notes.filter((note) => note === "paid"),
    ["paid"],
  );
});

test("the Worker of the documentation answers as it is printed", async () => {
  const { folder } = installed;
  const printed = (file) => examples.find(({ name }) => name === `durable-objects/${file}`).code;
  writeFileSync(join(folder, "printed.ts"), printed("worker.ts"));
  const config = JSON.parse(printed("wrangler.jsonc"));
  const [{ name, class_name: className }] = config.durable_objects.bindings;
  const { practice } = await import(
    pathToFileURL(join(folder, "node_modules/looplet/dist/practice.js")).href
  );
  const asked = [];
  const vendor = practice({ delayMs: 0 });
  const flare = await startWorkerd(folder, "printed.ts", config.compatibility_date, {
    bindings: { ANTHROPIC_API_KEY: "key" },
    durableObjects: {
      [name]: { className, useSQLite: config.migrations[0].new_sqlite_classes.includes(className) },
    },
    async outboundService(request) {
      asked.push(request.headers.get("x-api-key"));
      const answer = await vendor(request.url, {
        method: "POST",
        headers: Object.fromEntries(request.headers),
        body: await request.text(),
      });
      return new Response(await answer.text(), { headers: Object.fromEntries(answer.headers) });
    },
  });
  try {
    const ada = clientOf(
      { fetch: (path, init) => flare.dispatchFetch(`http://chat.test/${path}`, init) },
      "ada",
    );
    assert.equal((await ada.post("run", { prompt: "Hello" })).status, 200);
    assert.equal((await ada.follow(0, isFinish)).at(-1).outcome.outcome, "completed");
    assert.deepEqual(asked, ["key"]);
  } finally {
    await flare.dispose();
  }
});
