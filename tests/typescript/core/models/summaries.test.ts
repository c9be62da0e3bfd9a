/**
 * The vendors' own summaries, against servers that play the vendors' checks of what precedes reasoning. See
 * VENDORS.md, section 5, beside the project.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { anthropic, createAgent, openai, tool, type AgentOptions, type RunEvent } from "looplet";
import { memoryStore } from "looplet/stores";
import { compacting } from "../../support/compacting.js";

const shared = process.env["LOOPLET_SHARED"] ?? join(import.meta.dirname, "../../../../../shared");
const servers = join(shared, "vendors/prefix-server.mjs");
const isThere = existsSync(servers);
if (!isThere) console.warn(`SKIPPED summaries: no ${servers} (set LOOPLET_SHARED)`);
const { anthropicServer, openaiServer } = isThere ? await import(servers) : ({} as any);

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** A vendor, with what it was asked, has refused and has dropped. */
interface Vendor {
  readonly server: any;
  model(options?: object, wrap?: (fetch: Fetch) => Fetch): any;
  dropped(): unknown[];
  /** For each request, `C` for one that asks for a summary, else the number of its blocks of reasoning. */
  asked(): string;
}

const count = (blocks: any[], type: string): number => blocks.filter((block) => block.type === type).length;

const vendors: { [name: string]: (script: unknown) => Vendor } = {
  Anthropic(script) {
    const server = anthropicServer({ script, strictForm: true });
    return {
      server,
      model: (more = {}, wrap = (fetch) => fetch) =>
        anthropic("claude-fable-5-2", { apiKey: "k", fetch: wrap(compacting(server)) as any, ...more }),
      dropped: () => server.dropped.filter((one: any) => one.reason === "prefix_binding_mismatch"),
      asked: () =>
        server.requests
          .map(({ body }: any) =>
            body.compaction
              ? "C"
              : count(
                  body.messages.flatMap(({ content }: any) => content),
                  "thinking",
                ),
          )
          .join(" "),
    };
  },
  OpenAI(script) {
    const server = openaiServer({ script });
    return {
      server,
      model: (more = {}, wrap = (fetch) => fetch) =>
        openai("gpt-6.2-sol", { apiKey: "k", fetch: wrap(compacting(server)) as any, ...more }),
      // A request for a summary has no tools, which could be compared.
      dropped: () =>
        server.removed.filter(
          (one: any) =>
            one.reason === "prefix_mismatch" && !/compact$/.test(server.requests[one.request].url),
        ),
      asked: () =>
        server.requests
          .map(({ url, body }: any) => (/compact$/.test(url) ? "C" : count(body.input, "reasoning")))
          .join(" "),
    };
  },
};

let looks = 0;
const look = (): any =>
  tool({
    description: "x",
    inputSchema: { type: "object" },
    execute: () => `${++looks} ${"result ".repeat(300)}`,
  });

/** Calls the tool so often, then says that it is done. */
const calls = (times: number) => (index: number) =>
  index < times ? { calls: [{ name: "look", input: { n: index } }] } : { text: "done" };

/** The window is nearly full after seven rounds. */
const FULL: AgentOptions["context"] = { window: 8_000, compaction: { threshold: 0.6 } };

const clean = (vendor: Vendor) => ({ refused: vendor.server.refused, dropped: vendor.dropped() });
const CLEAN = { refused: [], dropped: [] };

const textsOf = (body: unknown): string => JSON.stringify(body);
const SUMMARY = "[Context summary: ";

