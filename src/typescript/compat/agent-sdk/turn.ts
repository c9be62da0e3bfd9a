/** The messages of a turn, made of the events of its run. */
import type { Failure, FailureCode, Message, RunEvent, RunResult, StoppedBy } from "../../core/api/index.js";
import { isObject } from "../../core/kit/check.js";
import { toApi } from "../anthropic.js";
import { modelUsageOf, usageOf, usdOf } from "./messages/usage.js";
import { NOTHING, endOfStream, streamEvent, type ApiEvent } from "./stream-events.js";
import type {
  ApiUsage,
  SDKAssistantMessageError,
  SDKMessage,
  SDKObservation,
  SDKPermissionDenial,
  SDKResultMessage,
  TerminalReason,
} from "./types.js";

/** A message before it gets the id of its session. */
export type Unstamped<M = SDKMessage> = M extends unknown ? Omit<M, "session_id"> : never;

/** What happened between the messages, before it gets its ids. */
export type UnstampedObservation<M = SDKObservation> = M extends unknown
  ? Omit<M, "uuid" | "session_id">
  : never;

/** A message of the transcript, for the session. */
export interface TranscriptMessage {
  readonly uuid: string;
  readonly message: Message;
}

/** What a `message` event says. */
type MessageFacts = Pick<
  Extract<RunEvent, { type: "message" }>,
  "message" | "agentPath" | "responseId" | "rawFinishReason"
>;

/** A message of the model, with the vendor's id. */
interface Answered extends TranscriptMessage {
  readonly id: string;
}

export interface TurnOptions {
  readonly includePartialMessages: boolean;
  readonly forwardSubagentText: boolean;
  /** Whether the first message of the user is repeated as a message: for streaming input it is. */
  readonly repeatsPrompt: boolean;
  /** The id of the first message of the user. Default: a new one. */
  readonly promptUuid?: string | undefined;
  readonly uuid: () => string;
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number;
}

/** What is known of the answer under way of one agent. */
interface Answer {
  model: string;
  usage: ApiUsage;
  /** An answer without calls, whose end has not been sent yet. */
  waiting: Answered | undefined;
}

export class Turn {
  isCompacted = false;
  readonly #options: TurnOptions;
  readonly #answers = new Map<string, Answer>();
  /** The input of each call, and the time at which the model has asked for it. */
  readonly #calls = new Map<string, { readonly input: unknown; readonly startedMs: number }>();
  readonly #denials: SDKPermissionDenial[] = [];
  /** The root's messages that the session has not saved yet. */
  #unsaved: TranscriptMessage[] = [];
  /** Those of agents, by the ids of their calls. */
  #unsavedOf = new Map<string, TranscriptMessage[]>();
  #hasPrompt = false;
  /** The ends of the agents that were asked. */
  readonly #children: RunResult[] = [];
  /** What agents have cost so far, by the ids of their calls. */
  readonly #childrenUsd = new Map<string, number>();
  #ownUsd = 0;
  #turns = 0;
  /** Results of tools are still to come. */
  #owesResults = false;
  /** Whether the last model call has been answered, so that tools are at work. */
  #isAmongTools = false;
  /** The vendor's word for the end of the last answer that has one. */
  #stopReason: string | null = null;

  constructor(options: TurnOptions) {
    this.#options = options;
  }

