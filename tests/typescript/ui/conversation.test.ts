// A conversation for a screen, with real runs behind it.
import { describe, expect, it } from "vitest";
import { createAgent, custom, LoopletError, tool } from "looplet";
import { sessionsOf } from "looplet/sessions";
import { memoryStore } from "looplet/stores";
import { conversation, failureText, todosOf, type OpenQuestion } from "looplet/ui";
import { agentOf, lines, Screen } from "./kit.js";

type Approval = OpenQuestion & { kind: "permission" };

const pays = [{ toolCalls: [{ id: "p", name: "pay", input: { n: 2 } }] }, { text: "It is paid." }];

describe("a conversation", () => {
  it("opens with its first subscriber, and is ready", async () => {
    const screen = new Screen(agentOf([]));
    expect((await screen.rest()).status).toBe("ready");
    expect(screen.now).toMatchObject({ messages: [], questions: [], queue: [], usage: null });
  });

  it("shows the message at once, then the answer as it comes", async () => {
    const screen = new Screen(agentOf([{ text: ["Hello ", "there."] }]));
    await screen.rest();
    await screen.conversation.send("Hi");
    expect(screen.now.status).toBe("submitted");
    expect(lines(screen.now.messages)).toEqual(["user: Hi"]);
    const { messages, status, outcome, usage } = await screen.rest();
    expect(lines(messages)).toEqual(["user: Hi", "assistant: Hello there."]);
    expect([status, outcome]).toEqual(["ready", "completed"]);
    expect(usage?.outputTokens).toBeGreaterThan(0);
  });

  it("updates once a frame, however many pieces have come", async () => {
    const pieces = Array.from({ length: 500 }, (_, at) => `w${at} `);
    const screen = new Screen(agentOf([{ text: pieces }]));
    await screen.rest();
    await screen.conversation.send("Hi");
    const before = screen.drawn.length;
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(screen.drawn.length - before).toBeLessThan(3);
    const { messages } = await screen.rest();
    expect(lines(messages).at(-1)).toBe(`assistant: ${pieces.join("")}`);
  });

  it("asks before a call, and goes on with the answer", async () => {
    const screen = new Screen(agentOf(pays));
    await screen.rest();
    await screen.conversation.send("Pay");
    const asked = await screen.until(({ status }) => status === "waiting");
    expect(lines(asked.messages).at(-1)).toBe("assistant: pay approval-requested");
    const [question] = asked.questions as [Approval];
    expect(question).toMatchObject({
      kind: "permission",
      toolName: "pay",
      input: { n: 2 },
      agentPath: "root",
    });
    expect(asked.messages[1]!.parts[0]).toMatchObject({ question });
    expect(screen.conversation.answer(question, { behavior: "allow" })).toBe(true);
    const { messages, questions } = await screen.rest();
    expect(questions).toEqual([]);
    expect(lines(messages).at(-1)).toBe('assistant: pay output-available {"name":"pay","n":2} | It is paid.');
    expect(screen.conversation.answer(question, { behavior: "allow" })).toBe(false);
  });

  it("shows a call that was denied", async () => {
    const screen = new Screen(agentOf(pays));
    await screen.rest();
    await screen.conversation.send("Pay");
    const { questions } = await screen.until(({ status }) => status === "waiting");
    screen.conversation.answer(questions[0] as Approval, { behavior: "deny", message: "Too much." });
    const { messages } = await screen.rest();
    expect(lines(messages).at(-1)).toBe("assistant: pay output-denied denied | It is paid.");
  });

  it("stops in the middle of an answer, and goes on from the text that has come", async () => {
    const screen = new Screen(agentOf([{ text: ["Half", " of it"], stall: 4 }, { text: "Whole." }]));
    await screen.rest();
    await screen.conversation.send("Say it");
    await screen.until(({ messages }) => lines(messages).at(-1) === "assistant: Half…");
    expect(screen.now.status).toBe("streaming");
    screen.conversation.stop();
    const stopped = await screen.rest();
    expect(stopped).toMatchObject({ status: "ready", outcome: "cancelled", reason: "stopped by the user" });
    expect(lines(stopped.messages)).toEqual(["user: Say it", "assistant: Half"]);
    await screen.conversation.send("Go on");
    expect(lines((await screen.rest()).messages).slice(2)).toEqual(["user: Go on", "assistant: Whole."]);
  });

  it("says why a run has failed, and asks again", async () => {
    const screen = new Screen(
      agentOf([
        { status: 400, error: { type: "invalid_request_error", message: "no such model" } },
        { text: "Yes." },
      ]),
    );
    await screen.rest();
    await screen.conversation.send("Hi");
    const failed = await screen.rest();
    expect(failed).toMatchObject({ status: "error", outcome: "failed", error: { code: "invalid_request" } });
    expect(failed.error?.message).toContain("answered 400");
    expect(lines(failed.messages)).toEqual(["user: Hi"]);
    await screen.conversation.retry();
    const { messages, error } = await screen.rest();
    expect(error).toBeUndefined();
    expect(lines(messages)).toEqual(["user: Hi", "assistant: Yes."]);
    expect(messages[0]!.branch).toBeUndefined();
  });

  it("hands a message to the run that goes on", async () => {
    let go = (): void => {};
    const wait = tool({
      description: "waits",
      inputSchema: { type: "object" },
      execute: () => new Promise<string>((resolve) => (go = () => resolve("waited"))),
    });
    const agent = agentOf([{ toolCalls: [{ id: "w", name: "wait", input: {} }] }, { text: "Both." }], {
      tools: { wait },
    });
    const screen = new Screen(agent);
    await screen.rest();
    await screen.conversation.send("One");
    await screen.until(({ messages }) => lines(messages).at(-1) === "assistant: wait input-available");
    await screen.conversation.send("Two");
    expect(screen.now.queue).toMatchObject([{ content: [{ text: "Two" }], isUndelivered: false }]);
    await screen.conversation.send("Never");
    expect(screen.conversation.withdraw(screen.now.queue[1]!.id)).toBe(true);
    go();
    const { messages, queue } = await screen.rest();
    expect(queue).toEqual([]);
    expect(lines(messages)).toEqual([
      "user: One",
      'assistant: wait output-available "waited"',
      "user: Two",
      "assistant: Both.",
    ]);
  });

  it("sends files before the text", async () => {
    const seen: unknown[] = [];
    const model = custom(({ messages }) => (seen.push(messages.at(-1)!.content), "A cat."));
    const screen = new Screen(createAgent({ model }));
    await screen.rest();
    const file = new File([new Uint8Array([1, 2, 3])], "cat.png", { type: "image/png" });
    await screen.conversation.send("What is it?", { files: [file] });
    const { messages } = await screen.rest();
    expect(seen[0]).toMatchObject([
      { type: "media", mediaType: "image/png", data: "AQID" },
      { type: "text" },
    ]);
    expect(lines(messages)[0]).toBe("user: file | What is it?");
    expect(await screen.conversation.send("", { files: [new File(["x"], "x")] })).toBe(false);
    expect(screen.now).toMatchObject({
      status: "error",
      error: { message: expect.stringMatching(/media type/) },
    });
  });

  it("tells what a message may cost at most", async () => {
    const screen = new Screen(agentOf([], { limits: { maxIterations: 2 } }));
    expect(await screen.conversation.bound("Hi")).toMatchObject({ costNanoUsd: null });
  });

  it("tells what is left for the run that goes on", async () => {
    const options = {
      limits: { maxIterations: 2, maxToolCalls: 1 },
      context: { window: 9000 },
      maxOutputTokens: 99,
    };
    const screen = new Screen(agentOf(pays, options));
    await screen.rest();
    expect(screen.now.left).toBeUndefined();
    await screen.conversation.send("Pay");
    const { left, usage, questions } = await screen.until(
      ({ status, left }) => status === "waiting" && !!left,
    );
    expect(usage!.outputTokens).toBeGreaterThan(0);
    const bound = await agentOf([], options).bound("Pay");
    expect(left).toEqual({
      inputTokens: bound.inputTokens! - usage!.inputTokens,
      outputTokens: bound.outputTokens! - usage!.outputTokens,
      costUsd: null,
    });
    screen.conversation.answer(questions[0] as Approval, { behavior: "allow" });
    expect((await screen.rest()).left).toBeUndefined();
  });

  it("leaves a blank message out", async () => {
    const screen = new Screen(agentOf([]));
    await screen.rest();
    await screen.conversation.send("  \n");
    expect(screen.now.messages).toEqual([]);
  });

  it("shows the tasks of the model", async () => {
    const todos = [{ content: "Look", status: "pending", activeForm: "Looking" }];
    const { todoTool } = await import("../../../src/typescript/extras/tools/other.js");
    const tools = { TodoWrite: todoTool({} as never) };
    const agent = agentOf(
      [{ toolCalls: [{ id: "t", name: "TodoWrite", input: { todos } }] }, { text: "Noted." }],
      { tools },
    );
    const screen = new Screen(agent);
    await screen.rest();
    await screen.conversation.send("Plan");
    expect(todosOf((await screen.rest()).messages)).toEqual(todos);
  });
});

