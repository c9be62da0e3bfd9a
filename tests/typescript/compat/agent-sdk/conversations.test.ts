import { describe, expect, it } from "vitest";
import {
  InMemorySessionStore,
  createSdkMcpServer,
  deleteSession,
  forkSession,
  getSessionMessages,
  listSessions,
  query,
  tool,
  type SDKMessage,
  type SDKResultMessage,
  type SDKUserInput,
} from "looplet/agent-sdk";
import { all, anything, kinds, repair, resultOf, scene, use } from "./kit.js";

/** Messages of the user that are sent by hand. */
function input() {
  const waiting: SDKUserInput[] = [];
  let wake = (): void => {};
  let isDone = false;
  return {
    say(content: string) {
      waiting.push({ type: "user", message: { role: "user", content } });
      wake();
    },
    end() {
      isDone = true;
      wake();
    },
    async *[Symbol.asyncIterator](): AsyncGenerator<SDKUserInput> {
      for (;;) {
        const message = waiting.shift();
        if (message !== undefined) yield message;
        else if (isDone) return;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
    },
  };
}

describe("streaming input", () => {
  it("has a turn and a result for each message, in one conversation", async () => {
    const { options, fetch } = scene([{ text: "One." }, { text: "Two." }]);
    const said = input();
    said.say("First");
    const results: unknown[] = [];
    for await (const message of query({ prompt: said, options })) {
      if (message.type !== "result") continue;
      results.push(message.subtype === "success" && message.result);
      if (results.length === 1) said.say("Second");
      else said.end();
    }
    expect(results).toEqual(["One.", "Two."]);
    expect(fetch.requests[1]!.bodyText).toContain("First");
  });

  it("S001-04: gives the model what comes while it works before its next answer, and yields it", async () => {
    const { options, fetch } = scene([{ toolCalls: [use("wait")] }, { text: "As you wish." }]);
    const said = input();
    let isSaid = (): void => {};
    const told = new Promise<void>((resolve) => (isSaid = resolve));
    const wait = tool("wait", "Waits", anything, () => told.then(() => "waited"));
    options.mcpServers = { app: createSdkMcpServer({ name: "app", tools: [wait] }) };
    options.allowedTools = ["mcp__app__*"];
    said.say("Go");
    const messages: SDKMessage[] = [];
    for await (const message of query({ prompt: said, options })) {
      messages.push(message);
      if (message.type === "assistant" && messages.filter(({ type }) => type === "assistant").length === 1) {
        said.say("Be brief");
        said.end();
        setTimeout(isSaid);
      }
    }
    expect(kinds(messages).filter((kind) => kind === "result/success")).toHaveLength(1);
    expect(JSON.stringify(messages)).toContain("Be brief");
    expect(fetch.requests.at(-1)!.bodyText).toContain("Be brief");
  });

  it("goes on behind an interrupt, in another mode and with another model", async () => {
    const { options, fetch } = scene([{ toolCalls: [use("Read")] }, { text: "Here I am." }]);
    const said = input();
    said.say("Go");
    const asked = query({ prompt: said, options });
    const results: SDKResultMessage[] = [];
    for await (const message of asked) {
      if (message.type === "assistant" && results.length === 0) await asked.interrupt();
      if (message.type !== "result") continue;
      results.push(message);
      if (results.length === 1) {
        await asked.setPermissionMode("dontAsk");
        await asked.setModel("claude-haiku-4-5");
        said.say("Still there?");
      } else said.end();
    }
    expect(results.map(({ subtype }) => subtype)).toEqual(["error_during_execution", "success"]);
    expect((fetch.requests.at(-1)!.body as any).model).toBe("claude-haiku-4-5");
  });

  it("ends by the abortController while it waits for a message of the user", async () => {
    const abortController = new AbortController();
    const { options } = scene([{ text: "One." }], { abortController });
    const said = input();
    said.say("First");
    const seen: SDKMessage[] = [];
    for await (const message of query({ prompt: said, options })) {
      seen.push(message);
      if (message.type === "result") setTimeout(() => abortController.abort());
    }
    expect(kinds(seen).at(-1)).toBe("result/success");
  });

  it("/clear begins a new session", async () => {
    const { options, fetch } = scene([{ text: "One." }, { text: "Two." }]);
    const said = input();
    for (const text of ["First", "/clear", "Second"]) said.say(text);
    said.end();
    const ids: string[] = [];
    for await (const message of query({ prompt: said, options }))
      if (message.type === "system" && message.subtype === "init") ids.push(message.session_id);
    expect(new Set(ids).size).toBe(2);
    expect(fetch.requests[1]!.bodyText).not.toContain("First");
  });
});

describe("S001-42: /compact", () => {
  it("summarises the session, tells of it, and what follows knows the summary alone", async () => {
    const sessionStore = new InMemorySessionStore();
    const answers = ["One", "Two", "Three", "Four", "Five"].map((word) => ({
      text: `${word}! ${"…".repeat(400)}`,
    }));
    const said = input();
    const prompts = ["1", "2", "3", "4", "5", "/compact keep the numbers", "Go on"];
    said.say("0");
    const turns = [{ text: "Zero!" }, ...answers, { text: "They counted." }, { text: "Six." }];
    const { options, fetch } = scene(turns, { sessionStore });
    const messages: SDKMessage[] = [];
    for await (const message of query({ prompt: said, options })) {
      messages.push(message);
      if (message.type !== "result") continue;
      const prompt = prompts.shift();
      if (prompt === undefined) said.end();
      else said.say(prompt);
    }
    const at = kinds(messages).indexOf("system/compact_boundary");
    expect(messages[at]).toMatchObject({ compact_metadata: { trigger: "manual" } });
    const result = messages.slice(at).find(({ type }) => type === "result");
    expect(result).toMatchObject({ subtype: "success", num_turns: 0, result: "" });
    expect(fetch.requests[6]!.bodyText).toContain("keep the numbers");
    expect(fetch.requests[7]!.bodyText).toContain("They counted.");
    expect(fetch.requests[7]!.bodyText).not.toContain("Two!");
    const next = scene([{ text: "Seven." }], { sessionStore, resume: messages[0]!.session_id });
    await all("And?", next.options);
    expect(next.fetch.requests[0]!.bodyText).toContain("They counted.");
    expect(next.fetch.requests[0]!.bodyText).not.toContain("Two!");
  });

  it("says so when there is nothing to summarise", async () => {
    const messages = await all("/compact", scene([]).options);
    expect(JSON.stringify(messages)).toContain("too short to be summarised");
    expect(resultOf(messages).subtype).toBe("success");
  });
});

describe("sessions", () => {
  it("S001-44: are resumed, continued and forked, and a fork leaves the original alone", async () => {
    const sessionStore = new InMemorySessionStore();
    const first = resultOf(
      await all("My name is Ada.", scene([{ text: "Hello Ada." }], { sessionStore }).options),
    );
    const id = first.session_id;
    const resumed = scene([{ text: "Ada." }], { sessionStore, resume: id });
    expect(resultOf(await all("Who am I?", resumed.options)).session_id).toBe(id);
    expect(resumed.fetch.requests[0]!.bodyText).toContain("My name is Ada.");
    const before = JSON.stringify(sessionStore.load({ projectKey: "/", sessionId: id }));
    const forked = scene([{ text: "Ada, again." }], { sessionStore, continue: true, forkSession: true });
    const fork = resultOf(await all("And now?", forked.options)).session_id;
    expect(fork).not.toBe(id);
    expect(forked.fetch.requests[0]!.bodyText).toContain("Who am I?");
    expect(JSON.stringify(sessionStore.load({ projectKey: "/", sessionId: id }))).toBe(before);
    expect((await listSessions({ sessionStore })).map(({ sessionId }) => sessionId)).toEqual([fork, id]);
    const messages = await getSessionMessages(id, { sessionStore });
    expect(messages.map(({ type }) => type)).toEqual(["user", "assistant", "user", "assistant"]);
    const copy = await forkSession(id, { sessionStore, upToMessageId: messages[1]!.uuid });
    expect(await getSessionMessages(copy.sessionId, { sessionStore })).toHaveLength(2);
    await deleteSession(copy.sessionId, { sessionStore });
    expect(await getSessionMessages(copy.sessionId, { sessionStore })).toEqual([]);
  });

  it("go on from a message, and from a limit with a higher one", async () => {
    const sessionStore = new InMemorySessionStore();
    const short = scene(repair, { sessionStore, maxTurns: 1 });
    const stopped = await all("Fix it", short.options);
    const id = resultOf(stopped).session_id;
    expect(resultOf(stopped).subtype).toBe("error_max_turns");
    const rest = scene(repair.slice(2), { sessionStore, resume: id, maxTurns: 9 });
    expect(resultOf(await all("Go on", rest.options)).subtype).toBe("success");
    const answer = stopped.find(({ type }) => type === "user")!;
    const cut = scene([{ text: "Back." }], { sessionStore, resume: id, resumeSessionAt: answer.uuid });
    await all("Other way", cut.options);
    expect(cut.fetch.requests[0]!.bodyText).not.toContain("Go on");
    expect(cut.fetch.requests[0]!.bodyText).toContain("Bash done");
  });

  it("are not kept with persistSession: false, and a session that is not there is an error", async () => {
    const sessionStore = new InMemorySessionStore();
    await all("Hi", scene([{ text: "Hi." }], { sessionStore, persistSession: false }).options);
    expect(await listSessions({ sessionStore })).toEqual([]);
    await expect(all("Hi", scene([], { sessionStore, resume: "gone" }).options)).rejects.toThrow(
      /no session "gone"/,
    );
  });

  it("S001-45: a store that fails is offered the entries three times, and the query goes on", async () => {
    let attempts = 0;
    const sessionStore = {
      append() {
        attempts += 1;
        throw new Error("disk full");
      },
      load: () => null,
    };
    const messages = await all("Hi", scene([{ text: "Hi." }], { sessionStore }).options);
    expect(attempts % 3).toBe(0);
    expect(kinds(messages)).toContain("system/mirror_error");
    expect(resultOf(messages).subtype).toBe("success");
  });

  it("S001-06: messages may follow the result, which waits for no store", async () => {
    let open = (): void => {};
    const gate = new Promise<void>((resolve) => (open = resolve));
    const sessionStore = {
      append: () => gate.then(() => Promise.reject(new Error("disk full"))),
      load: () => null,
    };
    const seen: SDKMessage[] = [];
    for await (const message of query({
      prompt: "Hi",
      options: scene([{ text: "Hi." }], { sessionStore }).options,
    })) {
      seen.push(message);
      if (message.type === "result") open();
    }
    const at = kinds(seen).indexOf("result/success");
    expect(kinds(seen).slice(at + 1)).toEqual(["system/mirror_error"]);
  });

  it("are written message by message, or those of a tenth of a second together", async () => {
    for (const [sessionStoreFlush, appends] of [
      ["eager", [1, 1]],
      ["batched", [2]],
      [undefined, [2]],
    ] as const) {
      const kept: number[] = [];
      const sessionStore = {
        append: (_: unknown, entries: readonly unknown[]) => void kept.push(entries.length),
        load: () => null,
      };
      await all("Hi", scene([{ text: "Hi." }], { sessionStore, sessionStoreFlush }).options);
      expect(kept).toEqual(appends);
    }
    await expect(all("Hi", { ...scene([]).options, sessionStoreFlush: "late" as "eager" })).rejects.toThrow(
      /sessionStoreFlush needs "batched" or "eager"/,
    );
  });
});
