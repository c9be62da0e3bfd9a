/** Messages of AG-UI in the form of looplet, and the other way. */
import { LoopletError } from "../../core/api/errors.js";
import type { AgentTranscript, Block, ContentBlock, SavedChat, Message } from "../../core/api/index.js";
import { isObject } from "../../core/kit/check.js";
import { isContentBlock } from "../../core/kit/tools.js";
import { addressFromPage } from "../../extras/tools/from-page.js";
import { agentsOf } from "../../extras/transcript/agents-of.js";
import { isNotice } from "../../extras/transcript/prompts.js";
import { agentKey, type PastCall } from "../../extras/transcript/seen.js";
import type { AgUiMessage } from "./types.js";

/** The media type of a part that comes by an address without one. */
const MEDIA_TYPES: { readonly [type: string]: string } = {
  image: "image/png",
  audio: "audio/mpeg",
  video: "video/mp4",
  document: "application/pdf",
};

/**
 * The content of a message as blocks.
 *
 * @throws LoopletError `misuse_invalid_argument`
 */
export function blocksOf(content: unknown, field: string): ContentBlock[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  if (content === undefined || content === null) return [];
  if (!Array.isArray(content)) throw wrong(field, "needs a text or a list of parts");
  return content.map((part: unknown, index) => blockOf(part, `${field}[${index}]`));
}

function blockOf(part: unknown, field: string): ContentBlock {
  const { type, text, source } = Object(part) as { [field: string]: unknown };
  if (type === "text" && typeof text === "string") return { type, text };
  const { type: kind, value, mimeType } = Object(source) as { [field: string]: unknown };
  const known = typeof type === "string" && Object.hasOwn(MEDIA_TYPES, type) ? MEDIA_TYPES[type] : undefined;
  if (known === undefined || typeof value !== "string" || (kind !== "data" && kind !== "url"))
    throw wrong(field, "needs a text, or an image, a sound, a film or a document by data or by url");
  const mediaType = typeof mimeType === "string" && mimeType !== "" ? mimeType : known;
  return kind === "data"
    ? { type: "media", mediaType, data: value }
    : { type: "media", mediaType, url: addressFromPage(value, field) };
}

/** Blocks as the content of an AG-UI message: a string if all blocks are text. */
export function contentOf(blocks: readonly Block[]): unknown {
  const isText = blocks.every(({ type }) => type !== "media");
  return isText ? textIn(blocks) : blocks.flatMap(partsOf);
}

function partsOf(block: Block): object[] {
  if (block.type === "text" || block.type === "refusal") return [{ type: "text", text: block.text }];
  if (block.type !== "media") return [];
  const { mediaType, data, url } = block;
  const kind = mediaType.split("/")[0]!;
  const type = Object.hasOwn(MEDIA_TYPES, kind) ? kind : "document";
  const source = data === undefined ? { type: "url", value: url ?? "" } : { type: "data", value: data };
  return [{ type, source: { ...source, mimeType: mediaType } }];
}

/**
 * The history that a page sends, as looplet messages. Omits system and developer messages, because a page must not
 * instruct the agent. Also omits messages that belong only to the page or to a subagent.
 *
 * @throws LoopletError `misuse_invalid_argument`
 */
export function historyOf(messages: readonly AgUiMessage[]): Message[] {
  const history: Message[] = [];
  const calls = new Set<string>();
  for (const [index, message] of messages.entries()) {
    if (message.subagentRunId !== undefined) continue;
    for (const { id } of message.toolCalls ?? []) calls.add(id);
    // A result without its call is not a legal history.
    if (message.role === "tool" && !calls.delete(message.toolCallId!)) continue;
    const content = contentBlocks(message, `messages[${index}]`);
    if (content.length === 0) continue;
    const role = message.role === "assistant" ? "assistant" : "user";
    const last = history.at(-1);
    // A spread of a long list would be as many arguments.
    if (last?.role === role) for (const block of content) last.content.push(block);
    else history.push({ role, content });
  }
  return history;
}

function contentBlocks(message: AgUiMessage, field: string): Block[] {
  const { role, content, toolCalls = [], toolCallId, error } = message;
  if (role === "user") return blocksOf(content, `${field}.content`);
  if (role === "assistant") {
    const calls = toolCalls.map(({ id, function: { name, arguments: text } }): Block => {
      const input = parsed(text);
      return isObject(input)
        ? { type: "tool_call", id, name, input }
        : { type: "tool_call", id, name, inputText: text };
    });
    return [...blocksOf(content, `${field}.content`), ...calls];
  }
  if (role !== "tool" || toolCallId === undefined) return [];
  const blocks = blocksOf(content, `${field}.content`);
  const failed = error === undefined ? {} : { isError: true };
  const told: Block[] = blocks.length === 0 ? [{ type: "text", text: error ?? "" }] : blocks;
  return [{ type: "tool_result", callId: toolCallId, content: told, ...failed }];
}

