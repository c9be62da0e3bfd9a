// The chat of `ai`, without a framework, on an agent of looplet.
import { describe, expect, it } from "vitest";
import { subagent, tool } from "looplet";
import type { Store } from "looplet";
import { clientTool, isAnswered, LoopletChatTransport } from "looplet/ai-sdk";
import { memoryStore } from "looplet/stores";
import { failureText } from "looplet/ui";
import { agentOf, aiOf, call, chatOf, chunksOf, partsOf, textOf, until, VERSIONS } from "./kit.js";

const callOf = (chat: any): any =>
  chat.messages.flatMap(({ parts }: any) => parts).find(({ toolCallId }: any) => toolCallId !== undefined);
/** A store without leases, as if each process that held one were gone. */
const forgetful = (store: Store): Store => ({
  append: (...args) => store.append(...args),
  load: (key) => store.load(key),
});

describe.each(VERSIONS)("a chat of ai %i", (version) => {
  it("sends, streams, and goes on with its history", async () => {
    const ai = await aiOf(version);
    const { agent, asked } = agentOf([
      { toolCalls: [call("weather")] },
      { text: "It rains." },
      { text: "Tomorrow too." },
    ]);
    const chat = chatOf(ai, { transport: new LoopletChatTransport(agent) });
    await chat.sendMessage({ text: "Weather?" });
    expect(chat.status).toBe("ready");
    expect(callOf(chat)).toMatchObject({ state: "output-available", output: { sky: "rain" } });
    await chat.sendMessage({ text: "And tomorrow?" });
    expect(textOf(chat)).toBe("Tomorrow too.");
    expect(
      asked()
        .at(-1)
        .messages.map(({ role }: any) => role),
    ).toEqual([...["user", "assistant", "user", "assistant", "user"]]);
  });

  it("sends a file", async () => {
    const { agent, asked } = agentOf([{ text: "A dot." }]);
    const chat = chatOf(await aiOf(version), { transport: new LoopletChatTransport(agent) });
    const files = [{ type: "file", mediaType: "image/png", url: "data:image/png;base64,iVBORw0KGgo=" }];
    await chat.sendMessage({ text: "What is it?", files });
    expect(asked()[0].messages[0].content).toMatchObject([
      { type: "image", source: { media_type: "image/png", data: "iVBORw0KGgo=" } },
      { type: "text", text: "What is it?" },
    ]);
  });

  it("gets the output of a client tool, and the run that waits goes on", async () => {
    const ai = await aiOf(version);
    const where = clientTool({ description: "Where the user is", inputSchema: { type: "object" } });
    const { agent, asked } = agentOf(
      [
        { text: "I ask.", toolCalls: [call("where"), call("where", "x", "toolu_2")] },
        { text: "You are in Rome." },
      ],
      { tools: { where }, toolCalls: { execution: "parallel" } },
    );
    const chat = chatOf(ai, {
      transport: new LoopletChatTransport(agent),
      sendAutomaticallyWhen: isAnswered,
    });
    await chat.sendMessage({ text: "Where am I?" });
    expect(callOf(chat)).toMatchObject({ state: "input-available" });
    const add = (toolCallId: string, more: object) =>
      (chat.addToolOutput ?? chat.addToolResult)({ tool: "where", toolCallId, ...more });
    await add("toolu_where", { output: { city: "Rome" } });
    await add("toolu_2", { state: "output-error", errorText: "No GPS" });
    await until(() => textOf(chat).includes("Rome") && chat.status === "ready");
    expect(asked()).toHaveLength(2);
    const results = asked()[1].messages.at(-1).content;
    expect(JSON.stringify(results[0])).toContain("Rome");
    expect(results[1]).toMatchObject({ is_error: true });
    expect(JSON.stringify(results[1])).toContain("No GPS");
    expect(textOf(chat)).toBe("I ask.|You are in Rome.");
  });

  it("hands the output of a client tool to a run that another process has begun", async () => {
    const ai = await aiOf(version);
    const store = memoryStore();
    const where = clientTool({ description: "Where the user is", inputSchema: { type: "object" } });
    const first = agentOf([{ toolCalls: [call("where")] }], { tools: { where }, store: forgetful(store) });
    const chat = chatOf(ai, { transport: new LoopletChatTransport(first.agent) });
    await chat.sendMessage({ text: "Where am I?" });
    const second = agentOf([{ text: "In Rome." }], { tools: { where }, store: forgetful(store) });
    const transport = new LoopletChatTransport(second.agent);
    const again = chatOf(ai, { transport, messages: chat.messages, sendAutomaticallyWhen: isAnswered });
    const added = { tool: "where", toolCallId: "toolu_where", output: { city: "Rome" } };
    await (again.addToolOutput ?? again.addToolResult)(added);
    await until(() => textOf(again) === "In Rome." && again.status === "ready");
    expect(partsOf(again).filter(({ type }) => type === "tool-where")).toMatchObject([
      { output: { city: "Rome" } },
    ]);
    expect(second.asked()).toHaveLength(1);
  });

  it("goes on as far as the page knows it where the run is gone", async () => {
    const where = clientTool({ description: "Where the user is", inputSchema: { type: "object" } });
    const first = agentOf([{ toolCalls: [call("where")] }], { tools: { where } });
    const chat = chatOf(await aiOf(version), { transport: new LoopletChatTransport(first.agent) });
    await chat.sendMessage({ text: "Where am I?" });
    const second = agentOf([{ text: "You are in Rome." }], { tools: { where } });
    const transport = new LoopletChatTransport(second.agent);
    const again = chatOf(await aiOf(version), {
      transport,
      messages: chat.messages,
      sendAutomaticallyWhen: isAnswered,
    });
    const added = { tool: "where", toolCallId: "toolu_where", output: { city: "Rome" } };
    await (again.addToolOutput ?? again.addToolResult)(added);
    await until(() => textOf(again) === "You are in Rome." && again.status === "ready");
    expect(again.messages).toHaveLength(2);
    expect(JSON.stringify(second.asked()[0].messages.at(-1))).toContain("Rome");
  });

  it("stops the run, keeps what has come, and goes on from it", async () => {
    const { agent, asked } = agentOf([{ text: ["It ", "rains"], stall: 4 }, { text: "Gone on." }]);
    const chat = chatOf(await aiOf(version), { transport: new LoopletChatTransport(agent) });
    const sent = chat.sendMessage({ text: "Weather?" });
    await until(() => chat.messages.length === 2 && textOf(chat) !== "");
    await chat.stop();
    await sent;
    expect(chat.status).toBe("ready");
    await chat.sendMessage({ text: "Go on." });
    expect(textOf(chat)).toBe("Gone on.");
    expect(JSON.stringify(asked()[1].messages)).toContain("It ");
  });

  it("tells an error, and regenerates", async () => {
    const { agent, asked } = agentOf([
      { status: 400, body: { error: { message: "Too long" } } },
      { text: "It rains." },
      { text: "It pours." },
    ]);
    const chat = chatOf(await aiOf(version), { transport: new LoopletChatTransport(agent) });
    await chat.sendMessage({ text: "Weather?" });
    expect([chat.status, chat.error.message]).toEqual(["error", expect.stringContaining("Too long")]);
    await chat.regenerate();
    expect([chat.status, textOf(chat)]).toEqual(["ready", "It rains."]);
    await chat.regenerate();
    expect(textOf(chat)).toBe("It pours.");
    expect(asked()[2].messages).toHaveLength(1);
  });

  it("joins a run that goes on in another process, and begins anew without one", async () => {
    const ai = await aiOf(version);
    const store = memoryStore();
    const first = agentOf(
      [
        { text: "I look.", toolCalls: [call("weather")] },
        { text: "It", stall: true },
      ],
      {
        store: forgetful(store),
      },
    );
    const chat = chatOf(ai, { transport: new LoopletChatTransport(first.agent) });
    void chat.sendMessage({ text: "Weather?" });
    await until(() => first.asked().length === 2 && chat.messages.length === 2 && partsOf(chat).length > 3);
    // The page is loaded again, and the old process does nothing more.
    const second = agentOf([{ text: "It rains." }], { store: forgetful(store) });
    const transport = new LoopletChatTransport(second.agent);
    const messages = await transport.loadMessages("chat");
    expect(messages.map(({ role }) => role)).toEqual(["user"]);
    const again = chatOf(ai, { transport, messages });
    await again.resumeStream();
    expect(again.messages).toHaveLength(2);
    expect(textOf(again)).toBe("I look.|It rains.");
    expect(callOf(again)).toMatchObject({ state: "output-available" });
    await again.resumeStream();
    expect([again.status, again.messages.length]).toEqual(["ready", 2]);
    expect((await transport.loadMessages("chat")).map(({ role }) => role)).toEqual(["user", "assistant"]);
  });
});

