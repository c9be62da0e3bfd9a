/** The journal of a session with one turn, in the lines by which harnesses of Prompty compare replays. */
import type { RunTurnResult, TurnEvent } from "./types.js";

/** One line for each fact of the turn, and a summary. Equal turns have equal lines. */
export function replayJournal(
  result: RunTurnResult,
  { sessionId }: { readonly sessionId: string },
): string[] {
  const { turnId, iterations } = result;
  const status = result.status === "failed" ? "error" : result.status;
  const session = (kind: string, ...more: string[]) =>
    ["session", kind, sessionId, turnId, ...more].join(":");
  const checkpoints: string[] = [];
  const lines = result.events.flatMap((event, at) => {
    const before = result.events[at - 1]?.kind;
    if (event.kind === "checkpoint_created" && before === "model_invocation_completed")
      return checkpoints[checkpoints.push(session("checkpoint_created")) - 1]!;
    return lineOf(event);
  });
  return [
    session("session_start"),
    ...lines,
    `turn:turn_end:${iterations}:${status}`,
    session("session_end", status),
    `summary:${sessionId}:${status}:turns=1:checkpoints=${checkpoints.length}`,
  ];
}

function lineOf({ kind, data, iteration }: TurnEvent): string[] {
  const { requestId, name, failure, isAllowed, code } = data as {
    requestId?: string;
    name?: string;
    failure?: string;
    isAllowed?: boolean;
    code?: string;
  };
  const outcome = [failure === undefined, ...(failure === undefined ? [] : [failure])].join(":");
  switch (kind) {
    case "turn_started":
      return [`turn:turn_start:${iteration}`];
    case "model_invocation_started":
      return [`turn:llm_start:${iteration}`];
    case "permission_requested":
      return [`turn:permission_requested:${iteration}:${requestId}-permission`];
    case "permission_resolved":
      return [`turn:permission_completed:${iteration}:${isAllowed}`];
    case "tool_execution_started":
      return [`turn:tool_execution_start:${iteration}:${name}`];
    case "tool_execution_completed":
      return [`turn:tool_execution_complete:${iteration}:${name}:${outcome}`];
    case "tool_result_committed":
      return [`turn:tool_result:${iteration}:${name}:${outcome}`];
    case "conversation_updated":
      return [`turn:messages_updated:${iteration}`];
    case "model_invocation_completed":
      return [`turn:llm_complete:${iteration}`];
    case "turn_failed":
      return [`turn:error:${iteration}:${code}`];
    default:
      return [];
  }
}
