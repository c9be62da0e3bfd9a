/** A chat whose server cannot be reached for a while: nothing is lost, and nothing is sent twice. */
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { createAgent, custom, type Message, type Store } from "looplet";
import { memoryStore } from "looplet/stores";
import { conversation, failureText, type Conversation, type ConversationSnapshot } from "looplet/ui";
import { Server } from "../support/server-kit.js";
import { lines } from "./kit.js";

/** `down`: requests do not reach the server. `deaf`: they do, and their responses are lost. */
type State = "up" | "down" | "deaf";

/** A server with a network that can fail. */
class Network {
  readonly server = new Server();
  state: State = "up";
  readonly #cuts = new Set<() => void>();

  constructor() {
    this.server.between = (request, handle) => this.#perform(request, handle);
  }

  lose(state: State): void {
    this.state = state;
    for (const cut of this.#cuts) cut();
    this.#cuts.clear();
  }

  async #perform(request: Request, handle: (request: Request) => Promise<Response>): Promise<Response> {
    if (this.state === "down") throw new TypeError("Failed to fetch");
    const response = await handle(request);
    if (this.state !== "up") {
      void response.body?.cancel();
      throw new TypeError("Failed to fetch");
    }
    if (response.body === null) return response;
    const reader = response.body.getReader();
    let isCut = false;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#cuts.add(() => {
          if (isCut) return;
          isCut = true;
          controller.error(new TypeError("network error"));
          void reader.cancel().catch(() => {});
        });
      },
      pull: async (controller) => {
        const { done, value } = await reader.read();
        if (isCut) return;
        if (done) controller.close();
        else controller.enqueue(value);
        isCut = done;
      },
      cancel: (reason) => reader.cancel(reason),
    });
    return new Response(body, response);
  }
}

/** Where in the conversation the network fails. */
const PHASES = [
  "while the chat opens",
  "before a message is sent",
  "in the middle of an answer",
  "while a question is open",
  "when the question is answered",
  "while the tool works",
  "when a message is added",
  "when the run is stopped",
] as const;
const isBeginning = (phase: Phase): boolean => PHASES.indexOf(phase as never) < 2;
type Phase = (typeof PHASES)[number] | "never";

// The first run loads the engine.
beforeAll(() => createAgent({ model: custom(() => "Hi.") }).run("Hi.").result, 60_000);
beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

/** Advances the virtual time until the condition holds, `ms` at most. */
async function until(isThere: () => boolean, ms = 600_000): Promise<void> {
  for (let at = 0; at <= ms; at += 50) {
    for (let tasks = 0; tasks < 3; tasks++) await new Promise((resolve) => setImmediate(resolve));
    if (isThere()) return;
    await vi.advanceTimersByTimeAsync(50);
  }
  throw new Error("it does not come to that");
}

const frame = (update: () => void): void => void setTimeout(update, 1);

