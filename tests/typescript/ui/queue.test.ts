// Messages that were sent while a run went on, and that the model has not got when the page goes away.
import { beforeAll, describe, expect, it } from "vitest";
import { createAgent, custom } from "looplet";
import { handler } from "looplet/server";
import { sessionsOf } from "looplet/sessions";
import { memoryStore } from "looplet/stores";
import { connectAgent, type RemoteAgent } from "looplet/workers";
import { answerTo, tick, World } from "../support/processes.js";
import { Place } from "../support/worker-kit.js";
import { agentOf, Screen, lines } from "./kit.js";

// The first run loads the engine.
beforeAll(() => createAgent({ model: custom(() => "Hi.") }).run("Hi.").result, 60_000);

const CHAT = "chat";

const pageOf = (world: World): Screen => new Screen(world.agent(), { id: CHAT, store: world.store });

/** A page whose run waits for its user, and that has sent one more message. */
async function asked(page: Screen): Promise<Screen> {
  await page.rest();
  await page.conversation.send("Go.");
  await page.until(({ status }) => status === "waiting");
  await page.conversation.send("And this.");
  return page;
}

const waiting = ({ now }: Screen): [string, boolean][] =>
  now.queue.map(({ content: [block], isUndelivered }) => [(block as { text: string }).text, isUndelivered]);

const prompts = ({ now }: Screen): string[] =>
  lines(now.messages).filter((line) => line.startsWith("user: "));

/** The next page, after the process has ended. */
async function reloaded(world: World): Promise<Screen> {
  // What has been written reaches the store.
  for (let steps = 0; steps < 20; steps++) await tick();
  world.end();
  const page = pageOf(world);
  await page.until(({ status }) => status !== "opening");
  return page;
}

it("a message that a stop has kept from the model is in the next page, until it is sent", async () => {
  const world = new World();
  const first = await asked(pageOf(world));
  first.conversation.stop();
  await first.rest();
  expect(waiting(first)).toEqual([["And this.", true]]);
  const second = await reloaded(world);
  expect(waiting(second)).toEqual([["And this.", true]]);
  await second.conversation.send("Now.");
  await second.until(({ status }) => status === "waiting");
  expect(waiting(second)).toEqual([]);
  expect(prompts(second)).toEqual(["user: Go.", "user: And this. | Now."]);
  second.conversation.stop();
  await second.rest();
  expect(waiting(await reloaded(world))).toEqual([]);
});

it("a message that waits when the page goes away waits in the next one, and outlives a stop there", async () => {
  const world = new World();
  await asked(pageOf(world));
  const second = await reloaded(world);
  await second.until(({ status }) => status === "waiting");
  expect(waiting(second)).toEqual([["And this.", false]]);
  second.conversation.stop();
  await second.rest();
  expect(waiting(second)).toEqual([["And this.", true]]);
  expect(waiting(await reloaded(world))).toEqual([["And this.", true]]);
});

it("a message that the model gets after a reload is drawn once, and waits no more", async () => {
  const world = new World();
  await asked(pageOf(world));
  const second = await reloaded(world);
  for (let answers = 0; answers < 10 && prompts(second).length < 2; answers++) {
    const { questions } = await second.until(
      ({ status, messages }) =>
        status === "waiting" || messages.filter(({ role }) => role === "user").length > 1,
    );
    for (const question of questions)
      second.conversation.answer(question as never, answerTo(question) as never);
    await second.until(({ questions: left }) => !left.some((one) => questions.includes(one)));
  }
  expect(prompts(second)).toEqual(["user: Go.", "user: And this."]);
  expect(waiting(second)).toEqual([]);
  expect(waiting(await reloaded(world))).toEqual([]);
});

it("a message that was taken back is in no later page, and neither are those of a deleted chat", async () => {
  const world = new World();
  const first = await asked(pageOf(world));
  await first.conversation.send("Not this.");
  first.conversation.stop();
  await first.rest();
  expect(first.conversation.withdraw(first.now.queue[1]!.id)).toBe(true);
  const second = await reloaded(world);
  expect(waiting(second)).toEqual([["And this.", true]]);
  second.leave();
  await sessionsOf(world.store).delete(CHAT);
  expect(waiting(await reloaded(world))).toEqual([]);
});

