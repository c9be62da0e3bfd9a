/**
 * The spans of a run, made of its events. An agent's span contains a chat span per HTTP request and a span per tool,
 * and a tool's span contains the span of its subagent.
 *
 * Names and attributes follow OpenTelemetry's conventions for generative AI, which are in development:
 * <https://github.com/open-telemetry/semantic-conventions-genai/tree/main/docs/gen-ai> (2026-11-21).
 */
import type {
  CompactTrigger,
  Failure,
  Outcome,
  RunEvent,
  RunEventOf,
  RunResult,
  Trace,
  TracedRun,
  Usage,
} from "../api/index.js";
import { checkOptions } from "../options/check.js";
import type { OptionTable } from "../options/options.js";
import { redacted } from "./redacted.js";
import { framesOf } from "./stack.js";

export type Attributes = { [name: string]: string | number | boolean | string[] };

/** An event at one moment of a span. */
export interface SpanEvent {
  name: string;
  timeMs: number;
  attributes: Attributes;
}

/** The facts about a span that are known when it begins. */
export interface SpanStart {
  name: string;
  kind: "internal" | "client";
  startMs: number;
  attributes: Attributes;
}
export interface SpanEnd {
  endMs: number;
  /** The attribute `error.type`, for a span that failed. */
  error: string | undefined;
  /** The attributes of the start and all later ones. */
  attributes: Attributes;
  events: SpanEvent[];
}

/** The receiver of spans. `H` is its handle for a span that has begun. */
export interface SpanWriter<H> {
  start(span: SpanStart, parent: H | undefined): H;
  end(span: H, end: SpanEnd): unknown;
}

export interface SpanOptions {
  /** The agent's name. A subagent's name is the last part of its path. Default: none. */
  agentName?: string | undefined;
  /**
   * Records the inputs and results of tools and the last text, as JSON. Values of fields whose names sound
   * like secrets are left out. Default false.
   */
  content?: boolean | undefined;
  /**
   * The names of the spans. `"gen_ai"`: `invoke_agent`, `chat <model>`, `execute_tool <tool>`. `"prompty"`: `turn`,
   * `execute`, `<tool>`, as in Prompty's specification. Default `"gen_ai"`.
   */
  names?: "gen_ai" | "prompty" | undefined;
  /** The label of the root span with Prompty's names: `turn 3`. */
  turn?: string | number | undefined;
  /** Further attributes of the root span, for example `gen_ai.conversation.id`. */
  attributes?: Attributes | undefined;
}

/** @throws LoopletError `config_…` */
export function checkSpanOptions(options: SpanOptions, field: string, more: OptionTable = {}): void {
  checkOptions(options, field, {
    agentName: "text",
    content: "boolean",
    names: ["gen_ai", "prompty"],
    turn: "any",
    attributes: "object",
    ...more,
  });
}

class Open<H> {
  readonly attributes: Attributes;
  readonly events: SpanEvent[] = [];
  error: string | undefined;
  /** The end of a span whose last attributes are still unknown. */
  endMs: number | undefined;

  constructor(
    readonly handle: H,
    readonly start: SpanStart,
  ) {
    this.attributes = start.attributes;
  }
}

interface Call<H> {
  readonly attributes: Attributes;
  readonly name: string;
  span: Open<H> | undefined;
  thrown: SpanEvent | undefined;
}

interface AgentSpans<H> {
  readonly span: Open<H>;
  readonly parent: AgentSpans<H> | undefined;
  readonly call: Call<H> | undefined;
  model: string;
  vendor: string;
  chat: Open<H> | undefined;
  /** Why a summary of the history is being made. */
  compacting: CompactTrigger | undefined;
  readonly calls: Map<string, Call<H>>;
  /** Sums over the agent's own requests and its subagents' requests. */
  readonly sums: { [name: string]: number };
}

export class SpanTree<H> implements Trace {
  readonly #run: TracedRun;
  readonly #options: SpanOptions;
  readonly #writer: SpanWriter<H>;
  readonly #agents = new Map<string, AgentSpans<H>>();

  constructor(run: TracedRun, options: SpanOptions, writer: SpanWriter<H>) {
    this.#run = run;
    this.#options = options;
    this.#writer = writer;
  }

