/**
 * Events for clients from before AG-UI 1.0, such as `@ag-ui/client` 0.0.59 in CopilotKit 1.74. They reject unknown
 * fields and values. Such a client does not send its version in its input.
 */
import { isObject } from "../../core/kit/check.js";
import type { AgUiEvent, AgUiInput, AgUiMessage, AgUiOutcome } from "./types.js";

/** The event as the client of an input takes it. */
export function forClient({ protocolVersion }: AgUiInput, event: AgUiEvent): AgUiEvent {
  if (protocolVersion !== undefined) return event;
  switch (event.type) {
    case "RUN_FINISHED": {
      const { outcome, ...rest } = event;
      return { ...rest, ...outcomeOf(outcome) };
    }
    case "TOOL_CALL_RESULT":
      return { ...event, content: textOf(event.content) };
    case "MESSAGES_SNAPSHOT":
      return { ...event, messages: event.messages.map(messageOf) };
    default:
      return event;
  }
}

/**
 * Without an outcome, the run succeeded, and the client finds the open calls of its tools itself. With an outcome,
 * the client of assistant-ui treats the run as complete and returns no result of a page's tool.
 */
function outcomeOf(outcome: AgUiOutcome | undefined): { outcome?: AgUiOutcome } {
  if (outcome === undefined || outcome.type === "cancelled") return {};
  if (outcome.type === "success" && (outcome.pendingToolCallIds?.length ?? 0) > 0) return {};
  return { outcome: outcome.type === "success" ? { type: "success" } : outcome };
}

function messageOf(message: AgUiMessage): AgUiMessage {
  return message.role === "tool" ? { ...message, content: textOf(message.content) } : message;
}

/** The text of a result; images have no place in it. */
function textOf(content: unknown): unknown {
  if (!Array.isArray(content)) return content;
  return content
    .map((part: unknown) => (isObject(part) && part["type"] === "text" ? part["text"] : ""))
    .join("");
}
