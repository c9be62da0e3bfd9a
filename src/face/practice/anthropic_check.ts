/**
 * Refuses what Anthropic refuses, in its words, so that a history that is illegal there fails here too.
 * The words are those of answers seen in public traffic up to 2026-11-20; the order of the checks is ours.
 */
import { isObject } from "./json.js";
import { signatureOf } from "./random.js";
import { illegal, type Rejection } from "./rejection.js";

/** How strict the check is. */
export interface AnthropicRules {
  /** Refuse two messages of one role in a row (the vendor's older rule; today it joins them). */
  areRolesAlternating: boolean;
  /** Refuse thinking blocks whose signature the practice provider did not make. */
  areSignaturesOurs: boolean;
}

/** The reason why `body` is illegal, or `undefined`. */
export function checkAnthropic(body: any, rules: AnthropicRules): Rejection | undefined {
  if (!isObject(body)) return illegal("The request body is not valid JSON");
  return checkTop(body) ?? checkTools(body) ?? checkMessages(body, rules) ?? checkCacheMarkers(body);
}

const TOP_FIELDS = new Set(
  (
    "model messages max_tokens system stream tools tool_choice thinking temperature top_p top_k stop_sequences metadata " +
    "service_tier cache_control container context_management diagnostics inference_geo mcp_servers output_config " +
    "output_format speed user_profile_id workspace_id fallbacks fallback_credit_token compaction billing_policy thread"
  ).split(" "),
);

function checkTop(body: Record<string, any>): Rejection | undefined {
  for (const field of ["model", "max_tokens", "messages"]) {
    if (body[field] === undefined) return illegal(`${field}: Field required`);
  }
  for (const field of Object.keys(body)) {
    if (!TOP_FIELDS.has(field)) return illegal(`${field}: Extra inputs are not permitted`);
  }
  if (typeof body.model !== "string") return illegal("model: Input should be a valid string");
  if (!Number.isInteger(body.max_tokens)) return illegal("max_tokens: Input should be a valid integer");
  if (body.max_tokens < 1) return illegal("max_tokens: Input should be greater than or equal to 1");
  const { temperature, thinking } = body;
  if (temperature != null && (temperature < 0 || temperature > 1)) {
    return illegal("temperature: range: 0..1");
  }
  if (thinking?.type === "enabled") {
    if (!Number.isInteger(thinking.budget_tokens)) {
      return illegal("thinking.enabled.budget_tokens: Field required");
    }
    if (thinking.budget_tokens < 1024) {
      return illegal("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024");
    }
    if (thinking.budget_tokens >= body.max_tokens) {
      return illegal(
        "`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our documentation at " +
          "https://docs.claude.com/en/docs/build-with-claude/extended-thinking#max-tokens-and-context-window-size",
      );
    }
    if (["any", "tool"].includes(body.tool_choice?.type)) {
      return illegal("Thinking may not be enabled when tool_choice forces tool use.");
    }
  }
  for (const [at, block] of listOf(body.system).entries()) {
    if (block?.type !== "text") return illegal(`system.${at}.type: Input should be 'text'`);
    if (block.text === "") return illegal("system: text content blocks must be non-empty");
  }
  return undefined;
}

function checkTools(body: Record<string, any>): Rejection | undefined {
  if (body.tools !== undefined && !Array.isArray(body.tools))
    return illegal("tools: Input should be a valid list");
  const tools = listOf(body.tools);
  const names = new Set<unknown>();
  for (const [at, tool] of tools.entries()) {
    if (typeof tool?.name !== "string") return illegal(`tools.${at}.custom.name: Field required`);
    if (names.has(tool.name)) return illegal("tools: Tool names must be unique.");
    names.add(tool.name);
    if (tool.type !== undefined && tool.type !== "custom") continue;
    if (!/^[a-zA-Z0-9_-]{1,128}$/.test(tool.name)) {
      return illegal(`tools.${at}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`);
    }
    if (!isObject(tool.input_schema)) return illegal(`tools.${at}.custom.input_schema: Field required`);
    if (tool.input_schema.type === undefined) {
      return illegal(`tools.${at}.custom.input_schema.type: Field required`);
    }
    if (tool.input_schema.type !== "object") {
      return illegal(`tools.${at}.custom.input_schema.type: Input should be 'object'`);
    }
  }
  const choice = body.tool_choice;
  if (choice === undefined) return undefined;
  if (!["auto", "any", "tool", "none"].includes(choice?.type)) {
    return illegal(
      "tool_choice: Input tag does not match any of the expected tags: 'any', 'auto', 'none', 'tool'",
    );
  }
  if (tools.length === 0) return illegal("tool_choice may only be specified while providing tools.");
  if (choice.type === "tool" && !names.has(choice.name)) {
    return illegal(`Tool '${choice.name}' not found in provided tools`);
  }
  return undefined;
}