describe.each([6, 7] as const)("a chat of ai %i that asks a person", (version) => {
  const turns = [
    { text: "I book.", toolCalls: [call("book"), call("book", "Rome", "toolu_2"), call("weather")] },
    { text: "Done." },
  ];

  it("hands approvals and denials to the run that waits, once", async () => {
    const ai = await aiOf(version);
    const { agent, booked, asked } = agentOf(turns);
    const chat = chatOf(ai, {
      transport: new LoopletChatTransport(agent),
      sendAutomaticallyWhen: isAnswered,
    });
    await chat.sendMessage({ text: "Hotels!" });
    const [paris, rome] = partsOf(chat).filter(({ type }) => type === "tool-book");
    expect([paris.state, rome.state]).toEqual(["approval-requested", "approval-requested"]);
    expect(booked).toEqual([]);
    await chat.addToolApprovalResponse({ id: paris.approval.id, approved: true });
    await chat.addToolApprovalResponse({ id: rome.approval.id, approved: false, reason: "Too far" });
    await until(() => textOf(chat).includes("Done.") && chat.status === "ready");
    expect(chat.messages).toHaveLength(2);
    expect(partsOf(chat).map(({ type, state, output }) => [type, state, output])).toEqual([
      ["step-start", undefined, undefined],
      ["text", "done", undefined],
      ["tool-book", "output-available", "Hotel Paris"],
      ["tool-book", "output-denied", undefined],
      ["tool-weather", "output-available", { city: "Paris", sky: "rain" }],
      ["data-waiting", undefined, undefined],
      ["step-start", undefined, undefined],
      ["text", "done", undefined],
    ]);
    expect(booked).toEqual(["Paris"]);
    expect(asked()).toHaveLength(2);
    expect(JSON.stringify(asked()[1].messages)).toContain("Too far");
    await ai.validateUIMessages({ messages: chat.messages });
    await ai.convertToModelMessages(chat.messages);
  });

  it("shows the question after a reload, and goes on with the answer", async () => {
    const ai = await aiOf(version);
    const store = memoryStore();
    const first = agentOf(turns, { store: forgetful(store) });
    const chat = chatOf(ai, { transport: new LoopletChatTransport(first.agent) });
    await chat.sendMessage({ text: "Hotels!" });
    const second = agentOf([{ text: "Done." }], { store: forgetful(store) });
    const transport = new LoopletChatTransport(second.agent);
    const again = chatOf(ai, {
      transport,
      messages: await transport.loadMessages("chat"),
      sendAutomaticallyWhen: isAnswered,
    });
    await again.resumeStream();
    const open = partsOf(again).filter(({ state }) => state === "approval-requested");
    expect(open.map(({ toolCallId }) => toolCallId)).toEqual(["toolu_book", "toolu_2"]);
    for (const { approval } of open) await again.addToolApprovalResponse({ id: approval.id, approved: true });
    await until(() => textOf(again).includes("Done.") && again.status === "ready");
    expect([first.booked, second.booked]).toEqual([[], ["Paris", "Rome"]]);
    expect(again.messages).toHaveLength(2);
    expect(callOf(again)).toMatchObject({ state: "output-available", output: "Hotel Paris" });
  });

  it("shows the chat and a sentence for people in a tab while another tab has the run", async () => {
    const ai = await aiOf(version);
    const store = memoryStore();
    const first = agentOf(turns, { store });
    const chat = chatOf(ai, {
      transport: new LoopletChatTransport(first.agent),
      sendAutomaticallyWhen: isAnswered,
    });
    await chat.sendMessage({ text: "Hotels!" });
    const second = agentOf([], { store });
    const transport = new LoopletChatTransport(second.agent, { version, onError: failureText });
    const other = chatOf(ai, { transport, messages: await transport.loadMessages("chat") });
    await other.resumeStream();
    expect(other.error?.message).toMatch(/^This chat is open in another tab .* You can read it here/);
    const calls = partsOf(other).filter(({ type }) => type === "tool-book");
    expect(calls.map(({ toolCallId }) => toolCallId)).toEqual(["toolu_book", "toolu_2"]);
    expect(other.messages.map(({ role }: any) => role)).toEqual(["user", "assistant"]);
    // Nothing has happened to the run of the first tab.
    for (const { approval } of partsOf(chat).filter(({ state }) => state === "approval-requested"))
      await chat.addToolApprovalResponse({ id: approval.id, approved: true });
    await until(() => textOf(chat).includes("Done."));
    expect(second.asked()).toEqual([]);
  });

  it("hands answers to a run that another process has begun", async () => {
    const ai = await aiOf(version);
    const store = memoryStore();
    const first = agentOf(turns, { store: forgetful(store) });
    const second = agentOf([{ text: "Done." }], { store: forgetful(store) });
    const old = new LoopletChatTransport(first.agent);
    let transport: object = old;
    const chat = chatOf(ai, {
      transport: {
        sendMessages: (options: any) => (transport as LoopletChatTransport).sendMessages(options),
        reconnectToStream: (options: any) => (transport as LoopletChatTransport).reconnectToStream(options),
      },
      sendAutomaticallyWhen: isAnswered,
    });
    await chat.sendMessage({ text: "Hotels!" });
    const open = partsOf(chat).filter(({ state }) => state === "approval-requested");
    transport = new LoopletChatTransport(second.agent);
    for (const { approval } of open) await chat.addToolApprovalResponse({ id: approval.id, approved: true });
    await until(() => textOf(chat).includes("Done.") && chat.status === "ready");
    expect(second.booked).toEqual(["Paris", "Rome"]);
    const outputs = partsOf(chat).filter(({ type }) => type === "tool-book");
    expect(outputs.map(({ output }) => output)).toEqual(["Hotel Paris", "Hotel Rome"]);
  });

  it("takes a waiting run over from a process that has it, but does not join one that another goes on with", async () => {
    const ai = await aiOf(version);
    const store = memoryStore();
    const first = agentOf([{ toolCalls: [call("book")] }], { store });
    const chat = chatOf(ai, { transport: new LoopletChatTransport(first.agent) });
    await chat.sendMessage({ text: "A hotel." });
    const second = agentOf([{ text: "Done." }], { store });
    const transport = new LoopletChatTransport(second.agent);
    const shown = await chunksOf((await transport.reconnectToStream({ chatId: "chat" }))!);
    expect(shown.map(({ type }) => type)).toContain("error");
    const again = chatOf(ai, { transport, messages: chat.messages, sendAutomaticallyWhen: isAnswered });
    await again.addToolApprovalResponse({ id: callOf(again).approval.id, approved: true });
    await until(() => again.status === "ready" && textOf(again) === "Done.");
    expect([first.booked, second.booked]).toEqual([[], ["Paris"]]);
  });

  it("needs only what ai has where every call of the step asks", async () => {
    const ai = await aiOf(version);
    const { agent, booked } = agentOf([{ toolCalls: [call("book")] }, { text: "Done." }]);
    const sendAutomaticallyWhen = ai.lastAssistantMessageIsCompleteWithApprovalResponses;
    const chat = chatOf(ai, { transport: new LoopletChatTransport(agent), sendAutomaticallyWhen });
    await chat.sendMessage({ text: "A hotel." });
    await chat.addToolApprovalResponse({ id: callOf(chat).approval.id, approved: true });
    await until(() => textOf(chat) === "Done." && chat.status === "ready");
    expect(booked).toEqual(["Paris"]);
  });

  it("gives a waiting run up when the user writes", async () => {
    const ai = await aiOf(version);
    const { agent, booked, asked } = agentOf([turns[0]!, { text: "As you like." }]);
    const chat = chatOf(ai, {
      transport: new LoopletChatTransport(agent),
      sendAutomaticallyWhen: isAnswered,
    });
    await chat.sendMessage({ text: "Hotels!" });
    await chat.sendMessage({ text: "Never mind." });
    expect(textOf(chat)).toBe("As you like.");
    expect(booked).toEqual([]);
    expect(JSON.stringify(asked()[1].messages)).toContain("The call was not made.");
  });

  it("asks about a call of a subagent", async () => {
    const ai = await aiOf(version);
    const booked: string[] = [];
    const book = tool({
      description: "Books",
      inputSchema: { type: "object" },
      needsApproval: true,
      execute: () => booked.push("Paris"),
    });
    const helper = subagent({ description: "Helps", system: "Help.", tools: { book } });
    const { agent } = agentOf(
      [
        { toolCalls: [{ id: "toolu_h", name: "helper", input: { prompt: "Book" } }] },
        { toolCalls: [call("book")] },
        { text: "Booked." },
        { text: "Done." },
      ],
      { tools: { helper } },
    );
    const chat = chatOf(ai, {
      transport: new LoopletChatTransport(agent),
      sendAutomaticallyWhen: isAnswered,
    });
    await chat.sendMessage({ text: "Hotels!" });
    const open = partsOf(chat).find(({ state }) => state === "approval-requested");
    expect(open).toMatchObject({ type: "dynamic-tool", toolName: "book" });
    await chat.addToolApprovalResponse({ id: open.approval.id, approved: true });
    await until(() => textOf(chat).includes("Done."));
    expect(booked).toEqual(["Paris"]);
  });
});

