// A screen is left at every single event of a run, or its process ends there: the next screen draws the same.
import { describe, expect, it } from "vitest";
import type { RunEvent } from "looplet";
import { LoopletChatTransport } from "looplet/ai-sdk";
import { handler } from "looplet/server";
import { failureText, reduce, viewOf, type UiPart } from "looplet/ui";
import { connectAgent, type RemoteAgent } from "looplet/workers";
import { answerTo, tick, World } from "../support/processes.js";
import { lines, Screen } from "./kit.js";

/** Answers the open questions as a person does. */
function answerAll(screen: Screen): void {
  for (const question of screen.now.questions)
    screen.conversation.answer(question as never, answerTo(question) as never);
}

interface Place {
  screen(): Screen;
  /** The screen is gone; with `isHostGone` its host is too. */
  leave(isHostGone: boolean): void;
}

const CHAT = { id: "chat" };

function inPage(world: World): Place {
  return {
    screen: () => new Screen(world.agent(), { ...CHAT, store: world.store }),
    leave: () => world.end(),
  };
}

function onServer(world: World): Place {
  const begin = () => handler(world.agent(), { store: world.store, authorize: () => "ada" });
  let handle = begin();
  let agent: RemoteAgent | undefined;
  const fetch = (url: string, init: object): any => handle(new Request(url, init));
  return {
    screen: () => new Screen((agent = connectAgent("http://server.test", { fetch })), CHAT),
    leave(isHostGone) {
      agent?.disconnect();
      if (!isHostGone) return;
      world.end();
      handle = begin();
    },
  };
}

/** The conversation at its end, if the screen is left at this event; and the number of events. */
async function talk(make: (world: World) => Place, at: number, isHostGone: boolean) {
  const world = new World();
  const place = make(world);
  let screen = place.screen();
  let isLeft = false;
  let hasSteered = false;
  /** What is drawn while the form is open. */
  let form: string[] = [];
  world.onEvent = () => {
    if (isLeft || world.seen !== at) return;
    isLeft = true;
    screen.leave();
    place.leave(isHostGone);
    screen = place.screen();
  };
  for (let step = 0; step < 20_000; step++) {
    screen.draw();
    const { status, messages, queue, error } = screen.now;
    if (status === "error") throw new Error(error!.message);
    // A prompt that the run before did not save waits in the queue.
    if (status === "ready" && messages.length === 0)
      await screen.conversation.send(queue.length > 0 ? "" : "Go.");
    else if (status === "ready") return { drawn: [...form, ...lines(messages)], events: world.seen };
    const { questions } = screen.now;
    if (questions[0]?.kind === "elicitation") form = lines(screen.now.messages);
    // A person adds a message while the first questions wait.
    if (!hasSteered && questions.length === 3) hasSteered = await screen.conversation.send("Also this.");
    else if (hasSteered) answerAll(screen);
    for (const part of screen.now.messages.flatMap(({ parts }) => parts)) once(part);
    await tick();
  }
  throw new Error(`event ${at}: it stays ${screen.now.status}: ${lines(screen.now.messages).join(" / ")}`);
}

/** No call is drawn twice. */
function once(part: UiPart): void {
  if (part.type !== "tool" || part.agent === undefined) return;
  const ids = part.agent.parts.flatMap((one) => (one.type === "tool" ? [one.toolCallId] : []));
  expect(new Set(ids).size).toBe(ids.length);
}

describe.each([
  ["in the page", inPage, true],
  ["of a server whose page is reloaded", onServer, false],
  ["of a server that ends", onServer, true],
] as const)("an agent %s, at every event", (_, make, isHostGone) => {
  it("is drawn as on a screen that was never left", async () => {
    const { drawn, events } = await talk(make, 0, false);
    expect(drawn.join()).toContain("pay output-available");
    expect(drawn.join()).toContain("Also this.");
    for (let at = 1; at <= events; at++)
      expect((await talk(make, at, isHostGone)).drawn, `event ${at}`).toEqual(drawn);
  }, 60_000);
});

it("draws a call that has finished once, whose answer waits for an approval, after a reload", async () => {
  const world = new World();
  const before = inPage(world).screen();
  await before.until(({ status }) => status === "ready");
  await before.conversation.send("Go.");
  await before.until(({ status }) => status === "waiting");
  before.leave();
  world.end();
  const emitted: RunEvent[] = [];
  const agent = world.agent();
  const chat = await agent.openChat("chat");
  for await (const event of chat.current!.events({ detached: true })) {
    emitted.push(event);
    if (event.type === "waiting") break;
  }
  const named = (type: string): string[] =>
    emitted.flatMap((event) => (event.type === type ? [(event as { toolCallId: string }).toolCallId] : []));
  expect(named("tool-call")).not.toContain("stock1");
  expect(named("tool-call")).not.toContain("dig1");
  world.end();
  const transport = new LoopletChatTransport(world.agent());
  const stream = (await transport.reconnectToStream({ chatId: "chat" }))!;
  const chunks: any[] = [];
  for await (const chunk of stream as AsyncIterable<any>) chunks.push(chunk);
  const ofStock = chunks.filter(({ toolCallId }) => toolCallId === "stock1").map(({ type }) => type);
  expect(ofStock).toEqual(["tool-input-available", "tool-output-available"]);
  expect(chunks.filter(({ type }) => type === "tool-approval-request")).toHaveLength(3);
});

it("gives a loop that begins late the open questions and the subagent that asks one", async () => {
  const world = new World();
  const run = world.agent().run("Go.");
  await tick();
  for (let waits = 0; waits < 200; waits++) await tick();
  let view = viewOf();
  for await (const event of run.events({ detached: true })) {
    view = reduce(view, event);
    if (event.type === "waiting") break;
  }
  expect(view.isWaiting).toBe(true);
  expect(view.questions.map(({ kind }) => kind)).toEqual(["permission", "permission", "permission"]);
  expect(lines(view.messages).join()).toContain("[running: pay approval-requested]");
  run.abort();
});

it("draws the question of a subagent in a run that resumes without its chat", async () => {
  const world = new World();
  const before = world.agent().run("Go.", { id: "r" });
  for await (const event of before.events({ detached: true })) if (event.type === "waiting") break;
  await before.saved();
  world.end();
  let begun!: () => void;
  const hasBegun = new Promise<void>((resolve) => (begun = resolve));
  const run = world.agent().resume("r", { onEvent: () => begun() });
  await hasBegun;
  let view = viewOf();
  for await (const event of run.events({ detached: true })) {
    view = reduce(view, event);
    for (const question of view.questions) run.answer(question.questionId, answerTo(question));
    if (event.type === "waiting" && view.questions.length === 3)
      expect(lines(view.messages).join()).toContain("[running: pay approval-requested]");
  }
  expect((await run.result).outcome).toBe("completed");
  expect(lines(view.messages).join()).toMatch(/helper output-available .*\[completed: pay output-available/);
});

it("shows a chat whose run another tab performs, as far as the store has it", async () => {
  const world = new World();
  const first = inPage(world).screen();
  await first.until(({ status }) => status === "ready");
  await first.conversation.send("Go.");
  await first.until(({ questions }) => questions.length === 3);
  const second = inPage(world).screen();
  const { messages, error } = await second.until(({ status }) => status === "error");
  expect(error?.code).toBe("run_held");
  expect(lines(messages)[1]).toMatch(
    /^assistant: Step 0. \| stock output-available .* order input-available$/,
  );
  expect(failureText(error)).toMatch(/open in another tab/);
  first.conversation.stop();
});