function checkMessages(body: Record<string, any>, rules: AnthropicRules): Rejection | undefined {
  const { messages } = body;
  if (!Array.isArray(messages)) return illegal("messages: Input should be a valid list");
  if (messages.length === 0) return illegal("messages: at least one message is required");
  const ids = new Set<string>();
  let previous: any;
  for (const [at, message] of messages.entries()) {
    const isLast = at === messages.length - 1;
    const fault =
      checkMessage(message, at, isLast) ??
      checkRole(message, at, previous, rules) ??
      checkBlocks(message, at, ids, isLast, rules) ??
      checkPairs(message, at, previous);
    if (fault) return fault;
    previous = message;
  }
  return danglingCalls(previous, undefined, messages.length - 1) ?? checkThinkingFirst(body);
}

function checkMessage(message: any, at: number, isLast: boolean): Rejection | undefined {
  const role = message?.role;
  // Later system messages made of blocks (tool additions) are legal; a leading one, or plain text, never was.
  if (role === "system" && at > 0 && Array.isArray(message.content)) return undefined;
  if (role === "system") {
    return illegal(
      'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, not "system" as an ' +
        "input message role.",
    );
  }
  if (role !== "user" && role !== "assistant") {
    return illegal(`messages.${at}.role: Input should be 'user' or 'assistant'`);
  }
  const { content } = message;
  if (content == null) return illegal(`messages.${at}.content: Field required`);
  if (typeof content !== "string" && !Array.isArray(content)) {
    return illegal(`messages.${at}.content: Input should be a valid string or list`);
  }
  if (content.length === 0 && !(isLast && role === "assistant")) {
    return illegal(
      `messages.${at}: all messages must have non-empty content except for the optional final assistant message`,
    );
  }
  return undefined;
}

function checkRole(message: any, at: number, previous: any, rules: AnthropicRules): Rejection | undefined {
  if (at === 0 && message.role !== "user") return illegal('messages: first message must use the "user" role');
  if (rules.areRolesAlternating && previous?.role === message.role) {
    return illegal(
      `messages: roles must alternate between "user" and "assistant", but found multiple "${message.role}" roles in a row`,
    );
  }
  return undefined;
}

const BLOCK_TYPES: Record<string, readonly string[]> = {
  user: ["text", "image", "document", "search_result", "tool_result", "container_upload"],
  assistant: ["text", "thinking", "redacted_thinking", "tool_use", "server_tool_use", "mcp_tool_use"],
};

function checkBlocks(
  message: any,
  at: number,
  ids: Set<string>,
  isLast: boolean,
  rules: AnthropicRules,
): Rejection | undefined {
  const blocks = listOf(message.content);
  // Seen accepted: a blank text beside calls, as some models write it themselves.
  const hasCalls = blocks.some((block) => block?.type === "tool_use");
  for (const [index, block] of blocks.entries()) {
    const where = `messages.${at}.content.${index}`;
    const type = block?.type;
    if (typeof type !== "string") return illegal(`${where}.type: Field required`);
    if (message.role === "system") continue;
    const other = BLOCK_TYPES[message.role === "user" ? "assistant" : "user"] ?? [];
    if (type !== "text" && other.includes(type)) {
      return illegal(
        `${where}: \`${type}\` blocks can only be in \`${message.role === "user" ? "assistant" : "user"}\` messages`,
      );
    }
    if (type === "text") {
      if (typeof block.text !== "string") return illegal(`${where}.text.text: Field required`);
      if (block.text === "") return illegal("messages: text content blocks must be non-empty");
      if (block.text.trim() === "" && !hasCalls)
        return illegal("messages: text content blocks must contain non-whitespace text");
    } else if (type === "tool_use") {
      if (typeof block.id !== "string" || !/^[a-zA-Z0-9_-]+$/.test(block.id)) {
        return illegal(`${where}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`);
      }
      if (ids.has(block.id)) return illegal("messages: `tool_use` ids must be unique");
      ids.add(block.id);
      if (typeof block.name !== "string") return illegal(`${where}.tool_use.name: Field required`);
      if (!isObject(block.input))
        return illegal(`${where}.tool_use.input: Input should be a valid dictionary`);
    } else if (type === "thinking") {
      if (typeof block.signature !== "string") return illegal(`${where}.thinking.signature: Field required`);
      const isForeign = rules.areSignaturesOurs && !isOurSignature(block.thinking, block.signature);
      if (isForeign) return illegal(`${where}: Invalid \`signature\` in \`thinking\` block`);
    }
  }
  const last = blocks.at(-1);
  if (message.role === "assistant" && last?.type === "thinking") {
    return illegal(`messages.${at}: The final block in an assistant message cannot be \`thinking\`.`);
  }
  const finalText =
    typeof message.content === "string" ? message.content : last?.type === "text" ? last.text : "";
  if (isLast && message.role === "assistant" && /\s$/.test(finalText)) {
    return illegal("messages: final assistant content cannot end with trailing whitespace");
  }
  return undefined;
}

