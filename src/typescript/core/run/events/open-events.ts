/**
 * What is open in a run besides its own agent's answer: running subagents with their calls, progress, questions
 * without an answer. A snapshot has none of it, so a late reader gets these events after its snapshot.
 */
import type { RunEvent } from "../../api/index.js";

type Agent = Pick<RunEvent, "agentPath">;

export class OpenEvents {
  /** The events by what they open, in the order in which they were emitted. */
  readonly #open = new Map<string, RunEvent>();

  /** Takes each event of the run. */
  hear(event: RunEvent): void {
    switch (event.type) {
      case "agent-start":
        if (event.agentPath !== "root") this.#set(`agent ${event.agentPath}`, event);
        return;
      case "agent-finish":
        return this.#forgetAgent(event);
      case "tool-call":
        // The snapshot has those of the run's own agent.
        if (event.agentPath !== "root") this.#set(callKey("call", event), event);
        return;
      case "tool-progress":
        return this.#set(callKey("progress", event), event);
      case "tool-result":
      case "tool-error":
        this.#open.delete(callKey("call", event));
        this.#open.delete(callKey("progress", event));
        return;
      case "question":
        // Functions of the agent answer a question without data.
        if (event.data !== undefined) this.#set(`question ${event.questionId}`, event);
        return;
      case "answered":
        this.#open.delete(`question ${event.questionId}`);
        this.#open.delete("waiting");
        return;
      case "waiting":
        return this.#set("waiting", event);
      case "retry":
        return this.#set(`retry ${event.agentPath}`, event);
      case "finish":
        return this.#open.clear();
      case "text-start":
      case "reasoning-start":
      case "tool-input-start":
      case "iteration-finish":
        // The wait for the next attempt is over.
        this.#open.delete(`retry ${event.agentPath}`);
        return;
      default:
        // A new event does not compile until it is above, or in this list of those that leave nothing open.
        event.type satisfies
          | "run-start"
          | "iteration-start"
          | "attempt-start"
          | "text-delta"
          | "text-end"
          | "reasoning-delta"
          | "reasoning-progress"
          | "reasoning-end"
          | "tool-input-delta"
          | "tool-input-end"
          | "reset"
          | "answer-cut-off"
          | "steer-delivered"
          | "message"
          | "handoff"
          | "model-change"
          | "not-saved"
          | "limits"
          | "compact-start"
          | "compact-boundary"
          | "usage"
          | "warning"
          | "abort"
          | "error"
          | "snapshot";
    }
  }

  /** The events of what is open now. */
  events(): RunEvent[] {
    return [...this.#open.values()];
  }

  #set(key: string, event: RunEvent): void {
    this.#open.delete(key);
    this.#open.set(key, event);
  }

  #forgetAgent({ agentPath }: Agent): void {
    for (const [key, event] of this.#open) {
      const isWithin = event.agentPath === agentPath || event.agentPath.startsWith(`${agentPath}/`);
      if (isWithin && event.type !== "question" && event.type !== "waiting") this.#open.delete(key);
    }
  }
}

function callKey(what: string, { agentPath, toolCallId }: Agent & { readonly toolCallId: string }): string {
  return `${what} ${agentPath} ${toolCallId}`;
}
