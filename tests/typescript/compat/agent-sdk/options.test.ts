// Options that the SDK's programs give, beside those that the other files try.
// The entry brings the engine.
import "looplet";
import { describe, expect, it } from "vitest";
import { InMemorySessionStore, getSessionMessages, query, type Options } from "looplet/agent-sdk";
import { scripted } from "looplet/practice";
import { memoryVfs } from "looplet/vfs";
import { all, resultOf, scene, type Turns } from "./kit.js";

async function asked(more: Partial<Options>, turns: Turns = [{ text: "Done." }], prompt = "Go") {
  const { options, fetch } = scene(turns, more);
  const messages: any[] = await all(prompt, options);
  const notes: string[] = messages.flatMap(({ subtype, content }) =>
    subtype === "informational" ? content : [],
  );
  const bodies = fetch.requests.map(({ body }) => body as any);
  return { messages, bodies, notes, init: messages[0] };
}

it("a program that gives every option of the SDK runs", async () => {
  const name = "every-option";
  const { main } = await import(`../../../package/long/sdk-programs/${name}.ts`);
  const fetch = scripted([{ text: "One." }, { text: "Two." }, { text: "Three." }]);
  const skill = "---\nname: pdf\ndescription: Reads PDFs\n---\nOpen it.";
  const host = { apiKey: "k", fetch, vfs: memoryVfs({ "/every/.claude/skills/pdf/SKILL.md": skill }) };
  const { refused, dropped } = await main({ host } as never);
  expect(refused[0]).toMatch(/^Resume rejected by --resume-drops-turn:/);
  expect(dropped).toEqual(["Three."]);
  const [first] = fetch.requests.map(({ body }) => body as any);
  expect(first.model).toBe("claude-opus-5-5");
  expect(first.tools.map(({ name }: any) => name)).toEqual(["Read", "mcp__files__find", "Agent"]);
  expect(JSON.stringify(first.system)).toContain("You review.\\n\\nChange nothing.\\n\\nBe brief.");
  expect(JSON.stringify(first.messages)).toContain("Read README first.\\n\\n/compact is a text.");
  expect(JSON.stringify(first.messages)).toContain("Open it.");
});

it("an option with a typing error is refused with a hint", () => {
  const typo = (option: string) => () => query({ prompt: "Go", options: { [option]: 1 } as never });
  expect(typo("maxTurn")).toThrow('options.maxTurn is not an option of this entry. Did you mean "maxTurns"?');
  expect(typo("permisionMode")).toThrow('Did you mean "permissionMode"?');
  expect(typo("constructor")).toThrow("options.constructor is not an option");
});

describe("settings in options", () => {
  const denied = { permissions: { deny: ["mcp__app__Edit"] } };

  it("are an object, its JSON, or a file", async () => {
    const host = { vfs: memoryVfs({ "/app/own.json": JSON.stringify(denied) }) };
    for (const settings of [denied, JSON.stringify(denied), "/app/own.json", "own.json"]) {
      const { init } = await asked({ settings, host, cwd: "/app" });
      expect(init.tools).not.toContain("mcp__app__Edit");
      expect(init.tools).toContain("mcp__app__Read");
    }
  });

  it("win over files, and name a model where the options name none", async () => {
    const files = { "/.claude/settings.json": '{"permissions":{"defaultMode":"dontAsk"}}' };
    const settings = { model: "haiku", permissions: { defaultMode: "acceptEdits" } };
    const more: Partial<Options> = {
      settings,
      host: { vfs: memoryVfs(files) },
      settingSources: ["project"],
      trustProject: true,
    };
    const { init, bodies } = await asked({ ...more, model: undefined });
    expect([init.permissionMode, bodies[0].model]).toEqual(["acceptEdits", "claude-haiku-5-5"]);
    const own = await asked({ ...more, permissionMode: "plan" });
    expect([own.init.permissionMode, own.bodies[0].model]).toEqual(["plan", "claude-sonnet-4-6"]);
  });

  it("that cannot be read are an error, because a deny rule may be lost", async () => {
    const host = { vfs: memoryVfs({ "/broken.json": "{" }) };
    await expect(asked({ settings: "/none.json", host })).rejects.toThrow(
      "names a file that cannot be read: /none.json",
    );
    await expect(asked({ settings: "/broken.json", host })).rejects.toThrow("options.settings is not JSON");
    await expect(asked({ settings: "{permissions}" })).rejects.toThrow("options.settings is not JSON");
    await expect(asked({ settings: "/own.json" })).rejects.toThrow("so it needs host.vfs");
    await expect(asked({ settings: 5 as never })).rejects.toThrow("options.settings needs an object");
  });

  it("of a file are changed by no run without a person", async () => {
    for (const path of ["/app/own.json", "/app/own [1].json"]) {
      const vfs = memoryVfs({ [path]: "{}" });
      const call = {
        name: "Write",
        input: { file_path: path, content: '{"permissions":{"allow":["Bash"]}}' },
      };
      const turns: Turns = [{ toolCalls: [call] }, { text: "Done." }];
      await asked({ settings: path, host: { vfs }, cwd: "/app", permissionMode: "acceptEdits" }, turns);
      expect(new TextDecoder().decode((await vfs.read(path))!)).toBe("{}");
    }
  });

  it("of a manager only restrict", async () => {
    const managedSettings = {
      permissions: { deny: ["mcp__app__Edit"], allow: ["TodoWrite"] },
      env: { A: "1" },
    };
    const { init, notes } = await asked({ managedSettings });
    expect(init.tools).not.toContain("mcp__app__Edit");
    expect(notes.join()).toContain("managedSettings: only restricting these settings do not count");
  });
});