describe("a run whose result is on its way", () => {
  /** An agent whose runs end when they are steered. */
  function endingAgent() {
    const said: unknown[] = [];
    const chat = {
      messages: [],
      usage: null,
      current: undefined,
      saved: async () => {},
      reset() {},
      run(prompt: unknown) {
        said.push(prompt);
        let end = (): void => {};
        const result = new Promise(
          (resolve) =>
            (end = () =>
              resolve({
                outcome: "completed",
                messages: [],
                toolCalls: [],
                usage: null,
                chatUsage: { outputTokens: 7 },
              })),
        );
        return {
          id: `r${said.length}`,
          result,
          async *events() {
            await result;
          },
          steer() {
            end();
            throw new LoopletError("misuse_run_ended", "steer", "this run has ended");
          },
          abort: () => end(),
        };
      },
    };
    return { said, agent: { chat: () => chat, openChat: async () => chat, readChat: async () => undefined } };
  }

  it("is waited for, and the message begins the next one", async () => {
    const { agent, said } = endingAgent();
    const screen = new Screen(agent as never);
    await screen.conversation.send("One");
    await screen.conversation.send("Two");
    expect(said).toEqual([[{ type: "text", text: "One" }], [{ type: "text", text: "Two" }]]);
    expect(screen.now.queue).toEqual([]);
    screen.conversation.stop();
  });

  it("tells the usage that the chat does not have yet", async () => {
    const screen = new Screen(endingAgent().agent as never);
    await screen.conversation.send("One");
    expect(screen.now.usage).toBeNull();
    screen.conversation.stop();
    expect((await screen.rest()).usage).toEqual({ outputTokens: 7 });
  });
});

