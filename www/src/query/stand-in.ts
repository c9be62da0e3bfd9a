/**
 * The model where there is no key: it knows two tasks, which it does with the built-in tools as a real model would,
 * and answers by what the conversation has.
 */
import { custom, type Block, type Message } from "looplet";

interface Call {
  name: string;
  input: object;
}
type Step = string | Call[];

const todo = (content: string, activeForm: string, status: string) => ({ content, activeForm, status });
const todos = (...statuses: [string, string, string]): Call => ({
  name: "TodoWrite",
  input: {
    todos: [
      todo("Find the code that the test calls", "Finding the code that the test calls", statuses[0]),
      todo("Fix the total", "Fixing the total", statuses[1]),
      todo("Add a line to the changelog", "Adding a line to the changelog", statuses[2]),
    ],
  },
});

const mending: Step[] = [
  [
    todos("in_progress", "pending", "pending"),
    { name: "Grep", input: { pattern: "total", output_mode: "content" } },
  ],
  [{ name: "Read", input: { file_path: "/shop/src/cart.ts" } }],
  [
    todos("completed", "in_progress", "pending"),
    {
      name: "Edit",
      input: {
        file_path: "/shop/src/cart.ts",
        old_string: "sum + item.cents, 0",
        new_string: "sum + item.cents * item.count, 0",
      },
    },
  ],
  [
    todos("completed", "completed", "in_progress"),
    {
      name: "Write",
      input: { file_path: "/shop/CHANGELOG.md", content: "- The total counts each piece of an item.\n" },
    },
  ],
  [todos("completed", "completed", "completed")],
  "`total` added the price of each item once, and forgot `count`. It **multiplies** now, and the changelog says so.",
];

const looking: Step[] = [
  [{ name: "Glob", input: { pattern: "**/*" } }],
  [{ name: "Read", input: { file_path: "/shop/src/cart.ts" } }],
  "The project has a cart with `total`, a test of it, and a README.",
];

export const suggestions = [
  { title: "Mend a bug", prompt: "Fix the failing test in cart.test.ts" },
  { title: "Look around", prompt: "What is in this project?" },
] as const;

/** @param delayMs Milliseconds between two words. */
export function standIn(delayMs: number) {
  return custom(
    async function* ({ messages, signal }) {
      const step = nextStep(messages);
      if (typeof step !== "string") {
        for (const call of step) yield { type: "tool_call", ...call };
        return;
      }
      for (const word of step.match(/\S+\s*/g) ?? []) {
        yield word;
        if (delayMs > 0) await pause(delayMs, signal);
      }
    },
    { name: "stand-in" },
  );
}

function nextStep(messages: readonly Message[]): Step {
  const asked = messages
    .map(({ role, content }) => role === "user" && content.some(isText))
    .lastIndexOf(true);
  const since = messages.slice(asked + 1);
  const results = since.flatMap(({ content }) => content.filter(({ type }) => type === "tool_result"));
  const isDenied = results.some((block) => "isError" in block && block.isError === true);
  if (isDenied) return "A call was refused, so I stop here. Tell me what to do instead.";
  const prompt = messages[asked]?.content.filter(isText).at(-1)?.text.toLowerCase() ?? "";
  const task = /fix|mend|test/.test(prompt)
    ? mending
    : /what|project|look|list/.test(prompt)
      ? looking
      : undefined;
  const made = since.filter(({ role }) => role === "assistant").length;
  return (
    task?.[made] ??
    "I am a simulated model. I can fix the failing test or look around. To do more, choose a connection at the top."
  );
}

const isText = (block: Block): block is Extract<Block, { type: "text" }> => block.type === "text";

function pause(delayMs: number, signal: { addEventListener(type: "abort", listener: () => void): void }) {
  return new Promise<void>((resolve) => {
    setTimeout(resolve, delayMs);
    signal.addEventListener("abort", () => resolve());
  });
}