/** The messages of a run as AG-UI messages. Their ids begin with `prefix`. */
export function messagesOf(messages: readonly Message[], prefix: string): AgUiMessage[] {
  return messages.flatMap((message, index) => [...agUiMessages(message, `${prefix}.${index}`)]);
}

/**
 * The messages of a stored chat: the root agent's, and after each round of tool calls the messages of the subagents
 * that answered them. `kept` must have been read with `transcripts`. `known` are the messages that the page already
 * has. The ids of the root's other messages begin with `prefix`.
 */
export function pastMessages(kept: SavedChat, prefix: string, known: readonly AgUiMessage[]): AgUiMessage[] {
  const { transcripts = [] } = kept;
  const ids = new Map(
    known.flatMap(({ subagentRunId: id = "" }) => {
      const agent = agentPartOf(id);
      return agent === undefined ? [] : [[agent, id] as const];
    }),
  );
  // A vendor may use an id again. The last call of it is the one that the messages have for sure.
  const agents = agentsOf([...transcripts].reverse());
  const belowCall = ({ id }: { id: string }): AgUiMessage[] =>
    agents(id).flatMap((agent) => {
      // The page may know it, or the run under way gives it this id.
      const subagentRunId = ids.get(agentKey(agent)) ?? subagentId(`${kept.lastRun}`, agent);
      const said = messagesOf(agent.messages, subagentRunId).filter(({ role }) => role !== "user");
      return withResults(said, agent).map((message) => ({ ...message, subagentRunId }));
    });
  const all = messagesOf(kept.messages, prefix);
  const own = transcripts.find(({ agentPath }) => agentPath === "root");
  const root = own === undefined ? all : withResults(all, own);
  const below = new Map<AgUiMessage, AgUiMessage[]>();
  for (const message of [...root].reverse())
    below.set(message, [...(message.toolCalls ?? [])].reverse().map(belowCall).reverse().flat());
  return withIdsOf(
    behindRounds(root, (message) => below.get(message)!),
    known,
  );
}

/** Adds the results of a round that has not ended. No later event contains them. */
function withResults(messages: AgUiMessage[], { toolCalls, messages: said }: AgentTranscript): AgUiMessage[] {
  let at = messages.length - 1;
  while (messages[at]?.role === "tool" || messages[at]?.role === "reasoning") at -= 1;
  const called = new Set(messages[at]?.toolCalls?.map(({ id }) => id));
  for (const { toolCallId } of messages.slice(at + 1)) called.delete(toolCallId!);
  const closed = new Map<string, number>();
  for (const { content } of said)
    for (const block of content)
      if (block.type === "tool_result" && block.pending === undefined)
        closed.set(block.callId, (closed.get(block.callId) ?? 0) + 1);
  const results: AgUiMessage[] = [];
  for (const { toolCallId, output, isError } of toolCalls) {
    const left = closed.get(toolCallId) ?? 0;
    closed.set(toolCallId, left - 1);
    if (left > 0 || !called.delete(toolCallId)) continue;
    const content = isError ? JSON.stringify(output) : outputOf(output);
    results.push({ id: resultId(toolCallId), role: "tool", toolCallId, content });
  }
  return [...messages, ...results];
}

/** Merges the subagent messages that the page has into the root's messages, each after its round. */
export function withSubagentsOf(
  messages: readonly AgUiMessage[],
  known: readonly AgUiMessage[],
): AgUiMessage[] {
  const ids = new Set(messages.map(({ id }) => id));
  const behind = new Map<string, AgUiMessage[]>();
  let round = messages.find(({ role }) => role !== "tool")?.id;
  for (const one of known) {
    if (one.subagentRunId === undefined) {
      if (one.role !== "tool" && ids.has(one.id)) round = one.id;
    } else if (round !== undefined) behind.set(round, [...(behind.get(round) ?? []), one]);
  }
  return behindRounds(messages, ({ id }) => behind.get(id) ?? []);
}

/** What belongs to a message of the root comes after the results of its calls, as a client has it. */
function behindRounds(
  root: readonly AgUiMessage[],
  below: (message: AgUiMessage) => readonly AgUiMessage[],
): AgUiMessage[] {
  const all: AgUiMessage[] = [];
  let held: readonly AgUiMessage[] = [];
  for (const message of root) {
    if (message.role !== "tool") {
      all.push(...held);
      held = below(message);
    }
    all.push(message);
  }
  all.push(...held);
  return all;
}

