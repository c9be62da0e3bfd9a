// What a hook can read of the session that calls it.
import { describe, expect, it } from "vitest";
import {
  getSessionMessages,
  getSubagentMessages,
  InMemorySessionStore,
  type Options,
  type SessionStore,
} from "looplet/agent-sdk";
import { settled, VirtualClock } from "../../support/virtual-clock.js";
import { all, resultOf, scene, use, type Turns } from "./kit.js";

const agents = { reader: { description: "Reads", prompt: "You read.", tools: ["mcp__app__Read"] } };
const ask = {
  name: "Agent",
  input: { description: "Read it", prompt: "Read a.ts", subagent_type: "reader" },
};
const turns: Turns = [
  { toolCalls: [ask] },
  { toolCalls: [use("Read", { file_path: "a.ts" })] },
  { text: "It says a." },
  { toolCalls: [use("Bash", { command: "ls" })] },
  {
    status: 400,
    body: { error: { type: "invalid_request_error", message: "prompt is too long: 9 tokens > 8 maximum" } },
  },
  { text: "The summary." },
  { text: "Done." },
];
const allowedTools = ["Agent", "mcp__app__Read", "mcp__app__Bash"];
const EVENTS = [
  ...(["PreToolUse", "PostToolUse", "SubagentStart", "SubagentStop", "PreCompact"] as const),
  ...(["Stop", "SessionEnd"] as const),
];

/** Each call of a hook, with the messages that it finds in the session and in the conversation of its agent. */
async function read(sessionStoreFlush: Options["sessionStoreFlush"]): Promise<string[]> {
  const sessionStore = new InMemorySessionStore();
  const seen: string[] = [];
  const hook = async (input: any): Promise<void> => {
    const ofSession = await getSessionMessages(input.session_id, { sessionStore, dir: input.cwd });
    const ofAgent =
      input.agent_id === undefined
        ? []
        : await getSubagentMessages(input.session_id, input.agent_id, { sessionStore, dir: input.cwd });
    seen.push(`${input.hook_event_name} ${ofSession.length} ${ofAgent.length}`);
  };
  const hooks = Object.fromEntries(EVENTS.map((event) => [event, [{ hooks: [hook] }]])) as Options["hooks"];
  const more = { agents, allowedTools, hooks, sessionStore, sessionStoreFlush, cwd: "/work" };
  await all("Go", scene(turns, more).options);
  return seen;
}

describe("hooks of a query", () => {
  it.each(["batched", "eager"] as const)("read every message so far with the flush mode %s", async (mode) => {
    expect(await read(mode)).toEqual([
      "PreToolUse 2 0",
      "SubagentStart 2 0",
      "PreToolUse 2 2",
      "PostToolUse 2 2",
      "SubagentStop 2 4",
      "PostToolUse 2 0",
      "PreToolUse 4 0",
      "PostToolUse 4 0",
      "PreCompact 5 0",
      "Stop 6 0",
      "SessionEnd 6 0",
    ]);
  });

  it("wait for a store that does not answer for five seconds, and the query completes", async () => {
    const clock = new VirtualClock();
    const sessionStore: SessionStore = { append: () => new Promise(() => {}), load: () => null };
    const called: number[] = [];
    const hooks = { Stop: [{ hooks: [async () => void called.push(clock.now())] }] } as Options["hooks"];
    const { options } = scene([{ text: "Done." }], { hooks, sessionStore, host: { clock } });
    const messages = all("Go", options);
    await settled();
    await clock.pass(4_999);
    expect(called).toEqual([]);
    await clock.pass(1);
    expect(called).toHaveLength(1);
    await clock.pass(60_000);
    expect(resultOf(await messages)).toMatchObject({ subtype: "success", result: "Done." });
  });

  it("of SessionEnd read the session that /clear ends", async () => {
    const sessionStore = new InMemorySessionStore();
    const counts: number[] = [];
    const count = async ({ session_id: id }: any): Promise<void> => {
      counts.push((await getSessionMessages(id, { sessionStore })).length);
    };
    const hooks = { SessionEnd: [{ hooks: [count] }] } as Options["hooks"];
    async function* prompts() {
      for (const content of ["Go", "/clear", "Again"])
        yield {
          type: "user" as const,
          message: { role: "user" as const, content },
          parent_tool_use_id: null,
        };
    }
    await all(prompts(), scene([{ text: "One." }, { text: "Two." }], { hooks, sessionStore }).options);
    expect(counts).toEqual([2, 2]);
  });

  it("are called without a session that is kept", async () => {
    const called: string[] = [];
    const hooks = { Stop: [{ hooks: [async () => void called.push("Stop")] }] } as Options["hooks"];
    await all("Go", scene([{ text: "Done." }], { hooks, persistSession: false }).options);
    expect(called).toEqual(["Stop"]);
  });
});
