/** A message that is sent while its chat is opening, with a run under way, and a page that is left at every task. */
import { beforeAll, describe, expect, it } from "vitest";
import { createAgent, custom, type Store } from "looplet";
import { handler } from "looplet/server";
import { memoryStore } from "looplet/stores";
import { connectAgent, type RemoteAgent } from "looplet/workers";
import { answerTo, tick, World } from "../support/processes.js";
import { lines, Screen } from "./kit.js";

// The first run loads the engine.
beforeAll(() => createAgent({ model: custom(() => "Hi.") }).run("Hi.").result, 60_000);

const CHAT = "chat";

/** An agent, and the pages that use it. */
interface Host {
  page(): Screen;
  /** The page is gone; with `isHostGone` its host is too. */
  leave(isHostGone: boolean): void;
}

const inPage = (world: World): Host => ({
  page: () => new Screen(world.agent(), { id: CHAT, store: world.store }),
  leave: () => world.end(),
});

/** The pages have a store of their own. */
function onServer(world: World): Host {
  const kept = memoryStore();
  let page = { isGone: false };
  /** The store of a page, which writes nothing more when it is gone. */
  const storeOf = (mine: { isGone: boolean }): Store => ({
    ...kept,
    append: async (...given) => (mine.isGone ? new Promise(() => {}) : kept.append(...given)),
    delete: async (...given) => (mine.isGone ? new Promise(() => {}) : kept.delete!(...given)),
  });
  const serve = () => handler(world.agent(), { store: world.store, authorize: () => "ada" });
  let [handle, agent] = [serve(), undefined as RemoteAgent | undefined];
  const fetch = ((url: string, init: RequestInit) => handle(new Request(url, init))) as never;
  return {
    page() {
      agent = connectAgent("https://a.test", { fetch });
      return new Screen(agent, { id: CHAT, store: storeOf((page = { isGone: false })) });
    },
    leave(isHostGone) {
      page.isGone = true;
      agent?.disconnect();
      if (!isHostGone) return;
      world.end();
      handle = serve();
    },
  };
}

async function settled(): Promise<void> {
  for (let steps = 0; steps < 20; steps++) await tick();
}

/** The texts of the user that are drawn, and those that wait. */
const drawn = ({ now }: Screen): string[] =>
  now.messages.flatMap(({ role, parts }) =>
    role === "user" ? parts.flatMap((part) => (part.type === "text" ? [part.text] : [])) : [],
  );
const waiting = ({ now }: Screen): string[] => now.queue.map(({ content: [block] }) => Object(block).text);

/** Answers all questions until the run has ended. */
async function played(page: Screen): Promise<void> {
  for (let steps = 0; steps < 2000 && page.now.status !== "ready"; steps++) {
    page.draw();
    if (page.now.status === "error") throw new Error(page.now.error!.message);
    for (const question of page.now.questions)
      page.conversation.answer(question as never, answerTo(question) as never);
    await tick();
  }
  await settled();
  page.draw();
}

describe.each([
  ["in the page", inPage, true],
  ["on a server", onServer, false],
  ["on a server that ends", onServer, true],
] as const)("with a run under way of an agent that is %s, a message", (_, make, isHostGone) => {
  it.each([false, true])(
    "is neither lost nor delivered twice (a follow-up: %s)",
    async (followUp) => {
      for (let tasks = 0; tasks < 30; tasks += tasks < 10 ? 1 : 4) {
        const host = make(new World());
        const first = host.page();
        await first.rest();
        await first.conversation.send("Go.");
        await first.until(({ status }) => status === "waiting");
        await settled();
        first.leave();
        host.leave(isHostGone);
        const second = host.page();
        void second.conversation.send("And this.", { followUp });
        for (let steps = 0; steps < tasks; steps++) await tick();
        second.leave();
        host.leave(isHostGone);
        const third = host.page();
        await third.until(({ status }) => status === "waiting");
        await settled();
        third.draw();
        await played(third);
        const after = `after ${tasks} tasks`;
        if (tasks > 0) expect([...drawn(third), ...waiting(third)], after).toEqual(["Go.", "And this."]);
        if (waiting(third).length > 0) {
          await third.conversation.send("");
          await played(third);
        }
        expect(waiting(third), after).toEqual([]);
        if (tasks > 0) expect(drawn(third), after).toEqual(["Go.", "And this."]);
        const { messages } = third.now;
        third.leave();
        host.leave(false);
        const last = host.page();
        await last.until(({ status }) => status === "ready");
        await settled();
        expect([lines(last.now.messages), waiting(last)], after).toEqual([lines(messages), []]);
      }
    },
    60_000,
  );
});