describe("a transport", () => {
  it("answers a question of a tool while the stream goes on", async () => {
    const size = tool({
      description: "Asks",
      inputSchema: { type: "object" },
      execute: async (_, { elicit }) => (await elicit({ message: "Which size?" })).content,
    });
    const { agent } = agentOf([{ toolCalls: [call("size")] }, { text: "M it is." }], { tools: { size } });
    const transport = new LoopletChatTransport(agent);
    const chat = chatOf(await aiOf(5), { transport });
    const sent = chat.sendMessage({ text: "A shirt." });
    await until(
      () => chat.messages.length === 2 && partsOf(chat).some(({ type }) => type === "data-question"),
    );
    const { id, data } = partsOf(chat).find(({ type }) => type === "data-question");
    expect(data).toMatchObject({ question: "elicitation", request: { message: "Which size?" } });
    expect(transport.answer(id, { action: "accept", content: { size: "M" } })).toBe(true);
    await sent;
    expect(textOf(chat)).toBe("M it is.");
    expect(transport.answer("other:1", { behavior: "allow" })).toBe(false);
  });

  it("asks about a call in a part where the page is of ai 5", async () => {
    const { agent, booked } = agentOf([{ toolCalls: [call("book")] }, { text: "Done." }]);
    const transport = new LoopletChatTransport(agent, { version: 5 });
    const chat = chatOf(await aiOf(5), { transport });
    const sent = chat.sendMessage({ text: "A hotel." });
    await until(
      () => chat.messages.length === 2 && partsOf(chat).some(({ type }) => type === "data-question"),
    );
    transport.answer(partsOf(chat).find(({ type }) => type === "data-question").id, { behavior: "allow" });
    await sent;
    expect([booked, textOf(chat)]).toEqual([["Paris"], "Done."]);
  });

  it("does not stop a run whose stream nobody reads, and joins it again from its beginning", async () => {
    const { agent } = agentOf([{ text: ["It ", "rains."] }]);
    const transport = new LoopletChatTransport(agent);
    const parts = [{ type: "text", text: "Weather?" }];
    const messages = [{ id: "u", role: "user", parts }];
    const stream = await transport.sendMessages({ trigger: "submit-message", chatId: "c", messages });
    await (stream as ReadableStream).cancel();
    const again = await transport.reconnectToStream({ chatId: "c" });
    const deltas = (await chunksOf(again)).filter(({ type }) => type === "text-delta");
    expect(deltas.map(({ delta }) => delta).join("")).toBe("It rains.");
    expect(await transport.reconnectToStream({ chatId: "c" })).toBeNull();
  });

  it("stops a run that it has joined again, but not when the page joins twice", async () => {
    const { agent } = agentOf([{ text: "It", stall: true }]);
    const transport = new LoopletChatTransport(agent);
    const messages = [{ id: "u", role: "user", parts: [{ type: "text", text: "Weather?" }] }];
    await transport.sendMessages({ trigger: "submit-message", chatId: "c", messages });
    const first = new AbortController();
    // React's StrictMode joins, leaves and joins again before the first stream is there.
    const joining = transport.reconnectToStream({ chatId: "c", abortSignal: first.signal });
    first.abort();
    const joined = transport.reconnectToStream({ chatId: "c", abortSignal: new AbortController().signal });
    await Promise.all([joining, joined]);
    await new Promise((resolve) => setTimeout(resolve, 1));
    const last = new AbortController();
    const stream = await transport.reconnectToStream({ chatId: "c", abortSignal: last.signal });
    expect(stream).not.toBeNull();
    const chunks = chunksOf(stream);
    last.abort();
    expect((await chunks).at(-1)).toMatchObject({ type: "abort" });
  });

  it("goes on with what another process has added to the chat", async () => {
    const store = memoryStore();
    const one = agentOf([{ text: "One." }, { text: "Three." }], { store });
    const other = agentOf([{ text: "Two." }], { store });
    const ask = async ({ agent }: typeof one, transport = new LoopletChatTransport(agent)) => {
      const chat = chatOf(await aiOf(7), { transport, messages: await transport.loadMessages("chat") });
      await chat.sendMessage({ text: "Next?" });
      return textOf(chat);
    };
    const transport = new LoopletChatTransport(one.agent);
    expect([await ask(one, transport), await ask(other), await ask(one, transport)]).toEqual([
      "One.",
      "Two.",
      "Three.",
    ]);
    expect(one.asked()[1].messages).toHaveLength(5);
  });

  it("stops the run of a chat for a server", async () => {
    const { agent } = agentOf([{ text: "It", stall: true }]);
    const transport = new LoopletChatTransport(agent);
    const messages = [{ id: "u", role: "user", parts: [{ type: "text", text: "Weather?" }] }];
    const stream = await transport.sendMessages({ trigger: "submit-message", chatId: "c", messages });
    expect([transport.stop("other"), transport.stop("c")]).toEqual([false, true]);
    expect((await chunksOf(stream)).at(-1)).toMatchObject({ type: "abort", reason: "stopped by the user" });
    expect(transport.stop("c")).toBe(false);
  });

  it("refuses what it cannot send", async () => {
    expect(() => new LoopletChatTransport({} as never)).toThrow(/needs an agent/);
    expect(() => new LoopletChatTransport(agentOf([]).agent, { version: 8 } as never)).toThrow(
      /needs 5, 6 or 7/,
    );
    const transport = new LoopletChatTransport(agentOf([]).agent);
    const send = (messages: unknown[]) =>
      transport.sendMessages({ trigger: "submit-message", chatId: "c", messages: messages as never });
    await expect(send([])).rejects.toThrow(/one at least/);
    await expect(send([{ id: "u", role: "user", parts: [] }])).rejects.toThrow(/must not be empty/);
    const said = { id: "a", role: "assistant", parts: [{ type: "text", text: "Hi" }] };
    await expect(send([said])).rejects.toThrow(/no run waits/);
  });

  it("hands over what the page sends as options of the run", async () => {
    const seen: unknown[] = [];
    const show = tool({
      description: "Shows",
      inputSchema: { type: "object" },
      execute: (_, { inputs }) => void seen.push(inputs["user"]),
    });
    const { agent } = agentOf([{ toolCalls: [call("show")] }, { text: "Done." }], { tools: { show } });
    const runOptions = ({ body }: { body?: object | undefined }) => ({ inputs: { ...body } });
    const chat = chatOf(await aiOf(7), { transport: new LoopletChatTransport(agent, { runOptions }) });
    await chat.sendMessage({ text: "Who am I?" }, { body: { user: "Ada" } });
    expect(seen).toEqual(["Ada"]);
  });
});
