import { describe, expect, it } from "vitest";
import { practice } from "../../../../src/typescript/lab/practice/index.js";
import { valuesOf } from "../../../../src/typescript/lab/practice/planner/values.js";
import { ADD, ANTHROPIC_URL, anthropicRequest, anthropicTools, converse, OPENAI_URL, TOOLS } from "./kit.js";

const calls = async (prompt: string, tools: Record<string, any> = TOOLS, extra = {}) =>
  (await converse(prompt, tools, extra))
    .map((round) => round.calls.map(({ name, input }) => `${name}${JSON.stringify(input)}`))
    .filter((round) => round.length > 0);
const tool = (
  description: string,
  properties: Record<string, unknown>,
  run: (input: any) => unknown = () => "ok",
  required = Object.keys(properties),
) => ({
  description,
  schema: { type: "object", properties, required },
  run,
});

describe("the planner picks tools and fills arguments", () => {
  const cases: [string, string[][]][] = [
    ["Do I need an umbrella in Paris?", [['weather{"city":"Paris"}']]],
    ["Weather in Paris, London and new york in fahrenheit", [['weather{"city":"Paris","unit":"fahrenheit"}', 'weather{"city":"London","unit":"fahrenheit"}', 'weather{"city":"New York","unit":"fahrenheit"}']]],
    ["What is 12 times 7 and what's the weather in Oslo?", [['calculator{"expression":"12 * 7"}', 'weather{"city":"Oslo"}']]],
    ["Calculate (3 + 4) * 2, then multiply it by 10", [['calculator{"expression":"(3 + 4) * 2"}'], ['calculator{"expression":"14 * 10"}']]],
    ["What is 15% of 80?", [['calculator{"expression":"15 / 100 * 80"}']]],
    ["Remember to buy milk and eggs", [['notes_add{"text":"buy milk and eggs"}']]],
    ["Remember that the weather in Oslo is cold", [['notes_add{"text":"the weather in Oslo is cold"}']]],
    ['Save "hello world" as a note', [['notes_add{"text":"hello world"}']]],
    ["Show my notes", [["notes_list{}"]]],
    ["What time is it in Tokyo?", [['now{"timeZone":"Asia/Tokyo"}']]],
    ["what time is it", [["now{}"]]],
    ["Find the top 3 articles about whales", [['search{"query":"whales","limit":3}']]],
    ["Read README.md and tell me what keeps bread fresh", [['read_document{"path":"README.md"}']]],
    ['search the web for "rust wasm" and list my notes', [['search{"query":"rust wasm"}', "notes_list{}"]]],
    ["Get the weather for Paris. Then calculate 18 * 9 / 5 + 32.", [['weather{"city":"Paris"}'], ['calculator{"expression":"18 * 9 / 5 + 32"}']]],
    ["Delete my note", []],
    ["Hello!", []],
    ["Write a poem about the sea", []],
    ["Add 5 and 7", []],
    ['Save "bread and butter" as a note, then list my notes', [['notes_add{"text":"bread and butter"}'], ["notes_list{}"]]],
    ["Calculate 6 * 7, multiply it by 2, then save it as a note", [['calculator{"expression":"6 * 7"}'], ['calculator{"expression":"42 * 2"}'], ['notes_add{"text":"42 * 2 = 84"}']]],
    ["What is 2 + 2? Then add a note: call Ada", [['calculator{"expression":"2 + 2"}'], ['notes_add{"text":"call Ada"}']]],
  ]; // prettier-ignore
  for (const [prompt, expected] of cases) {
    it(prompt, async () => expect(await calls(prompt)).toEqual(expected));
  }

  it("gives the result of one tool to the next", async () => {
    expect(await calls("What is 19 times 23?", ADD)).toEqual([['multiply{"a":19,"b":23}']]);
    expect(await calls("add 2 and 3, then multiply the result by 4", ADD)).toEqual([
      ['add{"a":2,"b":3}'],
      ['multiply{"a":5,"b":4}'],
    ]);
    expect(await calls("Weather in Oslo, then save it as a note")).toEqual([
      ['weather{"city":"Oslo"}'],
      ['notes_add{"text":"Weather, Oslo: temperature 11, sky cloudy"}'],
    ]);
  });

  it("ends in a schema that holds itself", async () => {
    const grow = tool("Grows a tree", { tree: { $ref: "#/$defs/tree" } });
    const tree = { type: "object", properties: { tree: { $ref: "#/$defs/tree" } }, required: ["tree"] };
    Object.assign(grow.schema, { $defs: { tree } });
    expect(await calls("Grow a tree", { grow })).toHaveLength(1);
  });

  it("fills enums, booleans, explicit values, references and routes of tools it never saw", async () => {
    const tools = {
      book_flight: tool("Books a flight", {
        from: { type: "string", description: "city of departure" },
        to: { type: "string", description: "city of arrival" },
        class: { enum: ["economy", "business"] },
        passengers: { type: "integer" },
      }),
      create_ticket: tool("Creates a ticket in the issue tracker", {
        title: { type: "string" },
        priority: { $ref: "#/$defs/level" },
        urgent: { type: "boolean" },
      }),
    };
    Object.assign(tools.create_ticket.schema, {
      $defs: { level: { type: "string", enum: ["low", "high"] } },
    });
    expect(await calls("Book a business flight from Berlin to Rome for 2 passengers", tools)).toEqual([
      ['book_flight{"from":"Berlin","to":"Rome","class":"business","passengers":2}'],
    ]);
    expect(await calls('Create an urgent ticket titled "Login broken" with high priority', tools)).toEqual([
      ['create_ticket{"title":"Login broken","priority":"high","urgent":true}'],
    ]);
  });
});

