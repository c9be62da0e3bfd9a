/** Every response that streams says something while nothing happens, so that no proxy cuts the connection. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createAgent, custom, type Agent } from "looplet";
import { agUi, agUiHandler, agUiResponse } from "looplet/ag-ui";
import { toUIMessageStreamResponse, uiMessages } from "looplet/ai-sdk";
import { scripted } from "looplet/practice";
import { proxy } from "looplet/proxy";
import { handler } from "looplet/server";
import { toEventStream } from "looplet/sprout";
import { memoryStore } from "looplet/stores";
import { claude, KEY, requestOf } from "./proxy/kit.js";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

/** A model that says a word, and nothing else for an hour. */
const silent = custom(async function* ({ signal }) {
  yield "one ";
  await new Promise((resolve) => {
    signal.addEventListener("abort", resolve);
    setTimeout(resolve, 3_600_000);
  });
});
const agent = (options: object = {}): Agent => createAgent({ model: silent, ...options }) as Agent;

const POST = (url: string, body: object, accept = "text/event-stream"): Request =>
  new Request(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept },
    body: JSON.stringify(body),
  });

/** A server of the agent in all its formats. */
function served(): (request: Request) => Promise<Response> {
  const store = memoryStore();
  const formats = [agUi(), uiMessages()];
  return handler<Request>(agent({ store }), { store, base: "/api", authorize: () => "ada", formats });
}

const agUiInput = {
  threadId: "t",
  runId: "r",
  state: {},
  messages: [{ id: "m", role: "user" as const, content: "Go." }],
  tools: [],
  context: [],
  forwardedProps: {},
};
const uiInput = { id: "u", messages: [{ id: "m", role: "user", parts: [{ type: "text", text: "Go." }] }] };

/** A vendor whose stream stops between two events. */
const vendor = async (url: string, init: object): Promise<Response> => {
  const whole = await new Response(
    ((await scripted([{ text: "one" }])(url, init as never)) as Response).body,
  ).text();
  const begun = whole.slice(0, whole.indexOf("\n\n") + 2);
  const body = new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode(begun)),
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
};

const streams: Record<string, () => unknown> = {
  "POST …/run of looplet/server": () => served()(POST("http://s.test/api/a/run", { prompt: "Go." })),
  "GET …/events of looplet/server": async () => {
    const handle = served();
    await handle(POST("http://s.test/api/a/run", { prompt: "Go." }, "application/json"));
    return handle(new Request("http://s.test/api/a/events?with=run"));
  },
  "GET …/stream of looplet/server": async () => {
    const handle = served();
    await handle(POST("http://s.test/api/a/run", { prompt: "Go." }, "application/json"));
    return handle(new Request("http://s.test/api/a/stream"));
  },
  "the format of AG-UI": () => served()(POST("http://s.test/api/ag-ui", agUiInput)),
  "the format of the AI SDK": () => served()(POST("http://s.test/api/ui-messages", uiInput)),
  agUiHandler: () =>
    agUiHandler(agent() as never, { authorize: () => "ada" })(POST("http://s.test/ag-ui", agUiInput)),
  agUiResponse: () => agUiResponse(agent().run("Go."), agUiInput as never),
  toUIMessageStreamResponse: () => toUIMessageStreamResponse(agent().run("Go.")),
  "toEventStream of looplet/sprout": () =>
    new Response(
      toEventStream(
        { systemPrompt: "x", userMessage: "Go.", tools: [], host: { model: () => silent } } as never,
        { agent: "a" },
      ) as never,
    ),
  "looplet/proxy": () =>
    proxy({ models: [claude({ apiKey: KEY })], authorize: () => "ada", fetch: vendor as never })(requestOf()),
};

it.each(Object.entries(streams))("%s sends a comment while the run is silent", async (_, open) => {
  const response = (await steadily(Promise.resolve(open()))) as Response;
  expect(response.status).toBe(200);
  const reader = response.body!.pipeThrough(new TextDecoderStream() as never).getReader();
  let text = "";
  const comments = (): number => text.split("\n\n").filter((event) => /^:\s*$/.test(event)).length;
  const reading = (async () => {
    while (comments() < 3) text += (await reader.read()).value as string;
  })();
  await steadily(reading, 120_000);
  expect(comments()).toBe(3);
  await reader.cancel();
});

/** Lets the virtual time go on, at most so many milliseconds behind the first minute of real work. */
async function steadily<T>(promise: Promise<T>, ms = Infinity): Promise<T> {
  let isSettled = false;
  const settle = (): unknown => (isSettled = true);
  promise.then(settle, settle);
  for (let at = 0; at < ms && !isSettled; at += 100) {
    await vi.advanceTimersByTimeAsync(100);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(isSettled).toBe(true);
  return promise;
}

it("looplet/proxy sends no comment within an event of its vendor", async () => {
  const parts = ["data: {", '"type":"ping"}\n', "\n"];
  const body = new ReadableStream({
    async pull(controller) {
      const part = parts.shift();
      if (part === undefined) return controller.close();
      controller.enqueue(new TextEncoder().encode(part));
      await new Promise((resolve) => setTimeout(resolve, 60_000));
    },
  });
  const fetch = async (): Promise<Response> =>
    new Response(body, { headers: { "content-type": "text/event-stream" } });
  const response = await proxy({ models: [claude()], authorize: () => "ada", fetch: fetch as never })(
    requestOf(),
  );
  const text = await steadily(new Response(response.body as never).text());
  expect(text.replaceAll(": \n\n", "")).toBe('data: {"type":"ping"}\n\n');
  expect(text.startsWith('data: {"type":"ping"}\n')).toBe(true);
});
