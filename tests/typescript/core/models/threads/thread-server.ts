/**
 * A server of Anthropic's Messages that holds conversations, by the rules of
 * https://platform.claude.com/docs/en/build-with-claude/message-threads and of `@anthropic-ai/sdk` 1.14.0 (2026-11-29).
 */
type Block = { readonly [field: string]: any };
type Message = { readonly role: string; readonly content: string | readonly Block[] };
type Body = { [field: string]: any; messages: Message[] };
type Fetch = (url: string, init: any) => Promise<Response>;

/** What a request was: what it sent, and the conversation that the model was shown. */
export interface Asked {
  readonly kind: "create" | "continue" | "none";
  readonly bytes: number;
  readonly body: Body;
  readonly refused?: string;
  /** The whole request, without `thread` and markers. Absent if it was refused. */
  readonly whole?: Body;
}

export interface ThreadServer {
  readonly fetch: Fetch;
  readonly asked: Asked[];
  /** The kinds of the requests in their order, with the code of a refusal. */
  kinds(): string;
  /** Forgets the conversations. */
  forget(): void;
  /** Called with each request before it is answered; a response of it takes the place of the answer. */
  before?: (asked: Asked, index: number) => Response | undefined;
  /** The number of events after which the answer to the request of this index breaks off. */
  readonly cut: Map<number, number>;
  nowMs: number;
}

/** What the model answers: blocks, and why it stops. */
export interface Reply {
  readonly content: readonly Block[];
  readonly stop?: string;
  readonly model?: string;
}

/** A call of the tool `name`. */
export const call = (id: string, name: string, input: object = {}): Reply => ({
  content: [
    { type: "text", text: "I look." },
    { type: "tool_use", id: `toolu_${id}`, name, input },
  ],
  stop: "tool_use",
});

export const text = (words: string, stop = "end_turn"): Reply => ({
  content: [{ type: "text", text: words }],
  stop,
});

const BETA = "message-threads-2026-08-12";
const MINUTES_5 = 300_000;
/** The fields that may differ from request to request. */
const FREE = ["messages", "thread", "system", "tools", "container", "metadata", "max_tokens", "stream"];

/** `script` gets the whole request and the number of answers before it. `unsupported` refuses threads. */
export function threadServer(
  script: (body: Body, answers: number, headers: Headers) => Reply | Promise<Reply>,
  { unsupported = false, holds = true } = {},
): ThreadServer {
  interface Held {
    readonly whole: Body;
    readonly fields: string;
    usedMs: number;
    continued?: "in flight" | "done" | undefined;
  }
  const held = new Map<string, Held>();
  let answers = 0;
  const fieldsOf = (body: Body): string =>
    JSON.stringify(Object.entries(body).filter(([name]) => !FREE.includes(name)));

  const server: ThreadServer = {
    asked: [],
    cut: new Map(),
    nowMs: 0,
    forget: () => held.clear(),
    kinds: () => server.asked.map(({ kind, refused }) => (refused ? `${kind}!${refused}` : kind)).join(" "),
    async fetch(_url, init) {
      const sent = await new Response(init.body).text();
      const body = JSON.parse(sent) as Body;
      const index = server.asked.length;
      const { thread } = body;
      const about = { kind: thread?.type ?? "none", bytes: sent.length, body } as const;
      const refuse = (status: number, code: string, message = "Their words."): Response => {
        server.asked.push({ ...about, refused: code });
        const type = status === 404 ? "not_found_error" : "invalid_request_error";
        const details = code === "" ? {} : { details: { error_code: code } };
        return Response.json({ type: "error", error: { type, message, ...details } }, { status });
      };
      const own = server.before?.({ ...about }, index);
      if (own !== undefined) {
        server.asked.push({ ...about, refused: String(own.status) });
        return own;
      }
      if (thread !== undefined && unsupported) return refuse(400, "thread_unsupported_request");
      const betas = new Headers(init.headers).get("anthropic-beta")?.split(",") ?? [];
      if (thread !== undefined && !betas.includes(BETA))
        return refuse(400, "", "thread: Extra inputs are not permitted");
      let whole: Body = body;
      let before: Held | undefined;
      if (thread?.type === "continue") {
        if ("system" in body || "tools" in body) return refuse(400, "", "system: not on a continue");
        before = held.get(thread.previous_message_id);
        if (before === undefined || server.nowMs - before.usedMs > MINUTES_5)
          return refuse(404, "thread_not_found");
        if (before.continued === "in flight") return refuse(400, "thread_continue_in_flight");
        if (before.continued === "done") return refuse(400, "thread_already_continued");
        if (before.fields !== fieldsOf(body)) return refuse(400, "thread_fingerprint_mismatch");
        const { system, tools } = before.whole;
        whole = { ...body, system, tools, messages: [...before.whole.messages, ...body.messages] };
        before.continued = "in flight";
      }
      const problem = problemOf(whole);
      if (problem !== undefined) return refuse(400, "", problem);
      server.asked.push({ ...about, whole: plain(whole) });
      const reply = await script(plain(whole), answers++, new Headers(init.headers));
      const { content, stop = "end_turn", model = body["model"] } = reply;
      const message = {
        id: `msg_${index}`,
        type: "message",
        role: "assistant",
        model,
        content,
        stop_reason: stop,
        stop_sequence: null,
        usage: { input_tokens: Math.ceil(JSON.stringify(whole).length / 4), output_tokens: 5 },
      };
      const cut = server.cut.get(index);
      // An answer that breaks off here goes on at the server, which has continued the one before.
      if (before !== undefined) before.continued = cut === undefined ? "done" : before.continued;
      const isHeld = holds && cut === undefined && stop !== "refusal" && model === body["model"];
      if (thread !== undefined && isHeld) {
        const messages = [...whole.messages, { role: "assistant", content }];
        held.set(message.id, { whole: { ...whole, messages }, fields: fieldsOf(body), usedMs: server.nowMs });
      }
      return body["stream"] === true ? streamed(message, cut) : Response.json(message);
    },
  };
  return server;
}

