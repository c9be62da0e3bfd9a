/**
 * Runs whose features change the beginning of a conversation, against servers that play the vendors' checks of it.
 * See VENDORS.md, section 1, beside the project.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { anthropic, createAgent, handoff, openai, tool, type Agent, type Message } from "looplet";
import { memoryStore } from "looplet/stores";
import { between, seededRandom } from "../../../../src/typescript/lab/practice/random.js";
import { compacting } from "../../support/compacting.js";

const shared = process.env["LOOPLET_SHARED"] ?? join(import.meta.dirname, "../../../../../shared");
const servers = join(shared, "vendors/prefix-server.mjs");
const isThere = existsSync(servers);
if (!isThere) console.warn(`SKIPPED prefixes: no ${servers} (set LOOPLET_SHARED)`);
const { anthropicServer, openaiServer } = isThere ? await import(servers) : ({} as any);

/** The messages as an older version has kept them. */
const withoutDigests = (messages: readonly Message[]): Message[] =>
  messages.map(({ origin, ...message }) =>
    origin === undefined
      ? message
      : { ...message, origin: { protocol: origin.protocol, model: origin.model } },
  );

interface Turn {
  readonly calls?: readonly { name: string; input?: object }[];
  readonly text?: string;
  readonly usage?: object;
}

/** A vendor, with what it has refused and what it has dropped. */
interface Vendor {
  readonly server: any;
  model(id?: string, options?: object): any;
  /** What was dropped because something before it had changed. */
  dropped(): unknown[];
}

const CLAUDE = "claude-fable-5-2";
const GPT = "gpt-6.2-sol";

const vendors: { [name: string]: (script: unknown, options?: object) => Vendor } = {
  Anthropic(script, options) {
    const server = anthropicServer({ script, strictForm: true, ...options });
    return {
      server,
      model: (id = CLAUDE, more = {}) =>
        anthropic(id, { apiKey: "k", fetch: compacting(server) as any, ...more }),
      dropped: () => server.dropped.filter((one: any) => one.reason === "prefix_binding_mismatch"),
    };
  },
  OpenAI(script, options) {
    const server = openaiServer({ script, ...options });
    return {
      server,
      model: (id = GPT, more = {}) => openai(id, { apiKey: "k", fetch: compacting(server) as any, ...more }),
      // A request for a summary has no tools, which could be compared.
      dropped: () =>
        server.removed.filter(
          (one: any) =>
            one.reason === "prefix_mismatch" && !/compact$/.test(server.requests[one.request].url),
        ),
    };
  },
};

const look = (description = "x"): any =>
  tool({ description, inputSchema: { type: "object" }, execute: () => "result ".repeat(300) });

/** Calls the tool so often, then says that it is done. */
const calls =
  (times: number) =>
  (index: number): Turn =>
    index < times ? { calls: [{ name: "look", input: { q: "x".repeat(300) } }] } : { text: "done" };

const isFull =
  (times: number, at: number) =>
  (index: number): Turn => ({ ...calls(times)(index), usage: { input_tokens: index === at ? 9000 : 1000 } });

const features: { [name: string]: (vendor: Vendor) => Agent<any, any> } = {
  nothing: (vendor) => createAgent({ model: vendor.model(), system: "S", tools: { look: look() } }),
  "a summary": (vendor) =>
    createAgent({ model: vendor.model(), tools: { look: look() }, context: { window: 10_000 } }),
  pruning: (vendor) =>
    createAgent({
      model: vendor.model(),
      tools: { look: look() },
      context: { pruning: { by: "looplet", afterResponses: 2, prefixChars: 20 } },
    }),
  "prepareIteration with another system prompt": (vendor) =>
    createAgent({
      model: vendor.model(),
      system: "S",
      tools: { look: look() },
      prepareIteration: ({ iteration }) => (iteration % 3 === 2 ? { system: "Come to an end." } : undefined),
    }),
  "prepareIteration with fewer tools": (vendor) =>
    createAgent({
      model: vendor.model(),
      tools: { look: look(), other: look() },
      prepareIteration: ({ iteration }) => (iteration > 3 ? { tools: ["look"] } : undefined),
    }),
};

