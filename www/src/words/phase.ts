/** What a run is doing, in a word or two. */
import type { RunEvent } from "looplet";

export const ends = {
  completed: "Done",
  cancelled: "Stopped",
  stopped: "Limit reached",
  failed: "Failed",
} as const;

/** What begins with an event; undefined if it changes nothing. */
export function phaseOf(event: RunEvent): string | undefined {
  const { agentPath } = event;
  const who = agentPath === "root" ? "" : `${agentPath.slice(agentPath.lastIndexOf("/") + 1)}: `;
  switch (event.type) {
    case "compact-start":
      return `${who}Summarising the history`;
    case "attempt-start":
      return `${who}Waiting for the model`;
    case "reasoning-start":
      return `${who}Thinking`;
    case "text-start":
      return `${who}Answering`;
    case "tool-input-start":
      return `${who}Calling ${event.toolName}`;
    case "tool-call":
      return `${who}Running tools`;
    case "answered":
      return "Running tools";
    case "retry":
      return `${who}Waiting to try again`;
  }
  return undefined;
}
