/** The built-in executor: a single model call on looplet's engine. The loop runs its tool calls. */
import type { HostAbortSignal } from "../../../core/api/platform.js";
import type {
  AgentOptions,
  Block,
  HttpModelOptions,
  Message as EngineMessage,
  Model,
} from "../../../core/api/index.js";
import { hostOptions, warn } from "../../host.js";
import { createAgent, anthropic, gemini, openai, openaiChat } from "../../../core/index.js";
import { joined } from "../../../core/kit/check.js";
import { mergeOptions, presets } from "../../presets/index.js";
import type { Answer } from "./answer.js";
import { isMap } from "../file/frontmatter.js";
import { blocksAsSaid, callBlock } from "./as-said.js";
import { isAddress, isSystem, MEDIA_TYPES, systemText } from "./content.js";
import { checkedEndpoint } from "./endpoint.js";
import { InvokerError, ValueError } from "../errors.js";
import { furtherFields } from "./further-fields.js";
import { getConnection } from "../registry.js";
import { objectSchema, toolSchema } from "./schema.js";
import { RefusalError, type StreamItem } from "./stream.js";
import type { ContentPart, Message, Prompty, PromptyHost, PromptyModel } from "../types.js";

/** What surrounds one call of an executor. */
export interface ExecutorOptions {
  host: PromptyHost;
  signal?: HostAbortSignal | undefined;
  /** Whether the executor may answer with an async iterable of chunks. */
  stream?: boolean | undefined;
}

/** Asks the model of the agent once. @throws RunError if the call fails, after the retries of its requests */
export async function executeOnEngine(
  agent: Prompty,
  messages: readonly Message[],
  options: ExecutorOptions,
): Promise<Answer> {
  for await (const item of streamOnEngine(agent, messages, options))
    if (item.kind === "answer") return item.answer;
  throw new Error("The stream of an answer has ended without it");
}

/**
 * The answer of the model in pieces. Text is held back if calls may follow it.
 *
 * @throws RefusalError with `stream`, as soon as a refusal is complete
 */
export async function* streamOnEngine(
  agent: Prompty,
  messages: readonly Message[],
  { host, signal, stream = false }: ExecutorOptions,
): AsyncGenerator<StreamItem> {
  const run = start(agent, messages, host, signal);
  let facts: Pick<Answer, "id" | "usage"> = {};
  // An empty answer leaves no message, and the last one of the transcript is older.
  let message: EngineMessage = { role: "assistant", content: [] };
  let refusal: string | undefined;
  let hasText = false;
  try {
    for await (const event of run) {
      if (event.type === "text-start" && event.refusal === true && stream) refusal ??= "";
      if (event.type === "text-end" && refusal !== undefined) break;
      if (event.type === "text-delta" && refusal !== undefined) refusal += event.text;
      else if (event.type === "text-delta") {
        hasText = true;
        yield { kind: "text", value: event.text };
      }
      // A retry of the engine cannot retract text that a reader already has.
      if (event.type === "reset" && stream && hasText)
        throw new Error("The answer was cut off after a part of its text");
      if (event.type === "warning") warn(host, event.message);
      if (event.type === "reasoning-delta") yield { kind: "thinking", value: event.text };
      if (event.type === "tool-input-start") yield { kind: "calling" };
      if (event.type === "message" && event.message.role === "assistant") ({ message } = event);
      if (event.type === "iteration-finish")
        facts = joined({ id: event.responseId ?? undefined, usage: event.usage ?? undefined });
    }
    if (refusal !== undefined) throw new RefusalError(`Model refused: ${refusal}`);
    const result = await run.result;
    if (stream && result.finishReason === "refusal") throw new RefusalError(`Model refused: ${result.text}`);
    yield { kind: "answer", answer: { kind: "answer", message, ...facts } };
  } finally {
    // Aborts the run if its reader has left.
    run.abort();
  }
}

function start(
  agent: Prompty,
  given: readonly Message[],
  host: PromptyHost,
  signal: HostAbortSignal | undefined,
) {
  const { system, messages } = conversation(given);
  const { tools, outputs, model } = agent;
  const { provider = "openai", options: { maxOutputTokens } = {} } = model;
  const output =
    outputs.length === 0 ? {} : { output: { schema: objectSchema(outputs, true), maxRetries: 0 } };
  const own: Partial<AgentOptions> = {
    ...hostOptions(host),
    // The loop retries model calls; the engine repeats requests that met 429, 5xx or no network.
    retry: {},
    ...output,
    // Anthropic demands a number; others have their own.
    maxOutputTokens: maxOutputTokens ?? (provider === "anthropic" ? 4096 : undefined),
    model: engineModel(model, host),
    ...(system === "" ? {} : { system }),
    tools: tools.map((tool) => ({
      name: tool.name,
      description: tool.description || tool.name,
      inputSchema: toolSchema(tool),
      validate: false,
      execute: () => "",
    })),
    limits: { maxToolRounds: 0, onLimit: "result" },
    toolCalls: { onUnknownTool: "tool_result" },
    onRefusal: "result",
    // OpenAI sends calls from the start of an answer; others may write a text before them.
    events: { messages: true, holdText: tools.length > 0 && provider !== "openai" },
  };
  const engine = createAgent(mergeOptions(presets.prompty.agent, own) as AgentOptions);
  return engine.run([], { messages, signal });
}

