/** The agents of `examples/`, in simulated worlds: each example runs as it is, and the agent that it makes is taken. */
import { afterEach, expect, test, vi } from "vitest";
import { anthropic, tool, type Agent } from "looplet";
import { memoryStore } from "looplet/stores";
import { simulate, type World } from "looplet/testing";
import { objectState } from "../../support/object-state.js";
import { SEEDS, TIMEOUT } from "../../support/simulations.js";

const made = vi.hoisted(() => ({ agents: [] as unknown[], world: undefined as World | undefined }));

vi.mock("looplet", async (original) => {
  const looplet = await original<typeof import("looplet")>();
  const createAgent = (...options: Parameters<typeof looplet.createAgent>) => {
    const agent = looplet.createAgent(...options);
    made.agents.push(agent);
    return agent;
  };
  return { ...looplet, createAgent };
});

// Files and servers are real input and output, for which virtual time does not wait.
vi.mock("node:fs/promises", async (original) => ({
  ...(await original<object>()),
  appendFile: async () => {},
}));
vi.mock("node:http", async (original) => ({
  ...(await original<object>()),
  createServer: () => ({ listen: () => {} }),
}));
vi.mock("looplet/mcp", () => ({
  connectMcp: async () => ({
    tools: async () => ({
      mcp__files__read: tool({
        description: "Reads",
        inputSchema: { type: "object" },
        execute: () => "text",
      }),
    }),
    close: async () => {},
  }),
}));
vi.mock("looplet/stores/node", () => ({ fileStore: () => memoryStore() }));

vi.mock("../../../../examples/ported/model.mjs", async (original) => {
  const { claude, ...more } = await original<{ claude: (turns: unknown) => unknown }>();
  const model = (turns: unknown): unknown =>
    made.world === undefined
      ? claude(turns)
      : anthropic("claude-sonnet-4-6", { apiKey: "k", fetch: made.world.fetch });
  return { ...more, claude: model };
});

const { argv, exitCode } = process;
afterEach(() => {
  process.argv = argv;
  process.exitCode = exitCode;
  made.world = undefined;
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

const example = (path: string): Promise<any> => import(`../../../../examples/${path}`);

/** The agent that an example makes. */
async function agentIn(run: () => Promise<unknown>): Promise<Agent> {
  made.agents = [];
  await run();
  return made.agents.at(-1) as Agent;
}

const post = (body: object): Request =>
  new Request("http://example.test/", { method: "POST", body: JSON.stringify(body) });

const EXAMPLES: { readonly [name: string]: () => Promise<unknown> } = {
  async "once.mjs"() {
    process.argv = ["node", "once.mjs", "Hi"];
    vi.spyOn(process.stdout, "write").mockReturnValue(true);
    await example("once.mjs");
  },
  async "cloudflare-worker"() {
    const worker = await example("cloudflare-worker/src/index.ts");
    const response: Response = await worker.default.fetch(post({ prompt: "Hi" }), {});
    await response.text();
  },
  async "deno-deploy"() {
    vi.stubGlobal("Deno", { env: { get: () => undefined }, serve() {} });
    await example("deno-deploy/main.js");
  },
  async "cloudflare-chat"() {
    const { Session } = await example("cloudflare-chat/src/index.ts");
    new Session(objectState(), {}).agent(memoryStore());
  },
  async "node-service"() {
    process.argv = ["node", "server.mjs", ":memory:"];
    await example("node-service/server.mjs");
  },
  "ported/ai-sdk-route.mjs": () => example("ported/ai-sdk-route.mjs"),
  "ported/openai-handoff.mjs": async () => (await example("ported/openai-handoff.mjs")).main("Hi"),
  "ported/mcp-tools.mjs": async () =>
    (await example("ported/mcp-tools.mjs")).main("Hi", { url: "http://mcp.test" }),
  "ported/research-agent.mjs": async () =>
    (await example("ported/research-agent.mjs")).research("Whales", "folder", async () => "Three books."),
};

test.each(Object.entries(EXAMPLES))("the agent of %s holds", TIMEOUT, async (_, run) => {
  const agent = await agentIn(run);
  const { runs } = await simulate(agent, { seeds: SEEDS });
  expect(runs).toBe(SEEDS);
});

test("the script of ported/agent-sdk-script.mjs comes to its end", TIMEOUT, async () => {
  const { main } = await example("ported/agent-sdk-script.mjs");
  const ends: string[] = [];
  const script = async (world: World): Promise<void> => {
    made.world = world;
    const printed: string[] = [];
    await main((line: string) => printed.push(line));
    ends.push(printed.at(-1)!);
  };
  // It has no clock of the world, so it would wait for its retries in real time.
  await simulate(script, { seeds: SEEDS, world: { only: [] } });
  expect(ends).toHaveLength(SEEDS);
  for (const end of ends)
    expect(end).toMatch(/^(?:success|error_\w+), \d+ and \d+ turns: export const isAllowed/);
});
