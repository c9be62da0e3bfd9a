// A thousand sessions of `looplet/cloudflare` at once in one workerd, which is killed in the middle of their runs.
// Their clients leave and come back all the time. LOOPLET_SESSIONS asks for another number.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { installPacked } from "../install.mjs";
import { clientOf, isFinish, isQuestion, startSessions } from "../session-kit.mjs";

const COUNT = Number(process.env.LOOPLET_SESSIONS || 1000);
/** Clients at work at one moment. */
const AT_ONCE = 50;

let installed, sessions;
before(async () => {
  installed = await installPacked();
  sessions = await startSessions(installed.folder);
});
after(async () => {
  await sessions?.end();
  installed?.remove();
});

/** Lets all clients work, some of them at once. */
async function all(clients, work) {
  const waiting = [...clients];
  const next = async () => {
    for (let client = waiting.shift(); client !== undefined; client = waiting.shift()) await work(client);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
}

test("every event reaches each client exactly once, and no effect happens twice", async () => {
  const clients = Array.from({ length: COUNT }, (_, index) => ({
    ...clientOf(sessions, `session-${index}`),
    // One half waits for a person, the other for a model that does not answer.
    prompt: index % 2 === 0 ? "Pay." : "Hang.",
    seen: [],
  }));
  const read = async (client, isLast) => {
    for (let isOver = false; !isOver;) {
      const events = await client.follow(
        client.seen.at(-1)?.id ?? 0,
        (event, now) => isLast(event) || now.length === 7,
      );
      client.seen.push(...events);
      isOver = events.some(isLast);
    }
  };
  await all(clients, async (client) => {
    assert.equal((await client.post("run", { prompt: client.prompt, requestId: "only" })).taken, true);
    await read(client, client.prompt === "Pay." ? isQuestion : ({ type }) => type === "attempt-start");
  });
  await sessions.crash();
  await all(clients, async (client) => {
    assert.equal((await client.post("run", { prompt: client.prompt, requestId: "only" })).taken, false);
    const asked = client.seen.find(isQuestion);
    if (asked !== undefined) {
      const answer = { questionId: asked.questionId, answer: { behavior: "allow" } };
      assert.equal((await client.post("answer", answer)).taken, true);
    }
    await read(client, isFinish);
  });
  await all(clients, async (client) => {
    const ids = client.seen.map(({ id }) => id);
    assert.deepEqual(
      ids,
      ids.map((_, index) => index + 1),
    );
    assert.equal(client.seen.at(-1).outcome.outcome, "completed");
    const paid = (await client.get("notes")).notes.filter((note) => note === "paid");
    assert.equal(paid.length, client.prompt === "Pay." ? 1 : 0);
  });
});
