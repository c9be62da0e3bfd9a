/** Conversations that Anthropic holds (`serverState`), against a server that plays the rules of message threads. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  anthropic,
  bedrock,
  createAgent,
  gemini,
  openai,
  tool,
  type Agent,
  type AgentOptions,
  type RunEvent,
} from "looplet";
import { proxy } from "looplet/proxy";
import { memoryStore } from "looplet/stores";
import { compacting } from "../../../support/compacting.js";
import { settled, VirtualClock } from "../../../support/virtual-clock.js";
import { call, text, threadServer, type ThreadServer } from "./thread-server.js";

const look = (): any =>
  tool({ description: "Looks.", inputSchema: { type: "object" }, execute: () => "result ".repeat(200) });

const more = (
  { fetch }: ThreadServer,
  options: Partial<AgentOptions> = {},
  model: object = {},
  name = "claude-sonnet-4-6",
): AgentOptions => ({
  model: anthropic(name, { apiKey: "k", fetch: fetch as any, serverState: true, ...model }),
  system: "You look. ".repeat(50),
  tools: { look: look() },
  retry: { baseMs: 0, jitterMs: 0 },
  ...options,
});

/** Calls the tool so often in each turn of the user, and then says that it is done. */
const rounds =
  (calls: number) =>
  (_body: object, answers: number): any =>
    answers % (calls + 1) < calls
      ? call(String(answers), "look", { n: `number ${answers}` })
      : text(`done ${answers}`);

const warningsOf = (events: readonly RunEvent[]): string[] =>
  events.flatMap((event) => (event.type === "warning" ? [event.code] : []));

/** What the model was shown in each answered request. */
const shown = (server: ThreadServer): unknown[] =>
  server.asked.flatMap(({ whole }) => (whole ? [whole] : []));

/** Does the same with the option and without it, and expects that the model was shown the same. */
async function shownAlike(
  script: Parameters<typeof threadServer>[0],
  act: (
    agent: (extra?: Partial<AgentOptions>, model?: object) => Agent,
    server: ThreadServer,
  ) => Promise<void>,
): Promise<ThreadServer> {
  const servers = [];
  for (const serverState of [true, false]) {
    const server = threadServer(script);
    const agent = (extra = {}, model = {}) => createAgent(more(server, extra, { serverState, ...model }));
    await act(agent, server);
    servers.push(server);
  }
  const [held, plain] = servers as [ThreadServer, ThreadServer];
  expect(plain.kinds()).not.toMatch(/create|continue/);
  expect(shown(held)).toEqual(shown(plain));
  return held;
}

