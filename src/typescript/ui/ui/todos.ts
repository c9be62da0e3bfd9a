import type { Todo } from "../../extras/tools/ports.js";
import type { UiMessage } from "./message.js";

export type { Todo as TodoItem } from "../../extras/tools/ports.js";

/** The list of tasks that the model has written last with `TodoWrite` of `looplet/tools`; empty before the first. */
export function todosOf(messages: readonly UiMessage[]): readonly Todo[] {
  for (const { parts } of [...messages].reverse())
    for (const part of [...parts].reverse()) {
      if (part.type !== "tool" || part.toolName !== "TodoWrite") continue;
      const { todos } = Object(part.input) as { todos?: unknown };
      if (Array.isArray(todos)) return todos as Todo[];
    }
  return [];
}