describe("an edited message", () => {
  const echo = () => {
    const model = custom(({ messages }) => {
      const texts = messages.filter(({ role }) => role === "user").flatMap(({ content }) => content);
      return `You said ${texts.map((block) => (block.type === "text" ? block.text : "")).join(", ")}.`;
    });
    return { model, store: memoryStore() };
  };

  it("begins a version, and the others can be shown again", async () => {
    const screen = new Screen(createAgent(echo()));
    await screen.rest();
    for (const said of ["a", "b"]) {
      await screen.conversation.send(said);
      await screen.rest();
    }
    const [first, , second] = screen.now.messages;
    await screen.conversation.edit(second!.id, "c");
    expect(lines((await screen.rest()).messages)).toEqual([
      "user: a",
      "assistant: You said a.",
      "user: c",
      "assistant: You said a, c.",
    ]);
    expect(screen.now.messages[2]!.branch).toEqual({ number: 2, count: 2 });
    await screen.conversation.edit(first!.id, "x");
    expect(lines((await screen.rest()).messages)).toEqual(["user: x", "assistant: You said x."]);
    await screen.conversation.select(screen.now.messages[0]!.id, 1);
    expect(lines(screen.now.messages)).toContain("user: c");
    expect(screen.now.messages.map(({ branch }) => branch)).toEqual([
      { number: 1, count: 2 },
      undefined,
      { number: 2, count: 2 },
      undefined,
    ]);
    await screen.conversation.select(screen.now.messages[2]!.id, 1);
    expect(lines(screen.now.messages).at(-1)).toBe("assistant: You said a, b.");
    await screen.conversation.send("d");
    expect(lines((await screen.rest()).messages).at(-1)).toBe("assistant: You said a, b, d.");
  });

  it("keeps its versions in the store", async () => {
    const options = echo();
    const one = new Screen(createAgent(options), { id: "chat", store: options.store });
    await one.rest();
    await one.conversation.send("a");
    await one.rest();
    await one.conversation.edit(one.now.messages[0]!.id, "b");
    await one.rest();
    const other = new Screen(createAgent(options), { id: "chat", store: options.store });
    expect(lines((await other.rest()).messages)).toEqual(["user: b", "assistant: You said b."]);
    expect(other.now.messages[0]!.branch).toEqual({ number: 2, count: 2 });
    await other.conversation.select(other.now.messages[0]!.id, 1);
    expect(lines(other.now.messages)).toEqual(["user: a", "assistant: You said a."]);
    await other.conversation.regenerate();
    expect((await other.rest()).messages[0]!.branch).toEqual({ number: 3, count: 3 });
    await other.conversation.resume();
    expect((await other.rest()).messages[0]!.branch).toEqual({ number: 3, count: 3 });
  });

  it("must be one of the user", async () => {
    const screen = new Screen(createAgent(echo()));
    await screen.rest();
    await screen.conversation.send("a");
    await screen.rest();
    expect(await screen.conversation.edit("m2", "b")).toBe(false);
    expect(screen.now.error?.message).toMatch(/no user message "m2"/);
    expect(await screen.conversation.select("m1", 2)).toBe(false);
    expect(screen.now.error?.message).toMatch(/from 1 to 1/);
  });
});

