/** `agentLoop`: one run of an agent, which resolves with its text, its calls and its history. */
import { ToolError } from "../../core/api/errors.js";
import type {
  AgentOptions,
  Message,
  RunEvent,
  RunResult,
  Tool,
  ToolCallOptions,
} from "../../core/api/index.js";
import { hostOptions, modelOf, warn } from "../host.js";
import { createAgent } from "../../core/index.js";
import { isErrorObject } from "../../core/kit/check.js";
import { mergeOptions, presets } from "../presets/index.js";
import { historyOf, messagesOf } from "./history.js";
import type {
  AgentLoopErrorCode,
  AgentLoopOptions,
  AgentLoopResult,
  SproutCallbacks,
  SproutTool,
  SproutToolCall,
} from "./types.js";

/** A model call has failed after all retries. */
export class AgentLoopError extends Error {
  override readonly name = "AgentLoopError";
  /** The status of the response, such as 429. `undefined` without a response. */
  readonly status: number | undefined;
  readonly code: AgentLoopErrorCode;
  /** What the loop has reached before. */
  readonly result: AgentLoopResult;

  constructor(
    message: string,
    code: AgentLoopErrorCode,
    status: number | undefined,
    result: AgentLoopResult,
  ) {
    super(message);
    this.code = code;
    this.status = status;
    this.result = result;
  }
}

/**
 * Sends the messages, runs the tools that the model requests, one after another, and repeats until an answer has no
 * calls or `maxIterations` is reached, which is not an error.
 *
 * Rejects with a `TypeError` for a missing option before any request, with a `LoopletError` for a wrong one, and with
 * an {@link AgentLoopError} for a failed model call. A call with status 429 is retried after 2, 4 and 8 seconds.
 *
 * @example
 * ```ts
 * import { agentLoop } from "looplet/sprout";
 *
 * const { finalText } = await agentLoop({
 *   systemPrompt: "You are a tutor.",
 *   userMessage: "Teach me about trees.",
 *   tools: [],
 *   host: { apiKey: process.env.ANTHROPIC_API_KEY },
 * });
 * ```
 */
export async function agentLoop(options: AgentLoopOptions): Promise<AgentLoopResult> {
  check(options);
  const {
    systemPrompt,
    userMessage,
    initialMessage,
    conversationHistory = [],
    tools,
    callbacks = {},
  } = options;
  const { model = presets.sprout.modelName, maxIterations, signal, host = {}, ...more } = options;
  for (const name of OWN) delete more[name];
  const { prompt, messages } = conversation(userMessage ?? initialMessage, messagesOf(conversationHistory));
  const told = new Told(callbacks);
  const own = {
    ...hostOptions(host),
    ...(maxIterations === undefined ? {} : { limits: { maxIterations } }),
    // The text that a callback got is the text that the model reads.
    toolCalls: { maxResultChars: MOST_CHARS },
    // "end_turn" ends the loop, even with calls.
    answers: { strictStopReason: true },
  };
  const always = {
    model: modelOf(model, host, { promptCaching: false }),
    system: systemPrompt,
    tools: tools.map((tool) => told.tool(tool)),
    toolCalls: { onUnknownTool: told.unknown },
    events: { messages: true },
  };
  const agent = createAgent(mergeOptions(presets.sprout.agent, own, more, always) as AgentOptions);
  const onEvent = (event: RunEvent): void => {
    if (event.type === "warning") warn(host, event.message);
    told.hear(event);
  };
  const run = agent.run(prompt, { messages, signal, onEvent });
  const result = await run.result;
  const reached = resultOf(result, systemPrompt, told.calls);
  if (result.outcome !== "failed" || isLastAnswer(result)) return reached;
  const { message, code, status } = result.error;
  throw new AgentLoopError(message, code, status ?? undefined, reached);
}

/** The options that are not `createAgent`'s. */
const OWN = [
  "systemPrompt",
  "userMessage",
  "initialMessage",
  "conversationHistory",
  "tools",
  "callbacks",
] as (keyof object)[];

const MOST_CHARS = 4_294_967_295;

function check(options: AgentLoopOptions): void {
  const missing = (name: string, needed: string): never => {
    throw new TypeError(`agentLoop: ${name} needs ${needed}`);
  };
  if (typeof options !== "object" || options === null) missing("its argument", "options");
  const { systemPrompt, userMessage, initialMessage, conversationHistory, tools } = options;
  if (typeof systemPrompt !== "string") missing("systemPrompt", "a text");
  const message: unknown = userMessage ?? initialMessage;
  if (message !== undefined && typeof message !== "string") missing("userMessage", "a text");
  if (conversationHistory !== undefined && !Array.isArray(conversationHistory))
    missing("conversationHistory", "a list of messages");
  if (message === undefined && conversationHistory === undefined) missing("userMessage", "a text");
  if (!Array.isArray(tools)) missing("tools", "a list of tools, which may be empty");
  for (const [at, tool] of tools.entries())
    if (typeof tool?.execute !== "function") missing(`tools[${at}].execute`, "a function");
}

