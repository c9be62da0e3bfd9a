import { crc32 } from "node:zlib";
import { describe, expect, it } from "vitest";
import { bedrock, createAgent, tool } from "../../../../src/typescript/core/entry/node.js";
import { bodyJson } from "../../support/bodies.js";

/** A message of Amazon's event stream. */
function message(name: string, payload: object): Buffer {
  const header = (key: string, value: string): Buffer =>
    Buffer.concat([
      Buffer.from([key.length]),
      Buffer.from(key),
      Buffer.from([7, 0, value.length]),
      Buffer.from(value),
    ]);
  const headers = Buffer.concat([header(":event-type", name), header(":message-type", "event")]);
  const body = Buffer.from(JSON.stringify(payload));
  const prelude = Buffer.alloc(8);
  prelude.writeUInt32BE(headers.length + body.length + 16, 0);
  prelude.writeUInt32BE(headers.length, 4);
  const begin = Buffer.concat([prelude, number(crc32(prelude)), headers, body]);
  return Buffer.concat([begin, number(crc32(begin))]);
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function answer(deltas: readonly object[], stopReason: string, start?: object): Buffer {
  const at = { contentBlockIndex: 0 };
  return Buffer.concat([
    message("messageStart", { role: "assistant" }),
    ...(start === undefined ? [] : [message("contentBlockStart", { ...at, start })]),
    ...deltas.map((delta) => message("contentBlockDelta", { ...at, delta })),
    message("contentBlockStop", at),
    message("messageStop", { stopReason }),
    message("metadata", { usage: { inputTokens: 7, outputTokens: 2, totalTokens: 9 } }),
  ]);
}

describe("a run of bedrock", () => {
  it("signs each request, reads the binary stream however it is cut, and answers out of a tool's result", async () => {
    const bodies = [
      answer([{ toolUse: { input: '{"city":' } }, { toolUse: { input: '"Oslo"}' } }], "tool_use", {
        toolUse: { toolUseId: "tooluse_1", name: "weather" },
      }),
      answer([{ text: "It " }, { text: "rains 🌧" }], "end_turn"),
    ];
    const sent: { url: string; headers: Record<string, string>; body: any }[] = [];
    const model = bedrock("us.anthropic.claude-opus-5-v1:0", {
      region: "eu-central-1",
      credentials: () =>
        Promise.resolve({ accessKeyId: "AKID", secretAccessKey: "hidden", sessionToken: "token" }),
      fetch: (url, init) => {
        const headers = Object.fromEntries(new Headers(init.headers));
        sent.push({ url, headers, body: bodyJson(init) });
        const body = bodies[sent.length - 1] ?? Buffer.alloc(0);
        return Promise.resolve({ status: 200, headers: {}, body: cut(body) });
      },
    });
    const weather = tool({
      description: "Weather of a city",
      inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
      execute: ({ city }) => `rain in ${city}`,
    });
    const result = await createAgent({ model, tools: { weather } }).run("Umbrella?").result;
    expect(result).toMatchObject({ outcome: "completed", text: "It rains 🌧", rawFinishReason: "end_turn" });
    expect(result.usage).toMatchObject({ inputTokens: 14, outputTokens: 4 });
    expect(sent.map(({ url }) => url)).toEqual(
      Array(2).fill(
        "https://bedrock-runtime.eu-central-1.amazonaws.com/model/us.anthropic.claude-opus-5-v1%3A0/converse-stream",
      ),
    );
    for (const { headers } of sent) {
      expect(headers["authorization"]).toMatch(
        /^AWS4-HMAC-SHA256 Credential=AKID\/\d{8}\/eu-central-1\/bedrock\/aws4_request, SignedHeaders=content-type;host;x-amz-date;x-amz-security-token, Signature=[0-9a-f]{64}$/,
      );
      expect(headers["x-amz-security-token"]).toBe("token");
    }
    expect(sent[1]?.body.messages.slice(1)).toEqual([
      {
        role: "assistant",
        content: [{ toolUse: { toolUseId: "tooluse_1", name: "weather", input: { city: "Oslo" } } }],
      },
      {
        role: "user",
        content: [
          { toolResult: { toolUseId: "tooluse_1", content: [{ text: "rain in Oslo" }] } },
          { cachePoint: { type: "default" } },
        ],
      },
    ]);
  });

  it("gives up after a broken checksum and says so", async () => {
    const body = answer([{ text: "Hi" }], "end_turn");
    body.writeUInt8(body.readUInt8(body.length - 1) ^ 1, body.length - 1);
    const fetch = (): Promise<{ status: number; body: Buffer }> => Promise.resolve({ status: 200, body });
    const model = bedrock("amazon.nova-micro-v1:0", { region: "us-east-1", apiKey: "key", fetch });
    const result = await createAgent({ model, retry: { maxRetries: 0 } }).run("Hi").result;
    expect(result).toMatchObject({ outcome: "failed", text: "Hi", error: { code: "malformed_stream" } });
  });
});

async function* cut(body: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < body.length; at += 13) yield Uint8Array.from(body.subarray(at, at + 13));
}
