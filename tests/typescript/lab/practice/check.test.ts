import { describe, expect, it } from "vitest";
import { practice } from "../../../../src/typescript/lab/practice/index.js";
import { ANTHROPIC_URL, anthropicRequest, anthropicTools, OPENAI_URL } from "./kit.js";

const use = (id: string) => ({ type: "tool_use", id, name: "weather", input: { city: "Oslo" } });
const result = (id: string) => ({ type: "tool_result", tool_use_id: id, content: "11" });
const user = (content: unknown) => ({ role: "user", content });
const assistant = (content: unknown) => ({ role: "assistant", content });

async function anthropicFault(body: Record<string, unknown>, options = {}) {
  const response = await practice({ delayMs: 0, ...options })(ANTHROPIC_URL, anthropicRequest(body));
  const answer: any = await response.json();
  return response.status === 200
    ? "accepted"
    : `${response.status} ${answer.error.type}: ${answer.error.message}`;
}

async function openaiFault(
  body: Record<string, unknown>,
  options = {},
  headers: Record<string, string> = {},
) {
  const init = { method: "POST", headers, body: JSON.stringify({ model: "gpt-5-mini", ...body }) };
  const response = await practice({ delayMs: 0, ...options })(OPENAI_URL, init);
  const answer: any = await response.json();
  return response.status === 200 ? { message: "accepted" } : answer.error;
}

describe("Anthropic requests", () => {
  const illegal: [string, unknown[], RegExp][] = [
    ["a call without its result", [user("a"), assistant([use("t1")]), user("b")], /messages\.1: `tool_use` ids were found without `tool_result` blocks immediately after: t1\./],
    ["a history that ends in a call", [user("a"), assistant([use("t1")])], /messages\.1: `tool_use` ids were found without/],
    ["a result behind other blocks", [user("a"), assistant([use("t1")]), user([{ type: "text", text: "b" }, result("t1")])], /messages\.1: `tool_use` ids/],
    ["a result without its call", [user([result("t9")])], /messages\.0\.content\.0: unexpected `tool_use_id` found in `tool_result` blocks: t9/],
    ["two results for one call", [user("a"), assistant([use("t1")]), user([result("t1"), result("t1")])], /each tool_use must have a single result/],
    ["an id that is used twice", [user("a"), assistant([use("t1"), use("t1")]), user([result("t1")])], /`tool_use` ids must be unique/],
    ["an empty text block", [user([{ type: "text", text: "" }])], /text content blocks must be non-empty/],
    ["a blank text block", [user([{ type: "text", text: " \n" }])], /must contain non-whitespace text/],
    ["an empty message", [user("a"), assistant(""), user("b")], /messages\.1: all messages must have non-empty content/],
    ["two user messages in a row", [user("a"), user("b")], /roles must alternate between "user" and "assistant", but found multiple "user" roles in a row/],
    ["a first message of the assistant", [assistant("a")], /first message must use the "user" role/],
    ["a system message", [{ role: "system", content: "a" }, user("b")], /Unexpected role "system"/],
    ["no message", [], /at least one message is required/],
    ["arguments that are no object", [user("a"), assistant([{ ...use("t1"), input: "x" }]), user([result("t1")])], /tool_use\.input: Input should be a valid dictionary/],
    ["thinking at the end", [user("a"), assistant([{ type: "thinking", thinking: "", signature: "EqQBCkYICxgCKkA" }])], /final block in an assistant message cannot be `thinking`/],
  ]; // prettier-ignore
  for (const [name, messages, words] of illegal) {
    it(`with ${name} are refused`, async () => {
      expect(await anthropicFault({ messages, tools: anthropicTools() })).toMatch(words);
    });
  }

  it("with two user messages in a row pass when alternation is not asked for", async () => {
    expect(await anthropicFault({ messages: [user("a"), user("b")] }, { alternatingRoles: false })).toBe(
      "accepted",
    );
  });

  it("with a legal tool round pass", async () => {
    const messages = [
      user("a"),
      assistant([use("t1"), use("t2")]),
      user([result("t1"), result("t2"), { type: "text", text: "and?" }]),
    ];
    expect(await anthropicFault({ messages, tools: anthropicTools() })).toBe("accepted");
  });

  it("with missing or too small limits or a tool without schema are refused", async () => {
    const messages = [user("a")];
    expect(await anthropicFault({ messages, max_tokens: 0 })).toBe(
      "400 invalid_request_error: max_tokens: Input should be greater than or equal to 1",
    );
    expect(await anthropicFault({ messages, max_tokens: undefined })).toBe(
      "400 invalid_request_error: max_tokens: Field required",
    );
    expect(await anthropicFault({ messages, tools: [{ name: "f" }] })).toMatch(
      /tools\.0\.custom\.input_schema: Field required/,
    );
    const thinking = { type: "enabled", budget_tokens: 4096 };
    expect(await anthropicFault({ messages, thinking })).toMatch(/`max_tokens` must be greater than/);
  });

  it("without the version header, with unknown models or without a key get the vendor's words", async () => {
    const init = anthropicRequest({ messages: [user("a")] });
    const bare = await practice({ delayMs: 0 })(ANTHROPIC_URL, { ...init, headers: {} });
    expect(((await bare.json()) as any).error.message).toBe("anthropic-version: header is required");
    expect(await anthropicFault({ messages: [user("a")] }, { models: ["x"] })).toBe(
      "404 not_found_error: model: claude-sonnet-4-6",
    );
    expect(await anthropicFault({ messages: [user("a")] }, { apiKey: "other" })).toBe(
      "401 authentication_error: invalid x-api-key",
    );
    expect(await anthropicFault({ messages: [user("a")] }, { apiKey: true })).toBe("accepted");
  });
});