  onEvent(event: RunEvent): unknown {
    const timeMs = event.timeMs ?? this.#run.now();
    const agent = this.#agent(event, timeMs);
    switch (event.type) {
      case "agent-start":
        tellModel(agent, event);
        Object.assign(agent.span.attributes, asked(agent));
        return undefined;
      case "attempt-start":
        return this.#startChat(agent, event, timeMs);
      case "model-change": {
        tellModel(agent, event);
        if (event.error === undefined) return undefined;
        this.#failChat(agent, event.error);
        return this.#endChat(agent, timeMs);
      }
      case "compact-start":
        note(agent.span, event.type, timeMs, {});
        // A summary on `overflow` means that the request was too long; no other event says so.
        if (agent.chat !== undefined) agent.chat.error = "context_length";
        agent.compacting = event.trigger;
        return this.#endChat(agent, timeMs);
      case "compact-boundary":
        note(agent.span, event.type, timeMs, {});
        return this.#endSummary(agent, timeMs);
      case "text-start":
      case "reasoning-start":
      case "tool-input-start": {
        const { chat } = agent;
        if (chat !== undefined && chat.attributes[FIRST_CHUNK] === undefined)
          chat.attributes[FIRST_CHUNK] = (timeMs - chat.start.startMs) / 1000;
        return undefined;
      }
      case "text-end":
      case "reasoning-end":
      case "tool-input-end":
        // A call may have started while the answer was still streaming.
        if (agent.chat?.endMs !== undefined) agent.chat.endMs = timeMs;
        return undefined;
      case "usage":
        if (agent.chat !== undefined) Object.assign(agent.chat.attributes, usageOf(event.usage));
        return undefined;
      case "retry":
        this.#failChat(agent, event.error);
        note(agent.span, "retry", timeMs, { attempt: event.nextAttempt, delay_ms: event.delayMs });
        return this.#endChat(agent, timeMs);
      case "tool-call":
        if (agent.chat !== undefined) agent.chat.endMs = timeMs;
        agent.calls.set(event.toolCallId, this.#call(event));
        return undefined;
      case "tool-result":
      case "tool-error":
        return this.#endTool(agent, event, timeMs);
      case "question":
        return note(agent.span, "question", timeMs, { id: event.questionId, about: event.question });
      case "answered":
        return note(agent.span, "answered", timeMs, { id: event.questionId });
      case "warning":
        note(agent.span, "warning", timeMs, { code: event.code });
        if (event.error !== undefined) this.#failChat(agent, event.error);
        return event.code.startsWith("compaction_") ? this.#endSummary(agent, timeMs) : undefined;
      case "iteration-finish":
        if (agent.chat !== undefined) {
          const { finishReason, responseId, responseModel } = event;
          const told = {
            finish_reasons: finishReason === null ? null : [finishReason],
            id: responseId,
            model: responseModel,
          };
          for (const [name, value] of Object.entries(told))
            if (value != null) agent.chat.attributes[`gen_ai.response.${name}`] = value;
        }
        return this.#endChat(agent, timeMs);
      case "error":
        // An error that ends the run during a summary does not belong to the summary's request.
        if (agent.compacting === undefined) this.#failChat(agent, event.error);
        agent.span.error = event.error.code;
        return undefined;
      case "agent-finish":
        this.#endChat(agent, timeMs);
        if (agent.parent === undefined) return undefined;
        this.#tellOutcome(agent, event.outcome);
        return this.#endAgent(agent, timeMs);
      case "finish":
        return this.#finish(event, timeMs);
      default:
        return MOMENTS.has(event.type) ? note(agent.span, event.type, timeMs, {}) : undefined;
    }
  }

  onToolThrow(toolCallId: string, thrown: unknown): unknown {
    const calls = [...this.#agents.values()].map(({ calls: known }) => known.get(toolCallId));
    const call = calls.find((known) => known !== undefined && known.thrown === undefined);
    if (call === undefined) return undefined;
    const attributes = { "exception.type": nameOf(thrown), "exception.stacktrace": framesOf(thrown) };
    call.thrown = { name: "exception", timeMs: this.#run.now(), attributes };
    return undefined;
  }

  onEnd(result: RunResult): unknown {
    const root = this.#agents.get("root");
    if (root === undefined) return undefined;
    if (this.#options.content === true) root.span.attributes["gen_ai.output.messages"] = answer(result);
    return this.#endAgent(root, root.span.endMs ?? this.#run.now());
  }

  #agent(event: RunEvent, timeMs: number): AgentSpans<H> {
    const { agentPath: path } = event;
    const known = this.#agents.get(path);
    if (known !== undefined) return known;
    const isRoot = path === "root";
    const parent = isRoot ? undefined : this.#agents.get(path.slice(0, path.lastIndexOf("/")));
    const call = parent?.calls.get(event.parentToolCallId ?? "");
    if (call !== undefined) call.span ??= this.#startTool(parent, call, timeMs);
    const { agentName, names, turn, attributes } = this.#options;
    // The second agent behind one tool has "#2" after its name.
    const name = isRoot ? agentName : path.slice(path.lastIndexOf("/") + 1).replace(/#\d+$/, "");
    const label = names === "prompty" ? "turn" : "invoke_agent";
    const { model, vendor } = parent ?? this.#run;
    const span = this.#start(
      {
        name: isRoot && names === "prompty" ? words(label, turn) : words(label, name),
        kind: "internal",
        startMs: timeMs,
        attributes: {
          "gen_ai.operation.name": "invoke_agent",
          ...asked({ model, vendor, ...(event as Partial<Asked>) }),
          ...(name === undefined ? {} : { "gen_ai.agent.name": name }),
          ...(isRoot ? { "looplet.run.id": this.#run.id, ...attributes } : {}),
          ...(isRoot && names === "prompty" ? { signature: "prompty.turn" } : {}),
        },
      },
      call?.span ?? parent?.span,
    );
    const calls = new Map<string, Call<H>>();
    const agent = {
      span,
      parent,
      call,
      model,
      vendor,
      chat: undefined,
      compacting: undefined,
      calls,
      sums: {},
    };
    this.#agents.set(path, agent);
    return agent;
  }

  #startChat(agent: AgentSpans<H>, event: RunEventOf<"attempt-start">, startMs: number): void {
    const { model, compacting } = agent;
    this.#endChat(agent, startMs);
    agent.chat = this.#start(
      {
        name: this.#options.names === "prompty" ? "execute" : `chat ${model}`,
        kind: "client",
        startMs,
        attributes: {
          "gen_ai.operation.name": "chat",
          ...asked(agent),
          "looplet.iteration": event.iteration,
          "looplet.attempt": event.attempt,
          ...(compacting === undefined ? {} : { "looplet.compaction": compacting }),
        },
      },
      agent.span,
    );
  }

  #failChat(agent: AgentSpans<H>, { code, status }: Failure): void {
    const { chat } = agent;
    if (chat === undefined) return;
    chat.error = code;
    if (status !== undefined) chat.attributes["http.response.status_code"] = status;
  }

  #endChat(agent: AgentSpans<H>, timeMs: number): unknown {
    const { chat } = agent;
    if (chat === undefined) return undefined;
    agent.chat = undefined;
    addUp(agent.sums, chat.attributes);
    return this.#end(chat, chat.endMs ?? timeMs);
  }

  /**
   * Ends the span of a summary. No event marks the end of the summary's answer, but the boundary event follows at the
   * same moment.
   */
  #endSummary(agent: AgentSpans<H>, timeMs: number): unknown {
    if (agent.compacting === undefined) return undefined;
    agent.compacting = undefined;
    return this.#endChat(agent, timeMs);
  }