describe.skipIf(!isThere).each(Object.keys(vendors))("%s checks what precedes reasoning", (name) => {
  it.each(Object.keys(features))("a run with %s completes, and nothing is dropped", async (feature) => {
    const vendor = vendors[name]!(feature === "a summary" ? isFull(9, 5) : calls(9));
    const agent = features[feature]!(vendor);
    const { outcome, messages } = await agent.run("go").result;
    expect({ outcome, refused: vendor.server.refused, dropped: vendor.dropped() }).toEqual({
      outcome: "completed",
      refused: [],
      dropped: [],
    });
    expect(await agent.run("on", { messages }).result).toMatchObject({ outcome: "completed" });
    expect({ refused: vendor.server.refused, dropped: vendor.dropped() }).toEqual({
      refused: [],
      dropped: [],
    });
  });

  it("a stored chat resumes after a deploy that changes what cannot be sent at the end, and says what is left out", async () => {
    const vendor = vendors[name]!((index: number) => (index % 3 < 2 ? calls(9)(0) : { text: "done" }));
    const store = memoryStore();
    const before = createAgent({
      model: vendor.model(),
      store,
      system: "Old.",
      tools: { look: look("old") },
    });
    const chat = await before.openChat("c");
    await chat.run("one").result;
    await chat.close();
    // On Claude a system prompt that is longer than the conversation, on GPT another declaration of a tool.
    const system = `New. ${"x".repeat(20_000)}`;
    const after = createAgent({ model: vendor.model(), store, system, tools: { look: look("new") } });
    const again = await after.openChat("c");
    const warnings: string[] = [];
    const run = again.run("two");
    for await (const event of run) if (event.type === "warning") warnings.push(event.code);
    expect(await run.result).toMatchObject({ outcome: "completed" });
    expect(warnings).toEqual(["reasoning_not_sent"]);
    expect({ refused: vendor.server.refused, dropped: vendor.dropped() }).toEqual({
      refused: [],
      dropped: [],
    });
  });

  it("a chat without digests completes, and the run says what the vendor did", async () => {
    const vendor = vendors[name]!((index: number) => (index % 3 < 2 ? calls(9)(0) : { text: "done" }));
    const agent = createAgent({ model: vendor.model(), system: "S", tools: { look: look() } });
    const { messages } = await agent.run("go").result;
    const changed = createAgent({ model: vendor.model(), system: "T", tools: { look: look("other") } });
    const run = changed.run("on", { messages: withoutDigests(messages) });
    const warnings: string[] = [];
    for await (const event of run) if (event.type === "warning") warnings.push(event.code);
    expect(await run.result).toMatchObject({ outcome: "completed" });
    expect(vendor.server.refused).toEqual([]);
    expect(warnings).toEqual(["reasoning_dropped"]);
  });
});

describe.skipIf(!isThere)("Claude refuses reasoning", () => {
  /** A gateway that does not pass the header of `block_binding` on. */
  const through =
    (fetch: typeof globalThis.fetch): typeof globalThis.fetch =>
    (url, init) => {
      const headers = new Headers(init?.headers);
      headers.delete("anthropic-beta");
      return fetch(url, { ...init, headers });
    };

  it("a gateway that does not know the field is asked without it, and refused reasoning is left out for good", async () => {
    const server = anthropicServer({ script: calls(3) });
    const model = anthropic(CLAUDE, { apiKey: "k", fetch: through(server.fetch) });
    const tools = { look: look() };
    const { messages } = await createAgent({ model, system: "S", tools }).run("go").result;
    const old = withoutDigests(messages);
    server.refused.length = 0;
    const store = memoryStore();
    const agent = createAgent({ model, system: "T", tools, store });
    const chat = await agent.openChat("c");
    chat.reset(old);
    const warnings: string[] = [];
    const run = chat.run("on");
    for await (const event of run) if (event.type === "warning") warnings.push(event.code);
    expect(await run.result).toMatchObject({ outcome: "completed" });
    expect(warnings).toEqual(["reasoning_refused", "reasoning_not_sent"]);
    expect(server.refused).toHaveLength(2);
    // Another process does not meet the refusal again.
    await chat.close();
    server.refused.length = 0;
    const next = await createAgent({ model, system: "T", tools, store }).openChat("c");
    expect(await next.run("again").result).toMatchObject({ outcome: "completed" });
    expect(server.refused.filter((text: string) => text.includes("signature"))).toEqual([]);
  });

  it.each(["invalid beta flag", "thinking.adaptive.block_binding: Extra inputs are not permitted"])(
    "a server that answers %s is asked once more without the field, and only then",
    async (message) => {
      const fields: boolean[] = [];
      const fetch = async (_: string, init?: RequestInit): Promise<Response> => {
        const text = new TextDecoder().decode(init!.body as Uint8Array);
        fields.push(text.includes("block_binding"));
        const error = { type: "error", error: { type: "invalid_request_error", message } };
        if (fields.at(-1)) return Response.json(error, { status: 400 });
        const content = [{ type: "text", text: "Done." }];
        return Response.json({
          id: "m",
          type: "message",
          role: "assistant",
          content,
          stop_reason: "end_turn",
          usage: {},
        });
      };
      const agent = createAgent({ model: anthropic(CLAUDE, { apiKey: "k", fetch: fetch as never }) });
      expect(await agent.run("go").result).toMatchObject({ outcome: "completed", text: "Done." });
      expect(fields).toEqual([true, false]);
    },
  );

  it("fails the run if the caller wants refusals", async () => {
    const server = anthropicServer({ script: calls(3) });
    const thinking = { type: "adaptive", block_binding: { prefix_mismatch_behavior: "error" } };
    const headers = { "anthropic-beta": "thinking-binding-controls-2026-08-01" };
    const model = anthropic(CLAUDE, { apiKey: "k", fetch: server.fetch, thinking, headers });
    const { messages } = await createAgent({ model, system: "S", tools: { look: look() } }).run("go").result;
    const old = withoutDigests(messages);
    const changed = createAgent({ model, system: "T", tools: { look: look() } });
    expect(await changed.run("on", { messages: old }).result).toMatchObject({ outcome: "failed" });
  });

  it("the beta of the caller stays beside the one of the field", async () => {
    const server = anthropicServer({ script: [{ text: "done" }] });
    const headers = { "Anthropic-Beta": "another-2026-01-01" };
    const model = anthropic(CLAUDE, { apiKey: "k", fetch: server.fetch, headers });
    await createAgent({ model }).run("go").result;
    expect(server.requests[0].headers["anthropic-beta"]).toBe(
      "another-2026-01-01,thinking-binding-controls-2026-08-01",
    );
  });
});