/** A conversation with a question, a message that is added and a stop, and a network that fails once. */
async function talk(phase: Phase, state: State, offlineMs: number, store?: Store) {
  const net = new Network();
  const { server } = net;
  const { kit } = server;
  const notices = new Set<string>();
  const screen: Conversation = conversation(server.page(), { id: "a", frame, store });
  const now = (): ConversationSnapshot => screen.getSnapshot();
  const failures: string[] = [];
  const look = (): void => {
    const { notice, error } = now();
    if (net.state !== "up" && notice !== undefined) notices.add(notice.type);
    if (error !== undefined) failures.push(failureText(error));
  };
  /** Runs a step while the network fails, and lets it return. */
  const at = async (one: Phase, step: () => unknown = () => {}): Promise<void> => {
    if (one !== phase) return void (await step());
    net.lose(state);
    const stepped = step();
    let isBack = false;
    setTimeout(() => (isBack = true), offlineMs);
    await until(() => isBack);
    net.state = "up";
    await stepped;
    // A request that failed is sent again after 10 seconds at most.
    await vi.advanceTimersByTimeAsync(15_000);
  };
  screen.subscribe(look);
  await at("while the chat opens");
  // A person presses the button next to an error.
  if (now().status === "error") void screen.resume();
  await until(() => now().status === "ready");
  await at("before a message is sent", () => void screen.send("Hi."));
  if (now().status === "error") void screen.retry();
  await until(() => now().status === "ready" && now().messages.length === 2);
  void screen.send("Pay.");
  await until(() => now().messages.length > 2);
  await at("in the middle of an answer");
  await until(() => now().questions.length > 0);
  await at("while a question is open");
  const [question] = now().questions;
  await at("when the question is answered", () =>
    expect(screen.answer(question as never, { behavior: "allow" } as never)).toBe(true),
  );
  await until(() => kit.effects.length > 0);
  await at("while the tool works");
  await at("when a message is added", () => void screen.send("And this."));
  await until(() => now().queue.length > 0);
  kit.go();
  await until(() => now().status === "ready");
  void screen.send("Pay.");
  await until(() => now().questions.length > 0);
  await at("when the run is stopped", () => screen.stop());
  await until(() => now().status === "ready");
  const other = conversation(server.page(), { id: "a", frame });
  other.subscribe(() => {});
  await until(() => other.getSnapshot().status === "ready");
  const { messages } = (await server.get("/a")) as { messages: readonly Message[] };
  const asked = messages
    .filter(({ role }) => role === "user")
    .flatMap(({ content }) => content.flatMap((block) => (block.type === "text" ? [block.text] : [])));
  return {
    drawn: lines(now().messages),
    stored: lines(other.getSnapshot().messages),
    asked,
    effects: kit.effects.length,
    notices: [...notices],
    failures,
    queue: now().queue.length,
  };
}

describe.each([
  ["are not sent", "down", false],
  ["are sent, and whose responses are lost", "deaf", false],
  ["are not sent, with a store,", "down", true],
  ["are sent, and whose responses are lost, with a store,", "deaf", true],
] as const)("a page whose requests %s", (_, state, isStored) => {
  it.each(PHASES.flatMap((phase) => [1_000, 300_000].map((ms) => [phase, ms] as const)))(
    "%s, for %i ms, draws what a page draws that was always online",
    async (phase, ms) => {
      const whole = await talk("never", "up", 0);
      const store = isStored ? memoryStore() : undefined;
      const { notices, failures, ...end } = await talk(phase, state, ms, store);
      expect(end).toEqual({ ...whole, notices: undefined, failures: undefined });
      expect(end.asked).toEqual(["Hi.", "Pay.", "And this.", "Pay."]);
      expect(end.stored).toEqual(end.drawn);
      expect(end.effects).toBe(1);
      expect(notices).toContain("reconnecting");
      // Only a call that begins something is given up, after half a minute.
      expect([...new Set(failures)], failures.join()).toEqual(
        ms > 30_000 && isBeginning(phase) ? ["Something went wrong. Try again."] : [],
      );
    },
    40_000,
  );
});

it("a message that could not be sent goes out with the next one", async () => {
  const net = new Network();
  const screen = conversation(net.server.page(), { id: "a", frame });
  const now = (): ConversationSnapshot => screen.getSnapshot();
  screen.subscribe(() => {});
  await until(() => now().status === "ready");
  net.lose("down");
  void screen.send("Hi.");
  await until(() => now().status === "error");
  // The server is still away.
  const again = screen.retry();
  await until(() => now().status === "error");
  expect(await again).toBe(false);
  net.state = "up";
  expect(await screen.send("Hello?")).toBe(true);
  await until(() => now().status === "ready");
  expect(lines(now().messages)).toEqual(["user: Hi. | Hello?", "assistant: one two three"]);
  expect(now()).toMatchObject({ queue: [], error: undefined });
  const { messages } = (await net.server.get("/a")) as { messages: readonly Message[] };
  expect(messages).toHaveLength(2);
});