  /** US dollars of the turn so far, with its agents. */
  get spentUsd(): number {
    return [...this.#childrenUsd.values()].reduce((sum, usd) => sum + usd, this.#ownUsd);
  }

  /** The messages that an event makes. */
  take(event: RunEvent): Unstamped[] {
    const messages = [...this.#partial(event)];
    const answer = this.#answerOf(event.agentPath);
    const parent = event.parentToolCallId ?? null;
    const uuid = this.#options.uuid();
    switch (event.type) {
      case "agent-start":
      case "model-change":
        answer.model = event.model;
        break;
      case "attempt-start":
        answer.usage = NOTHING;
        if (parent === null) this.#isAmongTools = false;
        break;
      case "usage":
        answer.usage = usageOf(event.usage);
        if (parent === null) this.#ownUsd = usdOf(event.total);
        else this.#childrenUsd.set(parent, usdOf(event.total));
        break;
      case "tool-call":
        this.#calls.set(event.toolCallId, { input: event.input, startedMs: this.#options.now() });
        break;
      case "message":
        messages.push(...this.#message(event, parent));
        break;
      case "iteration-finish":
        messages.push(...this.#endOf(event.agentPath, event.rawFinishReason, parent));
        if (parent === null) this.#stopReason = event.rawFinishReason ?? this.#stopReason;
        break;
      case "tool-progress": {
        const { toolCallId, toolName, data } = event;
        const about = { tool_use_id: toolCallId, tool_name: toolName, parent_tool_use_id: parent };
        const elapsed_time_seconds = this.#secondsSince(toolCallId);
        messages.push({ type: "tool_progress", uuid, elapsed_time_seconds, data, ...about });
        break;
      }
      case "tool-error":
        if (event.error.code === "denied")
          messages.push(this.#denied(event.toolCallId, event.toolName, event.error.message));
        break;
      case "compact-start":
        messages.push({ type: "system", subtype: "status", uuid, status: "compacting" });
        break;
      case "compact-boundary": {
        messages.push({ type: "system", subtype: "status", uuid: this.#options.uuid(), status: null });
        if (event.agentPath === "root") this.isCompacted = true;
        const trigger = event.trigger === "manual" ? "manual" : "auto";
        const about = { trigger, pre_tokens: event.preTokens } as const;
        messages.push({ type: "system", subtype: "compact_boundary", uuid, compact_metadata: about });
        break;
      }
      case "retry":
        messages.push({
          type: "system",
          subtype: "api_retry",
          uuid,
          attempt: event.nextAttempt - 1,
          max_retries: event.maxAttempts - 1,
          retry_delay_ms: event.delayMs,
          error_status: event.error.status ?? null,
          error: categoryOf(event.error),
          message: event.error.message,
        });
        break;
      case "warning":
        messages.push({
          type: "system",
          subtype: "informational",
          uuid,
          content: event.message,
          level: "warning",
        });
        break;
      default:
        // A new event does not compile until it has a case above, or is in this list of those that are left out.
        event.type satisfies
          | "run-start"
          | "iteration-start"
          | "answer-cut-off"
          | "handoff"
          | "text-start"
          | "text-delta"
          | "text-end"
          | "reasoning-start"
          | "reasoning-delta"
          | "reasoning-end"
          | "reasoning-progress"
          | "tool-input-start"
          | "tool-input-delta"
          | "tool-input-end"
          | "tool-result"
          | "question"
          | "answered"
          | "waiting"
          | "not-saved"
          | "reset"
          | "steer-delivered"
          | "limits"
          | "agent-finish"
          | "abort"
          | "error"
          | "finish"
          | "snapshot";
    }
    return messages;
  }

  /** An agent was asked by this call. */
  beginTask(id: string, description: string): Unstamped {
    const uuid = this.#options.uuid();
    return { type: "system", subtype: "task_started", uuid, task_id: id, tool_use_id: id, description };
  }

  /** The messages that an event of the agent makes which answers this call. */
  takeOfTask(event: RunEvent, id: string): Unstamped[] {
    return this.take({ ...event, agentPath: `root/${id}`, parentToolCallId: id });
  }

  /** Adds the costs of an additional run. */
  spent(result: RunResult): void {
    this.#children.push(result);
    this.#childrenUsd.set(result.id, result.costUsd);
  }

  /** The models of this turn without a known price. */
  unpriced(result: RunResult): string[] {
    const all = [result, ...this.#children].filter(({ costBasis }) => costBasis === "unknown");
    const free = all.flatMap(({ modelUsage }) =>
      Object.entries(modelUsage).filter(([, usage]) => !usage?.costNanoUsd),
    );
    return [...new Set(free.map(([model]) => model))];
  }

  endTask(result: RunResult, id: string): Unstamped {
    this.#children.push(result);
    const status =
      result.outcome === "completed" ? "completed" : result.outcome === "failed" ? "failed" : "stopped";
    const about = { task_id: id, tool_use_id: id, status, summary: result.text, output_file: "" } as const;
    return { type: "system", subtype: "task_notification", uuid: this.#options.uuid(), ...about };
  }

  /** The messages that no event has caused: an answer without its end, and results that no request contained. */
  rest(result: RunResult): Unstamped[] {
    const messages = this.#endOf("root", result.rawFinishReason, null);
    const last = result.messages.at(-1);
    if (this.#owesResults && last?.role === "user")
      messages.push(...this.#message({ message: last, agentPath: "root" }, null));
    return messages;
  }

  /** The root's messages since the last call. */
  takeUnsaved(): TranscriptMessage[] {
    const unsaved = this.#unsaved;
    this.#unsaved = [];
    return unsaved;
  }

  /** The messages of agents since the last call, by the ids of their calls. */
  takeUnsavedOf(): Map<string, TranscriptMessage[]> {
    const unsaved = this.#unsavedOf;
    this.#unsavedOf = new Map();
    return unsaved;
  }

  /** The usage of the last request of the root. */
  get counted(): ApiUsage | undefined {
    return this.#answers.get("root")?.usage;
  }

  result(result: RunResult, structured: boolean, isSpent: boolean): Unstamped<SDKResultMessage> {
    const subtype = subtypeOf(result, isSpent);
    const facts = {
      type: "result" as const,
      uuid: this.#options.uuid(),
      duration_ms: result.durationMs,
      duration_api_ms: result.apiDurationMs,
      is_error: subtype !== "success",
      num_turns: this.#turns,
      stop_reason: result.rawFinishReason ?? this.#stopReason,
      total_cost_usd: [result, ...this.#children].reduce((sum, { costUsd }) => sum + costUsd, 0),
      usage: result.usage === null ? NOTHING : usageOf(result.usage),
      modelUsage: modelUsageOf([result, ...this.#children]),
      permission_denials: this.#denials,
      terminal_reason: terminalReason(result, subtype, this.#isAmongTools),
    };
    if (subtype !== "success") return { ...facts, subtype, errors: [errorOf(result)] };
    const output = structured && result.output !== undefined ? { structured_output: result.output } : {};
    return { ...facts, subtype, result: result.text, ...output };
  }

  #answerOf(path: string): Answer {
    const known = this.#answers.get(path);
    if (known !== undefined) return known;
    const made: Answer = { model: "", usage: NOTHING, waiting: undefined };
    this.#answers.set(path, made);
    return made;
  }

  *#partial(event: RunEvent): Generator<Unstamped> {
    if (!this.#options.includePartialMessages) return;
    const raw = streamEvent(event, this.#answerOf(event.agentPath).model);
    if (raw !== undefined) yield this.#streamed(raw, event.parentToolCallId ?? null);
  }

  #streamed(event: ApiEvent, parent: string | null): Unstamped {
    return { type: "stream_event", uuid: this.#options.uuid(), event, parent_tool_use_id: parent };
  }

  #message(
    { message, agentPath: path, responseId, rawFinishReason }: MessageFacts,
    parent: string | null,
  ): Unstamped[] {
    const isRoot = path === "root";
    const isFirst = isRoot && !this.#hasPrompt;
    const own = isFirst && message.role === "user" ? this.#options.promptUuid : undefined;
    const entry = { uuid: own ?? this.#options.uuid(), message };
    if (isRoot) {
      this.#hasPrompt = true;
      this.#unsaved.push(entry);
    } else if (parent !== null) this.#unsavedOf.set(parent, [...(this.#unsavedOf.get(parent) ?? []), entry]);
    if (message.role === "user") {
      const hasResults = message.content.some(({ type }) => type === "tool_result");
      if (isRoot && hasResults) this.#owesResults = false;
      // The prompt of a subagent is in its call.
      const isPrompt = !hasResults && (isFirst ? !this.#options.repeatsPrompt : !isRoot);
      if (isPrompt) return [];
      const content = message.content.flatMap(toApi);
      const { uuid } = entry;
      const replay = isRoot && !hasResults ? { isReplay: true as const } : {};
      const said = { role: "user" as const, content };
      return [{ type: "user", uuid, message: said, parent_tool_use_id: parent, ...replay }];
    }
    if (isRoot) this.#turns += 1;
    const answer = this.#answerOf(path);
    const answered = { ...entry, id: responseId ?? `msg_${entry.uuid}` };
    if (!message.content.some(({ type }) => type === "tool_call")) {
      answer.waiting = answered;
      return [];
    }
    if (isRoot) this.#owesResults = this.#isAmongTools = true;
    return this.#answered(answered, answer, rawFinishReason ?? null, parent);
  }

  /** An answer without calls comes with the reason of its end. */
  #endOf(path: string, stopReason: string | null, parent: string | null): Unstamped[] {
    const answer = this.#answerOf(path);
    const { waiting } = answer;
    answer.waiting = undefined;
    return waiting === undefined ? [] : this.#answered(waiting, answer, stopReason, parent);
  }

  #answered(
    { uuid, message, id }: Answered,
    answer: Answer,
    stopReason: string | null,
    parent: string | null,
  ): Unstamped[] {
    const { model, usage } = answer;
    const ends = this.#options.includePartialMessages ? endOfStream(stopReason, usage) : [];
    const all = message.content.flatMap(toApi);
    // Only the calls in an agent's answers are sent.
    const isWhole = parent === null || this.#options.forwardSubagentText;
    const content = isWhole ? all : all.filter(({ type }) => type === "tool_use");
    if (content.length === 0 && !isWhole) return [];
    const whole = {
      id,
      type: "message",
      role: "assistant",
      model,
      content,
      stop_reason: stopReason,
      usage,
    } as const;
    return [
      ...ends.map((event) => this.#streamed(event, parent)),
      { type: "assistant", uuid, message: whole, parent_tool_use_id: parent },
    ];
  }

  #secondsSince(callId: string): number {
    const now = this.#options.now();
    return (now - (this.#calls.get(callId)?.startedMs ?? now)) / 1000;
  }

  #denied(id: string, name: string, message: string): Unstamped {
    const about = { tool_name: name, tool_use_id: id };
    const input = this.#calls.get(id)?.input;
    this.#denials.push({ ...about, tool_input: isObject(input) ? input : {} });
    return { type: "system", subtype: "permission_denied", uuid: this.#options.uuid(), ...about, message };
  }
}

/** The result of a query that could not begin its turn. */
export function notStarted(uuid: string, error: string): Unstamped<SDKResultMessage> {
  return {
    type: "result",
    subtype: "error_during_execution",
    uuid,
    duration_ms: 0,
    duration_api_ms: 0,
    is_error: true,
    num_turns: 0,
    stop_reason: null,
    total_cost_usd: 0,
    usage: NOTHING,
    modelUsage: {},
    permission_denials: [],
    terminal_reason: "turn_setup_failed",
    errors: [error],
  };
}

/** The SDK's kinds of failures, by those of looplet. */
const CATEGORIES: { readonly [code in FailureCode]?: SDKAssistantMessageError } = {
  rate_limit: "rate_limit",
  overloaded: "overloaded",
  auth: "authentication_failed",
  billing: "billing_error",
  invalid_request: "invalid_request",
  context_length: "invalid_request",
  not_found: "model_not_found",
  server: "server_error",
};

function categoryOf({ code }: Failure): SDKAssistantMessageError {
  return CATEGORIES[code] ?? "unknown";
}

const SUBTYPES: { readonly [S in StoppedBy]?: SDKResultMessage["subtype"] } = {
  tool_rounds: "error_max_turns",
  iterations: "error_max_turns",
  usd: "error_max_budget_usd",
  tokens: "error_max_budget_usd",
  structured_output: "error_max_structured_output_retries",
};

/** `isSpent`: nothing of the budget is left. */
function subtypeOf({ outcome, stoppedBy }: RunResult, isSpent: boolean): SDKResultMessage["subtype"] {
  if (outcome === "completed") return "success";
  if (stoppedBy === "condition" && isSpent) return "error_max_budget_usd";
  return (stoppedBy && SUBTYPES[stoppedBy]) ?? "error_during_execution";
}

const REASONS: { readonly [subtype in SDKResultMessage["subtype"]]: TerminalReason | undefined } = {
  success: "completed",
  error_max_turns: "max_turns",
  error_max_budget_usd: "budget_exhausted",
  error_max_structured_output_retries: "structured_output_retry_exhausted",
  error_during_execution: undefined,
};

function terminalReason(
  result: RunResult,
  subtype: SDKResultMessage["subtype"],
  inTools: boolean,
): TerminalReason {
  if (result.outcome === "failed") return "model_error";
  if (result.outcome === "cancelled") return inTools ? "aborted_tools" : "aborted_streaming";
  if (result.stoppedBy === "hook") return "hook_stopped";
  if (result.stoppedBy === "condition" && subtype === "error_during_execution") return "worker_shutting_down";
  return REASONS[subtype] ?? result.stoppedBy ?? "completed";
}

function errorOf(result: RunResult): string {
  if (result.outcome === "failed") return result.error.message;
  if (result.outcome === "cancelled") return `The query was aborted: ${result.abortReason}`;
  return `The query was stopped by ${result.stoppedBy ?? "a limit"} after ${result.iterations} answers of the model.`;
}
