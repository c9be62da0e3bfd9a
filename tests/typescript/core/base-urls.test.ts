/** Every constructor of models understands every spelling of its base URL. */
import { describe, expect, it } from "vitest";
import {
  anthropic,
  bedrock,
  compatible,
  createAgent,
  gemini,
  openai,
  openaiChat,
} from "../../../src/typescript/core/entry/node.js";
import type { Model, WireProtocol } from "../../../src/typescript/core/api/index.js";
import * as vendors from "../../../src/typescript/extras/vendors.js";

type Make = (options: object) => Model;

/** The address that the first request of a model asks. */
async function asked(make: Make, baseUrl?: string): Promise<string> {
  let address = "";
  const fetch = (url: string) => {
    address = url;
    return Promise.resolve(new Response("{}", { status: 400 }));
  };
  const given = baseUrl === undefined ? {} : { baseUrl };
  await createAgent({ model: make({ apiKey: "k", fetch, ...given }) }).run("hi").result;
  return address;
}

const { azure, vertex, cloudflareWorkersAi, cloudflareGateway, vendor, ...rest } = vendors;
const { anthropicTools: _, openaiTools: __, geminiTools: ___, ...plain } = rest;
const at = (options: object, further: object): never => ({ ...options, ...further }) as never;
const MODELS: [string, Make][] = [
  ["anthropic", (options) => anthropic("m", options)],
  ["openai", (options) => openai("m", options)],
  ["openaiChat", (options) => openaiChat("m", options)],
  ["gemini", (options) => gemini("m", options)],
  ["bedrock", (options) => bedrock("m", at(options, { region: "eu-west-1" }))],
  ["azure", (options) => azure("m", at(options, { resource: "mine" }))],
  ["azure over chat", (options) => azure("m", at(options, { resource: "mine", api: "chat" }))],
  ["vertex", (options) => vertex("m", at(options, { project: "p", location: "us-east1" }))],
  ["vertex, global", (options) => vertex("m", at(options, { project: "p", location: "global" }))],
  ["cloudflareWorkersAi", (options) => cloudflareWorkersAi("m", at(options, { accountId: "a" }))],
  ["cloudflareGateway", (options) => cloudflareGateway("m", at(options, { accountId: "a", gateway: "g" }))],
  [
    "a vendor of yours",
    (options) => vendor({ name: "mine", baseUrl: "https://llm.example/api/v2" })("m", options),
  ],
  ...Object.entries(plain).map(([name, make]): [string, Make] => [name, (options) => make("m", options)]),
];

/** The end of an address that belongs to the protocol. */
const ENDPOINT = /\/(chat\/completions|responses|messages|models?\/m[:/].*)$/;

describe("the base URL of a vendor's model", () => {
  it.each(MODELS)("%s is understood in every spelling", async (_, make) => {
    const usual = await asked(make);
    const { origin, pathname } = new URL(usual);
    const base = usual.slice(0, usual.search(ENDPOINT));
    const spellings = new Set([
      origin,
      base,
      base.replace(/\/v\d\w*$/, ""),
      `${origin}${pathname}`,
      // A vendor without a version in its path takes one all the same.
      ...(pathname.search(ENDPOINT) === 0 ? [`${origin}/v1`] : []),
    ]);
    for (const spelling of spellings)
      for (const end of ["", "/"])
        expect([spelling, await asked(make, spelling + end)]).toEqual([spelling, usual]);
  });

  it.each<[WireProtocol, string]>([
    ["openai_chat", "/v1/chat/completions"],
    ["openai_responses", "/v1/responses"],
    ["anthropic", "/v1/messages"],
    ["gemini", "/v1beta/models/m:streamGenerateContent?alt=sse"],
    ["bedrock_converse", "/model/m/converse-stream"],
  ])("of another server that speaks %s is understood with and without a path", async (protocol, path) => {
    const make: Make = (options) => compatible("m", { protocol, baseUrl: "", ...options });
    const address = `http://localhost:8000${path}`;
    const version = /^\/v\d\w*/.exec(path)?.[0] ?? "";
    for (const spelling of ["", "/", version, `${version}/`, path.split("?")[0]!])
      expect([spelling, await asked(make, `http://localhost:8000${spelling}`)]).toEqual([spelling, address]);
  });

  it("asks for a key wherever the vendor's own server is spelled", () => {
    for (const baseUrl of ["https://api.groq.com", "https://api.groq.com/openai/v1/"])
      expect(() => createAgent({ model: plain.groq("m", { baseUrl }) })).toThrow(
        expect.objectContaining({ code: "config_missing_key" }),
      );
    expect(() => createAgent({ model: plain.groq("m", { baseUrl: "https://mine.example" }) })).not.toThrow();
  });
});
