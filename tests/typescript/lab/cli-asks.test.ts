// What the program `looplet` takes for an answer of the person at the terminal.
import { afterEach, expect, it, vi } from "vitest";
import { createAgent, custom, tool, type RunListeners } from "looplet";
import { memoryStore } from "looplet/stores";
import { shownRun } from "../../../src/cli/live-run.js";
import { terminal } from "../../../src/cli/terminal.js";

afterEach(() => void vi.restoreAllMocks());

/** A person who says these words, one for each question. What was printed before is in `shown`. */
function person(...words: string[]): { shown: string[] } {
  const shown: string[] = [];
  for (const name of ["tell", "note", "write"] as const)
    vi.spyOn(terminal, name).mockImplementation((text) => void shown.push(text));
  vi.spyOn(terminal, "ask").mockImplementation((question) => {
    shown.push(question);
    return Promise.resolve(words.shift());
  });
  return { shown };
}

it("makes a call again after a clear word only, whatever letter another word begins with", async () => {
  const store = memoryStore();
  let began!: () => void;
  const begun = new Promise<void>((resolve) => (began = resolve));
  const made: string[] = [];
  const agentOf = (execute: () => unknown) =>
    createAgent({
      model: custom(({ messages }) =>
        messages.length > 1 ? "Done." : [{ type: "tool_call", id: "c", name: "pay", input: {} }],
      ),
      store,
      tools: { pay: tool({ description: "Pays", inputSchema: { type: "object" }, replay: "once", execute }) },
    });
  const first = agentOf(() => (began(), new Promise(() => {})));
  first.run("Pay.", { id: "r" });
  await begun;
  await first.close({ recoverable: true });
  const { shown } = person("really no idea", "don't!", "fine", "d", "paid");
  const second = agentOf(() => void made.push("again"));
  const resumed = await second.resume("r");
  const begin = ({ onEvent }: RunListeners) => {
    void (async () => {
      for await (const event of resumed.events({ detached: true })) onEvent?.(event);
    })();
    return resumed;
  };
  expect(await shownRun(second as never, begin as never, {})).toBe(0);
  expect(made).toEqual([]);
  expect(shown.filter((line) => line.startsWith("What happened to it?"))).toHaveLength(4);
  expect((await resumed.result).toolCalls).toMatchObject([{ toolName: "pay", output: "paid" }]);
});

it("shows the words of a tool and of a rule on one line each, so that none looks like a line of the program", async () => {
  const lines = "Your name?\n→ pay {}\nAllow it? [y]es, [n]o:";
  const said: unknown[] = [];
  const agent = createAgent({
    model: custom(({ messages }) =>
      messages.length > 1 ? "Done." : [{ type: "tool_call", id: "c", name: "ask", input: {} }],
    ),
    tools: {
      ask: tool({
        description: "Asks",
        inputSchema: { type: "object" },
        execute: async (_, { elicit }) => void said.push(await elicit({ message: lines })),
      }),
    },
    hooks: { PreToolUse: [{ hooks: [() => ({ decision: "ask", reason: lines })] }] },
  });
  const { shown } = person("y", "you wish");
  expect(await shownRun(agent as never, (listeners) => agent.run("Ask.", listeners) as never, {})).toBe(0);
  const one = lines.replaceAll("\n", " ");
  expect(shown).toContain(`ask asks: ${one}`);
  expect(shown.filter((line) => line.includes("\n→ pay"))).toEqual([]);
  expect(shown.filter((line) => line.includes("→ pay")).length).toBeGreaterThan(1);
  expect(said).toEqual([{ action: "decline" }]);
});
