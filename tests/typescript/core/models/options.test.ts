/**
 * Today's models with options that some of them refuse, against servers that refuse them as the vendors do. See
 * VENDORS.md, section 2, beside the project. `tests/wire/models.rs` plays each row of the table in each protocol.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { anthropic, createAgent, openai, openaiChat, tool, type Model } from "looplet";

const shared = process.env["LOOPLET_SHARED"] ?? join(import.meta.dirname, "../../../../../shared");
const servers = join(shared, "vendors/prefix-server.mjs");
const isThere = existsSync(servers);
if (!isThere) console.warn(`SKIPPED options: no ${servers} (set LOOPLET_SHARED)`);
const { anthropicServer, openaiServer } = isThere ? await import(servers) : ({} as any);

const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;

const claudes = [
  "claude-fable-5-2",
  "claude-mythos-5-2",
  "claude-fable-5-1",
  "claude-mythos-5-1",
  "claude-opus-5-5",
  "claude-sonnet-5-5",
  "claude-haiku-5-5",
  "claude-opus-5",
  "claude-sonnet-5",
  "claude-opus-4-8",
  "claude-sonnet-4-6",
  "claude-haiku-4-5-20251001",
];
const gpts = [
  "gpt-6.2-astra",
  "gpt-6.2-sol",
  "gpt-6.1-sol",
  "gpt-6.1-terra",
  "gpt-6-astra",
  "gpt-6-sol",
  "gpt-6-luna",
  "gpt-5.6-sol",
  "gpt-5.5",
  "gpt-5.4-mini",
];

const samples = [{ temperature: 0 }, { temperature: 0.5, topP: 0.9 }];
const choices = [{ toolChoice: "required" }, { toolChoice: { tool: "look" } }] as const;
const thoughts = [
  { thinking: { type: "adaptive" } },
  { thinking: { type: "disabled" } },
  { thinking: { type: "between_tools" } },
  { thinking: { budgetTokens: 2000 } },
];
const efforts = EFFORTS.map((effort) => ({ effort }));

/** A call and an answer. */
const script = [{ calls: [{ name: "look" }] }, { text: "done" }];

async function outcomeOf(model: Model): Promise<{ outcome: string; warnings: string[]; text: string }> {
  const look = tool({ description: "Looks.", inputSchema: { type: "object" }, execute: () => "seen" });
  const run = createAgent({ model, tools: { look } }).run("go");
  const warnings: string[] = [];
  for await (const event of run) if (event.type === "warning") warnings.push(event.code);
  const { outcome, text } = await run.result;
  return { outcome, warnings, text };
}

describe.skipIf(!isThere).each(claudes)("%s", (id) => {
  const combined = efforts.flatMap((effort) => [effort, ...thoughts.map((own) => ({ ...effort, ...own }))]);
  it.each([[...samples, ...choices], thoughts, combined])(
    "takes each option, or what is sent instead",
    async (...all) => {
      for (const options of all) {
        const server = anthropicServer({ script });
        const { outcome, text } = await outcomeOf(
          anthropic(id, { apiKey: "k", fetch: server.fetch, ...(options as object) }),
        );
        expect({ options, outcome, text, refused: server.refused }).toEqual({
          options,
          outcome: "completed",
          text: "done",
          refused: [],
        });
      }
    },
  );

  it("gives no warning without options", async () => {
    const server = anthropicServer({ script });
    const { outcome, warnings } = await outcomeOf(anthropic(id, { apiKey: "k", fetch: server.fetch }));
    expect({ outcome, warnings }).toEqual({ outcome: "completed", warnings: [] });
  });
});

describe.skipIf(!isThere).each(gpts)("%s", (id) => {
  it.each([samples, choices, efforts, efforts.map((effort) => ({ ...effort, temperature: 0 }))])(
    "takes each option, or what is sent instead",
    async (...all) => {
      for (const options of all) {
        const server = openaiServer({ script });
        const model = openai(id, { apiKey: "k", fetch: server.fetch, ...(options as object) });
        const { outcome, text } = await outcomeOf(model);
        expect({ options, outcome, text, refused: server.refused }).toEqual({
          options,
          outcome: "completed",
          text: "done",
          refused: [],
        });
      }
    },
  );

  it("gets no effort next to tools in Chat Completions", async () => {
    const server = openaiServer({});
    const model = openaiChat(id, { apiKey: "k", fetch: server.fetch, effort: "high" });
    const { warnings } = await outcomeOf(model);
    expect(server.requests[0].body).not.toHaveProperty("reasoning_effort");
    // The server speaks Responses only, and refuses the rest.
    expect(server.refused).toEqual(["this mock speaks Responses only"]);
    expect(warnings).toEqual(["option_not_sent"]);
  });
});
