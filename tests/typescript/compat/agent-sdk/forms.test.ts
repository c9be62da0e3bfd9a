import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import {
  InMemorySessionStore,
  createSdkMcpServer,
  getSessionInfo,
  getSessionMessages,
  listSessions,
  query,
  tool,
  type Options,
} from "looplet/agent-sdk";
import { all, resultOf, scene } from "./kit.js";
import "looplet";

describe("the inputs of a tool as fields", () => {
  /** What the handler got for an input of the model, the result that the model read, and the schema that it saw. */
  async function called(shape: any, input: object) {
    let got: unknown;
    const own = tool("own", "Does", shape, (args) => ((got = args), "done"));
    const { options, fetch } = scene(
      [{ toolCalls: [{ name: "mcp__app__own", input }] }, { text: "Ready." }],
      { mcpServers: { app: createSdkMcpServer({ name: "app", tools: [own] }) } },
    );
    await all("Go", { ...options, allowedTools: ["mcp__app"] });
    const [first, second] = fetch.requests.map(({ body }) => body as any);
    const { input_schema: schema } = first.tools.find(({ name }: any) => name === "mcp__app__own");
    return { got, schema, read: JSON.stringify(second.messages.at(-1).content) };
  }

  it("fields of zod are one schema, in which optional ones may be left out", async () => {
    const shape = { city: z.string(), days: z.number().optional(), unit: z.enum(["c", "f"]).default("c") };
    const { got, schema } = await called(shape, { city: "Paris" });
    expect(schema).toMatchObject({
      type: "object",
      properties: { city: { type: "string" }, days: { type: "number" }, unit: { enum: ["c", "f"] } },
      required: ["city"],
    });
    expect(got).toEqual({ city: "Paris", unit: "c" });
  });

  it("a field that does not fit is named to the model, and the handler is not called", async () => {
    const { got, read } = await called({ place: z.object({ lat: z.number() }) }, { place: { lat: "north" } });
    expect(got).toBeUndefined();
    expect(read).toContain("place");
    expect(read).toContain("lat");
  });

  it("fields of arktype are functions, and are taken too", async () => {
    expect((await called({ city: type("string > 1") }, { city: "Rome" })).got).toEqual({ city: "Rome" });
    expect((await called({ city: type("string > 1") }, { city: "R" })).got).toBeUndefined();
  });

  it("fields of valibot are taken too, and no fields at all", async () => {
    const shape = { city: toStandardJsonSchema(v.pipe(v.string(), v.minLength(2))) };
    expect((await called(shape, { city: "Rome" })).got).toEqual({ city: "Rome" });
    expect((await called(shape, { city: "R" })).got).toBeUndefined();
    const empty = await called({}, {});
    expect([empty.got, empty.schema]).toEqual([{}, { type: "object", properties: {}, required: [] }]);
  });

  it("the handler's arguments have the types of the fields", () => {
    const own = tool("own", "Does", { city: z.string(), days: z.number().optional() }, (args) => {
      expectTypeOf(args).toEqualTypeOf<{ city: string; days?: number | undefined }>();
      return args.city;
    });
    tool("own", "Does", z.object({ city: z.string() }), ({ city }) => {
      expectTypeOf(city).toEqualTypeOf<string>();
      return city;
    });
    expect(own.name).toBe("own");
  });
});

describe("options in the forms of the SDK", () => {
  const body = async (more: Partial<Options>) => {
    const { options, fetch } = scene([{ text: "Hi." }], more);
    await all("Go", options);
    return fetch.requests[0]!.body as any;
  };

  it("a system prompt may be custom, and all tools and skills may be asked for", async () => {
    const { system } = await body({ systemPrompt: { type: "custom", prompt: ["One.", "Two."] } });
    expect(JSON.stringify(system)).toContain("One.\\n\\nTwo.");
    const names = async (more: Partial<Options>) => (await body(more)).tools.map(({ name }: any) => name);
    const preset = { type: "preset", preset: "claude_code" } as const;
    expect(await names({ tools: preset, skills: "all" })).toEqual(await names({}));
    expect(await names({ tools: preset })).toContain("TodoWrite");
  });

  it("thinking is a budget, or off", async () => {
    expect((await body({ thinking: { type: "enabled", budgetTokens: 2048 } })).thinking).toMatchObject({
      budget_tokens: 2048,
    });
    const without = await body({});
    for (const type of ["adaptive", "disabled"] as const)
      expect((await body({ thinking: { type }, maxThinkingTokens: undefined })).thinking).toEqual(
        without.thinking,
      );
  });

  it("betas are a header of the requests", async () => {
    const { options, fetch } = scene([{ text: "Hi." }], { betas: ["context-1m-2025-08-07", "other"] });
    await all("Go", options);
    expect(fetch.requests[0]!.headers["anthropic-beta"]).toBe("context-1m-2025-08-07,other");
  });

  it("a form that is not there is an error that names it", () => {
    const wrong = (more: object) => () =>
      query({ prompt: "Go", options: { model: "m", ...more } as Options });
    expect(wrong({ systemPrompt: { type: "preset", preset: "other" } })).toThrow(/options\.systemPrompt/);
    expect(wrong({ sandbox: { enabled: true, failIfUnavailable: true } })).toThrow(/options\.sandbox/);
    expect(wrong({})).toThrow(/ANTHROPIC_API_KEY/);
    expect(wrong({ tools: { type: "own" } })).toThrow(/options\.tools/);
    expect(wrong({ skills: "some" })).toThrow(/options\.skills/);
    expect(wrong({ thinking: { type: "much" } })).toThrow(/options\.thinking/);
  });
});

describe("sessions for people who choose one", () => {
  it("S001-44: are listed with their first prompts, in pages, by the project's folder", async () => {
    const sessionStore = new InMemorySessionStore();
    const place = { sessionStore, dir: "/work" };
    const ids: string[] = [];
    for (const prompt of ["First", "Second", "Third"]) {
      const { options } = scene([{ text: "Hi." }], { sessionStore, cwd: "/work" });
      ids.unshift(resultOf(await all(prompt, options)).session_id);
    }
    const listed = await listSessions(place);
    expect(listed.map(({ summary }) => summary)).toEqual(["Third", "Second", "First"]);
    expect(await listSessions({ ...place, limit: 1, offset: 1 })).toEqual([listed[1]]);
    expect(await listSessions({ sessionStore })).toEqual([]);
    expect(await getSessionInfo(ids[0]!, place)).toEqual({
      sessionId: ids[0],
      summary: "Third",
      firstPrompt: "Third",
      lastModified: expect.any(Number),
      createdAt: expect.any(Number),
      cwd: "/work",
    });
    expect(await getSessionInfo("gone", place)).toBeUndefined();
    const [second] = await getSessionMessages(ids[0]!, { ...place, offset: 1, limit: 1 });
    expect(second).toMatchObject({ type: "assistant", parent_tool_use_id: null });
  });
});
