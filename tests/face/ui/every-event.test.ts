// A screen is left at every single event of a run, or its process ends there: the next screen draws the same.
import { describe, expect, it } from "vitest";
import { createAgent, custom, subagent, tool, type Agent, type Message, type RunEvent } from "looplet";
import { LoopletChatTransport } from "looplet/ai-sdk";
import { handler } from "looplet/server";
import { memoryStore } from "looplet/stores";
import { failureText, reduce, viewOf, type Answers, type OpenQuestion, type UiPart } from "looplet/ui";
import { connectAgent, type RemoteAgent } from "looplet/workers";
import { lines, Screen } from "./kit.js";

const tick = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

/** The processes over one store. A process that has ended reaches it no more, and its leases have run out. */
class World {
  #nowMs = 0;
  readonly #kept = memoryStore({ now: () => this.#nowMs });
  #isDead = { now: false };
  store = this.#alive();
  /** Events of all processes. */
  seen = 0;
  onEvent = (): void => {};

  end(): void {
    this.#isDead.now = true;
    this.#isDead = { now: false };
    this.#nowMs += 1_000_000;
    this.store = this.#alive();
  }

  #alive(): ReturnType<typeof memoryStore> {
    const isDead = this.#isDead;
    const methods = (["append", "load", "lease", "pending", "delete"] as const).map((name) => [
      name,
      (...given: never[]): unknown =>
        isDead.now ? new Promise(() => {}) : (this.#kept[name] as (...given: never[]) => unknown)(...given),
    ]);
    return Object.fromEntries(methods) as ReturnType<typeof memoryStore>;
  }

  agent(): Agent {
    const isDead = this.#isDead;
    const acts = (name: string, more: object = {}) =>
      tool({
        description: name,
        inputSchema: { type: "object" },
        replay: "safe",
        ...more,
        async execute() {
          await tick();
          return `${name} is done`;
        },
      });
    return createAgent({
      model: custom(answer),
      store: this.store,
      tools: {
        stock: acts("stock", { readOnly: true }),
        order: acts("order", { needsApproval: true }),
        form: tool({
          description: "form",
          inputSchema: { type: "object" },
          replay: "safe",
          async execute(_, { elicit }) {
            const { action } = await elicit({
              message: "How many?",
              requestedSchema: { type: "object", properties: { count: { type: "number" } } },
            });
            return `form: ${action}`;
          },
        }),
        helper: subagent({
          description: "helps",
          tools: { dig: acts("dig", { readOnly: true }), pay: acts("pay", { needsApproval: true }) },
        }),
      },
      trace: () => ({
        onEvent: () => {
          if (isDead.now) return;
          this.seen += 1;
          this.onEvent();
        },
      }),
    });
  }
}

/** Two rounds of parallel calls: one that finishes, two approvals and a subagent that asks; then a form. */
async function* answer({ messages }: { readonly messages: readonly Message[] }) {
  const calls = messages.flatMap(({ content }) => content.filter(({ type }) => type === "tool_call"));
  const call = (id: string, name: string, input: object = {}) =>
    ({ type: "tool_call", id, name, input }) as const;
  yield `Step ${calls.length}.`;
  await tick();
  if (JSON.stringify(messages[0]).includes("Dig for gold")) {
    if (calls.length === 0) yield call("dig1", "dig");
    if (calls.length === 0) yield call("pay1", "pay");
    return;
  }
  if (calls.length === 0) {
    yield call("stock1", "stock");
    yield call("help1", "helper", { prompt: "Dig for gold" });
    yield call("order1", "order");
    yield call("order2", "order");
  }
  if (calls.length === 4) yield call("form1", "form");
}

/** Answers the open questions as a person does. */
function answerAll(screen: Screen): void {
  for (const question of screen.now.questions)
    screen.conversation.answer(question as never, answerTo(question) as never);
}

function answerTo({ kind }: OpenQuestion): Answers[keyof Answers] {
  if (kind === "permission") return { behavior: "allow" };
  return kind === "elicitation" ? { action: "accept", content: { count: 2 } } : { outcome: "run" };
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
  world.onEvent = () => {
    if (isLeft || world.seen !== at) return;
    isLeft = true;
    screen.leave();
    place.leave(isHostGone);
    screen = place.screen();
  };
  for (let step = 0; step < 20_000; step++) {
    screen.draw();
    const { status, messages, error } = screen.now;
    if (status === "error") throw new Error(error!.message);
    if (status === "ready" && messages.length === 0) await screen.conversation.send("Go.");
    else if (status === "ready") return { drawn: lines(messages), events: world.seen };
    answerAll(screen);
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