describe("a conversation with an id", () => {
  it("is the same object for the same agent", () => {
    const agent = agentOf([], { store: memoryStore() });
    expect(conversation(agent, { id: "a" })).toBe(conversation(agent, { id: "a" }));
    expect(conversation(agent, { id: "a" })).not.toBe(conversation(agent, { id: "b" }));
    expect(conversation(agent)).not.toBe(conversation(agent));
  });

  it("goes on with an approval that a reload has cut off, however slow its store is", async () => {
    let now = 0;
    const store = memoryStore({ now: () => now });
    const { load } = store;
    store.load = async (key, after) => {
      if (key.endsWith(".branches")) await new Promise((resolve) => setTimeout(resolve, 20));
      return load(key, after);
    };
    const first = new Screen(agentOf(pays, { store }), { id: "chat", store });
    await first.rest();
    await first.conversation.send("Pay");
    const before = await first.until(({ status }) => status === "waiting");
    // The process is gone, and its lease has run out.
    now += 1_000_000;
    const second = new Screen(agentOf(pays.slice(1), { store }), { id: "chat", store });
    const after = await second.until(({ status }) => status === "waiting");
    expect(lines(after.messages)).toEqual(lines(before.messages));
    second.conversation.answer(after.questions[0] as Approval, { behavior: "allow" });
    const { messages } = await second.rest();
    expect(lines(messages)).toEqual([
      "user: Pay",
      'assistant: pay output-available {"name":"pay","n":2} | It is paid.',
    ]);
  });

  it("stands in the list of the store, with its first message as the title", async () => {
    const store = memoryStore();
    const screen = new Screen(agentOf([{ text: "Hello." }], { store }), { id: "chat", store });
    await screen.rest();
    expect(await sessionsOf(store).list()).toEqual([]);
    await screen.conversation.send(" Tell me about shirts ");
    await screen.rest();
    expect(await sessionsOf(store).list()).toMatchObject([{ id: "chat", title: "Tell me about shirts" }]);
  });

  it("says why it cannot be opened, and opens when that is mended", async () => {
    const store = memoryStore();
    const agent = agentOf([{ text: "Hello." }], { store });
    const { load } = store;
    store.load = () => Promise.reject(new Error("the disk is gone"));
    const screen = new Screen(agent, { id: "chat" });
    expect(await screen.rest()).toMatchObject({ status: "error", error: { message: "the disk is gone" } });
    expect(await screen.conversation.send("Hi")).toBe(false);
    store.load = load;
    await screen.conversation.resume();
    expect(screen.now.status).toBe("ready");
  });
});

