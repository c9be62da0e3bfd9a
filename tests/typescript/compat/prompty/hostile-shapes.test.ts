/** Files whose fields have any shape at all: each is read, or refused by an error that says what is wrong. */
import { describe, expect, it, vi } from "vitest";
import { scripted } from "looplet/practice";
import { loadPrompty, turn } from "looplet/prompty";
import "looplet";

vi.setConfig({ testTimeout: 60_000 });

/** Numbers from a seed, the same each time. */
function dice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}

const WORDS = [
  "",
  "x",
  "__proto__",
  "constructor",
  "toString",
  "function",
  "prompty",
  "thread",
  "image",
  "string",
  "array",
];
const FIELDS: { [field: string]: string[] } = {
  "": ["name", "description", "metadata", "model", "inputs", "outputs", "tools", "template"],
  model: ["id", "provider", "apiType", "connection", "options"],
  connection: ["kind", "endpoint", "apiKey", "name"],
  options: ["temperature", "maxOutputTokens", "topP", "stopSequences", "additionalProperties", "seed"],
  template: ["format", "parser"],
  list: [
    "name",
    "kind",
    "default",
    "required",
    "strict",
    "properties",
    "items",
    "enumValues",
    "description",
    "parameters",
  ],
};
FIELDS["list"]!.push("bindings", "path", "mode");

function anything(roll: (sides: number) => number, depth: number): unknown {
  const kind = roll(depth > 3 ? 5 : 8);
  if (kind === 0) return null;
  if (kind === 1) return roll(2) === 0;
  if (kind === 2) return roll(1000) - 500.5;
  if (kind < 5) return WORDS[roll(WORDS.length)];
  if (kind === 5) return Array.from({ length: roll(3) }, () => anything(roll, depth + 1));
  const fields = FIELDS[["list", "options", "connection"][roll(3)]!]!;
  return Object.fromEntries(
    Array.from({ length: roll(4) }, () => [fields[roll(fields.length)], anything(roll, depth + 1)]),
  );
}

/** A file most of whose fields are as they should be. */
function frontmatter(roll: (sides: number) => number): object {
  const own = (name: string, usual: unknown): unknown => (roll(12) === 0 ? anything(roll, 0) : usual) ?? name;
  const listed = () => ({
    ...(anything(roll, 2) as object),
    name: own("a", `n${roll(9)}`),
    kind: own("string", WORDS[roll(WORDS.length)]),
  });
  return {
    model: own("m", { id: "m", provider: "openai", options: own("o", {}), connection: own("c", {}) }),
    inputs: own("i", [listed(), listed()]),
    outputs: own("o", roll(2) === 0 ? [] : [listed()]),
    tools: own("t", [listed(), listed()]),
    template: own("t", { format: { kind: "jinja2" }, parser: { kind: "prompty" } }),
    metadata: anything(roll, 0),
  };
}

const OURS = [
  "ValueError",
  "InvokerError",
  "FileNotFoundError",
  "StrictViolation",
  "LoopletError",
  "ExecuteError",
];

describe("files of any shape", () => {
  it("are run, or refused by an error of looplet", async () => {
    const outcomes = new Map<string, number>();
    for (let seed = 1; seed <= 80; seed++) {
      const text = JSON.stringify(frontmatter(dice(seed)));
      const host = {
        fetch: scripted([{ text: "Done." }]),
        apiKey: "k",
        vfs: { readFile: () => "---\nmodel: m\n---\nuser:\nHi" },
      };
      const running = loadPrompty(`---\n${text}\n---\nuser:\n{{a}}{{x}}`, { host }).then((agent) =>
        turn(agent, { x: "y" }, {}, { host, maxLlmRetries: 1 }),
      );
      const { name, message } = await running.then(
        () => ({ name: "ran", message: "" }),
        (error: Error) => error,
      );
      outcomes.set(name, (outcomes.get(name) ?? 0) + 1);
      expect([
        seed,
        text,
        ["ran", ...OURS].includes(name) && !/TypeError|RangeError/.test(message)
          ? "fine"
          : `${name}: ${message}`,
      ]).toEqual([seed, text, "fine"]);
    }
    expect(outcomes.get("ran")).toBeGreaterThan(10);
  });
});