  #call(event: RunEventOf<"tool-call">): Call<H> {
    const attributes: Attributes = {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": event.toolName,
      "gen_ai.tool.call.id": event.toolCallId,
      "gen_ai.tool.type": "function",
      "looplet.iteration": event.iteration,
    };
    if (event.inputHash !== undefined) attributes["looplet.tool.input_hash"] = event.inputHash;
    if (this.#options.content === true)
      attributes["gen_ai.tool.call.arguments"] = JSON.stringify(redacted(event.input));
    return { attributes, name: event.toolName, span: undefined, thrown: undefined };
  }

  #startTool(agent: AgentSpans<H> | undefined, call: Call<H>, startMs: number): Open<H> {
    const { name, attributes } = call;
    const label = this.#options.names === "prompty" ? name : `execute_tool ${name}`;
    return this.#start({ name: label, kind: "internal", startMs, attributes }, agent?.span);
  }

  /**
   * Ends a tool's span. The span began when the tool ran, not when the model asked for it; the wait between is the
   * agent's time.
   */
  #endTool(
    agent: AgentSpans<H>,
    event: RunEventOf<"tool-result"> | RunEventOf<"tool-error">,
    endMs: number,
  ): unknown {
    const call = agent.calls.get(event.toolCallId);
    if (call === undefined) return undefined;
    agent.calls.delete(event.toolCallId);
    const span = call.span ?? this.#startTool(agent, call, endMs - event.durationMs);
    if (call.thrown !== undefined) span.events.push(call.thrown);
    if (event.type === "tool-error") span.error = event.error.code;
    else if (this.#options.content === true)
      span.attributes["gen_ai.tool.call.result"] = JSON.stringify(redacted(event.output)) ?? "null";
    return this.#end(span, endMs);
  }

  #finish({ outcome }: RunEventOf<"finish">, endMs: number): unknown {
    const root = this.#agents.get("root");
    const open = [...this.#agents.values()].reverse();
    for (const agent of open) {
      this.#endChat(agent, endMs);
      if (agent !== root) this.#endAgent(agent, endMs);
    }
    if (root === undefined) return undefined;
    root.span.endMs = endMs;
    this.#tellOutcome(root, outcome);
    return undefined;
  }

  #tellOutcome({ span }: AgentSpans<H>, { outcome, stoppedBy, error }: Outcome): void {
    span.error ??= error?.code;
    span.attributes["looplet.outcome"] = outcome;
    if (stoppedBy !== undefined && stoppedBy !== null) span.attributes["looplet.stopped_by"] = stoppedBy;
  }

  #endAgent(agent: AgentSpans<H>, endMs: number): unknown {
    if (agent.span.endMs === -1) return undefined;
    Object.assign(agent.span.attributes, agent.sums);
    if (agent.parent !== undefined) addUp(agent.parent.sums, agent.sums);
    const ended = this.#end(agent.span, endMs);
    agent.span.endMs = -1;
    return ended;
  }

  #start(span: SpanStart, parent: Open<H> | undefined): Open<H> {
    return new Open(this.#writer.start(span, parent?.handle), span);
  }

  #end({ handle, attributes, events, error }: Open<H>, endMs: number): unknown {
    if (error !== undefined) attributes["error.type"] = error;
    return this.#writer.end(handle, { endMs, error, attributes, events });
  }
}