describe.skipIf(!isThere).each(Object.keys(vendors))("random runs on %s", (name) => {
  it("are never refused, and send no reasoning that is dropped", async () => {
    for (let seed = 1; seed <= (Number(globalThis.process.env["LOOPLET_SEEDS"]) || 20); seed++) {
      const random = seededRandom(`${seed}`);
      const pick = <T>(...of: T[]): T => of[between(random, 0, of.length - 1)]!;
      const vendor = vendors[name]!((index: number) =>
        index % 4 < 3
          ? { ...calls(9)(0), usage: { input_tokens: pick(1000, 1000, 9000) } }
          : { text: "done" },
      );
      const models =
        name === "Anthropic" ? [CLAUDE, "claude-opus-5-5", "claude-opus-4-8"] : [GPT, "gpt-6.1-sol"];
      const store = memoryStore();
      let place = "";
      for (let deploy = 0; deploy < 4; deploy++) {
        const greeter: any = createAgent({
          model: vendor.model(pick(...models)),
          system: "Other.",
          tools: { look: look() },
        });
        const agent: any = createAgent({
          store,
          model: vendor.model(pick(...models)),
          system: pick("S", "S", "T"),
          tools: {
            look: look(pick("x", "x", "y")),
            ...pick({}, { more: look() }, {}),
            ...pick({}, {}, { to_other: handoff(greeter, { description: "to the other" }) }),
          },
          ...pick(
            {},
            { context: { window: 10_000 } },
            { context: { pruning: { by: "looplet", afterResponses: 2, prefixChars: 20 } } },
          ),
          ...pick(
            {},
            {
              prepareIteration: ({ iteration }: any) =>
                iteration === 2 ? { system: "Prepared." } : undefined,
            },
            { prepareIteration: ({ iteration }: any) => (iteration === 3 ? { tools: ["look"] } : undefined) },
          ),
        });
        const chat = await agent.openChat("c");
        const run = chat.run(`prompt ${deploy}`);
        const switches = pick(0, 0, 1);
        for await (const event of run) {
          if (event.type === "iteration-finish" && switches === 1)
            run.setModel(vendor.model(pick(...models)));
          if (event.type === "tool-result" && pick(0, 0, 0, 1) === 1) run.steer("also this");
        }
        place = `seed ${seed}, deploy ${deploy}`;
        expect(await run.result, place).toMatchObject({ outcome: "completed" });
        await chat.close();
      }
      expect(vendor.server.refused, place).toEqual([]);
      expect(vendor.dropped(), place).toEqual([]);
    }
  }, 60_000);
});
