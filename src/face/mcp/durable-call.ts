/**
 * A call that a server does not answer at once: it needs something of the user, or works on a task. What another process
 * needs to go on is kept before each wait.
 * <https://modelcontextprotocol.io/specification/2026-07-28/basic/utilities/mrtr>
 * <https://modelcontextprotocol.github.io/ext-tasks/specification/2026-07-28/tasks.html>
 */
import type { HostAbortSignal } from "../api/platform.js";
import { isObject } from "../options/check.js";
import { TASKS } from "./eras.js";
import { McpError } from "./errors.js";
import type { McpElicitation, McpElicitationAnswer } from "./types.js";
import type { Fields, RpcMessage } from "./wire.js";

/** The most rounds in which a call asks for input. */
const ROUNDS = 10;

/** The wait between two looks at a task whose server suggests none, in milliseconds. */
const POLL_MS = 1000;

/** How far a call has come, as JSON. */
type CallState = { readonly inputRequired: Fields } | { readonly taskId: string };

/** The run around a call; alone it has no journal. */
export interface CallHost {
  readonly signal: HostAbortSignal;
  /** Asks the user. */
  readonly elicit: (request: McpElicitation) => Promise<McpElicitationAnswer>;
  /** Keeps a state, or takes the last one back: the call cannot go on from it any more. */
  readonly checkpoint: (state: unknown) => Promise<void>;
  /** The state that another process has left. */
  readonly restored: unknown;
  readonly onProgress: ((progress: { progress: number; message?: string }) => void) | undefined;
}

/** Sends a request, and resolves with its result. */
export type Ask = (method: string, params: Fields) => Promise<Fields>;

/**
 * The result of `tools/call`, after everything that the server wants before it.
 *
 * @throws McpError
 */
export async function durableCall(ask: Ask, params: Fields, host: CallHost): Promise<Fields> {
  const tool = String(params["name"]);
  let state = host.restored as CallState | undefined;
  let more: Fields = {};
  for (let round = 0; round <= ROUNDS; round++) {
    if (state === undefined) {
      const result = await ask("tools/call", { ...params, ...more });
      if (result["resultType"] === "input_required") state = { inputRequired: result };
      else if (result["resultType"] === "task") state = { taskId: String(result["taskId"]) };
      else return result;
      await host.checkpoint(state);
    }
    if ("taskId" in state) return await taskResult(ask, tool, state.taskId, host);
    more = await inputFor(state.inputRequired, host);
    state = undefined;
    // The server may act on what comes next, so nobody must send it twice.
    await host.checkpoint(undefined);
  }
  throw new McpError("input_rounds", `The tool ${tool} asked for input more than ${ROUNDS} times.`);
}

/** What a call needs, for its next round. */
async function inputFor({ inputRequests, requestState }: Fields, host: CallHost): Promise<Fields> {
  const inputResponses = await responsesTo(inputRequests, host);
  return {
    ...(Object.keys(inputResponses).length === 0 ? {} : { inputResponses }),
    ...(requestState === undefined ? {} : { requestState }),
  };
}

/** The answers to requests, by their keys. */
async function responsesTo(requests: unknown, host: CallHost): Promise<Fields> {
  const answers: { [key: string]: unknown } = {};
  for (const [key, request] of Object.entries(isObject(requests) ? requests : {})) {
    const { method, params } = request as RpcMessage;
    if (method !== "elicitation/create")
      throw new McpError("rpc", `The MCP server asked for ${method}, which this client does not have.`);
    answers[key] = { ...(await host.elicit(params as unknown as McpElicitation)) };
  }
  return answers;
}

/** Looks at a task until it is over. An abort ends it at the server, unless another process goes on with it. */
async function taskResult(ask: Ask, tool: string, taskId: string, host: CallHost): Promise<Fields> {
  const answered = new Set<string>();
  let said: unknown;
  try {
    for (let look = 1; ; look++) {
      const task = await ask("tasks/get", { taskId });
      const { status, statusMessage, result, error, pollIntervalMs } = task;
      if (status === "completed" && isObject(result)) return result;
      if (status !== "working" && status !== "input_required") {
        const why = isObject(error) ? error["message"] : statusMessage;
        const code = isObject(error) ? Number(error["code"]) : undefined;
        const words = `The task of the tool ${tool} is ${String(status)}${why === undefined ? "" : `: ${String(why)}`}`;
        throw new McpError("rpc", words, code === undefined ? {} : { rpcCode: code });
      }
      if (typeof statusMessage === "string" && statusMessage !== said)
        host.onProgress?.({ progress: look, message: statusMessage });
      said = statusMessage;
      const asked = isObject(task["inputRequests"]) ? task["inputRequests"] : {};
      // A server shows a question until it has worked on the answer.
      const open = Object.entries(asked).filter(([key]) => !answered.has(key));
      if (status === "input_required" && open.length > 0) {
        const inputResponses = await responsesTo(Object.fromEntries(open.map(named)), host);
        await ask("tasks/update", { taskId, inputResponses });
        for (const [key] of open) answered.add(key);
        await host.checkpoint({ taskId });
      }
      await pause(typeof pollIntervalMs === "number" ? pollIntervalMs : POLL_MS, host.signal);
    }
  } catch (error) {
    const { aborted, reason } = host.signal as { aborted: boolean; reason?: { name?: string } };
    if (aborted && reason?.name !== "SuspendError") await ask("tasks/cancel", { taskId }).catch(() => {});
    throw error;
  }
}

/**
 * A request with its key in it. A task asks nothing twice under one key, so that a process that comes later does not take an
 * answer for that to another question in the same words.
 */
function named([key, request]: [string, unknown]): [string, unknown] {
  const { params = {}, ...rest } = request as RpcMessage;
  const meta = isObject(params["_meta"]) ? params["_meta"] : {};
  return [key, { ...rest, params: { ...params, _meta: { ...meta, [`${TASKS}/key`]: key } } }];
}

function pause(delayMs: number, signal: HostAbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", end);
      resolve();
    }, delayMs);
    if (signal.aborted) end();
    else signal.addEventListener("abort", end);
  });
}
