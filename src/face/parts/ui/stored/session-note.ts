/** The entry of a screen's chat in the list of chats. */
import type { Run } from "../../../core/api/index.js";
import { sessionsOf } from "../../sessions/index.js";
import type { ConversationOptions } from "../conversation.js";

/** Notes the chat in the list, if there is one, when the store has the message. */
export function noteSession(
  { id, store }: Pick<ConversationOptions, "id" | "store">,
  run: Run<any, any>,
  title: string | undefined,
): void {
  if (id === undefined || store === undefined) return;
  const note = (): Promise<unknown> => sessionsOf(store).note(id, { title });
  // The list is a convenience: the run reports a store that fails.
  run
    .saved()
    .then(note, note)
    .catch(() => {});
}