describe("the planner answers", () => {
  it("out of the results, in Markdown", async () => {
    const rounds = await converse("What is 12 times 7 and what's the weather in Paris?");
    expect(rounds.at(-1)?.text).toBe(
      "**12 * 7 = 84**\n\nWeather for **Paris**:\n\n- Temperature: **18**\n- Sky: **cloudy**",
    );
  });

  it("with a list, a sentence or the text itself", async () => {
    const answer = async (prompt: string) => (await converse(prompt)).at(-1)?.text;
    expect(await answer("Search for whales")).toContain(
      "- **About whales**: https://example.org/1\n- **More on whales**",
    );
    expect(await answer("List my notes")).toContain("- buy milk\n- call Ada");
    expect(await answer("What time is it in Tokyo?")).toBe("Now for **Asia/Tokyo**: **12:00 Asia/Tokyo**");
    expect(await answer("Read README.md")).toMatch(
      /^Document \*\*README.md\*\*:\n\n> # README.md\n> \n> The wheel turns/,
    );
  });

  it("with what failed and with the hint, without another try", async () => {
    const fail = (error: unknown) => () => {
      throw error;
    };
    const failure = { error: "unknown_city", message: "No such city", hint: 'Did you mean "München"?' };
    const answer = async (error: unknown) => {
      const weather = tool("Weather of a city", { city: { type: "string" } }, fail(error));
      const rounds = await converse("weather in Munich", { weather });
      expect(rounds).toHaveLength(2);
      return rounds[1]?.text;
    };
    const failed = 'The tool `weather` failed with `{"city":"Munich"}`:';
    expect(await answer(failure)).toBe(`${failed} No such city. Did you mean "München"?`);
    expect(await answer(new Error("station offline"))).toBe(`${failed} station offline.`);
  });

  it("in words when there is no tool", async () => {
    const text = async (prompt: string) => (await converse(prompt, {})).at(-1)?.text ?? "";
    expect(await text("Hello!")).toContain("practice model");
    expect(await text("What is 6 times 7?")).not.toContain("42");
    expect((await text("Write a story about the sea")).split("\n\n").length).toBeGreaterThan(2);
    expect(await text("Frobnicate quickly")).toContain("beyond a practice model");
  });

  it("to what was added while the tools ran", async () => {
    const fetch = practice({ delayMs: 0 });
    const ask = async (messages: any[]) =>
      (
        (await (
          await fetch(ANTHROPIC_URL, anthropicRequest({ messages, tools: anthropicTools() }))
        ).json()) as any
      ).content;
    const messages: any[] = [{ role: "user", content: "Weather in Paris" }];
    messages.push({ role: "assistant", content: await ask(messages) });
    const { id } = messages[1].content.at(-1);
    const result = { type: "tool_result", tool_use_id: id, content: "18" };
    messages.push({ role: "user", content: [result, { type: "text", text: "Also what is 2 + 2?" }] });
    expect((await ask(messages)).at(-1)).toMatchObject({
      type: "tool_use",
      name: "calculator",
      input: { expression: "2 + 2" },
    });
  });
});

