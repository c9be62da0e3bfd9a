/** Every handler answers a malformed body with a sentence: no status 500, no words of the platform, and no hanging. */
import { describe, expect, it } from "vitest";
import { anthropic, gemini, openai, type Agent, type Run } from "looplet";
import { agUiHandler, agUiResponse } from "looplet/ag-ui";
import { LoopletChatTransport, mistakeResponse, toUIMessageStreamResponse } from "looplet/ai-sdk";
import { scripted } from "looplet/practice";
import { proxy } from "looplet/proxy";
import { memoryStore } from "looplet/stores";
import { agentOf, post, sessions, waiting, wrongs, wrongWith, type Handle } from "./kit.js";

const prompt = [
  { type: "text", text: "Hi" },
  { type: "media", mediaType: "image/png", data: "AA==", name: "a" },
];
const message = { role: "user", content: [{ type: "text", text: "x" }] };

const answered = {
  id: "m2",
  role: "assistant",
  parts: [
    { type: "step-start" },
    { type: "text", text: "a", state: "done", providerMetadata: { looplet: { vendor: { a: 1 } } } },
    { type: "reasoning", text: "x", providerMetadata: { looplet: { signature: "s" } } },
    {
      type: "tool-pay",
      toolCallId: "c1",
      state: "output-available",
      input: { a: 1 },
      output: { b: 1 },
      callProviderMetadata: { looplet: { pending: "waiting", content: [{ type: "text", text: "x" }] } },
    },
    {
      type: "tool-pay",
      toolCallId: "c2",
      state: "approval-responded",
      input: {},
      approval: { id: "r:1", approved: true, reason: "x" },
    },
    {
      type: "dynamic-tool",
      toolName: "where",
      toolCallId: "c3",
      state: "output-error",
      input: "x",
      errorText: "b",
    },
    { type: "file", mediaType: "image/png", url: "data:image/png;base64,AA==", filename: "a" },
    { type: "data-looplet", data: { type: "text", text: "x" } },
    { type: "data-question", id: "q", data: { a: 1 } },
  ],
};
const ui = {
  id: "c",
  trigger: "submit-message",
  messages: [
    { id: "m1", role: "user", parts: [{ type: "text", text: "Hi" }] },
    answered,
    {
      id: "m3",
      role: "user",
      parts: [
        { type: "text", text: "Hi" },
        { type: "file", mediaType: "image/png", url: "data:image/png;base64,AA==", filename: "a.png" },
      ],
    },
  ],
};

