/** The end of a turn. */
import type { StoppedBy } from "../../../core/api/index.js";
import type { PromptedBy, SDKMessageOrigin, Stamp } from "./conversation.js";
import type { ModelUsage, NonNullableUsage } from "./usage.js";

/** A call that was not allowed. */
export interface SDKPermissionDenial {
  readonly tool_name: string;
  readonly tool_use_id: string;
  readonly tool_input: Record<string, unknown>;
}

/** A call that waits for a later query. looplet has none: it asks about a deferred call. */
export interface SDKDeferredToolUse {
  id: string;
  name: string;
  input: Record<string, unknown>;
}

/** Why a turn has ended. looplet's own words are `worker_shutting_down` and those of `result.stoppedBy`. */
export type TerminalReason =
  | "blocking_limit"
  | "rapid_refill_breaker"
  | "prompt_too_long"
  | "image_error"
  | "model_error"
  | "api_error"
  | "malformed_tool_use_exhausted"
  | "aborted_streaming"
  | "aborted_tools"
  | "stop_hook_prevented"
  | "hook_stopped"
  | "tool_deferred"
  | "max_turns"
  | "background_requested"
  | "completed"
  | "budget_exhausted"
  | "structured_output_retry_exhausted"
  | "tool_deferred_unavailable"
  | "turn_setup_failed"
  | "worker_shutting_down"
  | StoppedBy;

/** Why a process could not start. It does not occur: looplet starts no process. */
export type SDKStartupFailureReason =
  | "org_pin_api_key_conflict"
  | "provider_not_allowed"
  | "org_verify_failed"
  | "org_pin_mismatch"
  | "managed_settings_invalid"
  | "remote_settings_required_unavailable"
  | "gateway_signin_required"
  | "gateway_access_denied"
  | "proxy_invalid"
  | "temp_dir_unusable"
  | "cwd_unavailable"
  | "shell_tool_missing"
  | "session_held_by_background"
  | "worktree_resume_refused"
  | "worktree_unverified"
  | "cli_version_too_old"
  | "bypass_root"
  | "org_config_required_unavailable"
  | "org_config_refused"
  | "sandbox_required_unavailable"
  | "initialize_not_first"
  | "config_file_invalid"
  | "managed_settings_not_delivered"
  | "initialize_fields_not_delivered"
  | "sideload_flags_disabled";

/** A faster service of one vendor. looplet does not ask for it. */
export type FastModeState = "off" | "cooldown" | "on";

export type FastModeDisabledReason =
  | "free"
  | "preference"
  | "extra_usage_disabled"
  | "network_error"
  | "unknown"
  | "not_first_party"
  | "disabled_by_env"
  | "model_not_allowed"
  | "sdk_opt_in_required"
  | "pending";

/** Fields of a result that looplet does not set. */
interface UnsetFacts extends PromptedBy {
  readonly queued_turn_count?: number;
  readonly result_index?: number;
  readonly credential_expires_at?: string;
  readonly fast_mode_state?: FastModeState;
  readonly fast_mode_disabled_reason?: FastModeDisabledReason;
  readonly origin?: SDKMessageOrigin;
}

interface ResultFacts extends Stamp, UnsetFacts {
  readonly type: "result";
  readonly duration_ms: number;
  readonly duration_api_ms: number;
  readonly is_error: boolean;
  /** Answers of the model in this query. */
  readonly num_turns: number;
  /** The vendor's word for the end of the last answer. */
  readonly stop_reason: string | null;
  /** By `looplet/prices`, or by the price of the model that you pass. 0 without a price. */
  readonly total_cost_usd: number;
  readonly usage: NonNullableUsage;
  readonly modelUsage: Record<string, ModelUsage>;
  readonly permission_denials: SDKPermissionDenial[];
  /** looplet always sets it. */
  readonly terminal_reason?: TerminalReason;
}

type QueuedBehind = "durable_post" | "ephemeral_post" | "retry_backoff" | "hold" | "none";

/** Times of a turn in milliseconds. looplet does not set them: `looplet/trace` has the times of a run. */
interface UnsetTimes {
  readonly ttft_ms?: number;
  readonly ttft_stream_ms?: number;
  readonly time_to_request_ms?: number;
  readonly time_to_request_from_spawn_ms?: number;
  readonly request_sent_wall_ms?: number;
  readonly first_content_frame_ms?: number;
  readonly first_stream_post_ms?: number;
  readonly first_stream_post_ack_ms?: number;
  readonly first_stream_post_queue_wait_ms?: number;
  readonly first_stream_post_queued_behind?: QueuedBehind;
  readonly first_stream_post_wall_ms?: number;
  readonly first_text_post_ms?: number;
  readonly first_text_post_queue_wait_ms?: number;
  readonly first_text_post_queued_behind?: QueuedBehind;
  readonly first_text_post_wall_ms?: number;
  readonly time_origin_ms?: number;
}

/** The end of a turn in which the model is done. */
export interface SDKResultSuccess extends ResultFacts, UnsetTimes {
  readonly subtype: "success";
  /** The text of the last answer. */
  readonly result: string;
  /** The answer to `outputFormat`. */
  readonly structured_output?: unknown;
  /** Not set. */
  readonly local_command?: string;
  /** Not set. */
  readonly warm_spare_claimed?: boolean;
  /** Not set. */
  readonly api_error_status?: number | null;
  /** Not set. */
  readonly deferred_tool_use?: SDKDeferredToolUse;
}

/** The end of a turn that did not come to its end. */
export interface SDKResultError extends ResultFacts {
  readonly subtype:
    | "error_max_turns"
    | "error_max_budget_usd"
    | "error_during_execution"
    | "error_max_structured_output_retries";
  readonly errors: string[];
  /** Not set. */
  readonly startup_failure_reason?: SDKStartupFailureReason;
  /** Not set. */
  readonly invalid_config_file?: {
    path: string;
    is_global: boolean;
    backup_searched: boolean;
    backup_path?: string;
  };
}

/** The end of a turn. It has `result` only if the subtype is `success`. */
export type SDKResultMessage = SDKResultSuccess | SDKResultError;