describe("a conversation that the vendor holds", () => {
  it.each([true, false])("is sent once, and then only what is new (stream: %s)", async (stream) => {
    const sizes: number[] = [];
    const server = await shownAlike(rounds(6), async (agent, { asked }) => {
      const result = await agent({}, { stream }).run("go").result;
      expect(result.outcome).toBe("completed");
      expect(JSON.stringify(result.messages).includes('"thread"')).toBe(sizes.length === 0);
      sizes.push(asked.reduce((sum, { bytes }) => sum + bytes, 0));
    });
    expect(server.kinds()).toBe("create continue continue continue continue continue continue");
    const [first, ...rest] = server.asked;
    for (const { bytes, body } of rest) {
      expect(body.messages).toHaveLength(1);
      expect(bytes).toBeLessThan(first!.bytes + 1500);
    }
    expect(sizes[0]).toBeLessThan(sizes[1]! / 3);
  });

  it("continues from run to run of a chat, and with the messages of a result", async () => {
    const server = await shownAlike(rounds(1), async (agent) => {
      const chat = agent().chat();
      await chat.run("one").result;
      await chat.run("two").result;
      const { messages } = await agent().run("three", { messages: chat.messages }).result;
      expect(messages).toHaveLength(12);
    });
    expect(server.kinds()).toBe("create continue continue continue continue continue");
  });

  it("continues where markers stand among its messages", async () => {
    const server = await shownAlike(rounds(0), async (agent) => {
      const chat = agent({ tools: {} }).chat();
      for (const prompt of ["one", "two", "three"]) await chat.run(prompt).result;
    });
    expect(server.kinds()).toBe("create continue continue");
    for (const { body } of server.asked.slice(1)) expect(JSON.stringify(body)).toContain('"cache_control"');
  });

  it("continues a paused answer with nothing new", async () => {
    const search = { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "x" } };
    const server = await shownAlike(
      (_body, answers) => (answers === 0 ? { content: [search], stop: "pause_turn" } : text("done")),
      async (agent) => {
        expect(await agent().run("go").result).toMatchObject({ outcome: "completed", text: "done" });
      },
    );
    expect(server.kinds()).toBe("create continue");
    expect(server.asked[1]!.body.messages).toEqual([]);
  });

  it("gets a steer and a follow-up", async () => {
    const server = await shownAlike(rounds(2), async (agent) => {
      const run = agent().run("go");
      run.steer("Mind the gap.");
      run.followUp("And then?");
      expect((await run.result).outcome).toBe("completed");
    });
    expect(server.kinds()).not.toContain("!");
    expect(JSON.stringify(server.asked.at(-1)!.whole)).toContain("Mind the gap.");
  });

  it("begins again after what looplet has changed itself", async () => {
    const server = await shownAlike(rounds(6), async (agent) => {
      const extra = { context: { pruning: { afterResponses: 1, prefixChars: 10, by: "looplet" as const } } };
      expect((await agent(extra).run("go").result).outcome).toBe("completed");
    });
    expect(server.kinds()).not.toContain("!");
    expect(server.kinds()).toContain("continue");
    expect(server.kinds()).toMatch(/continue.*create/);
  });

  it("is pruned by looplet, because threads do not take the vendor's field for that", async () => {
    const server = threadServer(rounds(6));
    const context = { pruning: { afterResponses: 1, prefixChars: 10 } };
    expect((await createAgent(more(server, { context })).run("go").result).outcome).toBe("completed");
    expect(server.kinds()).not.toContain("!");
    expect(JSON.stringify(server.asked)).not.toContain("context_management");
  });

  it("begins again after a summary", async () => {
    const server = await shownAlike(
      (body, answers) =>
        JSON.stringify(body.messages).includes("write a summary")
          ? text("They looked.")
          : answers < 15
            ? call(String(answers), "look")
            : text("done"),
      async (agent) => {
        const extra = { context: { window: 3000, compaction: { threshold: 0.6 } } };
        expect((await agent(extra).run("go").result).outcome).toBe("completed");
      },
    );
    expect(JSON.stringify(shown(server))).toContain("They looked.");
    expect(server.kinds()).not.toContain("!");
    expect(server.kinds()).toContain("continue");
  });

  it("begins again with another model, other tools or another effort, and not with the ones of before", async () => {
    const server = await shownAlike(rounds(0), async (agent, server) => {
      let { messages } = await agent().run("one").result;
      const next = async (extra: Partial<AgentOptions>, model: object = {}) => {
        ({ messages } = await agent(extra, model).run("on", { messages }).result);
      };
      await next({ tools: { look: look(), see: look() } });
      await next({});
      await next({}, { effort: "low" });
      await next({}, { effort: "low" });
      const other = {
        apiKey: "k",
        fetch: server.fetch as any,
        serverState: server.asked[0]!.kind !== "none",
      };
      await next({ model: anthropic("claude-opus-5-5", other) });
      await next({}, { effort: "low" });
    });
    expect(server.kinds()).toBe("create create create create continue create create");
  });

  it("begins again after an answer that your guardrail has rewritten, or that you have edited", async () => {
    const script = (): any => text("My secret is 12345.");
    const server = await shownAlike(script, async (agent) => {
      const guardrails = {
        output: [({ text }: { text: string }) => ({ decision: "rewrite", text: text.replace("12345", "…") })],
      } as any;
      let { messages } = await agent({ guardrails }).run("one").result;
      ({ messages } = await agent().run("two", { messages }).result);
      const edited = JSON.parse(JSON.stringify(messages).replaceAll("12345", "54321"));
      await agent().run("three", { messages: edited }).result;
    });
    expect(server.kinds()).toBe("create create create");
  });
});

