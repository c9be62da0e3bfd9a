/**
 * A call that a server does not answer immediately: it needs input of the user, or runs a task. The state that
 * another process needs to resume the call is saved before each wait.
 * <https://modelcontextprotocol.io/specification/2026-07-28/basic/utilities/mrtr>
 * <https://modelcontextprotocol.github.io/ext-tasks/specification/2026-07-28/tasks.html>
 */
import type { HostAbortSignal } from "../../core/api/platform.js";
import { isObject } from "../../core/kit/check.js";
import { McpError } from "./errors.js";
import { shown } from "./listing.js";
import { MAX_KEY_CHARS, MAX_QUESTIONS } from "./questions.js";
import type { McpElicitationAnswer } from "./types.js";
import { pause } from "./resumed.js";
import { wordsOf, type Fields } from "./wire.js";

/** The maximum number of rounds in which a call requests input. */
const ROUNDS = 10;

/** The interval between polls of a task, in milliseconds: the default, the minimum and the maximum. */
const POLL_MS = 1000;
const MIN_POLL_MS = 100;
const MAX_POLL_MS = 60_000;

/** The most characters of a server's words about a task, and of the id of a task. */
const SAID_CHARS = 2000;
const MAX_ID_CHARS = 1000;

/** The state of a call, as JSON. `server` is the address where it was started. */
type CallState = { readonly server: string } & (
  { readonly inputRequired: Fields } | { readonly taskId: string }
);

/** The run around a call. A call without a run has no journal. */
export interface CallHost {
  readonly signal: HostAbortSignal;
  /** The address of the server. */
  readonly address: string;
  /** Asks the user. `params` come from the server. `key` distinguishes the questions of a task. */
  readonly elicit: (params: unknown, key?: string) => Promise<McpElicitationAnswer>;
  /** A text of the server without the secrets of the request. */
  readonly clean: (text: string) => string;
  /** Saves a state, or with undefined deletes the saved one: the call cannot be resumed from it any more. */
  readonly checkpoint: (state: unknown) => Promise<void>;
  /** The state that another process saved. */
  readonly restored: unknown;
  readonly onProgress: ((progress: { progress: number; message?: string }) => void) | undefined;
}

/** Sends a request, and resolves with its result. */
export type Ask = (method: string, params: Fields) => Promise<Fields>;

/**
 * The result of `tools/call`, after all input that the server requests.
 *
 * @throws McpError
 */
export async function durableCall(ask: Ask, params: Fields, host: CallHost): Promise<Fields> {
  const tool = shown(String(params["name"]));
  const server = host.address;
  let state = restoredState(host, tool);
  let more: Fields = {};
  for (let round = 0; round <= ROUNDS; round++) {
    if (state === undefined) {
      const result = await ask("tools/call", { ...params, ...more });
      const { resultType, inputRequests, requestState } = result;
      if (resultType === "input_required") state = { server, inputRequired: { inputRequests, requestState } };
      else if (resultType === "task") state = { server, taskId: taskIdOf(result, tool) };
      else return result;
      await host.checkpoint(state);
    }
    if ("taskId" in state) return await taskResult(ask, tool, state.taskId, host);
    more = await inputFor(state.inputRequired, host);
    state = undefined;
    // The server may act on the next message, so no process may send it twice.
    await host.checkpoint(undefined);
  }
  throw new McpError("input_rounds", `The tool ${tool} asked for input more than ${ROUNDS} times.`);
}

/**
 * The state that another process saved. The journal may be from an untrusted source, so what one server started is
 * not sent to another server, even one that now has the same name.
 *
 * @throws McpError
 */
function restoredState({ restored, address }: CallHost, tool: string): CallState | undefined {
  if (restored === undefined) return undefined;
  const { server, taskId, inputRequired } = isObject(restored) ? restored : ({} as Fields);
  if (server === address && typeof taskId === "string") return { server, taskId };
  if (server === address && isObject(inputRequired)) return { server, inputRequired };
  throw new McpError(
    "other_server",
    `A call of the tool ${tool} was started on another server and cannot be resumed at ${address}.`,
  );
}

