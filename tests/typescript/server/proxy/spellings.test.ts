/** Checks of a body see each field in every spelling, and every name of an object that is not in the request. */
import { describe, expect, it } from "vitest";
import { anthropic, bedrock, gemini, openai, openaiChat } from "looplet";
import { KEY, requestOf, statusOf } from "./kit.js";

const bound = { apiKey: KEY, maxOutputTokens: 100 };
const credentials = { accessKeyId: "AKIA0123456789", secretAccessKey: "0123456789" };
const models = [
  anthropic("m", bound),
  openai("m", bound),
  openaiChat("m", bound),
  gemini("m", bound),
  bedrock("m", { region: "eu-central-1", credentials, maxOutputTokens: 100 }),
];
const PATHS = {
  anthropic: "/api/anthropic/v1/messages",
  responses: "/api/openai/responses",
  chat: "/api/openai/chat/completions",
  gemini: "/api/google/v1beta/models/m:generateContent",
  bedrock: "/api/bedrock/model/m/converse",
};
const BODIES: { readonly [name in keyof typeof PATHS]: object } = {
  anthropic: { model: "m", max_tokens: 10, messages: [] },
  responses: { model: "m", max_output_tokens: 10, input: "x" },
  chat: { model: "m", max_completion_tokens: 10, messages: [] },
  gemini: { contents: [], generationConfig: { maxOutputTokens: 10 } },
  bedrock: { messages: [], inferenceConfig: { maxTokens: 10 } },
};
type Protocol = keyof typeof PATHS;
const statusFor = async (protocol: Protocol, more: object): Promise<number> =>
  (await statusOf(requestOf({ ...BODIES[protocol], ...more }, { path: PATHS[protocol] }), { models }))[0];
const said = (part: object) => [{ role: "user", content: [part] }];

describe("a field in another spelling", () => {
  const rows: [Protocol, object][] = [
    ["gemini", { generation_config: { candidate_count: 8 } }],
    ["gemini", { generationConfig: { maxOutputTokens: 10, candidate_count: 8 } }],
    ["gemini", { generationConfig: { maxOutputTokens: 10, CandidateCount: 8 } }],
    ["gemini", { generationConfig: { maxOutputTokens: 10, max_output_tokens: 6000 } }],
    ["gemini", { n: 1, generationConfig: { maxOutputTokens: 10, candidateCount: 8 } }],
    ["gemini", { cached_content: "cachedContents/other" }],
    ["gemini", { tools: [{ google_search: {} }] }],
    ["anthropic", { Max_Tokens: 6000 }],
    ["anthropic", { "max\u0130tokens": 1, mcpServers: [{}] }],
    ["anthropic", { MCP_SERVERS: [{}] }],
    ["anthropic", { "tool\u017f": [{ type: "web_search" }] } as object],
    ["chat", { N: 4 }],
    ["chat", { "\uff4e": 4 }],
    ["chat", { max_tokens: 6000 }],
    ["chat", { max_tokens: "6000" }],
    ["chat", { MODELS: ["other"] }],
    ["chat", { fallbackModels: ["other"] }],
    ["chat", { maxCompletionTokens: 6000 }],
    ["chat", { bestOf: 4 }],
    ["responses", { previousResponseId: "resp_other" }],
    ["responses", { "bac\u212Aground": true } as object],
    ["bedrock", { additionalModelRequestFields: { maxNewTokens: 6000 } }],
    ["bedrock", { additional_model_request_fields: { max_new_tokens: 6000 } }],
    ["bedrock", { additionalModelRequestFields: { num_generations: 4 } }],
  ];
  it.each(rows)("is refused: %s %j", async (protocol, more) => {
    expect([400, 403]).toContain(await statusFor(protocol, more));
  });

  it("is let through where the vendor has two spellings", async () => {
    const text = JSON.stringify({
      contents: [],
      generation_config: { max_output_tokens: 10, candidate_count: 1 },
    });
    expect((await statusOf(requestOf(text, { path: PATHS.gemini }), { models }))[0]).toBe(200);
  });

  it("bounds an answer by whole numbers above 0 alone", async () => {
    for (const max_completion_tokens of [-1, 0, 1.5, "10", null, [10], true])
      expect(await statusFor("chat", { max_completion_tokens })).toBe(403);
  });
});