describe("a conversation that the vendor does not continue", () => {
  it("is sent whole when the vendor has forgotten it, and then continued", async () => {
    const server = await shownAlike(rounds(3), async (agent, server) => {
      server.before = (_asked, index) => (index === 2 ? (server.forget(), undefined) : undefined);
      const events: RunEvent[] = [];
      await agent().run("go", { onEvent: (event) => events.push(event) }).result;
      expect(warningsOf(events)).toEqual([]);
      expect(events.some(({ type }) => type === "retry")).toBe(false);
    });
    expect(server.kinds()).toBe("create continue continue!thread_not_found create continue");
  });

  it("is sent whole with all tries of a request of its own", async () => {
    const server = threadServer(rounds(1));
    const busy = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
    server.before = (_asked, index) => {
      if (index === 1) server.forget();
      return index === 2 ? Response.json(busy, { status: 529 }) : undefined;
    };
    const retry = { baseMs: 0, jitterMs: 0, maxRetries: 1, maxModelCallRetries: 0 };
    const result = await createAgent(more(server, { retry })).run("go").result;
    expect(result.outcome).toBe("completed");
  });

  it("is not blamed on threads for another error whose words name one", async () => {
    const server = threadServer(rounds(0));
    const wrong = {
      type: "error",
      error: { type: "invalid_request_error", message: "No tool thread_list." },
    };
    server.before = () => Response.json(wrong, { status: 400 });
    const events: RunEvent[] = [];
    const agent = createAgent(more(server));
    const result = await agent.run("go", { onEvent: (event) => events.push(event) }).result;
    expect([result.outcome, warningsOf(events)]).toEqual(["failed", []]);
  });

  it("is sent whole without asking when five minutes have passed", async () => {
    const clock = new VirtualClock();
    const server = threadServer(rounds(0));
    const chat = createAgent(more(server, { clock })).chat();
    const run = async (): Promise<void> => {
      const { result } = chat.run("on");
      await clock.pass(0);
      await result;
    };
    await run();
    await clock.pass(299_000);
    await run();
    await clock.pass(300_000);
    await run();
    expect(server.kinds()).toBe("create continue create");
  });

  it("is sent once more when an answer was cut off", async () => {
    const server = await shownAlike(rounds(2), async (agent, server) => {
      server.cut.set(1, 3);
      const result = await agent().run("go").result;
      expect(result).toMatchObject({ outcome: "completed", text: expect.stringContaining("done") });
    });
    expect(server.kinds()).toBe("create continue continue!thread_continue_in_flight create");
  });

  it("is sent once more where two runs continue one answer", async () => {
    const server = await shownAlike(rounds(0), async (agent) => {
      const { messages } = await agent().run("one").result;
      await agent().run("two", { messages }).result;
      await agent().run("two again", { messages }).result;
    });
    expect(server.kinds()).toBe("create continue continue!thread_already_continued create");
  });

  it("is sent once more when a gateway has kept the conversation to itself", async () => {
    const server = await shownAlike(rounds(2), async (agent, server) => {
      server.before = ({ kind }) =>
        kind === "continue"
          ? Response.json(
              { error: { message: "messages.0.content.0: unexpected tool_use_id" } },
              { status: 400 },
            )
          : undefined;
      expect((await agent().run("go").result).outcome).toBe("completed");
    });
    expect(server.kinds()).toBe("create continue!400 create continue!400 create");
  });

  it("is sent whole from then on, with one warning, if the vendor has no threads or holds nothing", async () => {
    for (const options of [{ unsupported: true }, { holds: false }]) {
      const server = threadServer(rounds(5), options);
      const events: RunEvent[] = [];
      const run = createAgent(more(server)).run("go", { onEvent: (event) => events.push(event) });
      expect((await run.result).outcome).toBe("completed");
      expect(warningsOf(events)).toEqual(["server_state_not_used"]);
      expect(server.kinds()).toMatch(
        options.unsupported
          ? /^create!thread_unsupported_request( none){6}$/
          : /^create continue!thread_not_found create continue!thread_not_found( none){4}$/,
      );
      // The value of the header is gone, too.
      expect(JSON.stringify(server.asked.at(-1)!.body)).not.toContain("thread");
    }
  });

  it("is sent whole from then on behind looplet's proxy, which lets pages reach nothing that the vendor holds", async () => {
    const server = threadServer(rounds(2));
    const handler = proxy({
      models: [anthropic("claude-sonnet-4-6", { apiKey: "k", fetch: server.fetch as any })],
      authorize: () => "ada",
    });
    const fetch = (url: string, init: any): Promise<Response> => handler(new Request(url, init));
    const baseUrl = "https://app.example/api/anthropic";
    const events: RunEvent[] = [];
    const agent = createAgent(more(server, {}, { baseUrl, fetch, stream: false }));
    const result = await agent.run("go", { onEvent: (event) => events.push(event) }).result;
    expect(result.outcome).toBe("completed");
    expect(warningsOf(events)).toEqual(["server_state_not_used"]);
    expect(server.kinds()).toBe("none none none");
  });

  it("fails as without threads if the request itself is bad", async () => {
    const server = threadServer(rounds(1));
    server.before = (_asked, index) =>
      index === 0
        ? undefined
        : Response.json({ error: { type: "invalid_request_error", message: "tools: no" } }, { status: 400 });
    const result = await createAgent(more(server)).run("go").result;
    expect(result.error).toMatchObject({ code: "invalid_request" });
    expect(server.kinds()).toBe("create continue!400 create!400");
  });

  it("is not continued after a refusal, an answer that was cut off, or one of a fallback model", async () => {
    for (const reply of [
      text("I will not.", "refusal"),
      text("It is", "max_tokens"),
      {
        content: [{ type: "fallback", from: { model: "a" }, to: { model: "b" } }, ...text("Hi").content],
        model: "b",
      },
    ]) {
      const server = await shownAlike(
        () => reply,
        async (agent) => {
          const { messages } = await agent().run("one").result;
          await agent().run("two", { messages }).result;
        },
      );
      expect(server.kinds()).toBe("create create");
    }
  });
});