function taskIdOf({ taskId }: Fields, tool: string): string {
  if (typeof taskId === "string" && taskId !== "" && taskId.length <= MAX_ID_CHARS) return taskId;
  throw new McpError("http", `The tool ${tool} answered with a task that has no valid id.`);
}

/** What a call needs, for its next round. */
async function inputFor({ inputRequests, requestState }: Fields, host: CallHost): Promise<Fields> {
  const inputResponses = await responsesTo(entriesOf(inputRequests), host);
  return {
    ...(Object.keys(inputResponses).length === 0 ? {} : { inputResponses }),
    ...(requestState === undefined ? {} : { requestState }),
  };
}

/** The requests by their keys. @throws McpError if they are too many, before the first is put */
function entriesOf(requests: unknown): [key: string, request: unknown][] {
  const entries = Object.entries(isObject(requests) ? requests : {});
  if (entries.some(([key]) => key.length > MAX_KEY_CHARS))
    throw new McpError(
      "rpc",
      `The MCP server asked a question with a key of more than ${MAX_KEY_CHARS} characters.`,
    );
  if (entries.length <= MAX_QUESTIONS) return entries;
  throw new McpError("input_rounds", `The MCP server asked ${entries.length} questions at once.`);
}

/** The answers to requests, by key. In a task the user's answers are saved by key. */
async function responsesTo(
  requests: readonly [key: string, request: unknown][],
  host: CallHost,
  isTask = false,
): Promise<Fields> {
  const answers: [key: string, answer: McpElicitationAnswer][] = [];
  for (const [key, request] of requests) {
    const { method, params }: Fields = isObject(request) ? request : {};
    if (method !== "elicitation/create") {
      const asked = host.clean(wordsOf(method ?? "nothing").slice(0, 100));
      throw new McpError("rpc", `The MCP server asked for ${asked}, which this client does not have.`);
    }
    answers.push([key, { ...(await host.elicit(params, isTask ? key : undefined)) }]);
  }
  return Object.fromEntries(answers);
}

/** Polls a task until it is over. An abort cancels it at the server, unless another process resumes it. */
async function taskResult(ask: Ask, tool: string, taskId: string, host: CallHost): Promise<Fields> {
  const answered = new Set<string>();
  let said: unknown;
  try {
    for (let look = 1; ; look++) {
      const task = await ask("tasks/get", { taskId });
      const { status, statusMessage, result, pollIntervalMs, inputRequests } = task;
      if (status === "completed" && isObject(result)) return result;
      if (status !== "working" && status !== "input_required") throw taskError(tool, task, host);
      if (typeof statusMessage === "string" && statusMessage !== said)
        host.onProgress?.({ progress: look, message: host.clean(statusMessage.slice(0, SAID_CHARS)) });
      said = statusMessage;
      if (status === "input_required") {
        // A server repeats a question until it has processed the answer.
        const open = entriesOf(inputRequests).filter(([key]) => !answered.has(key));
        if (open.length > 0) {
          const inputResponses = await responsesTo(open, host, true);
          await ask("tasks/update", { taskId, inputResponses });
          for (const [key] of open) answered.add(key);
          await host.checkpoint({ server: host.address, taskId });
        }
      }
      const wanted = typeof pollIntervalMs === "number" ? pollIntervalMs : POLL_MS;
      await pause(Math.min(Math.max(wanted, MIN_POLL_MS), MAX_POLL_MS), host.signal);
    }
  } catch (error) {
    const { aborted, reason } = host.signal as { aborted: boolean; reason?: { name?: string } };
    if (aborted && reason?.name !== "SuspendError") await ask("tasks/cancel", { taskId }).catch(() => {});
    throw error;
  }
}

function taskError(tool: string, { status, statusMessage, error }: Fields, host: CallHost): McpError {
  const why = isObject(error) ? error["message"] : statusMessage;
  const code = isObject(error) ? Number(error["code"]) : undefined;
  const because = why === undefined || why === null ? "" : `: ${wordsOf(why)}`;
  const words = host.clean(`${wordsOf(status ?? "without a status")}${because}`.slice(0, SAID_CHARS));
  return new McpError("rpc", `The task of the tool ${tool} is ${words}`, { rpcCode: code });
}