const agUiInput = {
  threadId: "t",
  runId: "r",
  state: { a: 1 },
  context: [{ description: "a", value: "b" }],
  forwardedProps: { a: 1 },
  tools: [
    {
      name: "where",
      description: "d",
      parameters: { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
    },
  ],
  messages: [
    { id: "1", role: "user", content: "Hi" },
    {
      id: "2",
      role: "assistant",
      content: "a",
      toolCalls: [{ id: "c", type: "function", function: { name: "where", arguments: "{}" } }],
    },
    { id: "3", role: "tool", content: "x", toolCallId: "c", error: "e" },
    {
      id: "4",
      role: "user",
      content: [
        { type: "text", text: "x" },
        { type: "image", source: { type: "data", value: "AA==", mimeType: "image/png" } },
      ],
    },
  ],
};
const resume = [{ interruptId: "x", status: "resolved", payload: { approved: true } }];

/** The route of the page about the AI SDK. */
function route(isKept: boolean): Handle {
  const transport = new LoopletChatTransport(agentOf(isKept ? memoryStore() : undefined) as never);
  return async (request) => {
    try {
      const { id, messages, trigger, messageId, abortSignal } = Object(await request.json());
      const asked = { chatId: id, messages, trigger, messageId, abortSignal };
      return toUIMessageStreamResponse(await transport.sendMessages(asked));
    } catch (error) {
      return mistakeResponse(error);
    }
  };
}

const agUiServed = (isKept: boolean): Handle =>
  agUiHandler(agentOf(isKept ? memoryStore() : undefined) as Agent, { authorize: () => "eve" });

const ownRun: Handle = async (request) => {
  const input = await request.json().catch(() => undefined);
  return agUiResponse(agentOf().run("Say hello.") as Run, input as never);
};

const proxied = (): Handle => {
  const options = { apiKey: "sk-0123456789abcdef", fetch: scripted([{ text: "Hi." }]), maxOutputTokens: 100 };
  return proxy({
    models: [anthropic("m", options), openai("m", options), gemini("m", options)],
    authorize: () => "e",
  });
};

const trusted = (): Handle => sessions({ trusted: true });
const call = post("/c/call");
const begun = { id: "r", inputs: { a: 1 }, instructions: "x", messages: [] };
const rows: [string, () => Handle | Promise<Handle>, unknown, (body: string | Uint8Array) => Request][] = [
  ["a prompt of a session", sessions, { prompt, requestId: "q" }, post("/c/run")],
  ["a run by connectAgent", sessions, { method: "run", args: [prompt, begun] }, call],
  ["a steer", waiting, { run: "r", method: "steer", args: [prompt, { requestId: "q" }] }, call],
  ["a follow-up", waiting, { run: "r", method: "followUp", args: [prompt, { requestId: "q" }] }, call],
  ["a message that is taken back", waiting, { run: "r", method: "withdraw", args: [1] }, call],
  [
    "an answer by connectAgent",
    waiting,
    { run: "r", method: "answer", args: [1, { behavior: "allow", updatedInput: { a: 1 } }] },
    call,
  ],
  ["a claim", waiting, { run: "r", method: "claim", args: [1, "page"], isAlone: true }, call],
  ["an abort by connectAgent", waiting, { run: "r", method: "abort", args: ["x"] }, call],
  ["a compaction of a run", waiting, { run: "r", method: "compact", args: [{ instructions: "x" }] }, call],
  ["a result", sessions, { run: "r", method: "result", args: [] }, call],
  ["a history", sessions, { method: "reset", args: [[message]] }, call],
  ["a compaction", sessions, { method: "compact", args: [{ id: "r", instructions: "x" }] }, call],
  ["a look at a chat", sessions, { method: "readChat", args: [{ transcripts: true }] }, call],
  [
    "an answer",
    waiting,
    { questionId: 1, answer: { behavior: "deny", message: "x", interrupt: true } },
    post("/c/answer"),
  ],
  ["an abort", waiting, { reason: "x" }, post("/c/abort")],
  ["a prompt of a trusted page", trusted, { prompt, requestId: "q" }, post("/c/run")],
  [
    "a run of a trusted page",
    trusted,
    { method: "run", args: [prompt, { id: "r", inputs: { a: 1 } }] },
    call,
  ],
  ["a history of a trusted page", trusted, { method: "reset", args: [[message]] }, call],
  [
    "a permission mode of a trusted page",
    trusted,
    { run: "r", method: "setPermissionMode", args: ["plan"] },
    call,
  ],
  ["a chat of a trusted page", trusted, { looplet: 1, messages: [message] }, post("/c/session", "PUT")],
  ["a turn of useChat", sessions, ui, post("/ui-messages")],
  [
    "an answer of useChat",
    waiting,
    { ...ui, messages: [{ ...answered, parts: answered.parts.slice(3, 5) }] },
    post("/ui-messages"),
  ],
  ["a turn of AG-UI", sessions, agUiInput, post("/ag-ui")],
  [
    "an answer of AG-UI",
    waiting,
    { threadId: "c", runId: "r", messages: agUiInput.messages.slice(0, 1), resume },
    post("/ag-ui"),
  ],
  ["agUiHandler", () => agUiServed(false), agUiInput, post("/")],
  ["agUiHandler with a store", () => agUiServed(true), agUiInput, post("/")],
  ["agUiHandler with answers", () => agUiServed(true), { ...agUiInput, resume }, post("/")],
  ["agUiHandler, connecting", () => agUiServed(true), agUiInput, post("/connect")],
  ["agUiResponse", () => ownRun, agUiInput, post("/")],
  ["a route of useChat", () => route(false), ui, post("/")],
  [
    "a route of useChat with a store",
    () => route(true),
    { ...ui, abortSignal: null, messageId: "m3" },
    post("/"),
  ],
  [
    "the proxy of Anthropic",
    proxied,
    {
      model: "m",
      max_tokens: 10,
      stream: true,
      tools: [{ name: "a", input_schema: { type: "object" } }],
      thinking: { type: "enabled", budget_tokens: 1 },
      messages: [{ role: "user", content: [{ type: "image", source: { type: "base64", data: "AA==" } }] }],
    },
    post("/api/anthropic/v1/messages"),
  ],
  [
    "the proxy of OpenAI",
    proxied,
    {
      model: "m",
      max_output_tokens: 10,
      reasoning: { effort: "low" },
      input: [{ role: "user", content: "x" }],
    },
    post("/api/openai/responses"),
  ],
  [
    "the proxy of Gemini",
    proxied,
    {
      contents: [{ role: "user", parts: [{ text: "x" }] }],
      generationConfig: { maxOutputTokens: 10, thinkingConfig: { thinkingBudget: 1 } },
    },
    post("/api/google/v1beta/models/m:generateContent"),
  ],
];

describe("a malformed body is answered with a sentence", () => {
  it.each(rows)("as %s", { timeout: 120_000 }, async (_, make, body, request) => {
    expect(await wrongs(make, body, request)).toEqual([]);
  });
});

const WORDS = [
  "",
  "%",
  "%00",
  "%ff",
  "..",
  "a b",
  "\u{1F600}",
  "__proto__",
  "toString",
  "-1",
  "1e400",
  "9".repeat(400),
];

describe("a malformed address is answered with a sentence", () => {
  it("of a session, a run, a cursor and a format", { timeout: 60_000 }, async () => {
    const found: string[] = [];
    const handle = await waiting();
    for (const word of WORDS)
      for (const path of [
        `/${word}`,
        `/${word}/events`,
        `/c/${word}`,
        `/c/events?after=${word}`,
        `/c/events?run=${word}`,
        `/c/events?run=r&after=${word}`,
        `/c/stream?after=${word}`,
        `/c/stream?format=${word}`,
        `/c/stream?format=ui-messages&after=${word}`,
        `/c/stream?format=ui-messages&after=r:${word}`,
        `/ui-messages/${word}`,
        `/ag-ui/c/${word}`,
      ]) {
        const wrong = await wrongWith(
          async (request) => {
            const response = (await handle(request)) as Response;
            if (response.status !== 200) return response;
            // A stream of events waits for more.
            await response.body?.cancel();
            return new Response("");
          },
          new Request(`http://s.test${path}`),
        );
        if (wrong !== undefined) found.push(`${path}: ${wrong}`);
      }
    expect(found).toEqual([]);
  });
});

it("JSON of 95 levels is not too deep", async () => {
  const inputs = `${'{"a":'.repeat(92)}1${"}".repeat(92)}`;
  const body = `{"method":"run","args":["Hi",{"id":"r","inputs":${inputs}}]}`;
  const response = (await sessions()(call(body))) as unknown as Response;
  expect(response.status).toBe(200);
});

it("a field that is null is left out of an input of AG-UI, and a schema without a type is one of an object", async () => {
  const messages = [
    { id: "1", role: "user", content: "Hi", toolCalls: null, toolCallId: null, error: null, name: null },
  ];
  const tools = [
    { name: "where", description: null, parameters: {} },
    { name: "when", parameters: null },
  ];
  const body = { threadId: "t", runId: "r", messages, tools, resume: null, context: null, state: null };
  const response = (await agUiServed(false)(post("/")(JSON.stringify(body)))) as Response;
  expect(response.status).toBe(200);
  expect(await response.text()).toContain("RUN_FINISHED");
});