describe("a conversation without an id", () => {
  it("begins with a history", async () => {
    const messages = [{ role: "user" as const, content: [{ type: "text" as const, text: "Earlier" }] }];
    const screen = new Screen(agentOf([{ text: "Now." }]), { history: { messages } });
    expect(lines((await screen.rest()).messages)).toEqual(["user: Earlier"]);
    await screen.conversation.regenerate();
    expect(lines((await screen.rest()).messages)).toEqual(["user: Earlier", "assistant: Now."]);
  });

  it("stops its run when no component shows it any more", async () => {
    const screen = new Screen(agentOf(pays));
    await screen.rest();
    await screen.conversation.send("Pay");
    await screen.until(({ status }) => status === "waiting");
    screen.leave();
    expect(await screen.rest()).toMatchObject({
      outcome: "cancelled",
      reason: "no component shows it any more",
    });
  });

  it("goes on when a framework subscribes anew", async () => {
    const screen = new Screen(agentOf(pays));
    await screen.rest();
    await screen.conversation.send("Pay");
    await screen.until(({ status }) => status === "waiting");
    screen.leave();
    screen.conversation.subscribe(() => {});
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(screen.now.status).toBe("waiting");
  });

  it("refuses what is not an agent, and options that it does not have", async () => {
    expect(() => conversation({} as never)).toThrow(/needs an agent/);
    expect(() => conversation(agentOf([]), { chatId: "a" } as never)).toThrow(/chatId/);
    const screen = new Screen(agentOf([]));
    for (const [prompt, options, message] of [
      [undefined, {}, /prompt: needs a text/],
      ["Hi", { file: [] }, /file: /],
      ["Hi", { files: new File(["x"], "x") }, /files: needs a list/],
    ] as const) {
      expect(await screen.conversation.send(prompt as never, options as never)).toBe(false);
      expect(screen.now.error?.message).toMatch(message);
    }
    expect(() => screen.conversation.answer(1 as never, { behavior: "allow" })).toThrow(/needs a question/);
  });

  it("says that an id needs the agent's store", async () => {
    const screen = new Screen(agentOf([]), { id: "a", store: memoryStore() });
    expect((await screen.rest()).error?.message).toMatch(/agent: has no store.*createAgent\(\{ store \}\)/);
  });

  it("leaves a run to the page that performs it", async () => {
    const store = memoryStore();
    const mine = new Screen(agentOf(pays, { store }), { id: "chat" });
    await mine.rest();
    await mine.conversation.send("Pay");
    await mine.until(({ status }) => status === "waiting");
    const theirs = new Screen(agentOf(pays.slice(1), { store }), { id: "chat" });
    const held = await theirs.rest();
    expect(held).toMatchObject({ status: "error", error: { code: "run_held" } });
    expect(lines(held.messages)).toEqual(["user: Pay", "assistant: pay input-available"]);
    expect(failureText(held.error)).toMatch(/^This chat is open in another tab/);
    expect(await theirs.conversation.send("Me too")).toBe(false);
    expect(await theirs.rest()).toMatchObject({ status: "error", error: { code: "run_held" } });
    expect(lines(theirs.now.messages)).toEqual(["user: Pay", "assistant: pay input-available"]);
    await theirs.conversation.retry();
    expect((await theirs.rest()).error?.code).toBe("run_held");
    await theirs.conversation.resume({ takeOver: true });
    const { questions } = await theirs.until(({ status }) => status === "waiting");
    theirs.conversation.answer(questions[0] as Approval, { behavior: "allow" });
    expect(lines((await theirs.rest()).messages).at(-1)).toContain("It is paid.");
  });

  it("sends a message when the run of the other page is over", async () => {
    const store = memoryStore();
    const mine = new Screen(agentOf(pays, { store }), { id: "chat" });
    await mine.rest();
    await mine.conversation.send("Pay");
    const { questions } = await mine.until(({ status }) => status === "waiting");
    const theirs = new Screen(agentOf([{ text: "Next." }], { store }), { id: "chat" });
    expect((await theirs.rest()).error?.code).toBe("run_held");
    mine.conversation.answer(questions[0] as Approval, { behavior: "allow" });
    await mine.rest();
    expect(await theirs.conversation.send("And now?")).toBe(true);
    const now = await theirs.rest();
    expect(now).toMatchObject({ status: "ready", error: undefined });
    expect(lines(now.messages).slice(-2)).toEqual(["user: And now?", "assistant: Next."]);
    expect(lines(now.messages).join()).toContain("It is paid.");
  });
});
