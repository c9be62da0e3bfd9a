/**
 * Refuses what Anthropic refuses and a history can run into, in its words: one rule a line. The words are those of
 * answers seen in public traffic up to 2026-11-20; the order of the rules is ours.
 */
import { isObject, listOf } from "../json.js";
import { SIGNATURE_PREFIX, signatureOf } from "../random.js";
import type { ReceivedRequest } from "../types.js";
import { firstBroken, illegal, type Rejection, type Rule, type Rules } from "./format.js";

/** The reason why the request is illegal, or `undefined`. */
export function checkAnthropic({ body, headers }: ReceivedRequest, rules: Rules): Rejection | undefined {
  if (headers["anthropic-version"] === undefined) return illegal("anthropic-version: header is required");
  if (!isObject(body)) return illegal("The request body is not valid JSON");
  const missing = ["model", "max_tokens", "messages"].find((field) => body[field] === undefined);
  const list = listOf(body["messages"]);
  return firstBroken([
    [missing, `${missing}: Field required`],
    ...limitRules(body),
    ...toolRules(body),
    [list.length === 0, "messages: at least one message is required"],
    ...list.flatMap((_, at) => messageRules(list, at, rules)),
    openCallRule(list.at(-1), undefined, list.length - 1),
    ...(body["thinking"]?.type === "enabled" ? [thinkingRule(list)] : []),
  ]);
}

function limitRules({ max_tokens, thinking, tool_choice }: any): Rule[] {
  const budget = thinking?.type === "enabled" ? thinking.budget_tokens : undefined;
  // prettier-ignore
  return [
    [max_tokens < 1, "max_tokens: Input should be greater than or equal to 1"],
    [budget < 1024, "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"],
    [budget >= max_tokens, "`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking#max-tokens-and-context-window-size"],
    [budget && ["any", "tool"].includes(tool_choice?.type), "Thinking may not be enabled when tool_choice forces tool use."],
  ];
}

function toolRules({ tools, tool_choice: choice }: any): Rule[] {
  const names = listOf(tools).map((tool) => tool?.name);
  // prettier-ignore
  return [
    ...listOf(tools).flatMap(({ name, type, input_schema: schema }, at): Rule[] => {
      const where = `tools.${at}.custom`;
      const isOwn = type === undefined || type === "custom";
      return [
        [names.indexOf(name) < at, "tools: Tool names must be unique."],
        [!/^[a-zA-Z0-9_-]{1,128}$/.test(name), `${where}.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`],
        [isOwn && !schema, `${where}.input_schema: Field required`],
        [isOwn && schema?.type !== "object", `${where}.input_schema.type: Input should be 'object'`],
      ];
    }),
    [choice && names.length === 0, "tool_choice may only be specified while providing tools."],
    [choice?.type === "tool" && !names.includes(choice.name), `Tool '${choice?.name}' not found in provided tools`],
  ];
}

function messageRules(messages: readonly any[], at: number, rules: Rules): Rule[] {
  const { role, content } = messages[at];
  const previous = messages[at - 1];
  const isEnd = at === messages.length - 1 && role === "assistant";
  const end = typeof content === "string" ? content : (listOf(content).at(-1)?.text ?? "");
  const ids = callIds(messages[at]);
  const earlier = messages.slice(0, at).flatMap(callIds);
  // prettier-ignore
  return [
    [role === "system", 'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, not "system" as an input message role.'],
    [role !== "user" && role !== "assistant", `messages.${at}.role: Input should be 'user' or 'assistant'`],
    [!content?.length && !isEnd, `messages.${at}: all messages must have non-empty content except for the optional final assistant message`],
    [at === 0 && role !== "user", 'messages: first message must use the "user" role'],
    [rules.areRolesAlternating !== false && previous?.role === role, `messages: roles must alternate between "user" and "assistant", but found multiple "${role}" roles in a row`],
    ...blockRules(content, at, rules),
    [ids.some((id, index) => earlier.includes(id) || ids.indexOf(id) < index), "messages: `tool_use` ids must be unique"],
    [isEnd && listOf(content).at(-1)?.type === "thinking", `messages.${at}: The final block in an assistant message cannot be \`thinking\`.`],
    [isEnd && /\s$/.test(end), "messages: final assistant content cannot end with trailing whitespace"],
    ...resultRules(content, at, previous),
    openCallRule(previous, content, at - 1),
  ];
}

function blockRules(content: unknown, at: number, { areSignaturesOurs }: Rules): Rule[] {
  // Seen accepted: a blank text beside calls, as some models write it themselves.
  const isBlankLegal = listOf(content).some((block) => block?.type === "tool_use");
  return listOf(content).flatMap((block, index): Rule[] => {
    const { type, text, id, input } = block;
    const where = `messages.${at}.content.${index}`;
    // prettier-ignore
    return [
      [type === "text" && text === "", "messages: text content blocks must be non-empty"],
      [type === "text" && String(text).trim() === "" && !isBlankLegal, "messages: text content blocks must contain non-whitespace text"],
      [type === "tool_use" && !/^[a-zA-Z0-9_-]+$/.test(id), `${where}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`],
      [type === "tool_use" && !isObject(input), `${where}.tool_use.input: Input should be a valid dictionary`],
      [type === "thinking" && areSignaturesOurs && !isOurSignature(block), `${where}: Invalid \`signature\` in \`thinking\` block`],
    ];
  });
}

// With `display: "omitted"` the text is withheld and only the signature comes back.
function isOurSignature({ thinking, signature }: any): boolean {
  return thinking === ""
    ? String(signature).startsWith(SIGNATURE_PREFIX)
    : signature === signatureOf(thinking);
}

function resultRules(content: unknown, at: number, previous: any): Rule[] {
  const asked = callIds(previous);
  const ids = listOf(content).map(({ type, tool_use_id }) => (type === "tool_result" ? tool_use_id : ""));
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

function callIds(message: any): string[] {
  if (message?.role !== "assistant") return [];
  return listOf(message.content).flatMap((block) => (block?.type === "tool_use" ? [String(block.id)] : []));
}
