import { HttpAgent } from "@ag-ui/client";
import { HttpAgent as OlderAgent } from "ag-ui-client-0-0-59";
import { beforeAll, describe, expect, it } from "vitest";
import { LoopletError, tool } from "looplet";
import { agUiAgent, agUiHandler, type AgUiHandlerOptions } from "looplet/ag-ui";
import { agentOf, handlerOf, inputOf, requestOf, said } from "./kit.js";

// The first run loads the engine.
beforeAll(() => agentOf([{ text: "Hi." }]).run("Hi").result);

const hello = () => agentOf([{ text: "Hi." }]);

const toolsOf = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ name: `t${at}`, description: "x", parameters: {} }));

describe("the route", () => {
  const answered = async (request: Request, options: Partial<AgUiHandlerOptions> = {}) => {
    const response = await handlerOf(hello(), options)(request);
    return { status: response.status, text: await response.text() };
  };

  it("answers with server-sent events, which nothing on the way keeps back or changes", async () => {
    const response = await handlerOf(hello())(requestOf(inputOf()));
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(response.headers.get("cache-control")).toBe("no-store, no-transform");
    expect(response.headers.get("x-accel-buffering")).toBe("no");
    const text = await response.text();
    expect(text).toMatch(/^id: 1\ndata: \{"type":"RUN_STARTED"/);
    expect(text).not.toContain("\r");
  });

  it("refuses a method, a type, a stranger and a long body, before the agent hears of it", async () => {
    const headers = (type: string) => ({ headers: { "content-type": type } });
    expect(await answered(new Request("https://app.test/agent"))).toMatchObject({ status: 405 });
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/jsonp"])
      expect(await answered(requestOf(inputOf(), headers(type)))).toMatchObject({ status: 415 });
    expect(await answered(requestOf(inputOf(), headers("Application/JSON; charset=utf-8")))).toMatchObject({
      status: 200,
    });
    for (const owner of [undefined, null, "", 7 as never, true as never])
      expect(await answered(requestOf(inputOf()), { authorize: () => owner })).toMatchObject({ status: 401 });
    expect(await answered(requestOf(inputOf()), { maxBodyBytes: 20 })).toEqual({
      status: 413,
      text: '{"error":"The body is longer than 20 bytes."}',
    });
  });

  it("says what is wrong with an input", async () => {
    const wrong: [unknown, RegExp][] = [
      [[], /needs an object/],
      [inputOf({ threadId: "" }), /^\{"error":"threadId: must not be empty/],
      [inputOf({ threadId: "\ud800" }), /lone surrogate/],
      [{ ...inputOf(), runId: 7 }, /runId: needs a string/],
      [{ ...inputOf(), messages: {} }, /messages: needs a list/],
      [inputOf({ messages: [{ ...said("Hi"), id: "" }] }), /messages: needs a list/],
      [inputOf({ messages: [{ ...said("Hi"), role: "root" as never }] }), /messages/],
      [inputOf({ messages: [{ id: "t", role: "tool", content: "7" }] }), /messages/],
      [inputOf({ tools: [{ description: "x" } as never] }), /tools: needs a list/],
      [inputOf({ tools: toolsOf(2001) }), /tools: takes 2000 tools of a page at most/],
      [inputOf({ resume: [{ interruptId: "x", status: "maybe" as never }] }), /resume: needs a list/],
    ];
    for (const [input, words] of wrong)
      expect(await answered(requestOf(input))).toEqual({ status: 400, text: expect.stringMatching(words) });
    expect((await answered(requestOf(inputOf({ tools: toolsOf(2000) })))).status).toBe(200);
    const body = "{";
    expect(await answered(requestOf({}, { body }))).toEqual({
      status: 400,
      text: '{"error":"The body is not JSON."}',
    });
  });

  it("tells a page the mistakes of the page alone", async () => {
    const secret = new Error("the password of the database is 7");
    const heard: unknown[] = [];
    const { reportError } = globalThis as { reportError?: unknown };
    Object.assign(globalThis, { reportError: (error: unknown) => heard.push(error) });
    const handler = handlerOf(() => Promise.reject(secret));
    const text = await (await handler(requestOf(inputOf()))).text();
    Object.assign(globalThis, { reportError });
    expect(text).toContain("RUN_ERROR");
    expect(text).not.toContain("password");
    expect(heard).toEqual([secret]);
    const empty = await answered(requestOf(inputOf({ messages: [] })));
    expect(empty.text).toContain("needs a message of the user");
    const file = { type: "image", source: { type: "file", value: "f" } };
    const unknown = await answered(
      requestOf(inputOf({ messages: [{ id: "u", role: "user", content: [file] }] })),
    );
    expect(unknown.text).toContain("messages[0].content[0]: needs a text, or an image");
  });

  it("needs `authorize`, and names an option that it does not know", () => {
    const make = (options: object) => () => agUiHandler(hello(), options as never);
    expect(make({})).toThrow("authorize: is required");
    expect(make({ authorize: () => "a", authorise: 1 })).toThrow(LoopletError);
  });

  it("aborts the run when the page goes away, unless it shall go on", async () => {
    const began = async (keepRunning: boolean) => {
      const aborted: boolean[] = [];
      let release = (): void => {};
      const gate = new Promise<void>((resolve) => (release = resolve));
      const wait = tool({
        description: "Waits.",
        inputSchema: { type: "object" },
        execute: async (_: object, { signal }) => {
          await gate;
          aborted.push(signal.aborted);
        },
      });
      const agent = agentOf([{ toolCalls: [{ id: "w", name: "wait", input: {} }] }, { text: "Done." }], {
        tools: { wait },
      });
      const left = new AbortController();
      const response = await handlerOf(agent, { keepRunning })(requestOf(inputOf(), { signal: left.signal }));
      const reader = response.body!.getReader();
      const decoder = new TextDecoder();
      for (let text = ""; !text.includes("TOOL_CALL_END");)
        text += decoder.decode((await reader.read()).value);
      left.abort();
      await reader.cancel();
      release();
      await new Promise((resolve) => setTimeout(resolve, 0));
      return aborted;
    };
    expect(await began(false)).toEqual([true]);
    expect(await began(true)).toEqual([false]);
  });
});

describe("an agent of AG-UI in the page", () => {
  const color = { name: "color", description: "Colours the page.", parameters: { type: "object" } };

  it("is one of `@ag-ui/client`, which runs tools of the page and takes approvals", async () => {
    const pay = tool({
      description: "Pays.",
      inputSchema: { type: "object" },
      needsApproval: true,
      execute: () => "paid",
    });
    const agent = agentOf(
      [
        { toolCalls: [{ id: "c", name: "color", input: { to: "red" } }] },
        { text: "I pay.", toolCalls: [{ id: "p", name: "pay", input: {} }] },
        { text: "Done." },
      ],
      { tools: { pay } },
    );
    const page = agUiAgent(agent, { HttpAgent, config: { threadId: "t" } });
    const pending: unknown[] = [];
    page.addMessage({ id: "u", role: "user", content: "Red, and pay" });
    await page.runAgent(
      { tools: [color] },
      {
        onRunFinishedEvent: (event) =>
          void pending.push((event as { pendingToolCallIds?: unknown }).pendingToolCallIds),
      },
    );
    expect(pending).toEqual([["c"]]);
    page.addMessage({ id: "t", role: "tool", toolCallId: "c", content: "it is red" });
    await page.runAgent({ tools: [color] });
    const [interrupt] = page.pendingInterrupts;
    expect(interrupt).toMatchObject({ reason: "tool_call", toolCallId: "p" });
    await expect(page.runAgent()).rejects.toThrow("pending interrupt");
    const { newMessages } = await page.runAgent({
      resume: [{ interruptId: interrupt!.id, status: "resolved", payload: { approved: true } }],
    });
    expect(newMessages).toMatchObject([
      { role: "tool", content: "paid" },
      { role: "assistant", content: "Done." },
    ]);
    expect(page.pendingInterrupts).toEqual([]);
  });

  it("stops its run by `abortRun`, and shares its conversations with its clones", async () => {
    const page = agUiAgent(agentOf([{ hang: true }, { text: "Hi." }]), { HttpAgent });
    page.addMessage({ id: "u", role: "user", content: "Hello" });
    const run = page.runAgent({}, { onStepStartedEvent: () => page.abortRun() });
    await run;
    const clone = page.clone();
    const { newMessages } = await clone.runAgent();
    expect(newMessages).toMatchObject([{ content: "Hi." }]);
  });

  it("may be one from before 1.0, which knows fewer fields and outcomes", async () => {
    const draw = tool({
      description: "Draws.",
      inputSchema: { type: "object" },
      execute: () => ({
        content: [
          { type: "text", text: "A dot" },
          { type: "media", mediaType: "image/png", data: "iVBO" },
        ],
      }),
    });
    const pay = tool({
      description: "Pays.",
      inputSchema: { type: "object" },
      needsApproval: true,
      execute: () => "paid",
    });
    const call = (name: string, id = name) => ({ toolCalls: [{ id, name, input: {} }] });
    const agent = agentOf(
      [call("draw"), call("color"), call("pay"), call("draw", "again"), { text: "Done." }],
      {
        tools: { draw, pay },
        limits: { maxIterations: 4 },
      },
    );
    const page = agUiAgent(agent, { HttpAgent: OlderAgent, config: { threadId: "t" } });
    page.addMessage({ id: "u", role: "user", content: "Draw, red, and pay" });
    const ends: object[] = [];
    const onEvent = ({ event }: { event: { type: string } }): void => {
      if (event.type === "RUN_FINISHED") ends.push(event);
    };
    await page.runAgent({ tools: [color] }, { onEvent } as never);
    // assistant-ui takes a run with an outcome as complete, and never returns the result of a page's tool.
    expect(ends).toHaveLength(1);
    expect(ends[0]).not.toHaveProperty("outcome");
    expect(page.messages.map(({ role, content }) => [role, content])).toEqual([
      ["user", "Draw, red, and pay"],
      ["assistant", undefined],
      ["tool", "A dot"],
      ["assistant", undefined],
    ]);
    page.addMessage({ id: "t", role: "tool", toolCallId: "color", content: "it is red" });
    await page.runAgent({ tools: [color] });
    const { id } = page.pendingInterrupts[0]!;
    await page.runAgent({ resume: [{ interruptId: id, status: "resolved", payload: { approved: true } }] });
    expect(page.messages.at(-1)).toMatchObject({ role: "tool", content: "A dot" });
    expect(page.pendingInterrupts).toEqual([]);
  });

  it("needs the class", () => {
    expect(() => agUiAgent(hello(), {} as never)).toThrow(
      "HttpAgent: needs the class HttpAgent of @ag-ui/client",
    );
  });
});
