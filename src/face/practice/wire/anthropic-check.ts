/**
 * Refuses what Anthropic refuses, in its words, so that a history that is illegal there fails here too: one rule a line.
 * The words are those of answers seen in public traffic up to 2026-11-20; the order of the rules is ours.
 */
import { isObject, listOf } from "../json.js";
import { SIGNATURE_PREFIX, signatureOf } from "../random.js";
import type { ReceivedRequest } from "../types.js";
import { firstBroken, illegal, type Rejection, type Rule, type Rules } from "./format.js";

/** The reason why the request is illegal, or `undefined`. */
export function checkAnthropic({ body, headers }: ReceivedRequest, rules: Rules): Rejection | undefined {
  if (headers["anthropic-version"] === undefined) return illegal("anthropic-version: header is required");
  if (!isObject(body)) return illegal("The request body is not valid JSON");
  const { messages, thinking } = body;
  const list = listOf(messages);
  return firstBroken([
    ...topRules(body),
    ...toolRules(body),
    [!Array.isArray(messages), "messages: Input should be a valid list"],
    [list.length === 0, "messages: at least one message is required"],
    ...list.flatMap((_, at) => messageRules(list, at, rules)),
    openCallRule(list.at(-1), undefined, list.length - 1),
    ...(thinking?.type === "enabled" ? [thinkingRule(list)] : []),
    cacheRule(body),
  ]);
}

const TOP_FIELDS =
  "model messages max_tokens system stream tools tool_choice thinking temperature top_p top_k stop_sequences metadata " +
  "service_tier cache_control container context_management diagnostics inference_geo mcp_servers output_config " +
  "output_format speed user_profile_id workspace_id fallbacks fallback_credit_token compaction billing_policy thread";

function topRules(body: any): Rule[] {
  const { model, max_tokens, temperature, thinking, tool_choice } = body;
  const budget = thinking?.type === "enabled" ? thinking.budget_tokens : undefined;
  const missing = ["model", "max_tokens", "messages"].find((field) => body[field] === undefined);
  const unknown = Object.keys(body).find((field) => !TOP_FIELDS.split(" ").includes(field));
  // prettier-ignore
  return [
    [missing, `${missing}: Field required`],
    [unknown, `${unknown}: Extra inputs are not permitted`],
    [typeof model !== "string", "model: Input should be a valid string"],
    [!Number.isInteger(max_tokens), "max_tokens: Input should be a valid integer"],
    [max_tokens < 1, "max_tokens: Input should be greater than or equal to 1"],
    [temperature < 0 || temperature > 1, "temperature: range: 0..1"],
    [thinking?.type === "enabled" && !Number.isInteger(budget), "thinking.enabled.budget_tokens: Field required"],
    [budget < 1024, "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"],
    [budget >= max_tokens, "`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking#max-tokens-and-context-window-size"],
    [budget && ["any", "tool"].includes(tool_choice?.type), "Thinking may not be enabled when tool_choice forces tool use."],
    [listOf(body.system).some(isEmptyText), "system: text content blocks must be non-empty"],
  ];
}

function toolRules({ tools, tool_choice: choice }: any): Rule[] {
  const names = listOf(tools).map((tool) => tool?.name);
  // prettier-ignore
  return [
    [tools !== undefined && !Array.isArray(tools), "tools: Input should be a valid list"],
    ...listOf(tools).flatMap((tool, at): Rule[] => {
      const where = `tools.${at}.custom`;
      const schema = tool?.type === undefined || tool.type === "custom" ? tool?.input_schema : { type: "object" };
      return [
        [typeof tool?.name !== "string", `${where}.name: Field required`],
        [names.indexOf(tool?.name) < at, "tools: Tool names must be unique."],
        [!/^[a-zA-Z0-9_-]{1,128}$/.test(tool?.name), `${where}.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`],
        [!isObject(schema), `${where}.input_schema: Field required`],
        [schema?.type === undefined, `${where}.input_schema.type: Field required`],
        [schema?.type !== "object", `${where}.input_schema.type: Input should be 'object'`],
      ];
    }),
    [choice !== undefined && !["auto", "any", "tool", "none"].includes(choice?.type), "tool_choice: Input tag does not match any of the expected tags: 'any', 'auto', 'none', 'tool'"],
    [choice !== undefined && names.length === 0, "tool_choice may only be specified while providing tools."],
    [choice?.type === "tool" && !names.includes(choice.name), `Tool '${choice?.name}' not found in provided tools`],
  ];
}