it("servers that are processes, or of before 2025, are named in warnings, and the query goes on", async () => {
  const mcpServers: Options["mcpServers"] = {
    github: { command: "npx", args: ["server-github"] },
    old: { type: "sse", url: "https://old.test/sse" },
  };
  const { init, notes, messages } = await asked({ mcpServers, allowedTools: ["mcp__github__list"] });
  expect(init.mcp_servers).toEqual([
    { name: "github", status: "failed" },
    { name: "old", status: "failed" },
  ]);
  expect(notes).toContain("mcpServers.github: It is a process, which nothing here starts: reach it by http.");
  expect(notes.join()).toContain('mcpServers.old: It needs the type "http"');
  expect(resultOf(messages).subtype).toBe("success");
});

it("permissionPrompts: none asks nobody", async () => {
  let questions = 0;
  const canUseTool: Options["canUseTool"] = async (_name, input) => {
    questions += 1;
    return { behavior: "allow", updatedInput: input };
  };
  const turns: Turns = [{ toolCalls: [{ name: "mcp__app__Edit", input: {} }] }, { text: "Done." }];
  const more: Partial<Options> = { canUseTool, allowedTools: [] };
  const { messages } = await asked({ ...more, permissionPrompts: "none" }, turns);
  expect([questions, resultOf(messages).permission_denials.length]).toEqual([0, 1]);
  await asked({ ...more, permissionPrompts: "host" }, turns);
  expect(questions).toBe(1);
  await expect(asked({ permissionPrompts: "nobody" as never })).rejects.toThrow('needs "host" or "none"');
});

it("env takes the variables of a process, of which some are undefined", async () => {
  let seen: unknown;
  const bash = {
    exec: async (_command: string, { env }: any) => ((seen = env), { stdout: "", stderr: "", exitCode: 0 }),
  };
  const turns: Turns = [{ toolCalls: [{ name: "Bash", input: { command: "ls" } }] }, { text: "Done." }];
  await asked({ env: { CI: "1", NONE: undefined }, host: { bash }, allowedTools: ["Bash"] }, turns);
  expect(seen).toEqual({ CI: "1" });
});

it("fallbackModel is a list of names, in their order", async () => {
  const answers = scripted([{ text: "Done." }]);
  const asked: string[] = [];
  const fetch: typeof answers = Object.assign(
    async (...given: Parameters<typeof answers>) => {
      const { model } = JSON.parse(await new Response(given[1]?.body as never).text());
      if (asked.at(-1) !== model) asked.push(model);
      return model === "claude-haiku-5-5" ? answers(...given) : new Response("{}", { status: 503 });
    },
    { requests: answers.requests },
  ) as never;
  // Waits between attempts take no time; timeouts are longer.
  const setTimer = (act: () => void, ms: number) => (ms < 60_000 ? setImmediate(act) : undefined);
  const clock = { now: () => 1000, setTimer, clearTimer: () => {} };
  const { options } = scene([], { fallbackModel: "opus, haiku", host: { fetch, clock } });
  expect(resultOf(await all("Go", options)).subtype).toBe("success");
  expect(asked).toEqual(["claude-sonnet-4-6", "claude-opus-5-5", "claude-haiku-5-5"]);
});