// With `display: "omitted"` the text is withheld and only the signature comes back.
function isOurSignature(thinking: unknown, signature: string): boolean {
  return thinking === ""
    ? signature.startsWith("EqQBCkYICxgCKkA")
    : signature === signatureOf(String(thinking));
}

function checkPairs(message: any, at: number, previous: any): Rejection | undefined {
  const asked = new Set(callIds(previous));
  const answered = new Set<string>();
  for (const [index, block] of listOf(message.content).entries()) {
    if (block?.type !== "tool_result") continue;
    const id = String(block.tool_use_id);
    if (!asked.has(id)) {
      return illegal(
        `messages.${at}.content.${index}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each ` +
          "`tool_result` block must have a corresponding `tool_use` block in the previous message.",
      );
    }
    if (answered.has(id)) {
      return illegal(
        `messages.${at}.content.${index}: each tool_use must have a single result. Found multiple \`tool_result\` blocks ` +
          `with id: ${id}`,
      );
    }
    answered.add(id);
  }
  return danglingCalls(previous, message, at - 1);
}

/** Results have to come first in the next message: those behind other blocks do not count. */
function danglingCalls(asking: any, answering: any, at: number): Rejection | undefined {
  const blocks = listOf(answering?.content);
  const end = blocks.findIndex((block) => block?.type !== "tool_result");
  const answered = new Set((end < 0 ? blocks : blocks.slice(0, end)).map((block) => block?.tool_use_id));
  const missing = callIds(asking).filter((id) => !answered.has(id));
  if (missing.length === 0) return undefined;
  return illegal(
    `messages.${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(", ")}. ` +
      "Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
  );
}

/** While thinking is on, the assistant message that called the tools just answered must begin with its thinking. */
function checkThinkingFirst(body: Record<string, any>): Rejection | undefined {
  if (body.thinking?.type !== "enabled") return undefined;
  const at = body.messages.map((message: any) => message.role).lastIndexOf("assistant");
  const last = body.messages.at(-1);
  const isToolUse = listOf(last?.content).some((block) => block?.type === "tool_result");
  const first = listOf(body.messages[at]?.content)[0]?.type;
  if (!isToolUse || first === undefined || first === "thinking" || first === "redacted_thinking")
    return undefined;
  return illegal(
    `messages.${at}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${first}\`. When ` +
      "`thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of " +
      "`tool_use` and `tool_result` blocks). To avoid this requirement, disable `thinking`.",
  );
}

const MAX_CACHE_MARKERS = 4;

function checkCacheMarkers(body: Record<string, any>): Rejection | undefined {
  const blocks = [
    ...listOf(body.tools),
    ...listOf(body.system),
    ...body.messages.flatMap((message: any) => listOf(message.content)),
  ];
  const count = blocks.filter((block) => block?.cache_control != null).length + (body.cache_control ? 1 : 0);
  if (count <= MAX_CACHE_MARKERS) return undefined;
  return illegal(
    `A maximum of ${MAX_CACHE_MARKERS} blocks with cache_control may be provided. Found ${count}.`,
  );
}

function callIds(message: any): string[] {
  if (message?.role !== "assistant") return [];
  return listOf(message.content).flatMap((block) => (block?.type === "tool_use" ? [String(block.id)] : []));
}

function listOf(value: unknown): any[] {
  return Array.isArray(value) ? value : [];
}
