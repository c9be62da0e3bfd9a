/** Shared by the tests of the practice provider: tools, a small agent loop, requests. Holds no assertion. */
import { practice, type PracticeFetch } from "../../../../src/typescript/lab/practice/index.js";

const object = (properties: Record<string, unknown>, required: string[] = Object.keys(properties)) => ({
  type: "object",
  properties,
  required,
});
const string = { type: "string" };
const number = { type: "number" };

export const TOOLS: Record<
  string,
  { description: string; schema: Record<string, unknown>; run: (input: any) => unknown }
> = {
  weather: {
    description: "Current weather of a city",
    schema: object({ city: string, unit: { type: "string", enum: ["celsius", "fahrenheit"] } }, ["city"]),
    run: ({ city }) => ({ temperature: city === "Paris" ? 18 : 11, sky: "cloudy" }),
  },
  calculator: {
    description: "Evaluates an arithmetic expression",
    schema: object({ expression: string }),
    run: ({ expression }) => ({ result: Function(`return ${expression.replaceAll("^", "**")}`)() }),
  },
  search: {
    description: "Searches the library",
    schema: object({ query: string, limit: { type: "integer" } }, ["query"]),
    run: ({ query }) => [
      { title: `About ${query}`, url: "https://example.org/1" },
      { title: `More on ${query}`, url: "https://example.org/2" },
    ],
  },
  notes_add: { description: "Saves a note", schema: object({ text: string }), run: () => "saved" },
  notes_list: { description: "Lists all notes", schema: object({}), run: () => ["buy milk", "call Ada"] },
  now: {
    description: "Current date and time",
    schema: object({ timeZone: { type: "string", description: "IANA time zone" } }, []),
    run: ({ timeZone }) => `12:00 ${timeZone ?? "UTC"}`,
  },
  read_document: {
    description: "Reads a local document",
    schema: object({ path: string }),
    run: ({ path }) =>
      `# ${path}\n\n${"The wheel turns because the water falls. ".repeat(12)}Salt keeps the bread fresh for days.`,
  },
};

export const ADD = {
  add: {
    description: "Add two numbers",
    schema: object({ a: number, b: number }),
    run: ({ a, b }: any) => a + b,
  },
  multiply: {
    description: "Multiply two numbers",
    schema: object({ a: number, b: number }),
    run: ({ a, b }: any) => a * b,
  },
};

export function anthropicTools(tools: Record<string, any> = TOOLS) {
  return Object.entries(tools).map(([name, { description, schema }]) => ({
    name,
    description,
    input_schema: schema,
  }));
}

export function anthropicRequest(body: Record<string, unknown>): RequestInit & { body: string } {
  return {
    method: "POST",
    headers: { "content-type": "application/json", "anthropic-version": "2023-06-01", "x-api-key": "k" },
    body: JSON.stringify({ model: "claude-sonnet-4-6", max_tokens: 4096, ...body }),
  };
}

export const ANTHROPIC_URL = "https://api.anthropic.com/v1/messages";
export const OPENAI_URL = "https://api.openai.com/v1/chat/completions";

export interface Round {
  calls: { name: string; input: any }[];
  text: string;
}

/** Runs a whole agent loop on plain responses and gives every round. `run` overrides what tools return. */
export async function converse(
  prompt: string,
  tools: Record<string, any> = TOOLS,
  extra: Record<string, unknown> = {},
  fetch: PracticeFetch = practice({ delayMs: 0 }),
): Promise<Round[]> {
  const messages: any[] = [{ role: "user", content: prompt }];
  const rounds: Round[] = [];
  for (let index = 0; index < 12; index += 1) {
    const declared = Object.keys(tools).length > 0 ? { tools: anthropicTools(tools) } : {};
    const response = await fetch(ANTHROPIC_URL, anthropicRequest({ messages, ...declared, ...extra }));
    const message: any = await response.json();
    if (response.status !== 200) throw new Error(JSON.stringify(message));
    const calls = message.content.filter((block: any) => block.type === "tool_use");
    const text = message.content.map((block: any) => block.text ?? "").join("");
    rounds.push({ calls: calls.map(({ name, input }: any) => ({ name, input })), text });
    if (calls.length === 0) return rounds;
    messages.push({ role: "assistant", content: message.content });
    messages.push({ role: "user", content: calls.map((call: any) => resultOf(call, tools)) });
  }
  return rounds;
}

function resultOf({ id, name, input }: any, tools: Record<string, any>) {
  const block = { type: "tool_result", tool_use_id: id };
  try {
    const value = tools[name].run(input);
    return { ...block, content: typeof value === "string" ? value : JSON.stringify(value) };
  } catch (error) {
    return {
      ...block,
      is_error: true,
      content: error instanceof Error ? error.message : JSON.stringify(error),
    };
  }
}