/** A request without `thread` and markers, which mean nothing to the model. */
function plain(body: Body): Body {
  const { thread: _, ...rest } = body;
  const text = JSON.stringify(rest, (key, value: unknown) => (key === "cache_control" ? undefined : value));
  return JSON.parse(text) as Body;
}

/** Messages that the API refuses. */
function problemOf({ messages, thread, tools, system }: Body): string | undefined {
  const marks = JSON.stringify([messages, tools, system]).split('"cache_control"').length - 1;
  if (thread?.type === "create" && marks > 3) return "thread: a maximum of 3 blocks with cache_control";
  for (const [index, { role, content }] of messages.entries()) {
    const blocks = typeof content === "string" ? [] : content;
    const before = messages[index - 1]?.content ?? [];
    const calls = (typeof before === "string" ? [] : before).filter(({ type }) => type === "tool_use");
    const results = blocks.filter(({ type }) => type === "tool_result");
    if (role === "user" && results.length !== calls.length) return `messages.${index}: results without calls`;
    if (role === "user" && results.some(({ tool_use_id: id }) => !calls.some((one) => one.id === id)))
      return `messages.${index}: unexpected tool_use_id`;
  }
  return undefined;
}

function streamed(message: any, cut: number | undefined): Response {
  const events: object[] = [
    { type: "message_start", message: { ...message, content: [], stop_reason: null } },
  ];
  for (const [index, block] of message.content.entries()) {
    const isCall = block.type === "tool_use";
    const start = isCall ? { ...block, input: {} } : block.type === "text" ? { ...block, text: "" } : block;
    events.push({ type: "content_block_start", index, content_block: start });
    const json = { type: "input_json_delta", partial_json: JSON.stringify(block.input) };
    if (isCall) events.push({ type: "content_block_delta", index, delta: json });
    if (block.type === "text")
      events.push({ type: "content_block_delta", index, delta: { type: "text_delta", text: block.text } });
    events.push({ type: "content_block_stop", index });
  }
  const { stop_reason, usage } = message;
  events.push({ type: "message_delta", delta: { stop_reason }, usage }, { type: "message_stop" });
  const encoder = new TextEncoder();
  const body = new ReadableStream({
    start(controller) {
      for (const event of events.slice(0, cut)) {
        const { type } = event as { type: string };
        controller.enqueue(encoder.encode(`event: ${type}\ndata: ${JSON.stringify(event)}\n\n`));
      }
      if (cut === undefined) controller.close();
      else controller.error(new TypeError("the connection broke"));
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}
