/**
 * `context.pruning` where the vendor hides old calls from the model, against a server that plays the vendor's checks
 * of what precedes reasoning. See VENDORS.md, section 5.1, beside the project.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { anthropic, createAgent, tool, type AgentOptions, type RunEvent } from "looplet";
import { memoryStore } from "looplet/stores";
import { clearing, type Clearing } from "../../support/clearing.js";
import { compacting } from "../../support/compacting.js";

const shared = process.env["LOOPLET_SHARED"] ?? join(import.meta.dirname, "../../../../../shared");
const servers = join(shared, "vendors/prefix-server.mjs");
const isThere = existsSync(servers);
if (!isThere) console.warn(`SKIPPED clearing: no ${servers} (set LOOPLET_SHARED)`);
const { anthropicServer } = isThere ? await import(servers) : ({} as any);

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

const look = (words = 300): any =>
  tool({ description: "x", inputSchema: { type: "object" }, execute: () => "result ".repeat(words) });

/** Calls the tool so often, then says that it is done. */
const calls = (times: number) => (index: number) =>
  index < times ? { calls: [{ name: "look", input: { n: index, q: "x".repeat(300) } }] } : { text: "done" };

const pruning = { afterResponses: 2, prefixChars: 20 };

function setUp(script: unknown, options: object = {}, wrap = (fetch: Fetch) => fetch) {
  const server = anthropicServer({ script, strictForm: true });
  const vendor: Clearing = clearing(compacting(server));
  const events: RunEvent[] = [];
  const { model, ...rest } = options as { model?: object };
  const agent = (more: AgentOptions | object = {}) =>
    createAgent({
      model: anthropic("claude-fable-5-2", { apiKey: "k", fetch: wrap(vendor.fetch) as any, ...model }),
      system: "S",
      tools: { look: look() },
      context: { pruning },
      hooks: {},
      ...rest,
      ...more,
    });
  const onEvent = (event: RunEvent) => void events.push(event);
  const told = (type: RunEvent["type"]) => events.filter((event) => event.type === type) as any[];
  const clean = () => ({
    refused: server.refused,
    dropped: server.dropped.filter(({ reason }: any) => reason === "prefix_binding_mismatch"),
  });
  return { server, vendor, agent, onEvent, told, clean };
}

const CLEAN = { refused: [], dropped: [] };

/** The number of blocks of reasoning in each request. */
const reasoning = ({ bodies }: Clearing): number[] =>
  bodies.map((body) => (body.match(/"type":"thinking"/g) ?? []).length);

/** A body without what is after its messages, and without cache marks, which move. */
const messagesOf = (body: string): string =>
  body.replace(/,"cache_control":\{[^}]*\}/g, "").replace(/\](,"context_management":.*)?\}$/, "");

