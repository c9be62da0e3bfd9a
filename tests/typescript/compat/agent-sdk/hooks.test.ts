import { describe, expect, it } from "vitest";
import { EXIT_REASONS, HOOK_EVENTS, InMemorySessionStore, query, type Options } from "looplet/agent-sdk";
import { all, kinds, resultOf, scene, use, type Turns } from "./kit.js";

type Told = { [field: string]: any };

/** Hooks of these events, which write down what they are told. */
function written(...events: (typeof HOOK_EVENTS)[number][]) {
  const heard: Told[] = [];
  const hook = async (input: Told) => void heard.push(input);
  const hooks = Object.fromEntries(events.map((event) => [event, [{ hooks: [hook] }]])) as Options["hooks"];
  return { heard, hooks, names: () => heard.map(({ hook_event_name: name }) => name) };
}

const EVENTS = [
  ...(["SessionStart", "UserPromptSubmit", "PreToolUse", "SubagentStart", "SubagentStop"] as const),
  ...(["Stop", "SessionEnd"] as const),
];

const agents = { reader: { description: "Reads", prompt: "You read.", tools: ["mcp__app__Read"] } };
const ask = {
  name: "Agent",
  input: { description: "Read it", prompt: "Read a.ts", subagent_type: "reader" },
};
const asking: Turns = [
  { toolCalls: [ask] },
  { toolCalls: [use("Read", { file_path: "a.ts" })] },
  { text: "It says a." },
  { text: "The agent says: a." },
];
const allowedTools = ["Agent", "mcp__app__Read"];

