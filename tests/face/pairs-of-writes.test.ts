/**
 * All pairs of writes of a server's run: the lists, the lease, the journal, the log of the session. A process that
 * dies between two of them leaves one side without the other, and the next process completes it.
 */
import { expect, it } from "vitest";
import { createAgent, custom, tool, type Store } from "looplet";
import { handler } from "looplet/server";
import { sessionsOf } from "looplet/sessions";
import { memoryStore } from "looplet/stores";
import { eventsIn } from "./support/server-kit.js";

const never = (): Promise<never> => new Promise(() => {});

/** A process on this store that dies before its write of this number. */
function living(inner: Required<Store>, paid: string[], diesAt = Infinity) {
  const writes: string[] = [];
  let die = (): void => {};
  const death = new Promise<"dead">((resolve) => (die = () => resolve("dead")));
  let isDead = false;
  /** Nothing of a dead process has an effect. */
  const alive = async <T>(work: () => T | PromiseLike<T>, write?: string): Promise<T> => {
    if (write !== undefined && !isDead && writes.length >= diesAt) {
      isDead = true;
      die();
    }
    if (isDead) return never();
    if (write !== undefined) writes.push(write);
    return work();
  };
  const store: Required<Store> = {
    ...inner,
    load: (key, after) => alive(() => inner.load(key, after)),
    append: (key, ...rest) => alive(() => inner.append(key, ...rest), `append ${key}`),
    delete: (key) => alive(() => inner.delete(key), `delete ${key}`),
    pending: () => alive(() => inner.pending()),
    async lease(key, options) {
      const lease = await alive(() => inner.lease(key, options), `lease ${key}`);
      return (
        lease && {
          fence: lease.fence,
          renew: (ttlMs) => alive(() => lease.renew(ttlMs), `renew ${key}`),
          release: (isPending) => alive(() => lease.release(isPending), `release ${key}`),
        }
      );
    },
  };
  const agent = createAgent({
    store,
    // The outside knows what it has done.
    durable: {
      reconcile: () => (paid.length > 0 ? { outcome: "done", output: "paid" } : { outcome: "run" }),
    },
    model: custom(async ({ messages }) => {
      await alive(() => {});
      if (JSON.stringify(messages).includes('"tool_result"')) return "Paid.";
      return [{ type: "tool_call", id: "t", name: "pay", input: {} }];
    }),
    tools: {
      pay: tool({
        description: "Pays",
        inputSchema: { type: "object" },
        replay: "once",
        execute: () => alive(() => (paid.push("paid"), "paid")),
      }),
    },
  });
  const handle = handler<Request>(agent, { store, base: "/api", authorize: () => "ada" });
  const asked = (path: string, body?: object): Promise<Response> =>
    handle(
      new Request(`http://x.test/api${path}`, {
        ...(body && {
          method: "POST",
          body: JSON.stringify(body),
          headers: { "content-type": "application/json" },
        }),
      }),
    );
  /** Sends the prompt, as a page does until it has an answer, and reads the events to the end of the run. */
  const converse = async (): Promise<any[]> => {
    await asked("/c/run", { prompt: "Pay.", requestId: "r1" });
    return eventsIn(await asked("/c/events"), ({ type }) => type === "finish");
  };
  return { writes, death, agent, handle, asked, converse };
}

/** Names of writes without what is random. */
const named = (write: string): string => write.replace(/[0-9a-f]{8}-[0-9a-f-]+/g, "<run>");

it("a death between any two writes of a run leaves nothing that the next process does not complete", async () => {
  const pairs: string[] = [];
  for (let write = 1, count = Infinity; write <= count; write++) {
    let nowMs = 0;
    const inner = memoryStore({ now: () => nowMs });
    const paid: string[] = [];
    const first = living(inner, paid, write);
    const end = await Promise.race([first.converse(), first.death]);
    // The last writes may come after the last event.
    if (end !== "dead") await Promise.race([first.death, new Promise((resolve) => setTimeout(resolve, 200))]);
    count = end === "dead" ? Infinity : first.writes.length;
    const where = `between ${named(first.writes.at(-1)!)} and the next`;
    pairs.push(named(first.writes.at(-1)!));

    nowMs += 200_000;
    const next = living(inner, paid);
    await next.handle.wake();
    const events = await next.converse();
    expect(events.at(-1), where).toMatchObject({ type: "finish", outcome: { outcome: "completed" } });
    const { sessions } = (await (await next.asked("")).json()) as { sessions: { id: string }[] };
    expect(
      sessions.map(({ id }) => id),
      where,
    ).toEqual(["c"]);
    expect(paid, where).toEqual(["paid"]);
    // A page that is loaded later has the same end.
    const shown = await eventsIn(await next.asked("/c/events"), ({ type }) => type === "finish");
    expect(shown.at(-1), where).toMatchObject({ outcome: { outcome: "completed" } });
    // The lease of a run that has ended is given back by who looks after the store.
    for (const run of await next.agent.resumePending()) {
      expect(await run.result, where).toMatchObject({ outcome: "completed" });
      await run.saved();
    }
    await expect.poll(() => inner.pending(), { message: where }).toEqual([]);
    expect(paid, where).toEqual(["paid"]);
    const third = living(inner, paid);
    await third.handle.wake();
    expect(
      third.writes.filter((own) => own.startsWith("append")),
      where,
    ).toEqual([]);
  }
  expect(new Set(pairs)).toEqual(
    new Set([
      "lease ada/looplet.events c",
      "release ada/looplet.events c",
      "lease ada/c",
      "append ada/looplet sessions",
      "append ada/c",
      "append ada/looplet.events c",
      "release ada/c",
    ]),
  );
}, 120_000);

it("a death between the two writes of a deletion leaves a chat that can be deleted again", async () => {
  for (const last of ["journal", "list"]) {
    const inner = memoryStore();
    const agent = createAgent({ store: inner, model: custom(() => "Hi.") });
    const sessions = sessionsOf(inner);
    const chat = await sessions.open(agent, "c");
    await chat.run("Hello.").result;
    await chat.saved();
    const dying: Store = {
      ...inner,
      append: (...args) => (last === "list" ? inner.append(...args) : never()),
      delete: (key) => (inner.delete(key), last === "journal" ? undefined : never()),
    };
    void sessionsOf(dying).delete("c");
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect((await sessions.list()).map(({ id }) => id)).toEqual(["c"]);
    await sessions.delete("c");
    expect(await sessions.list()).toEqual([]);
    expect(await inner.load("c")).toBeUndefined();
  }
});