describe("prompts as they are", () => {
  it("verbatimPrompts sends a command to the model", async () => {
    const { bodies, messages } = await asked({ verbatimPrompts: true }, [{ text: "Hi." }], "/clear");
    expect(JSON.stringify(bodies[0].messages)).toContain("/clear");
    expect(resultOf(messages).subtype).toBe("success");
    expect((await asked({}, [{ text: "Hi." }], "/clear")).bodies).toEqual([]);
  });

  it("so does client_composed of one message", async () => {
    const { options, fetch } = scene([{ text: "Hi." }]);
    async function* input() {
      yield { type: "user", message: { role: "user", content: "/clear" }, client_composed: true } as const;
    }
    await all(input(), options);
    expect(fetch.requests[0]!.bodyText).toContain("/clear");
  });
});

describe("resumeDropsTurn", () => {
  /** A session of two turns, of which the second one has a call. */
  async function session(steer = false) {
    const sessionStore = new InMemorySessionStore();
    const call = { toolCalls: [{ name: "mcp__app__Read", input: {} }] };
    const { options, fetch } = scene(
      [{ text: "One." }, call, { text: "Two." }, { text: "Three." }, { text: "Four." }],
      {
        sessionStore,
      },
    );
    const [{ session_id: id }] = (await all("First", options)) as any[];
    const going = query({ prompt: "Second", options: { ...options, resume: id } });
    for await (const message of going)
      if (steer && message.type === "assistant" && JSON.stringify(message).includes("tool_use"))
        void going.streamInput(
          (async function* () {
            yield { type: "user", message: { role: "user", content: "And this" } } as const;
          })(),
        );
    const messages = await getSessionMessages(id, { sessionStore });
    return { options, fetch, id, messages };
  }

  it("drops a turn with the results of its tools, and goes on", async () => {
    const { options, fetch, id, messages } = await session();
    const [, answer, prompt] = messages.map(({ uuid }) => uuid);
    const cut: Options = { ...options, resume: id, resumeSessionAt: answer!, resumeDropsTurn: prompt! };
    expect(resultOf(await all("Third", cut)).subtype).toBe("success");
    expect(fetch.requests.at(-1)!.bodyText).not.toContain("Second");
  });

  it("refuses a cut that drops more, and leaves the session as it is", async () => {
    const { options, fetch, id, messages } = await session();
    const [first, answer, prompt] = messages.map(({ uuid }) => uuid);
    const before = fetch.requests.length;
    for (const [at, drops] of [
      [first, prompt],
      [answer, first],
      [answer, "unknown"],
    ]) {
      const cut: Options = { ...options, resume: id, resumeSessionAt: at!, resumeDropsTurn: drops! };
      const result: any = resultOf(await all("Third", cut));
      expect(result).toMatchObject({ subtype: "error_during_execution", session_id: id });
      expect(result.errors[0]).toMatch(/^Resume rejected by --resume-drops-turn:/);
    }
    expect(fetch.requests.length).toBe(before);
    const after = await getSessionMessages(id, { sessionStore: options.sessionStore! });
    expect(after).toEqual(messages);
  });

  it("refuses to drop what the user has said meanwhile", async () => {
    const { options, id, messages } = await session(true);
    expect(JSON.stringify(messages)).toContain("And this");
    const [, answer, prompt] = messages.map(({ uuid }) => uuid);
    const cut: Options = { ...options, resume: id, resumeSessionAt: answer!, resumeDropsTurn: prompt! };
    expect((resultOf(await all("Third", cut)) as any).errors[0]).toContain("Resume rejected");
  });

  it("needs resumeSessionAt", async () => {
    await expect(asked({ resume: "id", resumeDropsTurn: "x" })).rejects.toThrow("needs resumeSessionAt");
  });
});
