/** What a run had under way, and from when to when: model calls, calls of tools, questions and waits, in lanes. */
import type { RunEvent } from "../../../core/api/index.js";
import { askedModel } from "../../replay/asked-model.js";
import type { ReplayStep } from "../../replay/playback.js";

export type EffectKind = "model" | "tool" | "question" | "wait";

export interface Effect {
  readonly kind: EffectKind;
  /** The model, the tool, or the kind of the question. */
  readonly name: string;
  /** An index of the lanes. */
  readonly lane: number;
  /** The step in which it began. */
  readonly from: number;
  readonly fromMs: number;
  /** The step in which it ended. Undefined while it is in progress. */
  to: number | undefined;
  toMs: number | undefined;
  /** The code of the error with which it ended. */
  failed: string | undefined;
}

/** A lane of the timeline: the models of an agent, or one of its tools. */
export interface Lane {
  readonly agentPath: string;
  /** The name of the tool; undefined for the lane of the agent's models. */
  readonly toolName: string | undefined;
}

export class Effects {
  readonly all: Effect[] = [];
  readonly lanes: Lane[] = [];
  /** The moment of each step. A step without a time has that of the one before. */
  readonly times: number[] = [];
  readonly #lanes = new Map<string, number>();
  /** What is under way, by what ends it. */
  readonly #open = new Map<string, Effect>();
  readonly #models = new Map<string, string>();
  /** The latest model call of each agent: a failure is reported when its response is over. */
  readonly #calls = new Map<string, Effect>();
  /** Agents with an attempt that has started and no request yet. */
  #asking: string[] = [];