const FIRST_CHUNK = "gen_ai.response.time_to_first_chunk";

/** Events that have only a name. */
const MOMENTS: ReadonlySet<string> = new Set(["steer-delivered", "reset", "abort", "handoff"]);

/** The conventions' names of vendors. */
const PROVIDERS: { readonly [vendor: string]: string } = {
  google: "gcp.gemini",
  gemini: "gcp.gemini",
  vertex: "gcp.vertex_ai",
  bedrock: "aws.bedrock",
  azure: "azure.ai.openai",
  mistral: "mistral_ai",
  moonshot: "moonshot_ai",
  xai: "x_ai",
};

interface Asked {
  model: string;
  vendor: string;
}

function asked({ model, vendor }: Asked): Attributes {
  return { "gen_ai.provider.name": PROVIDERS[vendor] ?? vendor, "gen_ai.request.model": model };
}

function tellModel(agent: Asked, { model, vendor }: Asked): void {
  agent.model = model;
  agent.vendor = vendor;
}

function usageOf(usage: Usage): Attributes {
  return {
    "gen_ai.usage.input_tokens": usage.inputTokens,
    "gen_ai.usage.output_tokens": usage.outputTokens,
    "gen_ai.usage.cache_read.input_tokens": usage.cacheReadTokens,
    "gen_ai.usage.cache_creation.input_tokens": usage.cacheWriteTokens,
    "gen_ai.usage.reasoning.output_tokens": usage.reasoningTokens,
    ...(usage.costNanoUsd === null ? {} : { "looplet.cost_usd": usage.costNanoUsd / 1e9 }),
  };
}

function addUp(into: { [name: string]: number }, from: Attributes): void {
  for (const [name, value] of Object.entries(from)) {
    const isUsage = name.startsWith("gen_ai.usage.") || name === "looplet.cost_usd";
    if (isUsage && typeof value === "number") into[name] = (into[name] ?? 0) + value;
  }
}

function note(span: Open<unknown>, name: string, timeMs: number, attributes: Attributes): void {
  span.events.push({ name: `looplet.${name}`, timeMs, attributes });
}

function answer({ text, finishReason }: RunResult): string {
  const parts = [{ type: "text", content: text }];
  return JSON.stringify([{ role: "assistant", parts, finish_reason: finishReason ?? "stop" }]);
}

function nameOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.name : typeof thrown;
}

function words(...all: (string | number | undefined)[]): string {
  return all.filter((word) => word !== undefined).join(" ");
}
