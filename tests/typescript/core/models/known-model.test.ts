/** TypeScript finds the rows of the table of models that the engine finds. */
import { describe, expect, it } from "vitest";
import { anthropic, createAgent, gemini, openai, openaiChat, type Model } from "looplet";
import { deepseek, groq, mistral, moonshot, openrouter, xai, zai } from "looplet/vendors";
import { MODELS } from "../../../../src/typescript/extras/model-rows.js";
import { knownModel } from "../../../../src/typescript/extras/known-model.js";

const key = { apiKey: "k" };
const MAKERS: { readonly [vendor: string]: (id: string) => Model } = {
  anthropic: (id) => anthropic(id, key),
  openai: (id) => (/^(?:llama|mistral|nova)/.test(id) ? openaiChat : openai)(id, key),
  google: (id) => gemini(id, key),
  deepseek: (id) => deepseek(id, key),
  groq: (id) => groq(id, key),
  mistral: (id) => mistral(id, key),
  moonshot: (id) => moonshot(id, key),
  openrouter: (id) => openrouter(id, key),
  xai: (id) => xai(id, key),
  zai: (id) => zai(id, key),
};

/** The vendor at which a model of this name can be asked. */
function vendorOf(name: string, vendors: readonly string[]): string | undefined {
  const makers: readonly [RegExp, string][] = [
    [/^claude/, "anthropic"],
    [/^gemini/, "google"],
    [/^(?:gpt|o\d)/, "openai"],
  ];
  const [, home] = makers.find(([begin]) => begin.test(name)) ?? [];
  return vendors.length === 0
    ? home
    : [home ?? "", ...vendors].find((one) => vendors.includes(one) && MAKERS[one]);
}

const ids = MODELS.flatMap(([name, vendors]) => {
  const vendor = vendorOf(name, vendors);
  const plain = name.replace("*", "");
  const forms = [
    plain,
    plain.replace(/-(\d)/g, ".$1"),
    `my-${plain}-20260101`,
    `${plain}-9`,
    `a${plain}`,
    `${plain}b`,
  ];
  return vendor === undefined ? [] : forms.map((id) => [vendor, id] as const);
});

describe("the table of models in TypeScript", () => {
  it("has the windows and the answers that the engine counts with", async () => {
    expect(ids.length).toBeGreaterThan(400);
    for (const [vendor, id] of ids) {
      const agent = createAgent({ model: MAKERS[vendor]!(id) });
      const [assumed] = (await agent.bound("Hi")).assumed;
      const known = knownModel(vendor, id);
      expect({ id, window: assumed?.window ?? null }).toEqual({ id, window: known?.window ?? null });
      // looplet asks Claude for a number of its own.
      if (vendor === "anthropic") continue;
      expect({ id, output: assumed?.maxOutputTokens ?? null }).toEqual({
        id,
        output: known?.maxOutputTokens ?? null,
      });
    }
  });

  it.each([
    ["claude-opus-5-5", { window: 1_000_000, maxOutputTokens: 128_000, thinks: true }],
    [
      "us.anthropic.claude-haiku-4-5-20251001-v1:0",
      { window: 200_000, maxOutputTokens: 64_000, thinks: false },
    ],
    ["claude-opus-4-9", undefined],
    ["model-of-tomorrow", undefined],
  ])("has what is known of %s", (id, known) => {
    expect(knownModel("anthropic", id)).toEqual(known);
  });
});
