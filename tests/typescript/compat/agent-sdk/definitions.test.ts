// The agents that a program defines: as which a query works, and what each may do.
// The entry brings the engine.
import "looplet";
import { describe, expect, it } from "vitest";
import { createSdkMcpServer, tool, type AgentDefinition, type Options } from "looplet/agent-sdk";
import { memoryVfs } from "looplet/vfs";
import { all, anything, resultOf, scene, type Turns } from "./kit.js";

const notesOf = (messages: readonly any[]) =>
  messages.flatMap((message) => (message.subtype === "informational" ? [message.content] : []));

const toolsOf = (body: any): string[] => (body.tools ?? []).map(({ name }: any) => name);

const reader: AgentDefinition = { description: "Reads", prompt: "You read." };

async function asked(more: Partial<Options>, turns: Turns = [{ text: "Done." }]) {
  const { options, fetch, calls } = scene(turns, more);
  const messages: any[] = await all("Go", options);
  const bodies = fetch.requests.map(({ body }) => body as any);
  return { messages, bodies, calls, notes: notesOf(messages), init: messages[0] };
}

/** A query whose agent `reader` is asked once, and makes these calls. */
async function delegated(definition: Partial<AgentDefinition>, calls: Turns, more: Partial<Options> = {}) {
  const ask = { name: "Agent", input: { description: "d", prompt: "p", subagent_type: "reader" } };
  const turns: Turns = [{ toolCalls: [ask] }, ...calls, { text: "Read." }, { text: "Done." }];
  const allowedTools = ["Agent", "mcp__app"];
  return asked({ allowedTools, agents: { reader: { ...reader, ...definition } }, ...more }, turns);
}

describe("the option agent", () => {
  it("has the prompt, the tools, the model and the limits of the agent", async () => {
    const agents = {
      reviewer: {
        description: "Reviews",
        prompt: "You review.",
        tools: ["mcp__app__Read", "Agent"],
        model: "haiku",
        maxTurns: 1,
        criticalSystemReminder_EXPERIMENTAL: "Change nothing.",
      },
      other: { description: "Helps", prompt: "You help." },
    };
    const read = { toolCalls: [{ name: "mcp__app__Read", input: {} }] };
    const { bodies, init, messages } = await asked(
      { agent: "reviewer", agents, model: undefined, systemPrompt: "Not this." },
      [read, read],
    );
    expect(bodies[0].model).toBe("claude-haiku-5-5");
    expect(JSON.stringify(bodies[0].system)).toContain("You review.\\n\\nChange nothing.");
    expect(JSON.stringify(bodies[0].system)).not.toContain("Not this.");
    expect(init.tools).toEqual(["mcp__app__Read", "Agent"]);
    expect(resultOf(messages).subtype).toBe("error_max_turns");
  });

  it("leaves what the options say themselves, and the text behind the preset", async () => {
    const agents = { own: { ...reader, model: "haiku", permissionMode: "plan" as const } };
    const systemPrompt = { type: "preset", preset: "claude_code", append: "Be brief." } as const;
    const { bodies, init } = await asked({ agent: "own", agents, systemPrompt, permissionMode: "dontAsk" });
    expect(bodies[0].model).toBe("claude-sonnet-4-6");
    expect(JSON.stringify(bodies[0].system)).toContain("You read.\\n\\nBe brief.");
    expect(init.permissionMode).toBe("dontAsk");
  });

  it("may name an agent of settings files, and refuses a name that no agent has", async () => {
    const file = "---\nname: reviewer\ndescription: Reviews\ntools: Read\n---\nYou review files.";
    const host = { vfs: memoryVfs({ "/.claude/agents/reviewer.md": file }) };
    const { bodies, init } = await asked({ agent: "reviewer", settingSources: ["project"], host });
    expect(JSON.stringify(bodies[0].system)).toContain("You review files.");
    expect(init.tools).toEqual(["Read"]);
    const lost = asked({ agent: "reviewr", settingSources: ["project"], host });
    await expect(lost).rejects.toThrow('options.agent names no agent: "reviewr"; did you mean "reviewer"?');
    await expect(asked({ agent: "any", settingSources: ["project"] })).rejects.toThrow("there are none");
    await expect(asked({ agent: "any" })).rejects.toThrow("options.agent names no agent");
  });

  it("begins a new session with the agent's initial prompt", async () => {
    const agents = { own: { ...reader, initialPrompt: "Read README first." } };
    const { bodies, init } = await asked({ agent: "own", agents });
    expect(bodies[0].messages[0].content[0].text).toBe("Read README first.\n\nGo");
    const on = await asked({ agent: "own", agents, resume: init.session_id });
    expect(JSON.stringify(on.bodies[0].messages.at(-1))).not.toContain("README");
  });
});

