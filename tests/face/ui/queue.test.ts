// Messages that were sent while a run went on, and that the model has not got when the page goes away.
import { expect, it } from "vitest";
import { handler } from "looplet/server";
import { sessionsOf } from "looplet/sessions";
import { memoryStore } from "looplet/stores";
import { connectAgent } from "looplet/workers";
import { tick, World } from "../support/processes.js";
import { Screen, lines } from "./kit.js";

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
    for (const question of questions) second.conversation.answer(question, { behavior: "allow" } as never);
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

it("a message that a stop has kept from an agent on a server is in the next page, too", async () => {
  const world = new World();
  const handle = handler(world.agent(), { store: world.store, authorize: () => "ada" });
  const store = memoryStore();
  const fetch = ((url: string, init: RequestInit) =>
    handle(new Request(new URL(url, "https://a.test"), init))) as never;
  const open = (): Screen => new Screen(connectAgent("https://a.test", { fetch }), { id: CHAT, store });
  const first = await asked(open());
  first.conversation.stop();
  await first.rest();
  const second = open();
  await second.rest();
  expect(waiting(second)).toEqual([["And this.", true]]);
});