describe.skipIf(!isThere).each(Object.keys(vendors))("%s summarises itself", (name) => {
  it.each([true, false])("and the answers behind keep their reasoning (stream: %s)", async (stream) => {
    const vendor = vendors[name]!(calls(11));
    const agent = createAgent({
      model: vendor.model({ stream }),
      system: "S",
      tools: { look: look() },
      context: FULL,
    });
    const events: RunEvent[] = [];
    const result = await agent.run("go", { onEvent: (event) => events.push(event) }).result;
    expect(result.outcome).toBe("completed");
    expect(clean(vendor)).toEqual(CLEAN);
    // Three answers stay, and so does their reasoning, while that of the next ones is added.
    expect(vendor.asked()).toMatch(/^0 1 2 3 4 .*C 3 4/);
    const boundaries = events.filter(({ type }) => type === "compact-boundary");
    expect(boundaries.length).toBeGreaterThan(0);
    for (const boundary of boundaries) expect(boundary).toMatchObject({ trigger: "auto", by: "vendor" });
    expect(events.filter(({ type }) => type === "warning")).toEqual([]);
    // The caller has all messages, and the summary among them.
    const all = textsOf(result.messages);
    expect(result.messages.filter(({ role }) => role === "assistant")).toHaveLength(12);
    expect(all.match(/"purpose":"summary"/g)).toHaveLength(boundaries.length);
    // They go on in another run.
    vendor.server.requests.length = 0;
    await agent.run("on", { messages: result.messages }).result;
    expect(clean(vendor)).toEqual(CLEAN);
    expect(textsOf(vendor.server.requests[0].body)).toContain('"type":"compaction"');
    expect(textsOf(vendor.server.requests[0].body)).not.toContain(SUMMARY);
  });

  it("and a chat goes on in another process, whose system prompt and tools are others", async () => {
    const vendor = vendors[name]!((index: number) => (index % 9 < 8 ? calls(99)(index) : { text: "done" }));
    const store = memoryStore();
    const before = createAgent({
      model: vendor.model(),
      store,
      system: "Old.",
      tools: { look: look() },
      context: FULL,
    });
    const chat = await before.openChat("c");
    await chat.run("one").result;
    await chat.close();
    expect(vendor.asked()).toContain("C");
    const said = chat.messages.length;
    const more = tool({ description: "more", inputSchema: { type: "object" }, execute: () => "" });
    const after = createAgent({
      model: vendor.model(),
      store,
      system: "New.",
      tools: { look: look(), more },
      context: FULL,
    });
    const again = await after.openChat("c");
    expect(again.messages).toEqual(chat.messages);
    const first = vendor.server.requests.length;
    expect(await again.run("two").result).toMatchObject({ outcome: "completed" });
    expect(clean(vendor)).toEqual(CLEAN);
    expect(textsOf(vendor.server.requests[first].body)).toContain('"type":"compaction"');
    expect(again.messages.slice(0, said)).toEqual(chat.messages);
    await again.close();
  });

  it("and if it refuses, the model does, and the vendor is not asked again", async () => {
    const vendor = vendors[name]!((index: number, body: unknown) =>
      textsOf(body).includes("write a summary") ? { text: "They looked." } : calls(24)(index),
    );
    let refusals = 0;
    const refusing =
      (fetch: Fetch): Fetch =>
      async (url, init) => {
        if (
          !/compact$/.test(url) &&
          !/"compaction":\{/.test(String(init.body) + (await new Response(init.body).text()))
        )
          return fetch(url, init);
        refusals++;
        const message = "compaction: Extra inputs are not permitted";
        return Response.json({ error: { type: "invalid_request_error", message } }, { status: 400 });
      };
    const agent = createAgent({
      model: vendor.model({}, refusing),
      tools: { look: look() },
      context: FULL,
      limits: { maxIterations: 40 },
    });
    const events: RunEvent[] = [];
    const result = await agent.run("go", { onEvent: (event) => events.push(event) }).result;
    expect(result.outcome).toBe("completed");
    const authors = events.flatMap((event) => (event.type === "compact-boundary" ? [event.by] : []));
    expect(authors.length).toBeGreaterThan(1);
    expect(new Set(authors)).toEqual(new Set(["model"]));
    expect(refusals).toBe(1);
    const codes = events.flatMap((event) => (event.type === "warning" ? [event.code] : []));
    expect(codes.filter((code) => code === "vendor_summary_failed")).toHaveLength(1);
    expect(clean(vendor)).toEqual(CLEAN);
  });

  it("and its tokens count in the budget of the run", async () => {
    const usage = async (summarize: "vendor" | "model") => {
      const vendor = vendors[name]!((index: number, body: unknown) =>
        textsOf(body).includes("write a summary") ? { text: "They looked." } : calls(11)(index),
      );
      const context = { ...FULL, compaction: { threshold: 0.6, summarize } };
      const agent = createAgent({ model: vendor.model(), tools: { look: look() }, context });
      const run = await agent.run("go").result;
      return { run, vendor };
    };
    const { run, vendor } = await usage("vendor");
    const reported = (answers: any[]) =>
      answers.reduce((sum, { usage: { input_tokens, iterations = [] } }) => {
        return sum + input_tokens + iterations.reduce((all: number, one: any) => all + one.input_tokens, 0);
      }, 0);
    const compacted = name === "OpenAI" ? 10 * vendor.asked().split("C").length - 10 : 0;
    expect(run.usage?.inputTokens).toBe(reported(vendor.server.answers) + compacted);
    const own = await usage("model");
    expect(own.vendor.asked()).not.toContain("C");
    expect(textsOf(own.run.messages)).toContain(`${SUMMARY}They looked.]`);
    expect(clean(own.vendor)).toEqual(CLEAN);
  });

  it("when a chat is to be compacted, and the model does if wishes cannot be told to the vendor", async () => {
    const vendor = vendors[name]!((index: number, body: unknown) =>
      textsOf(body).includes("write a summary") ? { text: "They looked." } : calls(0)(index),
    );
    const agent = createAgent({ model: vendor.model(), context: { compaction: { keepLast: 1 } } });
    const chat = agent.chat();
    for (const prompt of ["one", "two", "three", "four"])
      await chat.run(`${prompt} ${"x".repeat(400)}`).result;
    const authors: unknown[] = [];
    const onEvent = (event: RunEvent) => {
      if (event.type === "compact-boundary") authors.push(event.by);
    };
    expect(await chat.compact({ onEvent }).result).toMatchObject({ outcome: "completed", iterations: 0 });
    await chat.run(`five ${"x".repeat(400)}`).result;
    await chat.run(`six ${"x".repeat(400)}`).result;
    await chat.compact({ instructions: "Keep numbers.", onEvent }).result;
    await chat.run("seven").result;
    expect(authors).toEqual(["vendor", name === "OpenAI" ? "model" : "vendor"]);
    expect(clean(vendor)).toEqual(CLEAN);
    expect(chat.messages.filter(({ role }) => role === "assistant")).toHaveLength(7);
    const wishes = vendor.server.requests.filter(({ body }: any) => textsOf(body).includes("Keep numbers."));
    expect(wishes).toHaveLength(1);
  });

  it("and another vendor gets its text, or the whole history where that is secret", async () => {
    const vendor = vendors[name]!(calls(11));
    const other = vendors[name === "OpenAI" ? "Anthropic" : "OpenAI"]!(calls(1));
    const agent = createAgent({ model: vendor.model(), tools: { look: look() }, context: FULL });
    const { messages } = await agent.run("go").result;
    const next = createAgent({ model: other.model(), tools: { look: look() } });
    const result = await next.run("on", { messages }).result;
    expect(result.outcome).toBe("completed");
    expect(clean(other)).toEqual(CLEAN);
    const sent = textsOf(other.server.requests[0].body);
    expect(sent).not.toContain('"compaction"');
    if (name === "OpenAI") expect(sent).not.toContain(SUMMARY);
    else expect(sent).toContain(`${SUMMARY}Summary of`);
    expect(sent.includes('"n":0') || sent.includes('{\\"n\\":0}')).toBe(name === "OpenAI");
    // And back.
    const back = await agent.run("back", { messages: result.messages }).result;
    expect(back.outcome).toBe("completed");
    expect(clean(vendor)).toEqual(CLEAN);
  });
});

it.skipIf(!isThere)("an answer without a summary gives way to the model's", async () => {
  const vendor = vendors["Anthropic"]!((index: number, body: unknown) =>
    textsOf(body).includes("write a summary") ? { text: "They looked." } : calls(11)(index),
  );
  const cutOff =
    (fetch: Fetch): Fetch =>
    async (url, init) => {
      if (!/"compaction":\{/.test(await new Response(init.body).text())) return fetch(url, init);
      const usage = {
        input_tokens: 0,
        output_tokens: 0,
        iterations: [{ type: "compaction", input_tokens: 700, output_tokens: 50 }],
      };
      return Response.json({
        type: "message",
        role: "assistant",
        content: [],
        stop_reason: "max_tokens",
        usage,
      });
    };
  const agent = createAgent({ model: vendor.model({}, cutOff), tools: { look: look() }, context: FULL });
  const events: RunEvent[] = [];
  const result = await agent.run("go", { onEvent: (event) => events.push(event) }).result;
  expect(result.outcome).toBe("completed");
  expect(textsOf(result.messages)).toContain(`${SUMMARY}They looked.]`);
  const warning = events.find((event) => event.type === "warning");
  expect(warning).toMatchObject({
    code: "vendor_summary_failed",
    message: expect.stringContaining("max_tokens"),
  });
  expect(clean(vendor)).toEqual(CLEAN);
});

/** A vendor's own compaction is an item of an ordinary answer, between its reasoning and its calls. */
it.skipIf(!isThere).each([true, false])(
  "an item of OpenAI's `context_management` stays in its answer and goes back in its place (stream: %s)",
  async (stream) => {
    const item = { type: "compaction", id: "cmp_1", encrypted_content: "secret" };
    const vendor = vendors["OpenAI"]!((index: number) =>
      index === 2 ? { items: [item], ...calls(9)(index) } : calls(index % 5 === 4 ? 0 : 9)(index),
    );
    const management = [{ type: "compaction", compact_threshold: 2_000 }];
    const store = memoryStore();
    const openChat = () =>
      createAgent({
        model: vendor.model({ stream, body: { context_management: management } }),
        store,
        tools: { look: look() },
      }).openChat("c");
    const chat = await openChat();
    expect(await chat.run("go").result).toMatchObject({ outcome: "completed" });
    await chat.close();
    const again = await openChat();
    expect(await again.run("on").result).toMatchObject({ outcome: "completed" });
    await again.close();
    expect(clean(vendor)).toEqual(CLEAN);
    // All reasoning goes out, also that after the item.
    expect(vendor.asked()).toBe("0 1 2 3 4 5 6 7 8 9");
    for (const [at, { body }] of vendor.server.requests.entries()) {
      expect(body.context_management).toEqual(management);
      const types: string[] = body.input.map(({ type, role }: any) => type ?? role);
      const place = types.indexOf("compaction");
      if (at < 3) expect(place).toBe(-1);
      else {
        expect(types.slice(place - 1, place + 3)).toEqual([
          "reasoning",
          "compaction",
          "function_call",
          "function_call_output",
        ]);
        expect(body.input[place]).toEqual(item);
        expect(types.filter((type) => type === "compaction")).toHaveLength(1);
      }
    }
  },
);
