import { isErrorObject } from "../../core/kit/check.js";
import type {
  GenericMessage,
  Handlers,
  InvokeModel,
  Session,
  ToolCallMessage,
  ToolDefinition,
  ToolResultMessage,
} from "./types.js";

export interface ExecuteOptions {
  /** Whether the calls of one response run at the same time. Default true. */
  parallel?: boolean | undefined;
}

/** Runs the calls. The results are in the order of the calls. An error becomes a result that describes it. */
export async function executeToolCalls(
  toolCalls: readonly ToolCallMessage[],
  handlers: Handlers,
  { parallel = true }: ExecuteOptions = {},
): Promise<ToolResultMessage[]> {
  if (parallel) return Promise.all(toolCalls.map((call) => execute(call, handlers)));
  const results: ToolResultMessage[] = [];
  for (const call of toolCalls) results.push(await execute(call, handlers));
  return results;
}

async function execute({ id, name, input }: ToolCallMessage, handlers: Handlers): Promise<ToolResultMessage> {
  let output: string;
  try {
    const handler = Object.hasOwn(handlers, name) ? handlers[name] : undefined;
    if (handler === undefined) throw new Error(`there is no tool ${name}`);
    const value = await handler(input);
    // A returned error counts as thrown, as in `createAgent`.
    if (isErrorObject(value)) throw value;
    output = written(value);
  } catch (error) {
    output = `Error: ${isErrorObject(error) ? error.message || error.name : String(error)}`;
  }
  return { type: "tool_result", id, output };
}

/** A text as it is, any other value as JSON, and nothing as "", because a result of the Messages API has a text. */
function written(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

export interface SessionOptions extends ExecuteOptions {
  /** Responses of the model, a positive integer. Default: no bound. */
  maxIterations?: number | undefined;
  /** Ends the loop before the next response; the promise rejects with its reason. */
  signal?: { readonly aborted: boolean; throwIfAborted(): void } | undefined;
  /** Contract: called with each message that is added to the session. */
  onMessage?: ((message: GenericMessage) => void) | undefined;
  /** Runs the calls of a response. Default: `executeToolCalls`. */
  execute?: typeof executeToolCalls | undefined;
}

/**
 * The loop: calls the model, adds its output, runs its calls and adds the results, until a response has no calls. It
 * changes the session and returns it. Rejects with an error of `invokeModel`; the session then ends with the last
 * results.
 */
export async function runSession(
  invokeModel: InvokeModel,
  tools: readonly ToolDefinition[],
  session: Session,
  handlers: Handlers,
  options: SessionOptions = {},
): Promise<Session> {
  const { maxIterations = Infinity, signal, onMessage, execute = executeToolCalls, parallel } = options;
  const add = (messages: readonly GenericMessage[]): void => {
    for (const message of messages) {
      session.messages.push(message);
      onMessage?.(message);
    }
  };
  for (let iteration = 0; iteration < maxIterations; iteration += 1) {
    signal?.throwIfAborted();
    const said = await invokeModel(tools, session);
    add(said);
    const calls = said.filter(
      (message): message is ToolCallMessage => "type" in message && message.type === "tool_call",
    );
    if (calls.length === 0) break;
    add(await execute(calls, handlers, { parallel }));
  }
  return session;
}

/** The guide's name of `runSession`. */
export const agentLoop = runSession;
