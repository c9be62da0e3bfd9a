/**
 * Refuses what Anthropic refuses and a history can run into, in its words: one rule a line. The words are those of
 * answers seen in public traffic up to 2026-11-20; the order of the rules is ours.
 */
import { isObject, listOf } from "../json.js";
import { SIGNATURE_PREFIX, signatureOf } from "../random.js";
import type { ReceivedRequest } from "../types.js";
import { firstBroken, walk, type Place, type Rule } from "./check.js";
import type { Refusal, Strictness } from "./format.js";

/** The reason why the request is illegal, or `undefined`. */
export function checkAnthropic(
  { body, headers }: ReceivedRequest,
  strictness: Strictness,
): Refusal | undefined {
  if (!isObject(body)) return { status: 400, message: "The request body is not valid JSON" };
  const missing = ["model", "max_tokens", "messages"].find((field) => body[field] === undefined);
  const { places, end } = walk(body["messages"], callIds, leadingResults);
  const last = places.length - 1;
  const ids = places.flatMap(({ message }) => (message?.role === "assistant" ? callIds(message) : []));
  return firstBroken([
    [headers["anthropic-version"] === undefined, "anthropic-version: header is required"],
    [missing, `${missing}: Field required`],
    ...optionRules(body),
    ...toolRules(body),
    [last < 0, "messages: at least one message is required"],
    ...places.flatMap((place) => messageRules(place, last, strictness)),
    [new Set(ids).size < ids.length, "messages: `tool_use` ids must be unique"],
    openRule(end, last),
    ...(body["thinking"]?.type === "enabled" ? [thinkingRule(body["messages"])] : []),
  ]);
}

function optionRules({ max_tokens, thinking, tool_choice }: any): Rule[] {
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
    ...listOf(tools).flatMap(({ name, type = "custom", input_schema: schema }, at): Rule[] => [
      [names.indexOf(name) < at, "tools: Tool names must be unique."],
      [!/^[a-zA-Z0-9_-]{1,128}$/.test(name), `tools.${at}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`],
      [type === "custom" && !schema, `tools.${at}.custom.input_schema: Field required`],
      [type === "custom" && schema?.type !== "object", `tools.${at}.custom.input_schema.type: Input should be 'object'`],
    ]),
    [choice && names.length === 0, "tool_choice may only be specified while providing tools."],
    [choice?.type === "tool" && !names.includes(choice.name), `Tool '${choice?.name}' not found in provided tools`],
  ];
}

function messageRules(
  { message, at, previous, asked, open }: Place,
  last: number,
  strictness: Strictness,
): Rule[] {
  const { role, content } = message;
  const blocks = listOf(content);
  const isEnd = at === last && role === "assistant";
  const end = typeof content === "string" ? content : (blocks.at(-1)?.text ?? "");
  const isAlternating = strictness.areRolesAlternating !== false;
  const results = blocks.map(({ type, tool_use_id: id }) => (type === "tool_result" ? id : undefined));
  // A summary by Anthropic comes first and replaces the messages before it.
  const isSummary = (one: any) => one?.role === "assistant" && listOf(one.content)[0]?.type === "compaction";
  // Seen accepted: a blank text next to calls, which some models write themselves.
  const isBlankLegal = blocks.some(({ type }) => type === "tool_use");
  // prettier-ignore
  return [
    [role === "system", 'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, not "system" as an input message role.'],
    [role !== "user" && role !== "assistant", `messages.${at}.role: Input should be 'user' or 'assistant'`],
    [!content?.length && !isEnd, `messages.${at}: all messages must have non-empty content except for the optional final assistant message`],
    [at === 0 && role !== "user" && !isSummary(message), 'messages: first message must use the "user" role'],
    [isAlternating && previous?.role === role && !isSummary(previous), `messages: roles must alternate between "user" and "assistant", but found multiple "${role}" roles in a row`],
    ...blocks.flatMap((block, index): Rule[] => {
      const { type, text, id, input, tool_use_id: result } = block;
      const where = `messages.${at}.content.${index}`;
      return [
        [type === "text" && text === "", "messages: text content blocks must be non-empty"],
        [type === "text" && String(text).trim() === "" && !isBlankLegal, "messages: text content blocks must contain non-whitespace text"],
        [type === "tool_use" && !/^[a-zA-Z0-9_-]+$/.test(id), `${where}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`],
        [type === "tool_use" && !isObject(input), `${where}.tool_use.input: Input should be a valid dictionary`],
        [type === "thinking" && strictness.areSignaturesOurs && !isOurSignature(block), `${where}: Invalid \`signature\` in \`thinking\` block`],
        [type === "tool_result" && !asked.includes(result), `${where}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${result}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`],
        [type === "tool_result" && results.indexOf(result) < index, `${where}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${result}`],
      ];
    }),
    [isEnd && blocks.at(-1)?.type === "thinking", `messages.${at}: The final block in an assistant message cannot be \`thinking\`.`],
    [isEnd && /\s$/.test(end), "messages: final assistant content cannot end with trailing whitespace"],
    openRule(open, at - 1),
  ];
}

// With `display: "omitted"` the text is withheld and only the signature comes back.
function isOurSignature({ thinking, signature }: any): boolean {
  return thinking === "" ? `${signature}`.startsWith(SIGNATURE_PREFIX) : signature === signatureOf(thinking);
}

// prettier-ignore
function openRule(ids: readonly string[], at: number): Rule {
  return [ids.length > 0, `messages.${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids.join(", ")}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`];
}

/** While thinking is on, the assistant message that called the tools just answered must begin with its thinking. */
function thinkingRule(messages: readonly any[]): Rule {
  const at = messages.map((message) => message?.role).lastIndexOf("assistant");
  const isToolUse = leadingResults(messages.at(-1)).length > 0;
  const first = listOf(messages[at]?.content)[0]?.type;
  // prettier-ignore
  return [isToolUse && ![undefined, "thinking", "redacted_thinking"].includes(first), `messages.${at}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${first}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks). To avoid this requirement, disable \`thinking\`.`];
}

function callIds(message: any): string[] {
  return listOf(message?.content).flatMap((block) => (block?.type === "tool_use" ? [String(block.id)] : []));
}

/** Results must come first in the next message: those after other blocks do not count. */
function leadingResults(message: any): string[] {
  const blocks = listOf(message?.content);
  const end = blocks.findIndex((block) => block?.type !== "tool_result");
  return blocks.slice(0, end < 0 ? undefined : end).map(({ tool_use_id: id }) => String(id));
}