describe.skipIf(!isThere)("Claude hides old calls from itself", () => {
  it.each([true, false])("while history, prefix and reasoning stay (stream: %s)", async (stream) => {
    const { vendor, agent, onEvent, told, clean } = setUp(calls(9), { model: { stream } });
    const result = await agent().run("go", { onEvent }).result;
    expect(result.outcome).toBe("completed");
    expect(clean()).toEqual(CLEAN);
    expect(reasoning(vendor)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    // Each body begins with the one before.
    for (const [at, body] of vendor.bodies.entries())
      expect(messagesOf(body).startsWith(messagesOf(vendor.bodies[at - 1] ?? ""))).toBe(true);
    // In groups of two: at least two answers show their calls, and never more than three.
    expect(vendor.asked.map((field) => field?.edits[0].keep.value)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      2,
      3,
      2,
      3,
      2,
      3,
    ]);
    expect(vendor.asked[4]).toEqual({
      edits: [
        {
          type: "clear_tool_uses_20250919",
          trigger: { type: "tool_uses", value: 2 },
          keep: { type: "tool_uses", value: 2 },
          clear_tool_inputs: true,
        },
      ],
    });
    expect(JSON.stringify(vendor.seen[9])).toMatch(
      /^(?:(?!result result).)*(?:\[cleared\].*){6}result result/,
    );
    // The caller has everything.
    expect(JSON.stringify(result.messages)).not.toContain("compacted");
    expect(JSON.stringify(result.messages).match(/result result/g)!.length).toBeGreaterThan(8);
    expect(told("warning")).toEqual([]);
    // One event for each group, with what it has saved.
    const boundaries = told("compact-boundary");
    expect(boundaries).toHaveLength(3);
    for (const [at, { trigger, by, preTokens, postTokens }] of boundaries.entries()) {
      expect({ trigger, by }).toEqual({ trigger: "pruning", by: "vendor" });
      expect(preTokens - postTokens).toBeGreaterThan(900 * (at + 1));
    }
  });

  it("and not where looplet is to prune, which costs the reasoning", async () => {
    const { vendor, agent, onEvent, told, clean } = setUp(calls(5));
    const context = { pruning: { ...pruning, by: "looplet" as const } };
    const result = await agent({ context }).run("go", { onEvent }).result;
    expect(vendor.asked.every((field) => field === undefined)).toBe(true);
    expect(JSON.stringify(result.messages)).toContain('"compacted":true');
    expect(reasoning(vendor).at(-1)).toBeLessThan(5);
    expect(told("compact-boundary")[0]).toMatchObject({ trigger: "pruning" });
    expect(told("compact-boundary")[0]).not.toHaveProperty("by");
    expect(clean()).toEqual(CLEAN);
  });

  it("and a chat of another process goes on with what was hidden", async () => {
    const { vendor, agent, onEvent, told, clean } = setUp((index: number) => calls(7)(index % 8));
    const store = memoryStore();
    const chat = await agent({ store }).openChat("c");
    await chat.run("one", { onEvent }).result;
    await chat.close();
    expect(told("compact-boundary")).toHaveLength(2);
    const again = await agent({ store }).openChat("c");
    expect(again.messages).toEqual(chat.messages);
    expect(await again.run("two", { onEvent }).result).toMatchObject({ outcome: "completed" });
    await again.close();
    expect(clean()).toEqual(CLEAN);
    expect(reasoning(vendor).at(-1)).toBe(15);
    for (const [at, body] of vendor.bodies.entries())
      expect(messagesOf(body).startsWith(messagesOf(vendor.bodies[at - 1] ?? ""))).toBe(true);
  });

  it("and a run that a process left in its middle goes on in the next, without another event about it", async () => {
    const store = memoryStore();
    let asks!: () => void;
    const isAsked = new Promise<void>((resolve) => (asks = resolve));
    const { vendor, agent, onEvent, told, clean } = setUp(calls(7), {}, (fetch) => async (url, init) => {
      if (vendor.bodies.length !== 6) return fetch(url, init);
      asks();
      return new Promise(() => {});
    });
    const left = agent({ store }).run("go", { id: "r", onEvent });
    await isAsked;
    expect(told("compact-boundary")).toHaveLength(1);
    vendor.bodies.push("");
    vendor.asked.push(undefined);
    const result = await agent({ store }).resume("r", { takeOver: true, onEvent }).result;
    expect(result.outcome).toBe("completed");
    expect(result.messages.filter(({ role }) => role === "assistant")).toHaveLength(8);
    expect(vendor.asked.slice(4, 6).map((field) => field.edits[0].keep.value)).toEqual([2, 3]);
    expect(vendor.asked.slice(7).map((field) => field.edits[0].keep.value)).toEqual([2, 3]);
    expect(told("compact-boundary")).toHaveLength(2);
    expect(clean()).toEqual(CLEAN);
    left.abort();
    await left.result;
  });

  it("and its estimate of the window leaves out what is hidden", async () => {
    const { vendor, agent, onEvent, told, clean } = setUp(calls(20), {
      tools: { look: look(3000) },
      context: { window: 40_000, pruning },
      limits: { maxIterations: 40 },
    });
    const result = await agent().run("go", { onEvent }).result;
    expect(result.outcome).toBe("completed");
    // All results together are three times the window.
    expect(vendor.bodies.at(-1)!.length / 3.5).toBeGreaterThan(120_000);
    expect(told("compact-start")).toEqual([]);
    // A run that begins with these messages knows no count of the vendor.
    await agent().run("on", { messages: result.messages, onEvent }).result;
    expect(told("compact-start")).toEqual([]);
    expect(clean()).toEqual(CLEAN);
  });

  it("and what does not fit without that is summed up by the model, because the vendor refuses both", async () => {
    const { vendor, agent, onEvent, told, clean } = setUp(
      (index: number, body: unknown) =>
        JSON.stringify(body).includes("write a summary") ? { text: "They looked." } : calls(12)(index),
      {
        context: { window: 6_000, compaction: { keepLast: 2 }, pruning },
      },
    );
    const chat = agent().chat();
    await chat.run("go", { onEvent }).result;
    await chat.compact({ onEvent }).result;
    const boundary = told("compact-boundary").at(-1);
    expect(boundary).toMatchObject({ trigger: "manual", by: "model" });
    expect(vendor.asked.at(-1)).toBeDefined();
    await chat.run("on", { onEvent }).result;
    expect(clean()).toEqual(CLEAN);
  });

  it("and what fits is summed up by the vendor, whose request hides nothing", async () => {
    const { vendor, agent, onEvent, told, clean } = setUp(calls(7));
    const chat = agent().chat();
    await chat.run("go", { onEvent }).result;
    await chat.compact({ onEvent }).result;
    expect(told("compact-boundary").at(-1)).toMatchObject({ trigger: "manual", by: "vendor" });
    expect(JSON.parse(vendor.bodies.at(-1)!)).toHaveProperty("compaction");
    expect(vendor.asked.at(-1)).toBeUndefined();
    expect(await chat.run("on", { onEvent }).result).toMatchObject({ outcome: "completed" });
    expect(told("warning")).toEqual([]);
    expect(clean()).toEqual(CLEAN);
  });

  it.each([
    "context_management: Extra inputs are not permitted",
    "Unexpected value(s) `context-management-2025-06-27` for the `anthropic-beta` header.",
    "invalid beta flag",
  ])("and a server that refuses it (%s) is not asked again", async (message) => {
    let refusals = 0;
    const { agent, onEvent, told, clean } = setUp(calls(9), {}, (fetch) => async (url, init) => {
      const names = message.includes("beta")
        ? (new Headers(init.headers).get("anthropic-beta") ?? "").includes("context-management")
        : (await new Response(init.body).text()).includes("context_management");
      if (!names) return fetch(url, init);
      refusals++;
      return Response.json({ error: { type: "invalid_request_error", message } }, { status: 400 });
    });
    const result = await agent().run("go", { onEvent }).result;
    expect(result.outcome).toBe("completed");
    expect(refusals).toBeLessThan(3);
    const warnings = told("warning").map(({ code }) => code);
    expect(warnings.filter((code) => code === "vendor_pruning_failed")).toHaveLength(1);
    expect(JSON.stringify(result.messages)).toContain('"compacted":true');
    expect(clean()).toEqual(CLEAN);
  });

  it("and a server that takes no notice of it is not asked again", async () => {
    const { vendor, agent, onEvent, told } = setUp(calls(9), {}, (fetch) => async (url, init) => {
      const { context_management: _, ...body } = JSON.parse(await new Response(init.body).text());
      return fetch(url, { ...init, body: JSON.stringify(body) });
    });
    const result = await agent().run("go", { onEvent }).result;
    expect(result.outcome).toBe("completed");
    expect(told("warning").filter(({ code }) => code === "vendor_pruning_failed")).toHaveLength(1);
    expect(JSON.stringify(result.messages)).toContain('"compacted":true');
    expect(vendor.bodies).toHaveLength(10);
  });

  it("and the caller's own context_management wins, and is told", async () => {
    const edits = [{ type: "clear_tool_uses_20250919", keep: { type: "tool_uses", value: 1 } }];
    const { vendor, agent, onEvent, told } = setUp(calls(5), {
      model: {
        body: { context_management: { edits } },
        headers: { "anthropic-beta": "context-management-2025-06-27" },
      },
    });
    const { messages } = await agent().run("go", { onEvent }).result;
    expect(JSON.stringify(messages)).not.toContain("compacted");
    for (const field of vendor.asked) expect(field).toEqual({ edits });
    expect(told("compact-boundary").map(({ trigger, by }) => `${trigger} ${by}`)).toEqual(
      Array(4).fill("pruning vendor"),
    );
  });
});
