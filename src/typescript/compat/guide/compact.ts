import type { GenericMessage, Session, ThinkingMessage, ToolCallMessage } from "./types.js";

export interface CompactOptions {
  /** The number of responses of the model after which an earlier message is cut. Default 5. */
  afterResponses?: number | undefined;
  /** Characters that stay of it. Default 100. */
  prefixChars?: number | undefined;
}

/**
 * Cuts old thinking and the inputs of old calls to a prefix, and marks them, so that another call leaves them as they
 * are. The texts of the user, the answers of the model and the results of tools stay. It changes the session and
 * returns it. A response is a run of the model's messages between messages of the user or results.
 */
export function compactSession(
  session: Session,
  { afterResponses = 5, prefixChars = 100 }: CompactOptions = {},
): Session {
  let responses = 0;
  let isInResponse = false;
  for (let at = session.messages.length - 1; at >= 0; at -= 1) {
    const message = session.messages[at]!;
    const isModels = isOfModel(message);
    // The response that a message belongs to does not count as later.
    if (isInResponse && !isModels) responses += 1;
    isInResponse = isModels;
    if (responses >= afterResponses && isCuttable(message)) session.messages[at] = cut(message, prefixChars);
  }
  return session;
}

/** A copy of the session that shares nothing with it. */
export function copySession(session: Session): Session {
  return structuredClone(session);
}

function isOfModel(message: GenericMessage): boolean {
  return "role" in message ? message.role === "assistant" : message.type !== "tool_result";
}

function isCuttable(message: GenericMessage): message is ThinkingMessage | ToolCallMessage {
  return "type" in message && message.type !== "tool_result" && message.compacted !== true;
}

function cut(message: ThinkingMessage | ToolCallMessage, prefixChars: number): GenericMessage {
  if (message.type === "thinking")
    return { type: "thinking", content: message.content.slice(0, prefixChars), compacted: true };
  const input = JSON.stringify(message.input);
  // On the wire an input has to be an object.
  return { ...message, input: { _compacted: input.slice(0, prefixChars) }, compacted: true };
}