/** The prompt and the messages before it. */
function conversation(
  message: string | undefined,
  history: Message[],
): { prompt: string; messages: Message[] } {
  if (message !== undefined) return { prompt: message, messages: history };
  const last = history.at(-1);
  const text = last?.content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
  if (last?.role !== "user" || text === undefined || text.trim() === "")
    throw new TypeError(
      "agentLoop: conversationHistory needs to end with a text of the user, or give userMessage",
    );
  return { prompt: text, messages: history.slice(0, -1) };
}

/** An answer without calls is the last one, whatever it says of its end. */
function isLastAnswer({ error, messages }: Extract<RunResult, { outcome: "failed" }>): boolean {
  const last = messages.at(-1);
  const isAnswer = last?.role === "assistant" && last.content.every(({ type }) => type !== "tool_call");
  return error.code === "finish_reason" && isAnswer;
}

function resultOf(run: RunResult, systemPrompt: string, toolCalls: SproutToolCall[]): AgentLoopResult {
  const last = run.messages.filter(({ role }) => role === "assistant").at(-1);
  const texts = last?.content.flatMap((block) => (block.type === "text" ? [block.text] : [])) ?? [];
  const result = {
    finalText: texts.join("\n\n"),
    toolCalls,
    conversationHistory: historyOf(systemPrompt, run.messages),
  };
  return Object.defineProperty(result, "run", {
    __proto__: null,
    value: run,
  } as PropertyDescriptor) as AgentLoopResult;
}

/** Calls the callbacks in order, and stores the calls. */
class Told {
  readonly calls: SproutToolCall[] = [];
  /** The calls for which the function was called. */
  readonly #begun = new Set<string>();
  readonly #asked = new Map<string, unknown>();
  readonly #callbacks: NonNullable<AgentLoopOptions["callbacks"]>;

  constructor(callbacks: NonNullable<AgentLoopOptions["callbacks"]>) {
    this.#callbacks = callbacks;
  }

  tool({ name, description, input_schema: inputSchema, execute }: SproutTool): Tool & { name: string } {
    return {
      name,
      description,
      inputSchema,
      validate: false,
      execute: async (input: unknown, { toolCallId, signal }) => {
        this.#begin(toolCallId, name, input);
        try {
          const value: unknown = await execute(input, { send: this.#send, toolCallId, signal });
          // A returned error counts as thrown, as in `createAgent`.
          if (isErrorObject(value)) throw value;
          return this.#end(name, input, textOf(value));
        } catch (thrown) {
          const message = messageOf(thrown);
          this.#end(name, input, inWords(message));
          // Sprout continues after any error of a tool.
          throw new ToolError({ message });
        }
      },
    };
  }

  readonly #send = (event: string, data: unknown): void => {
    if (typeof event !== "string" || !/^[\w.-]+$/.test(event))
      throw new TypeError("send: the name of an event needs letters, digits, _, . and -");
    if (OF_THE_LOOP.includes(event)) throw new TypeError(`send: ${event} is an event of the loop itself`);
    this.#tell("onToolEvent", event, data);
  };

  readonly unknown: ToolCallOptions["onUnknownTool"] = ({ toolName, input }, { toolCallId }) => {
    this.#begin(toolCallId, toolName, input);
    const message = `Unknown tool: ${toolName}`;
    this.#end(toolName, input, inWords(message));
    throw new ToolError({ code: "unknown_tool", message });
  };

  hear(event: RunEvent): void {
    if (event.type === "tool-call") this.#asked.set(event.toolCallId, event.input);
    if (event.type === "message" && event.message.role === "assistant") {
      for (const block of event.message.content)
        if (block.type === "text" && block.text.trim() !== "") this.#tell("onThinking", block.text);
    }
    // A call with arguments that could not be read never reaches its function.
    if (
      event.type === "tool-error" &&
      !this.#begun.has(event.toolCallId) &&
      !NOT_RUN.includes(event.error.code)
    ) {
      const { toolName, toolCallId, error } = event;
      const input = this.#asked.get(toolCallId);
      this.#begin(toolCallId, toolName, input);
      this.#end(toolName, input, inWords(error.message));
    }
  }

  #begin(toolCallId: string, name: string, input: unknown): void {
    this.#begun.add(toolCallId);
    this.#tell("onToolCall", name, input);
  }

  #end(name: string, input: unknown, result: string): string {
    this.calls.push({ name, input, result });
    this.#tell("onToolResult", name, result);
    return result;
  }

  #tell(name: keyof SproutCallbacks, ...told: unknown[]): void {
    try {
      (this.#callbacks[name] as ((...told: unknown[]) => void) | undefined)?.call(this.#callbacks, ...told);
    } catch (error) {
      console.error(error);
    }
  }
}

/** The events of `toEventStream` and `sseCallbacks`. */
const OF_THE_LOOP: readonly string[] = ["agent_reasoning", "tool_call", "tool_result", "done", "error"];

/** Codes of calls that the end of the loop has taken back. */
const NOT_RUN = ["cancelled", "not_run"];

/** The words of the preset for a failed call. */
function inWords(message: string): string {
  return JSON.stringify({ error: message || NO_WORDS });
}

const NO_WORDS = "Tool execution failed";

function textOf(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

function messageOf(thrown: unknown): string {
  const message: unknown = (thrown as { message?: unknown } | null | undefined)?.message;
  return typeof message === "string" && message !== "" ? message : NO_WORDS;
}