describe("the definition of an agent", () => {
  it("takes tools, servers and calls away from it", async () => {
    const own = await delegated({ disallowedTools: ["mcp__app"] }, []);
    expect(toolsOf(own.bodies[1])).toEqual(["TodoWrite"]);
    expect(toolsOf(own.bodies[2])).toContain("mcp__app__Read");
    const server = await delegated({ tools: ["mcp__app__*"] }, []);
    expect(toolsOf(server.bodies[1])).toEqual(["mcp__app__Bash", "mcp__app__Read", "mcp__app__Edit"]);
    const bash = { exec: async () => ({ stdout: "ran", stderr: "", exitCode: 0 }) };
    const calls: Turns = [{ toolCalls: [{ name: "Bash", input: { command: "rm a" } }] }];
    const host = { bash };
    const rule = await delegated({ disallowedTools: ["Bash(rm *)"] }, calls, {
      host,
      allowedTools: ["Bash", "Agent"],
    });
    expect(toolsOf(rule.bodies[1])).toContain("Bash");
    expect(JSON.stringify(rule.bodies[2].messages.at(-1))).not.toContain("ran");
  });

  it.each([
    ["mcp__app__Ba*", "mcp__app__Bash"],
    ["mcp__*__Bash", "mcp__app__Bash"],
    ["mcp__app__Bash", "mcp__app__Bash__x"],
  ])("keeps it by %s from calls of %s, as a rule of the query does", async (name, called) => {
    const ran: string[] = [];
    const own = (one: string) => tool(one, one, anything, () => (ran.push(one), "ran"));
    const app = createSdkMcpServer({ name: "app", tools: [own("Bash"), own("Bash__x")] });
    const calls: Turns = [{ toolCalls: [{ name: called, input: {} }] }];
    const more = { mcpServers: { app } };
    await delegated({ disallowedTools: [name] }, calls, more);
    expect(ran).toEqual([]);
    await delegated({}, calls, more);
    expect(ran).toEqual([called.replace("mcp__app__", "")]);
  });

  it("gives it servers of its own, which the query does not see, beside its tools", async () => {
    const notes = createSdkMcpServer({
      name: "notes",
      tools: [tool("find", "Finds", anything, () => "found")],
    });
    const call: Turns = [{ toolCalls: [{ name: "mcp__notes__find", input: {} }] }];
    const { bodies } = await delegated({ tools: ["TodoWrite"], mcpServers: [{ notes }, "app"] }, call, {
      allowedTools: ["Agent", "mcp__notes"],
    });
    expect(toolsOf(bodies[1]).sort()).toEqual([
      "TodoWrite",
      "mcp__app__Bash",
      "mcp__app__Edit",
      "mcp__app__Read",
      "mcp__notes__find",
    ]);
    expect(toolsOf(bodies[0])).not.toContain("mcp__notes__find");
    expect(JSON.stringify(bodies[2].messages.at(-1))).toContain("found");
    const other = createSdkMcpServer({ name: "app" });
    await expect(delegated({ mcpServers: [{ app: other }] }, [])).rejects.toThrow(
      'options.agents.reader.mcpServers has another server "app"',
    );
  });

  it("gives it the texts of skills from the beginning", async () => {
    const skills = [{ name: "pdf", description: "PDFs", content: async () => "Open it first." }];
    const { bodies, notes } = await delegated({ skills: ["pdf", "pfd"] }, [], { skills });
    expect(JSON.stringify(bodies[1].messages)).toContain("Open it first.");
    expect(JSON.stringify(bodies[0].messages)).not.toContain("Open it first.");
    expect(notes).toContain(
      'agents.reader.skills: "pfd" is not in this query, so it does nothing. Did you mean "pdf"?',
    );
  });

  it("lets it work without CLAUDE.md", async () => {
    const host = { vfs: memoryVfs({ "/CLAUDE.md": "Use tabs." }) };
    const more: Partial<Options> = { host, settingSources: ["project"] };
    const [bare, usual] = [await delegated({ omitClaudeMd: true }, [], more), await delegated({}, [], more)];
    expect(JSON.stringify(bare.bodies[1].system)).not.toContain("Use tabs.");
    expect(JSON.stringify(usual.bodies[1].system)).toContain("Use tabs.");
  });

  it("chooses its mode in the mode default alone", async () => {
    const edit: Turns = [{ toolCalls: [{ name: "Write", input: { file_path: "/a.txt", content: "a" } }] }];
    const written = async (permissionMode: Options["permissionMode"]) => {
      const vfs = memoryVfs();
      const more: Partial<Options> = { host: { vfs }, allowedTools: ["Agent"], permissionMode };
      await delegated({ permissionMode: "acceptEdits" }, edit, more);
      return (await vfs.read("/a.txt")) !== undefined;
    };
    expect(await written("default")).toBe(true);
    expect(await written("plan")).toBe(false);
    expect(await written("dontAsk")).toBe(false);
    await expect(delegated({ permissionMode: "bypassPermissions" }, [])).rejects.toThrow(
      "options.agents.reader.permissionMode needs allowDangerouslySkipPermissions",
    );
  });

  it("lowers the window of the agent", async () => {
    const large = { toolCalls: [{ name: "mcp__app__Read", input: {} }], usage: { inputTokens: 90_000 } };
    const { messages } = await delegated({ autoCompactWindow: 50_000 }, [large as never, large as never]);
    const usual = await delegated({}, [large as never, large as never]);
    const compacts = (told: any[]) => told.some(({ subtype }) => subtype === "compact_boundary");
    expect([compacts(messages), compacts(usual.messages)]).toEqual([true, false]);
  });

  it("says once which fields do nothing, and refuses a field with a typing error", async () => {
    const odd = { background: true, memory: "user", effort: 3, observer: "a" } as const;
    const { notes } = await delegated(odd, []);
    expect(notes).toContain(
      "agents.reader: these fields do nothing here: background, memory, observer, effort as a number.",
    );
    const typo = { ...reader, disalowedTools: ["Bash"] } as AgentDefinition;
    await expect(asked({ agents: { reader: typo } })).rejects.toThrow(
      'options.agents.reader.disalowedTools is not a field of an agent. Did you mean "disallowedTools"?',
    );
    const none = { description: "Reads" } as AgentDefinition;
    await expect(asked({ agents: { reader: none } })).rejects.toThrow(
      "options.agents.reader.prompt is missing",
    );
    const text = { ...reader, tools: "Read" } as unknown as AgentDefinition;
    await expect(asked({ agents: { reader: text } })).rejects.toThrow("needs an array of strings");
    const { notes: said } = await delegated({ tools: ["Raed"] }, []);
    expect(said).toContain(
      'agents.reader.tools: "Raed" names no tool, so the rule does nothing. Did you mean "Read"?',
    );
  });

  it("of a file may restrict, and grants no mode", async () => {
    const file =
      "---\nname: reader\ndescription: Reads\ndisallowedTools: mcp__app__Edit, Write\npermissionMode: bypassPermissions\nmaxTurns: 2\n---\nYou read.";
    const host = { vfs: memoryVfs({ "/.claude/agents/reader.md": file }) };
    const { bodies, notes } = await delegated({}, [], { agents: {}, host, settingSources: ["project"] });
    expect(toolsOf(bodies[1])).toContain("mcp__app__Read");
    expect(toolsOf(bodies[1])).not.toContain("Write");
    expect(toolsOf(bodies[1])).not.toContain("mcp__app__Edit");
    expect(notes.join()).toContain("reader.md: these fields do not count here: permissionMode");
  });
});