describe("OpenAI requests", () => {
  const call = {
    role: "assistant",
    content: null,
    tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: "{}" } }],
  };
  const answer = { role: "tool", tool_call_id: "c1", content: "1" };

  it("with unanswered calls or orphaned results are refused", async () => {
    expect(await openaiFault({ messages: [user("a"), call, user("b")] })).toMatchObject({
      message: expect.stringContaining("tool_call_ids did not have response messages: c1"),
      type: "invalid_request_error",
      param: "messages.[2].role",
    });
    expect((await openaiFault({ messages: [user("a"), call] })).param).toBe("messages.[2].role");
    expect((await openaiFault({ messages: [user("a"), answer] })).message).toMatch(
      /must be a response to a preceeding message/,
    );
    expect((await openaiFault({ messages: [user("a"), call, answer, answer] })).param).toBe(
      "messages.[3].role",
    );
    expect((await openaiFault({ messages: [user("a"), call, answer] })).message).toBe("accepted");
  });

  it("with empty lists, null content or options that do not fit are refused", async () => {
    const messages = [user("a")];
    expect((await openaiFault({ messages: [] })).code).toBe("empty_array");
    expect((await openaiFault({ messages, tools: [] })).message).toMatch(/^Invalid 'tools': empty array/);
    expect((await openaiFault({ messages: [user(null)] })).message).toBe(
      "Invalid value for 'content': expected a string, got null.",
    );
    expect((await openaiFault({ messages, max_tokens: 0 })).code).toBe("integer_below_min_value");
    expect((await openaiFault({ messages, parallel_tool_calls: false })).param).toBe("parallel_tool_calls");
    expect((await openaiFault({ messages, stream_options: {} })).param).toBe("stream_options");
  });

  it("without a key or for an unknown path get the vendor's words", async () => {
    expect((await openaiFault({ messages: [user("a")] }, { apiKey: true })).message).toMatch(
      /^You didn't provide an API key/,
    );
    expect(
      await openaiFault({ messages: [user("a")] }, { apiKey: "k" }, { authorization: "Bearer x" }),
    ).toMatchObject({ code: "invalid_api_key" });
    const lost = await practice({ delayMs: 0 })("/v1/nowhere", { method: "POST", body: "{}" });
    expect(lost.status).toBe(404);
    expect(((await lost.json()) as any).error.message).toBe("Invalid URL (POST /v1/nowhere)");
  });
});