it.each([
  ["while it runs a tool", "create continue continue continue"],
  ["while it waits for an answer", "create continue continue!thread_already_continued create continue"],
])("a run goes on in another process after a crash %s", async (where, kinds) => {
  const isAsked = where.includes("answer");
  const server = threadServer(rounds(3));
  const store = memoryStore();
  const hang = new Promise<never>(() => {});
  let hangs = true;
  const isSecond = (): boolean => hangs && server.asked.length === 2;
  const seen = tool({
    description: "Looks.",
    readOnly: true,
    inputSchema: { type: "object" },
    execute: () => (isSecond() && !isAsked ? hang : "seen"),
  });
  const fetch = async (url: string, init: any): Promise<Response> => {
    const response = await server.fetch(url, init);
    return isSecond() && isAsked ? hang : response;
  };
  const agent = (): Agent => createAgent(more(server, { store, tools: { look: seen } }, { fetch }));
  const first = agent();
  first.run("go", { id: "r" });
  while (server.asked.length < 2) await settled();
  await settled();
  await first.close({ recoverable: true });
  hangs = false;
  const run = await agent().resume("r");
  expect((await run.result).outcome).toBe("completed");
  // The answer to the second request is lost with its process, but the vendor has made it.
  expect(server.kinds()).toBe(kinds);
});

it("a chat that is opened in another process continues its last answer", async () => {
  const server = await shownAlike(rounds(1), async (agent) => {
    const store = memoryStore();
    for (const prompt of ["one", "two"]) {
      const chat = await agent({ store }).openChat("c");
      await chat.run(prompt).result;
      await chat.close();
    }
  });
  expect(server.kinds()).toBe("create continue continue continue");
});

it("where there are no threads the option is refused", () => {
  const options = { serverState: true, apiKey: "k" };
  const models = [
    openai("gpt-6.2", options),
    gemini("gemini-3-flash", options),
    bedrock("anthropic.claude-opus-5-5", { ...options, region: "us-east-1" }),
    anthropic("claude-opus-5-5", {
      ...options,
      baseUrl: "https://aiplatform.googleapis.com/v1/projects/p/locations/global",
    }),
    anthropic("claude-opus-5-5", { ...options, body: { thread: { type: "create" } } }),
  ];
  return Promise.all(
    models.map(async (model) => {
      const { error } = await createAgent({ model }).run("Hi").result;
      expect(error).toMatchObject({
        code: "config_invalid",
        message: expect.stringMatching(/serverState.*leave (it|one of them) out/),
      });
    }),
  );
});

const shared = process.env["LOOPLET_SHARED"] ?? join(import.meta.dirname, "../../../../../../shared");
const servers = join(shared, "vendors/prefix-server.mjs");
const isThere = existsSync(servers);
if (!isThere) console.warn(`SKIPPED a test of threads: no ${servers} (set LOOPLET_SHARED)`);

describe.skipIf(!isThere)("signed reasoning stays good on a server that compares what precedes it", () => {
  const CONTEXT = { window: 8000, compaction: { threshold: 0.6 } };
  it.each([
    ["within a run", {}, /^create( continue){11}$/],
    ["after the vendor's summary", { context: CONTEXT }, /^create( continue){3,8} none create( continue)+/],
  ])("%s", async (_name, extra, kinds) => {
    const { anthropicServer } = await import(servers);
    const calls = (index: number): object =>
      index < 11 ? { calls: [{ name: "look", input: { n: index } }] } : { text: "done" };
    const inner = anthropicServer({ strictForm: true, script: calls });
    const play = compacting(inner);
    const server = threadServer(async (body, _answers, headers) => {
      const response = await play("/v1/messages", {
        headers,
        body: JSON.stringify({ ...body, stream: false }),
      });
      const { content, stop_reason: stop } = (await response.json()) as any;
      return { content, stop };
    });
    const agent = createAgent(more(server, extra, { stream: false }, "claude-fable-5-2"));
    const result = await agent.run("go").result;
    expect(result.outcome).toBe("completed");
    expect(server.kinds()).toMatch(kinds);
    expect([inner.refused, inner.dropped]).toEqual([[], []]);
  });
});