/**
 * The messages with the ids that the page knows them by. A client takes a message with another id for a new one, and
 * appends it.
 */
export function withIdsOf(messages: readonly AgUiMessage[], known: readonly AgUiMessage[]): AgUiMessage[] {
  /** By agent: those of subagents that work at the same time are mixed. */
  const from = new Map<string | undefined, number>();
  return messages.map((message) => {
    const { subagentRunId } = message;
    const start = from.get(subagentRunId) ?? 0;
    const at = known.findIndex((one, index) => index >= start && isSameMessage(one, message));
    if (at < 0) return message;
    from.set(subagentRunId, at + 1);
    return { ...message, id: known[at]!.id };
  });
}

function isSameMessage(known: AgUiMessage, message: AgUiMessage): boolean {
  const idsOf = ({ toolCalls = [] }: AgUiMessage): string => toolCalls.map(({ id }) => id).join("\n");
  return (
    known.role === message.role &&
    known.subagentRunId === message.subagentRunId &&
    known.toolCallId === message.toolCallId &&
    idsOf(known) === idsOf(message) &&
    JSON.stringify(known.content ?? "") === JSON.stringify(message.content ?? "")
  );
}

function* agUiMessages({ role, content }: Message, id: string): Generator<AgUiMessage> {
  if (role === "assistant") return yield* answerOf(content, id);
  for (const block of content)
    if (block.type === "tool_result" && block.pending === undefined)
      yield {
        id: resultId(block.callId),
        role: "tool",
        toolCallId: block.callId,
        content: contentOf(block.content),
      };
  const said = content.filter(
    (block) => (block.type === "text" || block.type === "media") && !isNotice(block),
  );
  if (said.length > 0) yield { id, role, content: contentOf(said) };
}

/** An answer in the order of its blocks: a message for each reasoning, and one for all texts and calls. */
function* answerOf(content: readonly Block[], id: string): Generator<AgUiMessage> {
  const toolCalls = content.flatMap((block) => {
    if (block.type !== "tool_call") return [];
    const called = { name: block.name, arguments: textOf(block) };
    return [{ id: block.id, type: "function" as const, function: called }];
  });
  const answer = {
    id,
    role: "assistant" as const,
    content: textIn(content),
    ...(toolCalls.length === 0 ? {} : { toolCalls }),
  };
  const first = content.findIndex(({ type }) => type !== "thinking");
  for (const [at, block] of content.entries()) {
    if (at === first) yield answer;
    if (block.type === "thinking" && block.text !== "")
      yield { id: `${id}.r${at}`, role: "reasoning", content: block.text };
  }
  if (first < 0) yield answer;
}

function textIn(content: readonly Block[]): string {
  return content
    .map((block) => (block.type === "text" || block.type === "refusal" ? block.text : ""))
    .join("");
}

function textOf({ input, inputText }: Extract<Block, { type: "tool_call" }>): string {
  return inputText ?? JSON.stringify(input ?? {});
}

/** The result of a call. That of a tool which returns blocks is their list. */
export function outputOf(output: unknown): unknown {
  if (typeof output === "string") return output;
  const areBlocks = Array.isArray(output) && output.length > 0 && output.every(isContentBlock);
  return areBlocks ? contentOf(output) : (JSON.stringify(output) ?? "");
}

/** The id of the message with the result of a call. */
export function resultId(toolCallId: string): string {
  return `${toolCallId}.result`;
}

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function wrong(field: string, problem: string): LoopletError {
  return new LoopletError("misuse_invalid_argument", field, problem);
}

/** The subagent that a message or event belongs to. Without an id it belongs to the run's own agent. */
export interface Owner {
  subagentRunId?: string;
}

type Agent = Pick<PastCall, "agentPath" | "parentToolCallId">;

/** The id of a subagent in a run: `<run>:<agent path>:<id of the call that the subagent answers>`. */
export function subagentId(run: string, agent: Agent): string {
  return `${run}:${agentKey(agent)}`;
}

/** The `agentKey` in an id of any run; undefined if looplet did not make the id. */
export function agentPartOf(id: string): string | undefined {
  const at = id.indexOf(":root/");
  return at < 0 ? undefined : id.slice(at + 1);
}

/** The agent of a `subagentRunId`; undefined for one of another run. */
export function agentOf(id: string | undefined, run: string): Agent | undefined {
  if (id == null) return { agentPath: "root" };
  if (!id.startsWith(`${run}:`)) return undefined;
  const [agentPath = "", ...rest] = id.slice(run.length + 1).split(":");
  return { agentPath, parentToolCallId: rest.join(":") };
}
