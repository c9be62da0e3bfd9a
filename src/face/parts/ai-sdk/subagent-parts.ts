/** The parts of subagents: one `data-subagent` for each call of a subagent, which is written anew as it grows. */
import type { RunEvent } from "../../core/api/event.js";
import type { UiChunk } from "./types.js";

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

/** A part is written anew when its text is this much longer, so that the sum of all writings stays small. */
const GROWTH = 1.25;
const LEAST_GROWTH = 40;

export class SubagentParts {
  readonly #agents = new Map<string, { data: SubagentData; told: number }>();

  /** The part of the subagent that an event belongs to, if it has changed enough. */
  feed(event: RunEvent): UiChunk | undefined {
    const id = `${event.parentToolCallId ?? ""}:${event.agentPath}`;
    let agent = this.#agents.get(id);
    if (agent === undefined) {
      const { agentPath, parentToolCallId: toolCallId } = event;
      agent = { data: { agentPath, toolCallId, state: "running", text: "", toolCalls: [] }, told: 0 };
      this.#agents.set(id, agent);
    }
    const { data } = agent;
    if (!change(data, event)) return undefined;
    if (event.type === "text-delta" && data.text.length < agent.told * GROWTH + LEAST_GROWTH)
      return undefined;
    agent.told = data.text.length;
    return { type: "data-subagent", id, data: structuredClone(data) };
  }
}

/** Writes an event into the data; false if nothing of it is shown. */
function change(data: SubagentData, event: RunEvent): boolean {
  const call = (id: string): SubagentCall | undefined =>
    data.toolCalls.find(({ toolCallId }) => toolCallId === id);
  switch (event.type) {
    case "agent-start":
      data.state = "running";
      return true;
    case "iteration-start":
    case "reset":
      data.text = "";
      return event.type === "reset";
    case "text-delta":
      data.text += event.text;
      return true;
    case "text-end":
      return true;
    case "tool-call": {
      const { toolCallId, toolName, input } = event;
      data.toolCalls.push({ toolCallId, toolName, input, state: "input-available" });
      return true;
    }
    case "tool-result":
      Object.assign(call(event.toolCallId) ?? {}, { state: "output-available", output: event.output });
      return true;
    case "tool-error":
      Object.assign(call(event.toolCallId) ?? {}, { state: "output-error", errorText: event.error.message });
      return true;
    case "agent-finish":
      data.state = event.outcome.outcome;
      return true;
    default:
      return false;
  }
}
