/** Errors that are thrown, by their codes. */
import type { ToolFault } from "./event.js";

/** Codes of a `LoopletError`: what is wrong with a configuration (`config_…`) or with a call (`misuse_…`). */
export type LoopletErrorCode =
  /** No such option; the message names the nearest one. */
  | "config_unknown_option"
  /** A value of the wrong type. */
  | "config_wrong_type"
  /** A value of the right type that cannot be used (0 iterations, a tool name with a space, a broken URL). */
  | "config_invalid_value"
  /** A required option is missing. */
  | "config_missing"
  /** Neither `apiKey` nor `authorize` nor a `fetch` of your own. */
  | "config_missing_key"
  /** A vendor's key in a page without `dangerouslyAllowBrowser: true`. */
  | "config_browser_key"
  /** Two tools of one name. */
  | "config_duplicate_tool"
  /** An `inputSchema` that is no schema. */
  | "config_invalid_schema"
  /** The wasm source given to `init()` cannot be used. */
  | "config_wasm"
  | "misuse_empty_prompt"
  | "misuse_chat_busy"
  /** The chat was closed. */
  | "misuse_chat_closed"
  /** A steer or follow-up for a run that has ended; look at `run.outcome` first. */
  | "misuse_run_ended"
  /** A wrong argument of a method. */
  | "misuse_invalid_argument";

/** Why a `RunError` was thrown. */
export type RunErrorCode = "cancelled" | "refused" | "limit" | "failed";

/** What `new ToolError(…)` takes; see `ToolFault`. */
export type ToolErrorOptions = Partial<ToolFault> & { message: string };
