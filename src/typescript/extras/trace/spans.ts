/**
 * The spans of a run, made of its events. An agent's span contains a chat span per model call and a span per tool,
 * and a tool's span contains the span of its subagent. `conventions.ts` has the names.
 */
import type {
  CompactTrigger,
  Outcome,
  RunEvent,
  RunEventOf,
  RunResult,
  Trace,
  TracedRun,
} from "../../core/api/index.js";
import { checkOptions, type OptionTable } from "../../core/kit/check.js";
import { addToAgent, AGENT_NAME, askedModel, OPERATION, type Asked, type Attributes } from "./conventions.js";
import { ModelCall } from "./model-call.js";
import { redacted } from "./redacted.js";
import { Open, type SpanEvent, type SpanStart, type SpanWriter } from "./span.js";
import { framesOf } from "./stack.js";

export interface SpanOptions {
  /** The agent's name. A subagent's name is the last part of its path. Default: none. */
  agentName?: string | undefined;
  /**
   * Records the inputs and results of tools and the last text, as JSON. Values of fields with names that sound like
   * secrets are redacted. Default false.
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
export function checkSpanOptions<O extends SpanOptions>(
  options: O,
  field: string,
  more: OptionTable = {},
): O {
  return checkOptions(options, field, {
    agentName: "text",
    content: "boolean",
    names: ["gen_ai", "prompty"],
    turn: "any",
    attributes: "object",
    ...more,
  });
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
  chat: ModelCall<H> | undefined;
  /** Why a summary of the history is being made. */
  compacting: CompactTrigger | undefined;
  /** Whether a summary has replaced the start of the history. */
  isCompacted: boolean;
  readonly calls: Map<string, Call<H>>;
  /** Sums over the agent's own model calls and those of its subagents. */
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
        Object.assign(agent.span.attributes, askedModel(agent));
        return undefined;
      case "attempt-start":
        return this.#startChat(agent, event, timeMs);
      case "model-change": {
        tellModel(agent, event);
        if (event.error === undefined) return undefined;
        agent.chat?.fail(event.error);
        return this.#endChat(agent, timeMs);
      }
      case "compact-start":
        agent.span.note(event.type, timeMs, {});
        // A summary on `overflow` means that the request was too long. No other event says so.
        agent.chat?.fail({ code: "context_length" });
        agent.compacting = event.trigger;
        return this.#endChat(agent, timeMs);
      case "compact-boundary":
        agent.span.note(event.type, timeMs, {});
        agent.isCompacted = true;
        return this.#endSummary(agent, timeMs);
      case "text-start":
      case "reasoning-start":
      case "tool-input-start":
        return agent.chat?.begin(timeMs);
      case "text-end":
      case "reasoning-end":
      case "tool-input-end":
        return agent.chat?.block(timeMs);
      case "usage":
        return agent.chat?.used(event.usage);
      case "retry":
        return agent.chat?.retry(event, timeMs);
      case "tool-call":
        agent.chat?.complete(timeMs);
        agent.calls.set(event.toolCallId, this.#call(agent, event));
        return undefined;
      case "tool-result":
      case "tool-error":
        return this.#endTool(agent, event, timeMs);
      case "question":
        return agent.span.note("question", timeMs, { id: event.questionId, about: event.question });
      case "answered":
        return agent.span.note("answered", timeMs, {
          id: event.questionId,
          ...(event.isWithdrawn === true && { withdrawn: true }),
        });
      case "warning":
        agent.span.note("warning", timeMs, { code: event.code });
        if (event.error !== undefined) agent.chat?.fail(event.error);
        return event.code.startsWith("compaction_") ? this.#endSummary(agent, timeMs) : undefined;
      case "iteration-finish":
        agent.chat?.told(event);
        return this.#endChat(agent, timeMs);
      case "error":
        // An error that ends the run during a summary does not belong to the summary's request.
        if (agent.compacting === undefined) agent.chat?.fail(event.error);
        agent.span.error = event.error.code;
        return undefined;
      case "agent-finish":
        this.#endChat(agent, timeMs);
        if (agent.parent === undefined) return undefined;
        this.#tellOutcome(agent, event.outcome);
        return this.#endAgent(agent, timeMs);
      case "finish":
        return this.#finish(event, timeMs);
      case "steer-delivered":
      case "reset":
      case "abort":
      case "handoff":
        return agent.span.note(event.type, timeMs, {});
      default:
        // A new event does not compile until it is a moment of a span, or in this list of events that no span shows.
        event.type satisfies
          | "run-start"
          | "iteration-start"
          | "answer-cut-off"
          | "text-delta"
          | "reasoning-delta"
          | "reasoning-progress"
          | "tool-input-delta"
          | "tool-progress"
          | "waiting"
          | "limits"
          | "not-saved"
          | "message"
          | "snapshot";
        return undefined;
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
    // The second agent of one tool has "#2" after its name.
    const name = isRoot ? agentName : path.slice(path.lastIndexOf("/") + 1).replace(/#\d+$/, "");
    const label = names === "prompty" ? "turn" : "invoke_agent";
    const { model, vendor } = parent ?? this.#run;
    const span = this.#start(
      {
        name: isRoot && names === "prompty" ? words(label, turn) : words(label, name),
        kind: "internal",
        startMs: timeMs,
        attributes: {
          [OPERATION]: "invoke_agent",
          ...askedModel({ model, vendor, ...(event as Partial<Asked>) }),
          ...(name === undefined ? {} : { [AGENT_NAME]: name }),
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
      isCompacted: false,
      calls,
      sums: {},
    };
    this.#agents.set(path, agent);
    return agent;
  }

  #startChat(agent: AgentSpans<H>, { iteration }: RunEventOf<"attempt-start">, startMs: number): void {
    if (agent.chat?.continues() === true) return;
    this.#endChat(agent, startMs);
    const { model, vendor, compacting: compaction, isCompacted, span } = agent;
    const name = this.#options.names === "prompty" ? "execute" : `chat ${model}`;
    const facts = { name, model, vendor, iteration, compaction, isCompacted };
    agent.chat = new ModelCall(this.#writer, facts, startMs, span);
  }

  #endChat(agent: AgentSpans<H>, timeMs: number): unknown {
    const { chat } = agent;
    if (chat === undefined) return undefined;
    agent.chat = undefined;
    addToAgent(agent.sums, chat.attributes);
    return chat.end(timeMs);
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

  #call(agent: AgentSpans<H>, event: RunEventOf<"tool-call">): Call<H> {
    const caller = agent.span.attributes[AGENT_NAME];
    const attributes: Attributes = {
      [OPERATION]: "execute_tool",
      "gen_ai.tool.name": event.toolName,
      "gen_ai.tool.call.id": event.toolCallId,
      "gen_ai.tool.type": "function",
      ...(caller === undefined ? {} : { [AGENT_NAME]: caller }),
      "looplet.iteration": event.iteration,
    };
    if (event.transfer !== undefined) {
      // An agent has the name of the tool that calls it.
      attributes["gen_ai.transfer.mode"] = event.transfer;
      attributes[TARGET] = event.toolName;
    }
    if (event.inputHash !== undefined) attributes["looplet.tool.input_hash"] = event.inputHash;
    if (this.#options.content === true)
      attributes["gen_ai.tool.call.arguments"] = JSON.stringify(redacted(event.input));
    return { attributes, name: event.toolName, span: undefined, thrown: undefined };
  }

  #startTool(agent: AgentSpans<H> | undefined, call: Call<H>, startMs: number): Open<H> {
    const { name, attributes } = call;
    const target = attributes[TARGET] as string | undefined;
    const label = this.#options.names === "prompty" ? name : words("execute_tool", name, target);
    return this.#start({ name: label, kind: "internal", startMs, attributes }, agent?.span);
  }

  /**
   * Ends a tool's span. The span started when the tool ran, not when the model asked for it. The wait between is part
   * of the agent's time.
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
    this.#tellUpdate(span.attributes, event);
    if (event.type === "tool-error") span.error = event.error.code;
    else if (this.#options.content === true)
      span.attributes["gen_ai.tool.call.result"] = JSON.stringify(redacted(event.output)) ?? "null";
    return span.end(endMs);
  }

  /** Adds the input that the tool ran with, if it differs from the model's. */
  #tellUpdate(
    attributes: Attributes,
    { updatedInput, updatedInputHash }: RunEventOf<"tool-result"> | RunEventOf<"tool-error">,
  ): void {
    if (updatedInputHash !== undefined) attributes["looplet.tool.updated_input_hash"] = updatedInputHash;
    if (updatedInput === undefined || this.#options.content !== true) return;
    const written = attributes["gen_ai.tool.call.arguments"];
    if (written !== undefined) attributes["looplet.tool.written_arguments"] = written;
    attributes["gen_ai.tool.call.arguments"] = JSON.stringify(redacted(updatedInput));
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
    if (agent.parent !== undefined) addToAgent(agent.parent.sums, agent.sums);
    const ended = agent.span.end(endMs);
    agent.span.endMs = -1;
    return ended;
  }

  #start(span: SpanStart, parent: Open<H> | undefined): Open<H> {
    return new Open(this.#writer, span, parent);
  }
}

const TARGET = "gen_ai.transfer.target.name";

function tellModel(agent: Asked, { model, vendor }: Asked): void {
  agent.model = model;
  agent.vendor = vendor;
}

function answer({ text }: RunResult): string {
  const parts = [{ type: "text", content: text }];
  return JSON.stringify([{ role: "assistant", parts }]);
}

function nameOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.name : typeof thrown;
}

function words(...all: (string | number | undefined)[]): string {
  return all.filter((word) => word !== undefined).join(" ");
}