describe("hooks of a query", () => {
  it("S001-46, S001-49: the session and its agent have a beginning and an end each, and no others", async () => {
    const { heard, hooks, names } = written(...EVENTS);
    const messages = await all("Go", scene(asking, { agents, allowedTools, hooks, cwd: "/work" }).options);
    expect(names()).toEqual([
      ...["SessionStart", "UserPromptSubmit", "PreToolUse", "SubagentStart", "PreToolUse", "SubagentStop"],
      ...["Stop", "SessionEnd"],
    ]);
    const id = (messages.find(({ type }) => type === "assistant") as any).message.content[0].id;
    const facts = { session_id: messages[0]!.session_id, cwd: "/work", transcript_path: "" };
    for (const told of heard) expect(told).toMatchObject(facts);
    const ofAgent = heard.filter(({ agent_id }) => agent_id !== undefined);
    expect(ofAgent.map(({ hook_event_name: name }) => name)).toEqual([
      "SubagentStart",
      "PreToolUse",
      "SubagentStop",
    ]);
    for (const told of ofAgent) expect(told).toMatchObject({ agent_id: id, agent_type: "reader" });
    expect(heard[5]).toMatchObject({ last_assistant_message: "It says a.", stop_hook_active: false });
    expect(heard[3]).not.toHaveProperty("prompt");
    expect(heard.at(-1)).toMatchObject({ reason: "other" });
  });

  it("S001-46: the hooks about agents have the agent's name as their matcher", async () => {
    const heard: string[] = [];
    const group = (matcher: string) => ({
      matcher,
      hooks: [async (input: Told) => void heard.push(`${matcher} ${input["hook_event_name"]}`)],
    });
    const hooks = {
      SubagentStart: [group("reader"), group("writer")],
      SubagentStop: [group("^read"), group("writer|editor")],
    };
    await all("Go", scene(asking, { agents, allowedTools, hooks }).options);
    expect(heard).toEqual(["reader SubagentStart", "^read SubagentStop"]);
  });

  it("S001-46: SubagentStart gives the agent context, and SubagentStop makes it go on", async () => {
    const hooks = {
      SubagentStart: [
        {
          hooks: [
            async () => ({
              hookSpecificOutput: { hookEventName: "SubagentStart", additionalContext: "In French." },
            }),
          ],
        },
      ],
      SubagentStop: [
        {
          hooks: [
            async ({ stop_hook_active }: Told) =>
              stop_hook_active ? {} : { decision: "block" as const, reason: "Say more." },
          ],
        },
      ],
    };
    const turns: Turns = [{ toolCalls: [ask] }, { text: "A." }, { text: "A, and b." }, { text: "Done." }];
    const { options, fetch } = scene(turns, { agents, allowedTools, hooks });
    const messages = await all("Go", options);
    expect(fetch.requests[1]!.bodyText).toContain("In French.");
    expect(fetch.requests[2]!.bodyText).toContain("Say more.");
    expect(fetch.requests[3]!.bodyText).toContain("A, and b.");
    expect(resultOf(messages)).toMatchObject({ subtype: "success", result: "Done." });
  });

  it("S001-49: each session has one beginning and one end, with the words of the SDK", async () => {
    const sessionStore = new InMemorySessionStore();
    const { heard, hooks } = written("SessionStart", "SessionEnd");
    const words = () => heard.splice(0).map(({ source, reason }) => source ?? reason);
    async function* said() {
      for (const content of ["First", "Second", "/clear", "Third"])
        yield { type: "user" as const, message: { role: "user" as const, content } };
    }
    const three = scene([{ text: "1." }, { text: "2." }, { text: "3." }], { hooks, sessionStore });
    const asked = query({ prompt: said(), options: three.options });
    let id = "";
    for await (const message of asked) {
      // Another agent of the same session.
      if (message.type === "result") await asked.setModel("claude-haiku-4-5");
      id = message.session_id;
    }
    expect(words()).toEqual(["startup", "clear", "clear", "other"]);
    expect(EXIT_REASONS).toContain("other");
    await all("Go on", scene([{ text: "4." }], { hooks, sessionStore, resume: id }).options);
    expect(words()).toEqual(["resume", "other"]);
    const forked = scene([{ text: "5." }], { hooks, sessionStore, resume: id, forkSession: true });
    await all("Go on", forked.options);
    expect(words()).toEqual(["fork", "other"]);
  });

  it("S001-49: a query that is left ends its session, and one without an answer has none", async () => {
    const { hooks, names } = written("SessionEnd");
    for await (const message of query({ prompt: "Go", options: scene([{ text: "Hi." }], { hooks }).options }))
      if (message.type === "assistant") break;
    expect(names()).toEqual(["SessionEnd"]);
    await all("/compact", scene([], { hooks }).options);
    expect(names()).toHaveLength(1);
  });

  it("S001-47: hooks of events that never happen here are named once, and a typing error is an error", async () => {
    const { hooks, names } = written("FileChanged", "Setup", "Stop");
    const messages = await all("Go", scene([{ text: "Hi." }], { hooks }).options);
    expect(names()).toEqual(["Stop"]);
    const notes = messages.filter((message) => "subtype" in message && message.subtype === "informational");
    expect(notes).toMatchObject([
      { level: "warning", content: expect.stringContaining("FileChanged, Setup") },
    ]);
    const wrong = { Stopp: [{ hooks: [() => {}] }] } as never;
    expect(() => query({ prompt: "Go", options: scene([], { hooks: wrong }).options })).toThrow(/Stopp/);
  });

  it("S001-42: PreCompact knows the triggers of the SDK, and its matcher too", async () => {
    const heard: string[] = [];
    const group = (matcher: string) => ({
      matcher,
      hooks: [async ({ trigger }: Told) => void heard.push(`${matcher}: ${trigger}`)],
    });
    const hooks = { PreCompact: [group("auto"), group("manual"), group("overflow")] };
    const overflow = {
      status: 400,
      body: { error: { type: "invalid_request_error", message: "prompt is too long: 2 tokens > 1 maximum" } },
    };
    const rounds = ["a", "b", "c", "d", "e"].map((text) => ({
      text: text.repeat(400),
      toolCalls: [use("Read")],
    }));
    const turns: Turns = [...rounds, overflow, { text: "They counted." }, { text: "Six." }];
    const seen = await all("Go", scene(turns, { hooks }).options);
    expect(kinds(seen)).toContain("system/compact_boundary");
    expect(heard).toEqual(["auto: auto"]);
  });

  it("includeHookEvents tells of the hooks of agents by their own names", async () => {
    const { hooks } = written("SubagentStart", "SubagentStop");
    const messages = await all(
      "Go",
      scene(asking, { agents, allowedTools, hooks, includeHookEvents: true }).options,
    );
    const told = messages.flatMap((message) =>
      "subtype" in message && message.subtype === "hook_started" ? [message.hook_event] : [],
    );
    expect(told).toEqual(["SubagentStart", "SubagentStop"]);
  });

  it("the model is not told of an input that a hook or canUseTool has changed", async () => {
    const changed = {
      hookSpecificOutput: { hookEventName: "PreToolUse", updatedInput: { command: "ls -a" } },
    };
    const turns: Turns = [{ toolCalls: [use("Bash", { command: "ls" })] }, { text: "Listed." }];
    const hooked = scene(turns, { hooks: { PreToolUse: [{ hooks: [async () => changed] }] } });
    const asked = scene(turns, {
      allowedTools: [],
      canUseTool: async () => ({ behavior: "allow", updatedInput: { command: "ls -a" } }),
    });
    for (const { options, calls, fetch } of [hooked, asked]) {
      await all("List", options);
      expect(calls).toEqual(['Bash {"command":"ls -a"}']);
      const results = (fetch.requests[1]!.body as any).messages.at(-1).content;
      expect(JSON.stringify(results)).not.toContain("ls -a");
    }
  });
});