  /** Takes in the next step. */
  add(step: ReplayStep): void {
    const at = this.times.length;
    const nowMs = step.input.nowMs ?? this.times[at - 1] ?? 0;
    this.times.push(nowMs);
    this.#hearInput(step, at, nowMs);
    for (const event of step.events) this.#hear(event, at, nowMs);
    for (const request of step.requests) {
      const { number } = request;
      const agentPath = this.#asking.shift() ?? "root";
      // A fork has no `agent-start` of an agent that was under way. The body is read once for each of them.
      const name = this.#models.get(agentPath) ?? askedModel(request) ?? "model";
      this.#models.set(agentPath, name);
      this.#calls.set(
        agentPath,
        this.#begin(`request ${number}`, "model", name, agentPath, undefined, at, nowMs),
      );
    }
    for (const { agentPath, toolCallId, toolName } of step.calls)
      this.#begin(callKey(agentPath, toolCallId), "tool", toolName, agentPath, toolName, at, nowMs);
  }

  /** A process begins, which ends what another one had under way. It may have another model. */
  begin(config: { readonly [name: string]: unknown }): void {
    const { model } = Object(config["model"]) as { model?: unknown };
    // Any agent may speak after a handoff: its first request has its model.
    if (hasHandoff(config)) this.#models.delete("root");
    else if (typeof model === "string") this.#models.set("root", model);
    const at = this.times.length - 1;
    if (at < 0) return;
    for (const key of [...this.#open.keys()]) this.#end(key, at, this.times[at]!, "cut off");
    this.#asking = [];
  }

  #hearInput({ input: { input } }: ReplayStep, at: number, nowMs: number): void {
    if (!("json" in input) || typeof input.json !== "object" || input.json === null) return;
    const [[name, facts] = ["", undefined]] = Object.entries(input.json) as [string, unknown][];
    if (typeof facts !== "object" || facts === null) return;
    const request = `request ${(facts as { request?: unknown }).request}`;
    if (name === "end") this.#end(request, at, nowMs);
    if (name === "networkFailed" || name === "notSent" || name === "requestFailed")
      this.#end(request, at, nowMs, name === "networkFailed" ? "network" : "failed");
  }

  #hear(event: RunEvent, at: number, nowMs: number): void {
    const { agentPath } = event;
    switch (event.type) {
      case "agent-start":
        this.#models.set(agentPath, event.model);
        this.#lane(agentPath, undefined);
        return;
      case "model-change":
        return void this.#models.set(agentPath, event.model);
      case "attempt-start":
        this.#asking.push(agentPath);
        return this.#end(`wait ${agentPath}`, at, nowMs);
      case "retry": {
        this.#fail(agentPath, event.error.code);
        const wait = `attempt ${event.nextAttempt} after ${event.error.code}`;
        this.#begin(`wait ${agentPath}`, "wait", wait, agentPath, undefined, at, nowMs);
        return;
      }
      case "error":
        return this.#fail(agentPath, event.error.code);
      case "tool-result":
        return this.#end(callKey(agentPath, event.toolCallId), at, nowMs);
      case "tool-error":
        return this.#end(callKey(agentPath, event.toolCallId), at, nowMs, event.error.code);
      case "question": {
        const toolName = event.data?.toolName;
        const key = `question ${event.questionId}`;
        this.#begin(key, "question", event.question, agentPath, toolName, at, nowMs);
        return;
      }
      case "answered":
        return this.#end(`question ${event.questionId}`, at, nowMs);
      case "finish":
        for (const key of [...this.#open.keys()]) this.#end(key, at, nowMs);
        return;
      default:
        // A new event does not compile until it is drawn above, or is in this list of those that are not.
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
          | "reasoning-progress"
          | "reasoning-end"
          | "tool-input-start"
          | "tool-input-delta"
          | "tool-input-end"
          | "tool-call"
          | "tool-progress"
          | "waiting"
          | "not-saved"
          | "reset"
          | "steer-delivered"
          | "compact-start"
          | "compact-boundary"
          | "usage"
          | "limits"
          | "message"
          | "warning"
          | "iteration-finish"
          | "agent-finish"
          | "abort"
          | "snapshot";
    }
  }

  #begin(
    key: string,
    kind: EffectKind,
    name: string,
    agentPath: string,
    toolName: string | undefined,
    from: number,
    fromMs: number,
  ): Effect {
    this.#end(key, from, fromMs);
    const lane = this.#lane(agentPath, toolName);
    const effect: Effect = {
      kind,
      name,
      lane,
      from,
      fromMs,
      to: undefined,
      toMs: undefined,
      failed: undefined,
    };
    this.all.push(effect);
    this.#open.set(key, effect);
    return effect;
  }

  #fail(agentPath: string, code: string): void {
    const call = this.#calls.get(agentPath);
    if (call !== undefined) call.failed = code;
  }

  #end(key: string, to: number, toMs: number, failed?: string): void {
    const effect = this.#open.get(key);
    if (effect === undefined) return;
    Object.assign(effect, { to, toMs, failed: failed ?? effect.failed });
    this.#open.delete(key);
  }

  #lane(agentPath: string, toolName: string | undefined): number {
    const key = JSON.stringify([agentPath, toolName]);
    const known = this.#lanes.get(key);
    if (known !== undefined) return known;
    this.#lanes.set(key, this.lanes.length);
    return this.lanes.push({ agentPath, toolName }) - 1;
  }
}

/** The model call or tool call of a step: one that ended in it, or the latest that had started. */
export function attempted(effects: readonly Effect[], step: number): Effect | undefined {
  const begun = effects.filter(({ kind, from }) => (kind === "model" || kind === "tool") && from <= step);
  return begun.find(({ to }) => to === step) ?? begun.at(-1);
}

/** The lanes in display order, grouped by agent. Indexes of `lanes`. */
export function laneOrder(lanes: readonly Lane[]): number[] {
  const agents = [...new Set(lanes.map(({ agentPath }) => agentPath))];
  const place = (lane: number): number => agents.indexOf(lanes[lane]!.agentPath);
  return [...lanes.keys()].sort((one, other) => place(one) - place(other) || one - other);
}

/** Whether the root's agent can hand off to another one. */
function hasHandoff({ tools }: { readonly [name: string]: unknown }): boolean {
  return Array.isArray(tools) && tools.some((tool) => Object(Object(tool).agent).handoff === true);
}

function callKey(agentPath: string, toolCallId: string): string {
  return `${agentPath} ${toolCallId}`;
}

/** The effects that were in progress after a step. */
export function openAt(effects: readonly Effect[], step: number): Effect[] {
  return effects.filter(({ from, to }) => from <= step && (to === undefined || to > step));
}