/** An agent that is not in the page. Its pages have a store of their own. */
interface Host {
  page(): Screen;
  /** The page is gone; with `isHostGone` its host is too. */
  leave(isHostGone: boolean): void;
}

function onServer(world: World): Host {
  const store = memoryStore();
  const serve = () => handler(world.agent(), { store: world.store, authorize: () => "ada" });
  let [handle, agent] = [serve(), undefined as RemoteAgent | undefined];
  const fetch = ((url: string, init: RequestInit) => handle(new Request(url, init))) as never;
  return {
    page: () => new Screen((agent = connectAgent("https://a.test", { fetch })), { id: CHAT, store }),
    leave(isHostGone) {
      agent?.disconnect();
      if (!isHostGone) return;
      world.end();
      handle = serve();
    },
  };
}

function inWorker(world: World): Host {
  const store = memoryStore();
  const place = new Place();
  const serve = (): void => place.serve(world.agent(), { store: world.store });
  serve();
  let agent: RemoteAgent | undefined;
  return {
    page: () => new Screen((agent = place.connect()), { id: CHAT, store }),
    leave(isHostGone) {
      agent?.disconnect();
      if (!isHostGone) return;
      place.kill();
      world.end();
      serve();
    },
  };
}

/** What was sent reaches the stores. */
async function settled(): Promise<void> {
  for (let steps = 0; steps < 20; steps++) await tick();
}

describe.each([
  ["on a server", onServer],
  ["in a worker", inWorker],
] as const)("a message for the run of an agent %s", (_, make) => {
  it.each([false, true])(
    "waits in the next page, and outlives a stop (its host ends: %s)",
    async (isHostGone) => {
      const host = make(new World());
      const first = await asked(host.page());
      await settled();
      first.leave();
      host.leave(isHostGone);
      const second = host.page();
      await second.until(({ status, queue }) => status === "waiting" && queue.length > 0);
      expect(waiting(second)).toEqual([["And this.", false]]);
      second.conversation.stop();
      await second.rest();
      expect(waiting(second)).toEqual([["And this.", true]]);
      await settled();
      second.leave();
      host.leave(isHostGone);
      const third = host.page();
      await third.until(({ status, queue }) => status === "ready" && queue.length > 0);
      expect(waiting(third)).toEqual([["And this.", true]]);
      // A blank message sends what waits.
      await third.conversation.send("");
      await third.until(({ status }) => status === "waiting");
      expect(waiting(third)).toEqual([]);
      expect(prompts(third)).toEqual(["user: Go.", "user: And this."]);
      third.conversation.stop();
    },
  );

  it.each([false, true])("is drawn once when the model gets it (its host ends: %s)", async (isHostGone) => {
    const host = make(new World());
    const first = await asked(host.page());
    await settled();
    first.leave();
    host.leave(isHostGone);
    const second = host.page();
    await second.until(({ queue }) => queue.length > 0);
    for (let answers = 0; answers < 10 && prompts(second).length < 2; answers++) {
      await second.until(
        ({ status, messages }) =>
          status === "waiting" || messages.filter(({ role }) => role === "user").length > 1,
      );
      const { questions } = second.now;
      for (const question of questions)
        second.conversation.answer(question as never, answerTo(question) as never);
      await second.until(({ questions: left }) => !left.some((one) => questions.includes(one)));
    }
    expect(prompts(second)).toEqual(["user: Go.", "user: And this."]);
    expect(waiting(second)).toEqual([]);
    await settled();
    second.leave();
    host.leave(false);
    const third = host.page();
    await third.until(({ status }) => status === "waiting" || status === "ready");
    await settled();
    expect(waiting(third)).toEqual([]);
    third.conversation.stop();
  });
});

const inPage = (world: World): Host => ({ page: () => pageOf(world), leave: () => world.end() });

describe.each([
  ["in the page", inPage, true],
  ["on a server", onServer, false],
  ["on a server that ends", onServer, true],
] as const)("the first message of a chat whose agent is %s", (_, make, isHostGone) => {
  it("is in the next page, drawn or waiting, once the store has had a task", async () => {
    for (let tasks = 1; tasks < 25; tasks++) {
      const host = make(new World());
      const first = host.page();
      // The chat may still be opening.
      void first.conversation.send("Go.");
      for (let steps = 0; steps < tasks; steps++) await tick();
      first.leave();
      host.leave(isHostGone);
      const second = host.page();
      const seen = (): string[] => [...prompts(second), ...waiting(second).map(([text]) => `user: ${text}`)];
      await second.until(({ status }) => status !== "opening" && seen().length > 0);
      await settled();
      expect(seen(), `after ${tasks} tasks`).toEqual(["user: Go."]);
      second.conversation.stop();
    }
  }, 30_000);
});

