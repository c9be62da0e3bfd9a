/** The parts of subagents: one `data-subagent` for each call that a subagent answers, rewritten as it grows. */
import type { Folded } from "../../extras/transcript/fold.js";
import type { AgentTranscript } from "../../core/api/message.js";
import { agentsOf } from "../../extras/transcript/agents-of.js";
import { outputOf } from "./outputs.js";
import type { UiChunk, UIMessageLike, UiPart } from "./types.js";

/** The data of a part `data-subagent`. */
export interface SubagentData {
  /** For example `root/researcher`. */
  agentPath: string;
  /** The call that the subagent answers. */
  toolCallId: string | undefined;
  /** `running`, or the outcome. */
  state: "running" | "completed" | "stopped" | "cancelled" | "failed";
  /** The text of its last answer. */
  text: string;
  toolCalls: SubagentCall[];
}

export interface SubagentCall {
  toolCallId: string;
  toolName: string;
  input: unknown;
  state: "input-available" | "output-available" | "output-error";
  output?: unknown;
  errorText?: string;
}

/** A part is written again when its text has grown by this factor, so that the total output stays small. */
const GROWTH = 1.25;
const LEAST_GROWTH = 40;

export class SubagentParts {
  readonly #agents = new Map<string, { data: SubagentData; told: number }>();

  /** The first part of a subagent in a stream. */
  begin(agent: AgentTranscript): UiChunk {
    const part = partOf(agent);
    this.#agents.set(part.id, { data: structuredClone(part.data), told: part.data.text.length });
    return part;
  }

  /** The part of the subagent that an event belongs to, if it has changed enough. */
  feed(folded: Folded): UiChunk | undefined {
    const { event } = folded;
    const { agentPath, parentToolCallId: toolCallId } = event;
    const id = idOf(event);
    let agent = this.#agents.get(id);
    if (agent === undefined) {
      agent = { data: { agentPath, toolCallId, state: "running", text: "", toolCalls: [] }, told: 0 };
      this.#agents.set(id, agent);
    }
    const { data } = agent;
    if (!change(data, folded)) return undefined;
    if (event.type === "text-delta" && data.text.length < agent.told * GROWTH + LEAST_GROWTH)
      return undefined;
    agent.told = data.text.length;
    return { type: "data-subagent", id, data: structuredClone(data) };
  }
}

/** Adds the parts of the subagents that answer calls, at the end of each step as in a stream. */
export function withSubagents(
  messages: readonly UIMessageLike[],
  transcripts: readonly AgentTranscript[],
): UIMessageLike[] {
  const agents = agentsOf(transcripts);
  return messages.map((message) => {
    const given = message.parts as UiPart[];
    const known = new Set(given.flatMap(({ type, id }) => (type === "data-subagent" ? [id] : [])));
    const parts: UiPart[] = [];
    let ofStep: UiPart[] = [];
    for (const part of given) {
      if (part.type === "step-start") parts.push(...ofStep.splice(0));
      parts.push(part);
      if (part.toolCallId !== undefined && part.type !== "dynamic-tool")
        ofStep.push(
          ...agents(part.toolCallId)
            .map(partOf)
            .filter(({ id }) => !known.has(id)),
        );
    }
    ofStep = ofStep.splice(0);
    return { ...message, parts: [...parts, ...ofStep] };
  });
}

/** The part of a subagent, from its transcript. */
function partOf(agent: AgentTranscript): { type: "data-subagent"; id: string; data: SubagentData } {
  const { agentPath, parentToolCallId: toolCallId, messages, toolCalls, outcome = "running" } = agent;
  const data: SubagentData = { agentPath, toolCallId, state: outcome, text: "", toolCalls: [] };
  for (const { role, content } of messages) {
    if (role === "assistant") data.text = "";
    for (const block of content) {
      if (block.type === "text" && role === "assistant") data.text += block.text;
      if (block.type === "tool_call") {
        const { id, name: toolName, input = block.inputText } = block;
        data.toolCalls.push({ toolCallId: id, toolName, input, state: "input-available" });
      }
      const call = block.type === "tool_result" && block.pending === undefined && callOf(data, block.callId);
      if (call) Object.assign(call, endOf(outputOf(block), block.isError));
    }
  }
  // Calls that have a result in a round that has not ended.
  for (const { toolCallId: id, output, isError } of toolCalls) {
    const call = callOf(data, id);
    const text = typeof output === "string" ? output : JSON.stringify(output);
    if (call?.state === "input-available") Object.assign(call, endOf({ output, text }, isError));
  }
  return { type: "data-subagent", id: idOf({ agentPath, parentToolCallId: toolCallId }), data };
}

function endOf({ output, text }: { output: unknown; text: string }, isError?: boolean): object {
  return isError === true
    ? { state: "output-error", errorText: text }
    : { state: "output-available", output };
}

function idOf({
  agentPath,
  parentToolCallId = "",
}: {
  agentPath: string;
  parentToolCallId?: string;
}): string {
  return `${parentToolCallId}:${agentPath}`;
}

function callOf(data: SubagentData, id: string): SubagentCall | undefined {
  return data.toolCalls.find(({ toolCallId }) => toolCallId === id);
}

/** Writes an event into the data; false if nothing of it is shown. */
function change(data: SubagentData, { event, facts }: Folded): boolean {
  switch (event.type) {
    case "agent-start":
      data.state = "running";
      return true;
    case "iteration-start":
      data.text = "";
      return false;
    case "reset":
      data.text = "";
      return true;
    case "text-delta":
      data.text += event.text;
      return true;
    case "text-end":
      return true;
    case "tool-call": {
      const { toolCallId, toolName, input } = event;
      const call: SubagentCall = { toolCallId, toolName, input, state: "input-available" };
      const known =
        facts.call === undefined ? -1 : data.toolCalls.findIndex((one) => one.toolCallId === toolCallId);
      data.toolCalls.splice(known < 0 ? data.toolCalls.length : known, 1, call);
      return true;
    }
    case "tool-result": {
      const { toolCallId, output } = event;
      Object.assign(callOf(data, toolCallId) ?? {}, { state: "output-available", output });
      return true;
    }
    case "tool-error": {
      const { toolCallId, error } = event;
      Object.assign(callOf(data, toolCallId) ?? {}, { state: "output-error", errorText: error.message });
      return true;
    }
    case "agent-finish":
      data.state = event.outcome.outcome;
      return true;
    case "agent-lost":
      data.state = "cancelled";
      return true;
    default:
      // A new event does not compile until it is shown above, or is in this list of events that are not shown.
      event.type satisfies
        | "agent-begin"
        | "run-start"
        | "snapshot"
        | "iteration-finish"
        | "attempt-start"
        | "text-start"
        | "reasoning-start"
        | "reasoning-delta"
        | "reasoning-progress"
        | "reasoning-end"
        | "tool-input-start"
        | "tool-input-delta"
        | "tool-input-end"
        | "tool-progress"
        | "question"
        | "answered"
        | "waiting"
        | "answer-cut-off"
        | "handoff"
        | "model-change"
        | "not-saved"
        | "retry"
        | "steer-delivered"
        | "compact-start"
        | "compact-boundary"
        | "usage"
        | "limits"
        | "message"
        | "warning"
        | "abort"
        | "error"
        | "finish";
      return false;
  }
}
