/** The entry of a screen's chat in the list of chats. */
import type { ContentBlock, Run } from "../../../core/api/index.js";
import { titleOf } from "../../../extras/sessions/changes.js";
import { sessionsOf } from "../../../extras/sessions/index.js";
import type { ConversationOptions } from "../conversation.js";

/** Notes the chat in the list, if there is one, when the store has the message. `first` makes its title. */
export function noteSession(
  { id, store }: Pick<ConversationOptions, "id" | "store">,
  run: Run<any, any>,
  first: readonly ContentBlock[] | undefined,
): void {
  if (id === undefined || store === undefined) return;
  const note = (): Promise<unknown> => sessionsOf(store).note(id, { title: first && titleOf(first) });
  // The list is a convenience: the run reports a store that fails.
  run
    .saved()
    .then(note, note)
    .catch(() => {});
}