describe("an answer with a schema", () => {
  const properties = { city: { type: "string" }, days: { type: "integer", minimum: 1 } };
  const schema = { type: "object", properties, required: ["city", "days"] };
  const messages = [{ role: "user", content: "A trip to Rome for 3 days" }];
  const output = { city: "Rome", days: 3 };

  it("fits it, in both protocols", async () => {
    const fetch = practice({ delayMs: 0 });
    const anthropic = anthropicRequest({
      messages,
      output_config: { format: { type: "json_schema", schema } },
    });
    const { content }: any = await (await fetch(ANTHROPIC_URL, anthropic)).json();
    expect(JSON.parse(content[0].text)).toEqual(output);
    const response_format = { type: "json_schema", json_schema: { name: "trip", schema } };
    const body = JSON.stringify({ model: "m", messages, response_format });
    const { choices }: any = await (await fetch(OPENAI_URL, { method: "POST", body })).json();
    expect(JSON.parse(choices[0].message.content)).toEqual(output);
  });
});

describe("a long prompt", () => {
  it("is read at its beginning and its end", async () => {
    const middle = "Nothing of interest happened. ".repeat(2000);
    expect(await calls(`What is 2 + 2?\n${middle}\nShow my notes`)).toEqual([
      ['calculator{"expression":"2 + 2"}', "notes_list{}"],
    ]);
  });
});

describe("the planner obeys the request", () => {
  const first = async (extra: Record<string, unknown>, content = "Weather in Paris and in Rome") => {
    const body = { messages: [{ role: "user", content }], tools: anthropicTools(), ...extra };
    const message: any = await (await practice({ delayMs: 0 })(ANTHROPIC_URL, anthropicRequest(body))).json();
    return message.content.filter(({ type }: any) => type === "tool_use").map(({ name }: any) => name);
  };

  it("when tools are forbidden, forced, named or one at a time", async () => {
    expect(await first({ tool_choice: { type: "none" } })).toEqual([]);
    expect(await first({ tool_choice: { type: "any" } }, "Hello")).toHaveLength(1);
    expect(await first({ tool_choice: { type: "tool", name: "notes_add" } })).toEqual(["notes_add"]);
    expect(await first({ tool_choice: { type: "auto", disable_parallel_tool_use: true } })).toEqual([
      "weather",
    ]);
    expect(await first({})).toEqual(["weather", "weather"]);
  });

  it("and still finishes every task when only one call at a time is allowed", async () => {
    const extra = { tool_choice: { type: "auto", disable_parallel_tool_use: true } };
    expect(await calls("Weather in Paris and in Rome", TOOLS, extra)).toEqual([
      ['weather{"city":"Paris"}'],
      ['weather{"city":"Rome"}'],
    ]);
  });
});

describe("tools that are agents", () => {
  const agent = (answer: string) => tool("Digs", { prompt: { type: "string" } }, () => answer);
  const agents = { ...TOOLS, researcher: agent("Keys open doors."), note_keeper: agent("Noted.") };

  it("are told what they are asked for, in words of their own", async () => {
    expect(
      await calls("Ask the researcher to search for keys, and let the note_keeper list my notes", agents),
    ).toEqual([['researcher{"prompt":"Search for keys"}', 'note_keeper{"prompt":"List my notes"}']]);
    expect(await calls("Ask the researcher about keys.", agents)).toEqual([
      ['researcher{"prompt":"Look up keys."}'],
    ]);
  });

  it("know what came before them, and are quoted", async () => {
    const rounds = await converse("Calculate 6 * 7, then ask the keeper to save it", {
      ...TOOLS,
      keeper: agent("Noted."),
    });
    expect(rounds[1]?.calls).toEqual([{ name: "keeper", input: { prompt: "Save it: 6 * 7 = 42" } }]);
    expect(rounds.at(-1)?.text).toContain("**Keeper:**\n\n> Noted.");
  });

  it("are not asked again because of words of theirs that sound like a hint", async () => {
    const failing = tool("Digs", { prompt: { type: "string" } }, () => {
      throw new Error("It was stopped. Its last words: I use `search` for that.");
    });
    expect(await calls("Ask the digger to search for keys", { ...TOOLS, digger: failing })).toEqual([
      ['digger{"prompt":"Search for keys"}'],
    ]);
  });

  it("are not spoken to by chance", async () => {
    expect(await calls("Ask the editor to search for keys", agents)).toEqual([['search{"query":"keys"}']]);
  });
});

