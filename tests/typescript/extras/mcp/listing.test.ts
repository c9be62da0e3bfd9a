// The lists of strangers' servers: names, annotations, tools that are malformed.
import { describe, expect, it } from "vitest";
import { createAgent, custom, tool, type AgentOptions } from "looplet";
import { connect, listing, named, schema } from "./strangers.js";

describe("the names of tools", () => {
  const namesOf = async (server: string, ...names: string[]) =>
    Object.keys(await (await connect(listing(...named(...names)))).tools(server));

  it("stay apart where characters are replaced, in any order", async () => {
    const some = await namesOf("s", "a.b", "a_b", "a/b");
    expect(some).toHaveLength(3);
    expect(some).toContain("mcp__s__a_b");
    expect(new Set(await namesOf("s", "a/b", "a_b", "a.b"))).toEqual(new Set(some));
    expect(await namesOf("s", "docs.search")).toEqual(["mcp__s__docs_search"]);
  });

  it("are offered by their name where a description is missing, empty or blank", async () => {
    const tools = ["none", "empty", "blank"].map((name, at) => ({
      name,
      inputSchema: schema,
      ...(at === 0 ? {} : { description: " ".repeat(at - 1) }),
    }));
    const client = await connect(listing(...tools));
    const offered = Object.values(await client.tools("s")).map(({ description }) => description);
    expect(offered).toEqual(["none", "empty", "blank"]);
  });

  it("are left out a second time, with a warning, and are never longer than an agent takes", async () => {
    const warned: string[] = [];
    const client = await connect(listing(...named("a", "a", "x".repeat(500))), {
      onWarning: (message) => void warned.push(message),
    });
    const tools = Object.keys(await client.tools("s"));
    expect(tools.map((name) => name.length)).toEqual([9, 128]);
    expect(warned).toEqual([expect.stringContaining('"a" is left out')]);
  });

  it.each(["a__b", "a_", "_a", "", "a..b", "é"])("have no server named %j", async (server) => {
    const client = await connect(listing(...named("x")));
    await expect(client.tools(server)).rejects.toThrow(TypeError);
  });

  it("a rule for a tool of a server covers no other one of it", async () => {
    const client = await connect({ ...listing(...named("b__x")), "tools/call": () => ({ content: [] }) });
    const outcome = async (allow: string) => {
      const model = custom(({ messages }) =>
        messages.length === 1 ? [{ type: "tool_call", id: "a", name: "mcp__a__b__x", input: {} }] : "Done.",
      );
      const agent = createAgent({
        model,
        tools: await client.tools("a"),
        permissions: { allow: [allow], mode: "dontAsk" },
      });
      return (await agent.run("Go").result).toolCalls[0]!.isError;
    };
    expect([await outcome("mcp__a__b"), await outcome("mcp__a"), await outcome("mcp__a__b__x")]).toEqual([
      true,
      false,
      false,
    ]);
  });
});

describe("what a server says of its tools", () => {
  const listed = { name: "wipe", inputSchema: schema, annotations: { readOnlyHint: true } };

  it.each([
    [undefined, true],
    [false, true],
    [true, false],
  ])("counts in plan mode with trusted: %s is an error: %s", async (trusted, isError) => {
    const client = await connect({ ...listing(listed), "tools/call": () => ({ content: [] }) }, { trusted });
    const model = custom(({ messages }) =>
      messages.length === 1 ? [{ type: "tool_call", id: "a", name: "mcp__s__wipe", input: {} }] : "Done.",
    );
    const options: Partial<AgentOptions> = { permissions: { allow: ["mcp__s"], mode: "plan" } };
    const agent = createAgent({ model, tools: await client.tools("s"), ...options });
    expect((await agent.run("Go").result).toolCalls[0]!.isError).toBe(isError);
  });

  it.each<[string, unknown]>([
    ["null", null],
    ["a text", "x"],
    ["no name", { inputSchema: schema }],
    ["a name that is none", { name: 5, inputSchema: schema }],
    ["no schema", { name: "bad" }],
    ["a schema of null", { name: "bad", inputSchema: null }],
    ["a schema of a list", { name: "bad", inputSchema: { type: "array" } }],
    ["broken properties", { name: "bad", inputSchema: { type: "object", properties: 5 } }],
    [
      "a broken schema inside",
      { name: "bad", inputSchema: { type: "object", properties: { a: { enum: 4 } } } },
    ],
    [
      "a reference to nowhere",
      { name: "bad", inputSchema: { type: "object", properties: { a: { $ref: "#/x" } } } },
    ],
    ["a very deep schema", { name: "bad", inputSchema: deep(300) }],
  ])("that is malformed takes no other tool along: %s", async (_, bad) => {
    const warned: string[] = [];
    const fine = { name: "fine", description: null, annotations: null, inputSchema: schema };
    const client = await connect(
      { ...listing(bad, fine), "tools/call": () => ({ content: [{ type: "text", text: "yes" }] }) },
      { onWarning: (message) => void warned.push(message) },
    );
    const model = custom(({ messages }) =>
      messages.length === 1 ? [{ type: "tool_call", id: "a", name: "mcp__s__fine", input: {} }] : "Done.",
    );
    const tools = { ...(await client.tools("s")), own: tool({ inputSchema: schema, execute: () => 1 }) };
    const result = await createAgent({ model, tools }).run("Go").result;
    expect(result.toolCalls.map(({ isError }) => isError)).toEqual([false]);
    expect(warned).toHaveLength(1);
  });

  function deep(levels: number): object {
    let made: object = schema;
    for (let level = 0; level < levels; level++) made = { type: "object", properties: { a: made } };
    return made;
  }
});
