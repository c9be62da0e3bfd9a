import { SendError } from "../../core/kit/send.js";

export type McpErrorCode =
  /** The server requires other credentials: status 401 or 403. */
  | "needs_auth"
  /** Another status, or an answer that is not valid MCP. */
  | "http"
  /** The server was not reached, or its answer was cut off. */
  | "network"
  /** The server answered with a redirect, which is not followed. */
  | "redirected"
  /** The server did not answer within `timeoutMs`. */
  | "timeout"
  /** An answer or a list is longer than the client accepts. */
  | "too_large"
  /** The server answered with a JSON-RPC error. */
  | "rpc"
  /** A call requested input more than ten times, or asked more than 50 questions. */
  | "input_rounds"
  /** A call that was resumed in another process was started at another server. */
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