describe("asked to go on, the planner", () => {
  const said = (role: string, content: unknown) => ({ role, content });
  const next = async (...messages: unknown[]) => {
    const fetch = practice({ delayMs: 0 });
    const request = anthropicRequest({ messages, tools: anthropicTools() });
    const { content }: any = await (await fetch(ANTHROPIC_URL, request)).json();
    return content.map(({ name, input, text }: any) => text ?? `${name}${JSON.stringify(input)}`).at(-1);
  };
  const used = [
    said("user", "Calculate 6 * 7 and then list my notes"),
    said("assistant", [
      { type: "tool_use", id: "toolu_1", name: "calculator", input: { expression: "6 * 7" } },
    ]),
  ];

  it("does what a limit has left undone", async () => {
    const result = { type: "tool_result", tool_use_id: "toolu_1", content: "42" };
    const messages = [...used, said("user", [result, { type: "text", text: "Go on." }])];
    expect(await next(...messages)).toBe("notes_list{}");
  });

  it("makes the calls again that a stop left undone, and leaves them when it is asked something else", async () => {
    const undone = JSON.stringify({ error: true, code: "cancelled", message: "The run was aborted." });
    const result = { type: "tool_result", tool_use_id: "toolu_1", is_error: true, content: undone };
    const then = (text: string) => next(...used, said("user", [result, { type: "text", text }]));
    expect(await then("Go on.")).toBe('calculator{"expression":"6 * 7"}');
    expect(await then("Weather in Paris")).toBe('weather{"city":"Paris"}');
    const weather = [
      said("assistant", [{ type: "tool_use", id: "toolu_2", name: "weather", input: { city: "Paris" } }]),
      said("user", [{ type: "tool_result", tool_use_id: "toolu_2", content: "18" }]),
    ];
    const asked = said("user", [result, { type: "text", text: "Weather in Paris" }]);
    expect(await next(...used, asked, ...weather)).toBe("Weather for **Paris**: **18**");
  });

  it("does what it was asked before, after a plan", async () => {
    const denial = JSON.stringify({ error: "denied", code: "denied", message: "This is plan mode." });
    const result = { type: "tool_result", tool_use_id: "toolu_1", is_error: true, content: denial };
    const planned = [said("user", "What is 6 * 7?"), ...used.slice(1), said("user", [result])];
    const words = await next(...planned);
    expect(words).toMatch(/^I did not run `calculator`.*This is plan mode/);
    expect(await next(...planned, said("assistant", words), said("user", "Go ahead."))).toBe(
      'calculator{"expression":"6 * 7"}',
    );
  });

  it("has nothing to go on with at the beginning", async () => {
    expect(await next(said("user", "Go on."))).toMatch(/beyond a practice model/);
  });
});

describe("arithmetic", () => {
  const cases: [string, string][] = [
    ["2 + 3 * 4", "2 + 3 * 4"],
    ["2+2=?", "2 + 2"],
    ["2 ^ 3 ^ 2", "2 ^ 3 ^ 2"],
    ["1,250 x 4", "1250 * 4"],
    ["(1 + 2) * (3 - 5)", "(1 + 2) * (3 - 5)"],
    ["(so 12 divided by 4)", "12 / 4"],
    ["30 − 4 ÷ 2", "30 - 4 / 2"],
  ];
  for (const [text, expression] of cases) {
    it(`reads ${text}`, () => expect(valuesOf("expression", text)).toEqual([expression]));
  }

  it("sees none in dates, times, names, single numbers and open parentheses", () => {
    for (const text of ["on 2026-11-20 at 10:30", "GPT-4 and 5", "room 12", "https://a.b/1-2", "((1 + 2)"])
      expect(valuesOf("expression", text)).toEqual([]);
  });
});
