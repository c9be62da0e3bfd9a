import type { Session, SpokenMessage } from "./types.js";

/** A session with a system prompt and the user's message. */
export function initSession(systemPrompt: string, userPrompt: string): Session {
  return {
    messages: [
      { role: "system", content: systemPrompt },
      { role: "user", content: userPrompt },
    ],
  };
}

/** The last text of the model, or an empty one. */
export function response(session: Session): { content: string } {
  const isText = (message: object): message is SpokenMessage =>
    "role" in message && message.role === "assistant";
  return { content: session.messages.filter(isText).at(-1)?.content ?? "" };
}