function messageRules(messages: readonly any[], at: number, rules: Rules): Rule[] {
  const { role, content } = messages[at] ?? {};
  const previous = messages[at - 1];
  const isEnd = at === messages.length - 1 && role === "assistant";
  const isContent = typeof content === "string" || Array.isArray(content);
  const end = typeof content === "string" ? content : (listOf(content).at(-1)?.text ?? "");
  const ids = callIds(messages[at]);
  const earlier = messages.slice(0, at).flatMap(callIds);
  // Later system messages made of blocks (tool additions) are legal; a leading one, or plain text, never was.
  const isAddition = role === "system" && at > 0 && Array.isArray(content);
  // prettier-ignore
  return [
    [role === "system" && !isAddition, 'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, not "system" as an input message role.'],
    [!isAddition && role !== "user" && role !== "assistant", `messages.${at}.role: Input should be 'user' or 'assistant'`],
    [content == null, `messages.${at}.content: Field required`],
    [!isContent, `messages.${at}.content: Input should be a valid string or list`],
    [content?.length === 0 && !isEnd, `messages.${at}: all messages must have non-empty content except for the optional final assistant message`],
    [at === 0 && role !== "user", 'messages: first message must use the "user" role'],
    [rules.areRolesAlternating && previous?.role === role, `messages: roles must alternate between "user" and "assistant", but found multiple "${role}" roles in a row`],
    ...(isAddition ? [] : blockRules(messages[at], at, rules)),
    [ids.some((id, index) => earlier.includes(id) || ids.indexOf(id) < index), "messages: `tool_use` ids must be unique"],
    [isEnd && listOf(content).at(-1)?.type === "thinking", `messages.${at}: The final block in an assistant message cannot be \`thinking\`.`],
    [isEnd && /\s$/.test(end), "messages: final assistant content cannot end with trailing whitespace"],
    ...resultRules(content, at, previous),
    openCallRule(previous, content, at - 1),
  ];
}

const ONLY_IN: Record<string, readonly string[]> = {
  user: ["image", "document", "search_result", "tool_result", "container_upload"],
  assistant: ["thinking", "redacted_thinking", "tool_use", "server_tool_use", "mcp_tool_use"],
};

function blockRules({ role, content }: any, at: number, { areSignaturesOurs }: Rules): Rule[] {
  const other = role === "user" ? "assistant" : "user";
  // Seen accepted: a blank text beside calls, as some models write it themselves.
  const isBlankLegal = listOf(content).some((block) => block?.type === "tool_use");
  return listOf(content).flatMap((block, index): Rule[] => {
    const { type, text, id, input, signature } = block ?? {};
    const where = `messages.${at}.content.${index}`;
    const [isText, isCall, isThinking] = [type === "text", type === "tool_use", type === "thinking"];
    // prettier-ignore
    return [
      [typeof type !== "string", `${where}.type: Field required`],
      [ONLY_IN[other]?.includes(type), `${where}: \`${type}\` blocks can only be in \`${other}\` messages`],
      [isText && typeof text !== "string", `${where}.text.text: Field required`],
      [isEmptyText(block), "messages: text content blocks must be non-empty"],
      [isText && String(text).trim() === "" && !isBlankLegal, "messages: text content blocks must contain non-whitespace text"],
      [isCall && !/^[a-zA-Z0-9_-]+$/.test(id), `${where}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`],
      [isCall && typeof block.name !== "string", `${where}.tool_use.name: Field required`],
      [isCall && !isObject(input), `${where}.tool_use.input: Input should be a valid dictionary`],
      [isThinking && typeof signature !== "string", `${where}.thinking.signature: Field required`],
      [isThinking && areSignaturesOurs && !isOurSignature(block), `${where}: Invalid \`signature\` in \`thinking\` block`],
    ];
  });
}

// With `display: "omitted"` the text is withheld and only the signature comes back.
function isOurSignature({ thinking, signature }: any): boolean {
  const text = String(thinking);
  return text === "" ? String(signature).startsWith(SIGNATURE_PREFIX) : signature === signatureOf(text);
}

function resultRules(content: any, at: number, previous: any): Rule[] {
  const asked = callIds(previous);
  const ids = listOf(content).map((block) =>
    block?.type === "tool_result" ? String(block.tool_use_id) : "",
  );
  // prettier-ignore
  return ids.flatMap((id, index): Rule[] => [
    [id && !asked.includes(id), `messages.${at}.content.${index}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`],
    [id && ids.indexOf(id) < index, `messages.${at}.content.${index}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`],
  ]);
}

/** Results have to come first in the next message: those behind other blocks do not count. */
function openCallRule(asking: any, content: unknown, at: number): Rule {
  const blocks = listOf(content);
  const end = blocks.findIndex((block) => block?.type !== "tool_result");
  const answered = blocks.slice(0, end < 0 ? undefined : end).map((block) => block?.tool_use_id);
  const open = callIds(asking).filter((id) => !answered.includes(id));
  // prettier-ignore
  return [open.length > 0, `messages.${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(", ")}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`];
}

/** While thinking is on, the assistant message that called the tools just answered must begin with its thinking. */
function thinkingRule(messages: readonly any[]): Rule {
  const at = messages.map((message) => message?.role).lastIndexOf("assistant");
  const isToolUse = listOf(messages.at(-1)?.content).some((block) => block?.type === "tool_result");
  const first = listOf(messages[at]?.content)[0]?.type;
  // prettier-ignore
  return [isToolUse && ![undefined, "thinking", "redacted_thinking"].includes(first), `messages.${at}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${first}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks). To avoid this requirement, disable \`thinking\`.`];
}

function cacheRule({ tools, system, messages, cache_control }: any): Rule {
  const contents = listOf(messages).flatMap((message) => listOf(message?.content));
  const marked = [...listOf(tools), ...listOf(system), ...contents, { cache_control }];
  const count = marked.filter((block) => block?.cache_control != null).length;
  return [count > 4, `A maximum of 4 blocks with cache_control may be provided. Found ${count}.`];
}

const isEmptyText = (block: any) => block?.type === "text" && block.text === "";

function callIds(message: any): string[] {
  if (message?.role !== "assistant") return [];
  return listOf(message.content).flatMap((block) => (block?.type === "tool_use" ? [String(block.id)] : []));
}