it("a store has nothing of messages that runs have", async () => {
  const world = new World();
  const page = await asked(pageOf(world));
  await settled();
  expect(await world.store.load(`${CHAT}.queue`)).not.toEqual([]);
  expect(page.conversation.withdraw(page.now.queue[0]!.id)).toBe(true);
  await settled();
  expect((await world.store.load(`${CHAT}.queue`)) ?? []).toEqual([]);
  page.conversation.stop();
});

it("sends a message in a chat that another page has continued since", async () => {
  const store = memoryStore();
  const open = (...texts: string[]): Screen =>
    new Screen(
      agentOf(
        texts.map((text) => ({ text })),
        { store },
      ),
      { id: "chat", store },
    );
  const mine = open("One.", "Three.");
  await mine.rest();
  await mine.conversation.send("First");
  await mine.rest();
  const theirs = open("Two.");
  await theirs.rest();
  await theirs.conversation.send("Second");
  await theirs.rest();
  await mine.conversation.send("Third");
  const { messages, queue, error } = await mine.until(
    ({ status, messages }) => status === "ready" && messages.length === 6,
  );
  expect(lines(messages)).toEqual([
    ...["user: First", "assistant: One.", "user: Second", "assistant: Two."],
    ...["user: Third", "assistant: Three."],
  ]);
  expect([queue, error]).toEqual([[], undefined]);
});

it.each([
  { sent: "message", followUp: false, after: /order is done"$/ },
  { sent: "follow-up", followUp: true, after: /Step 5\.$/ },
])(
  "a $sent that the journal did not get before the page went away is delivered all the same",
  async ({ followUp, after }) => {
    const world = new World();
    const first = pageOf(world);
    await first.rest();
    await first.conversation.send("Go.");
    await first.until(({ status }) => status === "waiting");
    // The log of the queue takes it, and the journal does not.
    const { append } = world.store;
    world.store.append = (key, ...given) => (key === CHAT ? new Promise(() => {}) : append(key, ...given));
    await first.conversation.send("And this.", { followUp });
    const second = await reloaded(world);
    expect(waiting(second)).toEqual([["And this.", false]]);
    expect(second.now.queue).toMatchObject([{ isFollowUp: followUp }]);
    for (let steps = 0; steps < 500 && second.now.status !== "ready"; steps++) {
      second.draw();
      for (const question of second.now.questions)
        second.conversation.answer(question as never, answerTo(question) as never);
      await tick();
    }
    expect(prompts(second)).toEqual(["user: Go.", "user: And this."]);
    expect(lines(second.now.messages)[1]).toMatch(after);
    expect(waiting(second)).toEqual([]);
  },
);

it("a message that was stored, and that its run did not get before the page went away, is sent into the run", async () => {
  const world = new World();
  const first = pageOf(world);
  await first.rest();
  await first.conversation.send("Go.");
  await first.until(({ status }) => status === "waiting");
  // The log of the queue takes the message, and nothing more is written.
  const { append } = world.store;
  let isStored = false;
  world.store.append = async (key, ...given) => {
    if (key === CHAT || isStored) return new Promise(() => {});
    await append(key, ...given);
    isStored = JSON.stringify(given).includes("And this.");
  };
  await first.conversation.send("And this.");
  const second = await reloaded(world);
  expect(waiting(second)).toEqual([["And this.", false]]);
});

it("a page that opens with a run and a message that waits shows no moment without the run", async () => {
  const world = new World();
  const first = pageOf(world);
  await first.rest();
  await first.conversation.send("Go.");
  await first.until(({ status }) => status === "waiting");
  world.end();
  // A page that sends while its chat is opening, and goes away.
  const { load } = world.store;
  world.store.load = (key, ...given) => (key === CHAT ? new Promise(() => {}) : load(key, ...given));
  void pageOf(world).conversation.send("And this.");
  const third = await reloaded(world);
  expect(waiting(third)).toEqual([["And this.", true]]);
  expect(third.drawn.map(({ status }) => status)).not.toContain("ready");
});
