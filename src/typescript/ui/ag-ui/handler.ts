/** The route of an agent for AG-UI: a `RunAgentInput` comes by POST, and its events go out as server-sent events. */
import { LoopletError } from "../../core/api/errors.js";
import type { HostRequest, HostResponse } from "../../core/api/platform.js";
import { checkOptions } from "../../core/kit/check.js";
import { readText } from "../../server/proxy/body.js";
import { isJson } from "../../server/server/access.js";
import { checkedInput } from "./input.js";
import { eventResponse, refusal } from "./stream.js";
import { THREAD_TABLE, Threads, type AgUiAgents, type AgUiThreadOptions } from "./threads.js";
import type { AgUiInput } from "./types.js";

export interface AgUiHandlerOptions extends AgUiThreadOptions {
  /**
   * Returns the owner of a request, such as the id of the signed-in user. If it returns nothing, the response has
   * status
   * 401. Required.
   *
   * Contract: a thread belongs to the owner who started it. No other owner can access it.
   */
  authorize: (request: HostRequest) => Owner | PromiseLike<Owner>;
  /** The longest body, in bytes. Default 10,000,000. */
  maxBodyBytes?: number | undefined;
}

type Owner = string | null | undefined;

const TABLE = { ...THREAD_TABLE, authorize: "function!", maxBodyBytes: "count" } as const;

/**
 * Serves an agent to pages that speak AG-UI. The thread of an input is a chat of its owner. If the agent has a
 * `store`, the chat is saved there, and only the last message of the page is used. Without a store the messages of
 * the page are the history. Pass a function instead of an agent to choose an agent for each input.
 *
 * @example
 * ```ts
 * import { createAgent, custom } from "looplet";
 * import { agUiHandler } from "looplet/ag-ui";
 *
 * const agent = createAgent({ model: custom(() => Promise.resolve("Hello.")) });
 * const handle = agUiHandler(agent, { authorize: () => "ada" }); // the id of the signed-in user
 * ```
 *
 * @throws LoopletError `config_…`
 */
export function agUiHandler(
  agent: AgUiAgents,
  options: AgUiHandlerOptions,
): (request: HostRequest) => Promise<HostResponse> {
  const { authorize, maxBodyBytes = 10_000_000, ...rest } = checkOptions(options, "", TABLE);
  const threads = new Threads(agent, rest);
  return async (request) => {
    if (request.method !== "POST") return refusal(405, "AG-UI needs POST.");
    // A page of another origin may send every other type without asking first.
    if (!isJson(request.headers.get("content-type")))
      return refusal(415, "The body needs the content-type application/json.");
    const owner = await authorize(request);
    if (typeof owner !== "string" || owner === "") return refusal(401, "Nobody is signed in.");
    const text = await readText(request, maxBodyBytes).catch(() => null);
    if (text === null) return refusal(400, "The body is not text in UTF-8, or it broke off.");
    if (text === undefined) return refusal(413, `The body is longer than ${maxBodyBytes} bytes.`);
    const isConnecting = new URL(request.url).pathname.endsWith("/connect");
    return answer(threads, text, owner, request.signal, isConnecting);
  };
}

/** The response to the text of an input. */
export function answer(
  threads: Threads,
  text: string,
  owner: string,
  signal?: AbortSignal | null,
  isConnecting = false,
): HostResponse {
  let input: AgUiInput;
  try {
    input = checkedInput(JSON.parse(text));
  } catch (error) {
    if (error instanceof LoopletError) return refusal(400, error.message);
    return refusal(400, "The body is not JSON.");
  }
  const { events, leave } = isConnecting ? threads.connection(input, owner) : threads.segment(input, owner);
  signal?.addEventListener("abort", leave);
  return eventResponse(events, leave);
}
