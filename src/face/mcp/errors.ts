export type McpErrorCode =
  /** The server wants another authorization: status 401 or 403. */
  | "needs_auth"
  /** Another status, or an answer that is none of MCP. */
  | "http"
  /** The server was not reached. */
  | "network"
  /** The server has answered with an error of JSON-RPC. */
  | "rpc"
  /** A call asked for more input than ten times. */
  | "input_rounds";

/** The failure of a request to an MCP server. */
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
    { status, rpcCode, cause }: { status?: number; rpcCode?: number; cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? {} : { cause });
    this.code = code;
    this.status = status;
    this.rpcCode = rpcCode;
  }
}
