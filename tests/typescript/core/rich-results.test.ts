import { describe, expect, it } from "vitest";
import {
  anthropic,
  compatible,
  createAgent,
  custom,
  gemini,
  openai,
  openaiChat,
  tool,
} from "../../../src/typescript/core/entry/node.js";
import { bedrock } from "../../../src/typescript/core/models/bedrock.js";
import type { Fetch, Model } from "../../../src/typescript/core/api/index.js";
import { bodyText } from "../support/bodies.js";

const PNG = "iVBORw0KGgo=";
const PDF = "JVBERi0xLjc=";
const bytes = (base64: string) => Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));

const look = tool({
  description: "Looks",
  inputSchema: { type: "object" },
  readOnly: true,
  execute: () => ({
    content: [
      { type: "text", text: "seen" },
      { type: "media", mediaType: "image/png", data: PNG },
      { type: "media", mediaType: "application/pdf", data: PDF },
    ],
  }),
});

/** A call of `look`, then a text, as whole bodies of each protocol. */
const ANSWERS: { [protocol: string]: [call: object, text: object] } = {
  anthropic: [
    { content: [{ type: "tool_use", id: "c1", name: "look", input: {} }], stop_reason: "tool_use" },
    { content: [{ type: "text", text: "End." }], stop_reason: "end_turn" },
  ],
  chat: [
    {
      choices: [
        {
          message: {
            role: "assistant",
            tool_calls: [{ id: "c1", type: "function", function: { name: "look", arguments: "{}" } }],
          },
          finish_reason: "tool_calls",
        },
      ],
    },
    { choices: [{ message: { role: "assistant", content: "End." }, finish_reason: "stop" }] },
  ],
  responses: [
    {
      status: "completed",
      output: [{ type: "function_call", id: "fc1", call_id: "c1", name: "look", arguments: "{}" }],
    },
    {
      status: "completed",
      output: [{ type: "message", role: "assistant", content: [{ type: "output_text", text: "End." }] }],
    },
  ],
  gemini: [
    {
      candidates: [
        {
          content: { role: "model", parts: [{ functionCall: { name: "look", args: {} } }] },
          finishReason: "STOP",
        },
      ],
    },
    { candidates: [{ content: { role: "model", parts: [{ text: "End." }] }, finishReason: "STOP" }] },
  ],
  bedrock: [
    {
      output: {
        message: { role: "assistant", content: [{ toolUse: { toolUseId: "c1", name: "look", input: {} } }] },
      },
      stopReason: "tool_use",
    },
    { output: { message: { role: "assistant", content: [{ text: "End." }] } }, stopReason: "end_turn" },
  ],
};

function answering(protocol: string) {
  const bodies: string[] = [];
  const fetch: Fetch = async (_, init) => {
    bodies.push(bodyText(init));
    const answer = ANSWERS[protocol]![bodies.length - 1];
    return new Response(JSON.stringify(answer), { headers: { "content-type": "application/json" } });
  };
  return { bodies, options: { apiKey: "sk-test", stream: false, fetch } };
}

const MODELS: [string, (options: any) => Model, string][] = [
  ["anthropic", (options) => anthropic("m", options), '"type":"image"'],
  ["chat", (options) => openaiChat("m", options), "image_url"],
  ["responses", (options) => openai("m", options), "input_image"],
  ["gemini", (options) => gemini("m", options), "inlineData"],
  ["bedrock", (options) => bedrock("m", { ...options, region: "us-east-1" }), '"image"'],
  ["chat", (options) => compatible("m", { ...options, baseUrl: "https://x.example/v1" }), "image_url"],
];

describe("a result with an image and a file", () => {
  it.each(MODELS)("P-02: reaches the model over %s", async (protocol, modelOf, word) => {
    const { bodies, options } = answering(protocol);
    const result = await createAgent({ model: modelOf(options), tools: { look } }).run("Go").result;
    expect(result).toMatchObject({ outcome: "completed", text: "End." });
    expect(bodies[1]).toContain("seen");
    expect(bodies[1]).toContain(PNG);
    expect(bodies[1]).toContain(PDF);
    expect(bodies[1]).toContain(word);
    expect(result.toolCalls[0]).toMatchObject({ isError: false });
  });

  it("reaches a function of yours", async () => {
    let seen: any;
    const model = custom(({ messages }) => {
      seen = messages.at(-1);
      return messages.length === 1 ? [{ type: "tool_call", name: "look", input: {} }] : "End.";
    });
    await createAgent({ model, tools: { look } }).run("Go").result;
    expect(seen.content[0].content).toMatchObject([
      { type: "text", text: "seen" },
      { type: "media", mediaType: "image/png", data: PNG },
      { type: "media", mediaType: "application/pdf", data: PDF },
    ]);
  });

  it("may have a block of the vendor's own, as a prompt may", async () => {
    const found = { type: "search_result", source: "https://a.example", title: "A", content: [] };
    const asked = { type: "document", source: { type: "text", media_type: "text/plain", data: "B" } };
    const raw = tool({
      description: "Looks",
      inputSchema: { type: "object" },
      execute: () => ({ content: [{ type: "raw", json: found }] }),
    });
    const { bodies, options } = answering("anthropic");
    const model = anthropic("m", { ...options, promptCaching: false });
    const agent = createAgent({ model, tools: { look: raw } });
    const result = await agent.run([{ type: "raw", json: asked }]).result;
    expect(result).toMatchObject({ outcome: "completed" });
    expect(bodies[0]).toContain(JSON.stringify(asked));
    expect(bodies[1]).toContain(JSON.stringify(found));
  });

  it("may be a result of MCP that says it is complete; other fields make it JSON", async () => {
    const content = [{ type: "image", data: PNG, mimeType: "image/png" }];
    for (const [more, isMedia] of [
      [{}, true],
      [{ resultType: "complete" }, true],
      [{ resultType: "input_required" }, false],
      [{ total: 5 }, false],
    ] as const) {
      const { bodies, options } = answering("anthropic");
      const execute = () => ({ content, ...more });
      const raw = tool({ inputSchema: { type: "object" }, execute });
      await createAgent({ model: anthropic("m", options), tools: { look: raw } }).run("Go").result;
      const { content: blocks } = JSON.parse(bodies[1]!).messages.at(-1).content[0];
      expect(Array.isArray(blocks)).toBe(isMedia);
      for (const value of Object.values(more)) {
        if (!isMedia) expect(blocks).toContain(JSON.stringify(value));
      }
    }
  });

  it("may be a File, whose name the model is told", async () => {
    const { bodies, options } = answering("anthropic");
    const execute = () => new File([bytes(PDF)], "report.pdf", { type: "application/pdf" });
    const raw = tool({ description: "Looks", inputSchema: { type: "object" }, execute });
    await createAgent({ model: anthropic("m", options), tools: { look: raw } }).run("Go").result;
    expect(bodies[1]).toContain('"title":"report.pdf"');
  });

  it("may be bytes or a Blob", async () => {
    for (const value of [bytes(PNG), new Blob([bytes(PDF)], { type: "application/pdf" })]) {
      const { bodies, options } = answering("anthropic");
      const raw = tool({ description: "Looks", inputSchema: { type: "object" }, execute: () => value });
      await createAgent({ model: anthropic("m", options), tools: { look: raw } }).run("Go").result;
      expect(bodies[1]).toContain(value instanceof Blob ? PDF : PNG);
    }
  });
});
