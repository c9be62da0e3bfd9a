import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { authorizeRequest } from "../../../src/typescript/core/host/authorize.js";
import { modelParts, type ModelParts } from "../../../src/typescript/core/models/models.js";
import type { Model } from "../../../src/typescript/core/api/index.js";
import * as vendors from "../../../src/typescript/extras/vendors.js";

const OWN_ARGUMENTS = ["azure", "vertex", "cloudflareWorkersAi", "cloudflareGateway", "vendor"];

const plain = Object.entries(vendors).filter(
  ([name, make]) => typeof make === "function" && !OWN_ARGUMENTS.includes(name),
) as [string, vendors.VendorModel][];

const NAMED: readonly [string, Model][] = [
  ["azure", vendors.azure("gpt", { resource: "mine", apiKey: "k" })],
  ["vertex", vendors.vertex("gemini", { project: "p-1", location: "us-central1", apiKey: "k" })],
  ["cloudflareWorkersAi", vendors.cloudflareWorkersAi("@cf/x", { accountId: "abc", apiKey: "k" })],
  [
    "cloudflareGateway",
    vendors.cloudflareGateway("openai/x", { accountId: "abc", gateway: "g", apiKey: "k" }),
  ],
];

function parts(model: Model): ModelParts {
  const found = modelParts(model);
  if (found === undefined) throw new Error("no model");
  return found;
}

/** The rows of the table in the documentation: constructor, vendor's name, URL, protocol, proof, source. */
const documented = readFileSync(new URL("../../../docs/vendors.md", import.meta.url), "utf8")
  .split("\n")
  .filter((line) => /^\| `\w+\(/.test(line))
  .map((line) => line.split("|").map((cell) => cell.trim()))
  .map(([, constructor, url, protocol, proof, source]) => ({
    constructor: constructor?.match(/^`(\w+)\(/)?.[1],
    url,
    protocol,
    proof,
    source,
  }));

describe("the table of vendors", () => {
  it("documents every constructor, with its page and the date", () => {
    const names = [...plain.map(([name]) => name), ...NAMED.map(([name]) => name)];
    const rows = documented.map((row) => row.constructor);
    for (const name of names) expect(rows).toContain(name);
    for (const row of documented) {
      expect(row.source, row.constructor).toMatch(/^https:\/\/\S+ 2026-\d\d-\d\d$/);
      expect(row.proof, row.constructor).toMatch(/^(\d+ recordings?|a fixture|unverified)$/);
    }
  });

  it.each([...plain.map(([name, make]) => [name, make("m", { apiKey: "k" })] as const), ...NAMED])(
    "says where %s is and what it speaks",
    (name, model) => {
      const row = documented.find(({ constructor }) => constructor === name);
      const { config } = parts(model);
      expect(row?.url?.replaceAll("`", "").replace(/\{[^}]+\}/g, "*")).toBe(
        name === "azure"
          ? "https://*.openai.azure.com/openai/v1"
          : config.baseUrl
              ?.replace("us-central1-", "*-")
              .replace(/p-1|us-central1|abc/g, "*")
              .replace("/g/", "/*/"),
      );
      expect(row?.protocol).toContain(config.protocol);
    },
  );
});

/** Names of the recordings' index, where they are not the constructor's. */
const RECORDED: { readonly [constructor: string]: string } = {
  openaiChat: "openai",
  gemini: "google",
  vertex: "google-vertex",
  qwen: "alibaba",
  vercelGateway: "vercel-gateway",
  llamaCpp: "llama.cpp",
};

const FOLDERS: { readonly [protocol: string]: string } = {
  anthropic: "anthropic-messages",
  openai_chat: "openai-chat",
  openai_responses: "openai-responses",
  gemini: "gemini",
  bedrock_converse: "bedrock-converse",
};

const shared = process.env["LOOPLET_SHARED"] ?? fileURLToPath(new URL("../../../../shared", import.meta.url));
const index = join(shared, "wire/INVENTORY.jsonl");

describe("the proof of a vendor", () => {
  it.skipIf(!existsSync(index))("is as many recordings as there are", () => {
    const recordings = readFileSync(index, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { vendor: string; protocol: string });
    for (const { constructor = "", protocol = "", proof } of documented) {
      const folders = protocol.match(/\w+/g)?.map((name) => FOLDERS[name]) ?? [];
      const vendor = RECORDED[constructor] ?? constructor;
      const count = recordings.filter(
        (row) => row.vendor === vendor && folders.includes(row.protocol),
      ).length;
      const proven = count === 0 ? "unverified" : `${count} recording${count === 1 ? "" : "s"}`;
      expect(proof, constructor).toBe(proven);
    }
  });
});

describe("a vendor's model", () => {
  it("names its vendor and carries its quirks", () => {
    expect(parts(vendors.mistral("m", { apiKey: "k", seed: 3 })).config).toMatchObject({
      vendor: "mistral",
      protocol: "openai_chat",
      baseUrl: "https://api.mistral.ai/v1",
      seed: 3,
      quirks: { seed: "random_seed" },
    });
  });

  it("sends its key where the vendor wants it", () => {
    const request = {
      method: "POST",
      url: "https://x",
      headers: [] as [string, string][],
      auth: { header: "authorization", prefix: "Bearer " },
      body: new Uint8Array(),
    };
    expect(authorizeRequest(parts(NAMED[0]![1]), request)).toEqual([["api-key", "k"]]);
    expect(authorizeRequest(parts(vendors.groq("m", { apiKey: "k" })), request)).toEqual([
      ["authorization", "Bearer k"],
    ]);
  });

  it("wants a key, unless it is local or behind a proxy", () => {
    expect(parts(vendors.groq("m")).isDirect).toBe(true);
    expect(parts(vendors.groq("m", { baseUrl: "https://proxy.example" })).isDirect).toBe(false);
    expect(parts(vendors.ollama("m")).isDirect).toBe(false);
    expect(parts(vendors.groq("m", { baseUrl: "https://api.groq.com/openai/v1" })).isDirect).toBe(true);
  });

  it("may be one of your own", () => {
    const mine = vendors.vendor({
      name: "mine",
      baseUrl: "https://llm.example/v1",
      auth: { header: "x-key", prefix: "" },
      quirks: { maxOutputTokens: "max_new_tokens" },
    });
    const made = parts(mine("m", { apiKey: "k", maxOutputTokens: 5 }));
    expect(made.config).toMatchObject({
      vendor: "mine",
      baseUrl: "https://llm.example/v1",
      maxOutputTokens: 5,
    });
    expect(made.auth).toEqual({ header: "x-key", prefix: "" });
  });

  it.each<[string, () => Model, string]>([
    ["a resource with a slash", () => vendors.azure("m", { resource: "a/b" }), "model.resource"],
    ["no project", () => vendors.vertex("m", { location: "global" } as never), "model.project"],
    ["an unknown api", () => vendors.azure("m", { resource: "a", api: "soap" as never }), "model.api"],
    ["no name of a model", () => vendors.groq(""), "model.model"],
  ])("refuses %s", (_, make, field) => {
    expect(make).toThrow(expect.objectContaining({ field }));
  });

  it("reaches Vertex AI's global endpoint", () => {
    expect(parts(vendors.vertex("m", { project: "p", location: "global" })).config.baseUrl).toBe(
      "https://aiplatform.googleapis.com/v1/projects/p/locations/global/publishers/google",
    );
  });
});
