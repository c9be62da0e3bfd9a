/** `resumeDropsTurn`: a session is cut only after the turn that its user wants to drop. */
import type { SessionEntry } from "./sessions.js";

/** The session has more after the cut than the turn. */
export class ResumeRejected extends Error {}

/** The refusal as a value. Any other error is rethrown. */
export function rejected(error: unknown): ResumeRejected {
  if (error instanceof ResumeRejected) return error;
  throw error;
}

/**
 * Checks that all these entries are of the turn that begins with the message `prompt` of the user.
 *
 * @throws ResumeRejected if another message of the user, or a summary, is among them
 */
export function checkDropped(dropped: readonly SessionEntry[], prompt: string): void {
  const said = dropped.filter(({ type }) => !["title", "tag", "archived"].includes(type));
  const isFine = said.every((entry, at) => (at === 0 ? entry.uuid === prompt : isOfTurn(entry)));
  if (!isFine)
    throw new ResumeRejected(
      `Resume rejected by --resume-drops-turn: after the cut there is more than the turn of the prompt ${prompt}.`,
    );
}

/** Whether an entry is an answer, or only the results of its tools. */
function isOfTurn({ type, messages }: SessionEntry): boolean {
  if (type !== "user") return type === "assistant";
  return messages.every(({ content }) => content.every((block) => block.type === "tool_result"));
}