const SAMPLING = [
  "temperature",
  "maxOutputTokens",
  "topP",
  "topK",
  "frequencyPenalty",
  "presencePenalty",
  "seed",
  "stopSequences",
] as const;

type MakeModel = (name: string, options: HttpModelOptions) => Model;

/** @throws InvokerError for an unknown provider */
function engineModel(
  { id, provider = "openai", apiType, connection, options = {} }: PromptyModel,
  host: PromptyHost,
): Model {
  const given = host.model?.(id);
  if (given !== undefined) return given;
  if (id === "")
    throw new ValueError("The file names no model: add model: { id } to its frontmatter, or give host.model");
  const isReference = connection?.kind === "reference";
  const reference = isReference ? getConnection(connection.name ?? "") : connection;
  if (isReference && reference === undefined)
    throw new ValueError(`Connection not registered: ${connection.name}`);
  const { endpoint, apiKey = host.apiKey } = reference ?? {};
  // A registered connection is the program's own.
  const baseUrl = isReference ? endpoint : checkedEndpoint(endpoint, provider, host);
  const { allowMultipleToolCalls: parallelToolCalls } = options;
  const more = joined({
    // A file sets only these: headers, and where a key may be used, are up to the program.
    ...Object.fromEntries(SAMPLING.map((name) => [name, options[name]])),
    parallelToolCalls,
    body: furtherFields({ options }, host),
    baseUrl,
    apiKey,
    fetch: host.fetch,
  }) as HttpModelOptions;
  return makerOf(provider, apiType)(id, more);
}

function makerOf(provider: string, apiType: string): MakeModel {
  if (apiType !== "chat" && apiType !== "responses")
    throw new InvokerError("executor", `${provider} ${apiType}`);
  if (provider === "openai") return apiType === "responses" ? openai : openaiChat;
  const made = { anthropic, google: gemini }[provider];
  if (made === undefined) throw new InvokerError("executor", provider);
  return made;
}

/** The system text, and the messages in looplet's form. A prompt with only system messages is sent as the user's. */
function conversation(given: readonly Message[]): { system: string; messages: EngineMessage[] } {
  const others = given.filter((message) => !isSystem(message));
  if (others.length > 0) return { system: systemText(given), messages: merged(others.map(engineMessage)) };
  const last = given.at(-1);
  if (last === undefined) throw new ValueError("The prompt has no messages");
  return { system: systemText(given.slice(0, -1)), messages: [engineMessage({ ...last, role: "user" })] };
}

/** Results that follow each other are one message. */
function merged(messages: EngineMessage[]): EngineMessage[] {
  const list: EngineMessage[] = [];
  for (const message of messages) {
    const last = list.at(-1);
    const isResult = message.content.every(({ type }) => type === "tool_result");
    if (isResult && last?.role === "user" && last.content.every(({ type }) => type === "tool_result"))
      last.content.push(...message.content);
    else list.push({ ...message, content: [...message.content] });
  }
  return list;
}

/** @throws ValueError for a message of a thread with metadata that looplet did not write */
function engineMessage(message: Message): EngineMessage {
  try {
    return converted(message);
  } catch (cause) {
    throw new ValueError(
      `A message of the role ${message.role} cannot be read: ${(cause as Error).message}`,
      {
        cause,
      },
    );
  }
}

function converted(message: Message): EngineMessage {
  const { role, content, metadata = {} } = message;
  const { answer, tool_calls: calls, tool_call_id: callId, tool_results: results } = metadata as any;
  // An attribute of a role marker may have the same name.
  if (role === "assistant" && Array.isArray(answer?.content) && answer.content.every(isMap))
    return { ...answer, role, content: blocksAsSaid(answer, message) } as EngineMessage;
  if (Array.isArray(results)) return { role: "user", content: results.map(resultBlock) };
  if (role === "tool")
    return { role: "user", content: [{ type: "tool_result", callId, content: content.map(engineBlock) }] };
  const blocks = content.filter((part) => part.kind !== "text" || part.value !== "").map(engineBlock);
  if (Array.isArray(calls)) blocks.push(...calls.map(callBlock));
  return { role: role === "assistant" ? "assistant" : "user", content: blocks };
}

/** A result in the form of the Messages API. Its content is a text or a list of blocks. */
function resultBlock({ tool_use_id: callId, content }: any): Block {
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : (content as any[]);
  return {
    type: "tool_result",
    callId,
    content: blocks.map(({ type, text, source }): Block => {
      if (source === undefined) return { type: "text", text };
      const mediaType: string = source.media_type ?? MEDIA_TYPES[type === "image" ? "image" : "file"];
      const { data, url } = source;
      return { type: "media", mediaType, ...(url === undefined ? { data } : { url }) };
    }),
  };
}

function engineBlock(part: ContentPart): Block {
  if (part.kind === "text") return { type: "text", text: part.value };
  const mediaType = part.mediaType ?? MEDIA_TYPES[part.kind];
  return isAddress(part)
    ? { type: "media", mediaType, url: part.value }
    : { type: "media", mediaType, data: part.value };
}
