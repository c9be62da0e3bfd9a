// A page that is reloaded at random moments of a conversation with tools, an approval and a subagent.
import { describe, expect, it } from "vitest";
import { createAgent, custom, subagent, tool, type Agent, type Message, type Store } from "looplet";
import { AgentObject } from "looplet/cloudflare";
import { handler } from "looplet/server";
import { memoryStore } from "looplet/stores";
import type { Answers, OpenQuestion } from "looplet/ui";
import { connectAgent, type RemoteAgent } from "looplet/workers";
import { objectState } from "../support/object-state.js";
import { Place } from "../support/worker-kit.js";
import { lines, Screen } from "./kit.js";

/** What outlives a process: the store, the effects in the world, and the time. */
class World {
  readonly effects: string[] = [];
  #nowMs = 0;
  readonly #kept = memoryStore({ now: () => this.#nowMs });
  #isDead = { now: false };
  store = this.alive(this.#kept);

  /** The process is gone: it reaches no store any more, and its leases run out. */
  die(): void {
    this.#isDead.now = true;
    this.#isDead = { now: false };
    this.#nowMs += 1_000_000;
    this.store = this.alive(this.#kept);
  }

  /** A store as long as the process lives. */
  alive(kept: Store): Store {
    const isDead = this.#isDead;
    const alive =
      (name: keyof Store) =>
      (...given: never[]): unknown =>
        isDead.now ? new Promise(() => {}) : (kept[name] as (...given: never[]) => unknown)(...given);
    const names = (["append", "load", "lease", "pending", "delete"] as const).filter(
      (name) => kept[name] !== undefined,
    );
    return Object.fromEntries(names.map((name) => [name, alive(name)])) as unknown as Store;
  }

  agent(store = this.store): Agent {
    const isDead = this.#isDead;
    const acts = (name: string, more: object = {}) =>
      tool({
        description: name,
        inputSchema: { type: "object" },
        ...more,
        execute: async (_, { toolCallId }) => {
          if (!isDead.now) this.effects.push(toolCallId);
          await new Promise((resolve) => setTimeout(resolve, 0));
          return `${name} is done`;
        },
      });
    return createAgent({
      model: custom(answer),
      tools: {
        look: acts("look", { readOnly: true, replay: "safe" }),
        pay: acts("pay", { needsApproval: true }),
        helper: subagent({
          description: "helps",
          tools: { dig: acts("dig", { readOnly: true, replay: "safe" }) },
        }),
      },
      store,
    });
  }
}

/** Where the agent is. */
interface Where {
  /** Another page, in the place of the one that `reload` has ended. */
  page(): Screen;
  /** The page is gone. `isHostGone` takes its worker or its server too. */
  reload(isHostGone: boolean): void;
}

const CHAT = { id: "chat" };

function inPage(world: World): Where {
  return {
    page: () => new Screen(world.agent(), { ...CHAT, store: world.store }),
    reload: () => world.die(),
  };
}

/** A worker of its own ends with its page, and one that pages share may end. */
function inWorker(world: World): Where {
  const place = new Place();
  let agent: RemoteAgent | undefined;
  const begin = (): void => place.serve(world.agent(), { store: world.store });
  begin();
  return {
    page: () => new Screen((agent = place.connect()), CHAT),
    reload(isHostGone) {
      agent?.disconnect();
      if (!isHostGone) return;
      place.kill();
      world.die();
      begin();
    },
  };
}

function onServer(world: World): Where {
  const begin = () => handler(world.agent(), { store: world.store, authorize: () => "ada" });
  let handle = begin();
  return behind(
    (request) => handle(request),
    () => {
      world.die();
      handle = begin();
    },
  );
}

function inObject(world: World): Where {
  class Chat extends AgentObject {
    agent(store: Store): Agent {
      return world.agent(world.alive(store));
    }
  }
  const { storage, ...state } = objectState();
  // Each instance has a storage object of its own, which is of no use when the instance is gone.
  const instance = (): [object: Chat, end: () => void] => {
    let isGone = false;
    const exec: typeof storage.sql.exec = (...query) => {
      if (isGone) throw new Error("The instance is gone.");
      return storage.sql.exec(...query);
    };
    const object = new Chat({ ...state, storage: { ...storage, sql: { exec } } }, {});
    return [object, () => (isGone = true)];
  };
  let [object, end] = instance();
  return behind(
    (request) => object.fetch(request as never) as never,
    () => {
      end();
      world.die();
      [object, end] = instance();
    },
  );
}

/** Pages of an address. */
function behind(answer: (request: Request) => Promise<unknown>, restart: () => void): Where {
  let agent: RemoteAgent | undefined;
  const fetch = (url: string, init: object): any => answer(new Request(url, init));
  return {
    page: () => new Screen((agent = connectAgent("http://server.test", { fetch })), CHAT),
    reload(isHostGone) {
      agent?.disconnect();
      if (isHostGone) restart();
    },
  };
}

/** The model: the next step of the plan that its tools and its transcript show. */
async function* answer({ messages }: { readonly messages: readonly Message[] }) {
  const calls = messages.flatMap(({ content }) => content.filter(({ type }) => type === "tool_call"));
  const call = (id: string, name: string, input: object = {}) =>
    ({ type: "tool_call", id, name, input }) as const;
  const isHelper = JSON.stringify(messages[0]).includes("Dig for gold");
  for (const word of ["Step ", `${calls.length}`, ".\n\n"]) {
    yield word;
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  if (isHelper) {
    if (calls.length === 0) yield call("dig1", "dig");
    return;
  }
  if (calls.length === 0) yield call("look1", "look");
  if (calls.length === 0) yield call("pay1", "pay");
  if (calls.length === 2) yield call("help1", "helper", { prompt: "Dig for gold" });
  if (calls.length === 3) yield call("pay2", "pay");
}

/** Answers what the person is asked: calls may run, and one that had begun was done if the world shows it. */
function answerAll(screen: Screen, effects: readonly string[]): void {
  for (const question of screen.now.questions) {
    const { toolCallId } = question as { toolCallId: string };
    const isDone = effects.includes(toolCallId);
    const given: Answers[keyof Answers] =
      question.kind === "permission"
        ? { behavior: "allow" }
        : isDone
          ? { outcome: "done", output: "pay is done" }
          : { outcome: "run" };
    screen.conversation.answer(
      question as OpenQuestion & { kind: "permission" },
      given as Answers["permission"],
    );
  }
}

/** Numbers in [0, 1), the same for each seed. */
function randomOf(seed: number): () => number {
  let state = seed * 2_654_435_761 + 1;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 0x9e3779b9) >>> 0;
    return state / 2 ** 32;
  };
}

/** The end of the conversation when the page is reloaded so often. Three ends without progress would stop the run. */
async function talk(where: (world: World) => Where, seed: number, reloads: number) {
  const random = randomOf(seed);
  const world = new World();
  const place = where(world);
  let screen = place.page();
  let [left, isSent, done] = [reloads, false, 0];
  let due = 1 + Math.floor(random() * 15);
  for (let step = 0; step < 5000; step++) {
    screen.draw();
    const { status, messages, queue } = screen.now;
    if (status === "error") throw new Error(screen.now.error!.message);
    if (status === "ready" && messages.length === 0) {
      // A prompt that no store has is the person's to write again.
      await screen.conversation.send(queue.length > 0 ? "" : "Go.");
      isSent = true;
    } else if (status === "ready" && isSent && left === 0) {
      return { messages, effects: world.effects, reloads: done };
    } else if (status === "ready") {
      left = 0;
      continue;
    }
    if (random() < 0.7) answerAll(screen, world.effects);
    if (left > 0 && --due === 0) {
      left -= 1;
      done += 1;
      due = 1 + Math.floor(random() * 15);
      screen.leave();
      place.reload(random() < 0.5);
      screen = place.page();
    }
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  throw new Error(`the conversation stays ${screen.now.status}: ${lines(screen.now.messages).join(" / ")}`);
}

describe.each([
  ["that has its agent", inPage],
  ["with its agent in a worker", inWorker],
  ["with its agent on a server", onServer],
  ["with its agent in a Durable Object", inObject],
])("a page %s, reloaded at a hundred moments", (_, where) => {
  it("draws at the end what a page draws that was never reloaded, and nothing runs twice", async () => {
    const whole = await talk(where, 0, 0);
    const expected = lines(whole.messages);
    expect(expected.at(-1)).toContain("helper output-available");
    let reloads = 0;
    for (let seed = 1; reloads < 100; seed++) {
      const { messages, effects, reloads: more } = await talk(where, seed, 1 + (seed % 2));
      reloads += more;
      expect(lines(messages), `seed ${seed}`).toEqual(expected);
      const payments = effects.filter((id) => id.startsWith("pay"));
      expect(payments, `seed ${seed}`).toEqual(["pay1", "pay2"]);
    }
  }, 120_000);
});
