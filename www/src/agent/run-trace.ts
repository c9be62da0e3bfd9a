/**
 * What one run did and when, as a tree of steps with a beginning and an end: the spans of `looplet/trace`, and
 * between them what has no span of its own (iterations, waits for a person or for another attempt).
 */
import type { RunEvent, TracedRun, Tracer } from "looplet";
import { traceSpans, type Span } from "looplet/trace";

export interface Step {
  readonly id: string;
  readonly kind: "agent" | "iteration" | "model" | "tool" | "wait";
  name: string;
  startMs: number;
  /** `undefined` while it goes on. */
  endMs: number | undefined;
  /** A call that waits for an answer. */
  isHeld: boolean;
  /** When a call began to run, if it waited before. */
  ranFromMs: number | undefined;
  /** `error.type` of one that failed. */
  error: string | undefined;
  facts: Record<string, unknown>;
  readonly children: Step[];
}

export class RunTrace {
  root: Step | undefined;
  /** The run, when it has begun. */
  run: Pick<TracedRun, "id" | "vendor" | "model"> | undefined;
  /** As `looplet/trace` gives them, those that have ended. */
  readonly spans: Span[] = [];
  readonly #steps = new Map<string, Step>();
  /** Ids of the steps of spans, by the id of the span. */
  readonly #bySpan = new Map<string, string>();
  /** Calls that wait, by the question they wait for. */
  readonly #held = new Map<number, string>();
  /** The event that makes a span begin or end. */
  #cause: RunEvent | undefined;

  readonly tracer: Tracer = (run) => {
    const { id, vendor, model } = run;
    this.run = { id, vendor, model };
    const trace = traceSpans((span) => this.#span(span), { starts: true })(run);
    return {
      ...trace,
      onEvent: (event) => {
        this.#cause = event;
        trace.onEvent(event);
        this.#event(event, event.timeMs ?? run.now());
      },
      onToolThrow: (toolCallId, thrown) => trace.onToolThrow?.(toolCallId, thrown),
      onEnd: (result) => trace.onEnd?.(result),
    };
  };

  #span(span: Span): void {
    const id = this.#bySpan.get(span.spanId) ?? this.#idOf(span);
    if (id === undefined) return;
    this.#bySpan.set(span.spanId, id);
    const step = this.#steps.get(id) ?? this.#begin(id, kindOf(span), this.#parentOf(span), span.startMs);
    step.name = nameOf(span);
    // A call begins when the model makes it, its span when it runs: the bar spans the wait between them.
    if (step.kind === "tool") Object.assign(step, { ranFromMs: span.startMs, isHeld: false });
    else step.startMs = span.startMs;
    step.facts = { ...span.attributes };
    step.error = span.status === "error" ? String(span.attributes["error.type"]) : undefined;
    if (span.endMs === null) return;
    step.endMs = span.endMs;
    this.spans.push(span);
  }

  #event(event: RunEvent, timeMs: number): void {
    const { agentPath, iteration } = event;
    const round = `${agentPath}#${iteration}`;
    switch (event.type) {
      case "iteration-start":
        this.#begin(round, "iteration", agentPath, timeMs).name = `Iteration ${iteration}`;
        return;
      case "iteration-finish":
        return this.#end(round, timeMs);
      case "tool-call":
        // The answer is whole; its span is told later.
        for (const step of this.#steps.get(round)?.children ?? [])
          if (step.kind === "model") step.endMs ??= timeMs;
        this.#begin(callId(event), "tool", round, timeMs).name = event.toolName;
        return;
      case "question":
        if (event.question === "permission" && event.data) {
          const call = callId({ agentPath, toolCallId: event.data.toolCallId });
          this.#begin(`question ${event.questionId}`, "wait", call, timeMs).name = "Waits for approval";
          this.#hold(call, { isHeld: true });
          this.#held.set(event.questionId, call);
        }
        return;
      case "answered":
        this.#hold(this.#held.get(event.questionId) ?? "", { isHeld: false, ranFromMs: timeMs });
        return this.#end(`question ${event.questionId}`, timeMs);
      case "retry": {
        const call = this.#steps
          .get(round)
          ?.children.filter(({ kind }) => kind === "model")
          .at(-1);
        const wait = this.#begin(`${round} retry ${event.nextAttempt}`, "wait", call?.id ?? round, timeMs);
        wait.name = `Waits for attempt ${event.nextAttempt}`;
        const { code, status } = event.error;
        wait.facts = {
          "error.type": code,
          ...(status === undefined ? {} : { "http.response.status_code": status }),
        };
        return;
      }
      case "attempt-start":
        return this.#end(`${round} retry ${event.attempt}`, timeMs);
      case "finish":
        for (const step of this.#steps.values()) step.endMs ??= timeMs;
    }
  }

  #begin(id: string, kind: Step["kind"], parentId: string | undefined, startMs: number): Step {
    // A run that goes on tells the calls of its round again.
    const known = this.#steps.get(id);
    if (known) return Object.assign(known, { endMs: undefined });
    const step: Step = {
      id,
      kind,
      name: "",
      startMs,
      endMs: undefined,
      isHeld: false,
      ranFromMs: undefined,
      error: undefined,
      facts: {},
      children: [],
    };
    this.#steps.set(id, step);
    const parent = parentId === undefined ? undefined : (this.#steps.get(parentId) ?? this.root);
    if (parent) parent.children.push(step);
    else this.root ??= step;
    return step;
  }

  #hold(callId: string, change: Pick<Step, "isHeld"> & Partial<Step>): void {
    const step = this.#steps.get(callId);
    if (step) Object.assign(step, change);
  }

  #end(id: string, endMs: number): void {
    const step = this.#steps.get(id);
    if (step) step.endMs ??= endMs;
  }

  #idOf(span: Span): string | undefined {
    const kind = kindOf(span);
    const event = this.#cause;
    if (kind === "model" || !event) return span.spanId;
    if (kind === "agent") return event.agentPath;
    // The tool of a subagent begins with the subagent's first event: then its parent is the agent that called it.
    const toolCallId = String(span.attributes["gen_ai.tool.call.id"]);
    const caller = this.#bySpan.get(span.parentSpanId ?? "") ?? event.agentPath;
    return callId({ agentPath: caller, toolCallId });
  }

  #parentOf(span: Span): string | undefined {
    const agent = this.#bySpan.get(span.parentSpanId ?? "");
    const iteration = span.attributes["looplet.iteration"];
    return iteration === undefined ? agent : `${agent}#${iteration}`;
  }
}

const callId = ({ agentPath, toolCallId }: { agentPath: string; toolCallId: string }) =>
  `${agentPath} call ${toolCallId}`;

function kindOf({ attributes }: Span): "agent" | "model" | "tool" {
  const operation = attributes["gen_ai.operation.name"];
  return operation === "chat" ? "model" : operation === "execute_tool" ? "tool" : "agent";
}

function nameOf({ attributes, parentSpanId }: Span): string {
  const model = String(attributes["gen_ai.request.model"]);
  switch (kindOf({ attributes } as Span)) {
    case "agent":
      return parentSpanId === null ? "Run" : `Agent ${attributes["gen_ai.agent.name"] ?? model}`;
    case "model":
      return Number(attributes["looplet.attempts"]) > 1
        ? `${model}, ${attributes["looplet.attempts"]} attempts`
        : model;
    case "tool":
      return String(attributes["gen_ai.tool.name"]);
  }
}