describe("an object that is not in the request", () => {
  const rows: [Protocol, object][] = [
    ["responses", { input: [{ type: "item_reference", id: "msg_other" }] }],
    ["responses", { input: [{ id: "msg_other" }] }],
    ["responses", { input: [{ type: "reasoning", id: "rs_other", summary: [] }] }],
    ["responses", { input: said({ type: "input_file", file_id: "file-other" }) }],
    ["responses", { input: said({ type: "input_image", fileId: "file-other" }) }],
    [
      "responses",
      {
        input: [
          { type: "function_call_output", call_id: "c", output: [{ type: "input_file", file_id: "f" }] },
        ],
      },
    ],
    ["responses", { prompt: { id: "pmpt_other" } }],
    ["responses", { conversation: "conv_other" }],
    ["chat", { messages: said({ type: "file", file: { file_id: "file-other" } }) }],
    ["chat", { messages: [{ role: "assistant", audio: { id: "audio_other" } }] }],
    ["chat", { messages: said({ type: "image_url", image_url: { url: "gs://bucket/other.png" } }) }],
    ["anthropic", { messages: said({ type: "document", source: { type: "file", file_id: "file_other" } }) }],
    ["anthropic", { messages: said({ type: "image", source: { type: "FILE", id: "file_other" } }) }],
    ["anthropic", { messages: said({ type: "container_upload", file_id: "file_other" }) }],
    ["anthropic", { system: [{ type: "document", source: { type: "file", file_id: "file_other" } }] }],
    [
      "anthropic",
      {
        messages: said({
          type: "tool_result",
          tool_use_id: "c",
          content: [{ type: "image", source: { type: "file", file_id: "f" } }],
        }),
      },
    ],
    ["gemini", { contents: [{ parts: [{ fileData: { fileUri: "gs://bucket/other" } }] }] }],
    ["gemini", { contents: [{ parts: [{ file_data: { file_uri: "files/other" } }] }] }],
    [
      "gemini",
      {
        contents: [
          {
            parts: [
              { fileData: { fileUri: "https://generativelanguage.googleapis.com/v1beta/files/other" } },
            ],
          },
        ],
      },
    ],
    [
      "gemini",
      { systemInstruction: { parts: [{ fileData: { fileUri: "https://storage.googleapis.com/b/o" } }] } },
    ],
    ["bedrock", { messages: said({ document: { source: { s3Location: { uri: "s3://bucket/other" } } } }) }],
  ];
  it.each(rows)("is refused: %s %j", async (protocol, more) => {
    expect(await statusFor(protocol, more)).toBe(403);
  });

  it("is nothing that a developer has named so in a schema or in a call's input", async () => {
    const schema = {
      type: "object",
      properties: { file_id: { type: "string" }, fileId: { type: "string" } },
    };
    const use = { type: "tool_use", id: "c", name: "open", input: { file_id: "7", url: "s3://a/b" } };
    const anthropicTools = [{ name: "open", input_schema: schema }];
    expect(await statusFor("anthropic", { tools: anthropicTools, messages: said(use) })).toBe(200);
    const format = { type: "json_schema", name: "a", schema };
    expect(await statusFor("responses", { text: { format } })).toBe(200);
    expect(await statusFor("anthropic", { output_config: { format } })).toBe(200);
    expect(await statusFor("anthropic", { output_format: format })).toBe(200);
    const call = { functionCall: { name: "open", args: { fileUri: "gs://a/b" } } };
    expect(await statusFor("gemini", { contents: [{ parts: [call] }] })).toBe(200);
    const toolUse = { toolUse: { toolUseId: "c", name: "open", input: { fileId: "7" } } };
    expect(await statusFor("bedrock", { messages: said(toolUse) })).toBe(200);
    const open = { fileData: { fileUri: "https://www.youtube.com/watch?v=1", mimeType: "video/mp4" } };
    expect(await statusFor("gemini", { contents: [{ parts: [open] }] })).toBe(200);
    const picture = { type: "image_url", image_url: { url: "https://example.com/a.png" } };
    expect(await statusFor("chat", { messages: said(picture) })).toBe(200);
  });
});
