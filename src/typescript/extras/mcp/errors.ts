import { SendError } from "../../core/kit/send.js";

export type McpErrorCode =
  /** The server wants another authorization: status 401 or 403. */
  | "needs_auth"
  /** Another status, or an answer that is not one of MCP. */
  | "http"
  /** The server was not reached, or its answer has broken off. */
  | "network"
  /** The server has answered with a redirect, which is not followed. */
  | "redirected"
  /** The server has not answered within `timeoutMs`. */
  | "timeout"
  /** An answer or a list is longer than the client takes. */
  | "too_large"
  /** The server has answered with an error of JSON-RPC. */
  | "rpc"
  /** A call asked for more input than ten times, or put more questions than 50. */
  | "input_rounds"
  /** A call that goes on in another process was begun at another server. */
  | "other_server";

/** The failure of a request to an MCP server, without the secrets of the request. */
export class McpError extends Error {
  override readonly name = "McpError";
  readonly code: McpErrorCode;
  /** The HTTP status; undefined if there was no response. */
  readonly status: number | undefined;
  /** The code of JSON-RPC, with `rpc`. */
  readonly rpcCode: number | undefined;

  constructor(
    code: McpErrorCode,
    message: string,
    { status, rpcCode }: { status?: number | undefined; rpcCode?: number | undefined } = {},
  ) {
    super(message);
    this.code = code;
    this.status = status;
    this.rpcCode = rpcCode;
  }
}

/** An error of the sender in the words of this client; any other error as it is. */
export function mcpErrorOf(error: unknown): unknown {
  if (!(error instanceof SendError)) return error;
  const { code, message, status } = error;
  const page =
    code === "network" && typeof document !== "undefined"
      ? " In a page: CORS, a wrong address or no network."
      : "";
  return new McpError(code, message + page, { status });
}
