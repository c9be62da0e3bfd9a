// The list of what is to be done, as it changes.
import { query, type Options } from "@anthropic-ai/claude-agent-sdk";

interface Todo {
  content: string;
  status: "pending" | "in_progress" | "completed";
  activeForm: string;
}

export async function main(base: Options) {
  const lists: string[] = [];
  for await (const message of query({ prompt: "Do it in steps", options: { ...base, maxTurns: 15 } })) {
    if (message.type !== "assistant") continue;
    for (const block of message.message.content) {
      if (block.type !== "tool_use" || block.name !== "TodoWrite") continue;
      const { todos } = block.input as { todos: Todo[] };
      lists.push(
        todos
          .map(({ status, content, activeForm }) => (status === "in_progress" ? activeForm : content))
          .join(),
      );
    }
  }
  return lists;
}
