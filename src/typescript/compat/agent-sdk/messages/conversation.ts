/** The messages of the conversation: prompts, answers, results of tools, and parts of answers. */
import type { ApiBlock } from "../../anthropic.js";
import type { ApiEvent } from "../stream-events.js";
import type { ApiUsage, SDKContextUsage, SDKUsageReport } from "./usage.js";

/** The ids that every message has. */
export interface Stamp {
  readonly uuid: string;
  readonly session_id: string;
}

/** Who has written a message of the user. looplet reads it nowhere: a host that sends it gets no other rights. */
export type SDKMessageOrigin =
  | { kind: "human" | "coordinator" | "unclassified" | "auto-continuation" | "observer-activity" }
  | { kind: "channel"; server: string }
  | {
      kind: "peer";
      from: string;
      fromMode?: "bypass" | "prompting";
      name?: string;
      fromSession?: string;
      senderTaskId?: string;
      body?: string;
      verifiedPeerPid?: number;
    }
  | {
      kind: "task-notification";
      subkind?:
        "scheduled-trigger" | "peer-send-message" | "projects-relay" | "session-inbox" | "external-event";
      fireReason?: string;
      runId?: string;
    }
  | { kind: "observer"; from: string; senderTaskId: string };

/** A kind of failure of the model. */
export type SDKAssistantMessageError =
  | "authentication_failed"
  | "oauth_org_not_allowed"
  | "account_on_hold"
  | "verification_required"
  | "billing_error"
  | "rate_limit"
  | "overloaded"
  | "invalid_request"
  | "model_not_found"
  | "server_error"
  | "unknown"
  | "max_output_tokens"
  | "cloud_credential_error";

/** Fields of a message of the user that looplet accepts and does not read. */
interface UnreadInput {
  readonly isSynthetic?: boolean;
  readonly tool_use_result?: unknown;
  readonly priority?: "now" | "next" | "later";
  readonly origin?: SDKMessageOrigin;
  readonly shouldQuery?: boolean;
  readonly timestamp?: string;
  readonly pasted_content?: (string | readonly ApiBlock[])[];
  readonly inline_pastes?: string[];
  readonly agent_id?: string;
  readonly subagent_type?: string;
  readonly task_description?: string;
}

/** A message of the user in streaming input. looplet reads `message`, `uuid` and `client_composed`. */
export interface SDKUserInput extends UnreadInput {
  readonly type: "user";
  readonly message: { readonly role: "user"; readonly content: string | readonly ApiBlock[] };
  readonly parent_tool_use_id?: string | null;
  readonly uuid?: string;
  readonly session_id?: string;
  /**
   * Whether it goes to the model unchanged, even if it begins with `/compact` or `/clear`. Default:
   * `verbatimPrompts`.
   */
  readonly client_composed?: boolean;
}

/** A message of the user, or the results of a round of calls. */
export interface SDKUserMessage extends SDKUserInput {
  readonly parent_tool_use_id: string | null;
}

/** Results of a round of calls, or a message to an agent, as a query yields it. */
export interface SDKYieldedUserMessage extends SDKUserMessage, Stamp {
  readonly message: { readonly role: "user"; readonly content: ApiBlock[] };
  readonly uuid: string;
  readonly session_id: string;
}

/** A prompt, as a query yields it: of streaming input, or with the argument `replay-user-messages`. */
export interface SDKUserMessageReplay extends SDKYieldedUserMessage {
  readonly isReplay: true;
  /** Not set. */
  readonly file_attachments?: unknown[];
}

/** Fields about the message of the user that an answer belongs to. looplet does not set them. */
export interface PromptedBy {
  readonly user_message_uuid?: string;
  readonly user_message_uuids?: string[];
  readonly resume_reason?: string;
}

/** An answer of the model. looplet sets `message`, `parent_tool_use_id` and the ids. */
export interface SDKAssistantMessage extends Stamp, PromptedBy {
  readonly type: "assistant";
  readonly message: {
    /** looplet's own: the vendor's id is known when the tools have run. */
    readonly id: string;
    readonly type: "message";
    readonly role: "assistant";
    readonly model: string;
    readonly content: ApiBlock[];
    /** The vendor's word; `null` for an answer with calls, which come before it. */
    readonly stop_reason: string | null;
    readonly usage: ApiUsage;
  };
  readonly parent_tool_use_id: string | null;
  readonly error?: SDKAssistantMessageError;
  readonly request_id?: string;
  readonly resumed_from_incomplete_thinking?: true;
  readonly supersedes?: string[];
  readonly aborted?: true;
  readonly agent_id?: string;
  readonly subagent_type?: string;
  readonly task_description?: string;
  readonly timestamp?: string;
  readonly context_usage?: SDKContextUsage;
  readonly usage_report?: SDKUsageReport;
}

/** A raw event of the Messages API; of other protocols in the same shape. */
export interface SDKPartialAssistantMessage extends Stamp, PromptedBy {
  readonly type: "stream_event";
  readonly event: ApiEvent;
  readonly parent_tool_use_id: string | null;
  /** Not set. */
  readonly ttft_ms?: number;
}
