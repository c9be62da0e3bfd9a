import { describe, expect, it } from "vitest";
import { anthropic, createAgent, custom, subagent, type AgentOptions, type RunEvent } from "looplet";
import { scripted } from "looplet/practice";
import { recorder, replay } from "looplet/replay";
import { memoryStore } from "looplet/stores";
import { hotAgent } from "looplet/vite";
import { nextTask } from "../../support/fake-driver.js";
import { VirtualClock } from "../../support/virtual-clock.js";
import { begun, calls, Module, questionOf, settled, told, twice, until, waits } from "./kit.js";

describe("a run that waits for a person while its module changes", () => {
  const turns = [() => calls("look"), () => calls("pay"), () => "Done."];

  it("goes on with the new code, and makes no call twice", async () => {
    const module = new Module(turns);
    const { run, events } = begun(module.run(1));
    await until(() => waits(events));
    module.run(2);
    await settled();
    expect(run.answer(questionOf(events), { behavior: "allow" })).toBe(true);
    const result = await run.result;
    expect(result).toMatchObject({ outcome: "completed", text: "Done.", id: run.id });
    expect(module.log).toEqual([
      "model 1: prompt 1",
      "look 1",
      "model 1: prompt 1",
      "pay 2",
      "model 2: prompt 2",
    ]);
  });

  it("tells of it once, in one stream whose numbers grow and that tells nothing twice", async () => {
    const module = new Module(turns);
    const { run, events } = begun(module.run(1));
    const read: RunEvent[] = [];
    const reading = (async () => {
      for await (const event of run) read.push(event);
    })();
    await until(() => waits(events));
    module.run(2);
    await settled();
    run.answer(questionOf(events), { behavior: "allow" });
    await reading;
    expect(read).toEqual(events);
    expect(twice(events)).toEqual([]);
    const numbers = events.map(({ seq }) => seq);
    expect(numbers).toEqual([...new Set(numbers)].sort((one, other) => one - other));
    expect(told(events).filter((type) => type === "hot_reload" || type === "run-start")).toEqual([
      "run-start",
      "hot_reload",
    ]);
    expect(module.said).toEqual(['[looplet] "agent" has new code; runs that continue with it: 1']);
  });

  it("asks a function of the old code for its decision no second time, and takes it", async () => {
    let asked = 0;
    let decide!: (said: { behavior: "allow" }) => void;
    const canUseTool = () => {
      asked++;
      return new Promise<{ behavior: "allow" }>((resolve) => (decide = resolve));
    };
    const module = new Module(turns);
    const permissions = { allow: ["look"], canUseTool };
    const { run } = begun(module.run(1, { permissions }));
    await until(() => asked > 0);
    module.run(2, { permissions });
    await settled();
    decide({ behavior: "allow" });
    expect((await run.result).outcome).toBe("completed");
    expect([asked, module.log.filter((line) => line.startsWith("pay"))]).toEqual([1, ["pay 2"]]);
  });

  it("takes its answer in the middle of the change", async () => {
    const module = new Module(turns);
    const { run, events } = begun(module.run(1));
    await until(() => waits(events));
    module.run(2);
    await null;
    await null;
    expect(run.answer(questionOf(events), { behavior: "allow" })).toBe(true);
    run.steer("And be quick.");
    const { messages, outcome } = await run.result;
    expect([outcome, module.log.includes("pay 2")]).toEqual(["completed", true]);
    expect(JSON.stringify(messages)).toContain("And be quick.");
  });

  it("goes on through many changes", async () => {
    const module = new Module(turns);
    const { run, events } = begun(module.run(1));
    await until(() => waits(events));
    for (let version = 2; version < 30; version++) {
      module.run(version);
      if (version % 3 > 0) await settled();
    }
    await settled();
    run.answer(questionOf(events), { behavior: "allow" });
    expect((await run.result).outcome).toBe("completed");
    expect(module.log.slice(-2)).toEqual(["pay 29", "model 29: prompt 29"]);
  });

  it("is aborted in the middle of a change", async () => {
    const module = new Module(turns);
    const { run, events } = begun(module.run(1));
    await until(() => waits(events));
    module.run(2);
    await null;
    run.abort("enough");
    expect(await run.result).toMatchObject({ outcome: "cancelled", abortReason: "enough" });
  });

  it("heeds changed permissions", async () => {
    const module = new Module(turns);
    const { run, events } = begun(module.run(1));
    await until(() => waits(events));
    module.run(2, { permissions: { mode: "plan" } });
    const { toolCalls } = await run.result;
    expect(toolCalls.find(({ toolCallId }) => toolCallId === "pay")).toMatchObject({ isError: true });
    expect(module.log.filter((line) => line.startsWith("pay"))).toEqual([]);
  });

  it("keeps the rules that a person has added, while the permissions of the code stay the same", async () => {
    const module = new Module([() => calls("pay"), () => calls("look", "pay2"), () => "Done."]);
    const options = (version: number): Partial<AgentOptions> => {
      const [look, pay, pay2] = [
        module.tool("look", version),
        module.tool("pay", version),
        module.tool("pay2", version),
      ];
      return { tools: { look, pay, pay2 }, permissions: { canUseTool: () => null } };
    };
    const { run, events } = begun(module.run(1, options(1)));
    await until(() => waits(events));
    const rules = [{ toolName: "pay2" }];
    run.answer(questionOf(events), {
      behavior: "allow",
      updatedPermissions: [{ type: "addRules", rules, behavior: "allow", destination: "session" }],
    });
    await until(() => events.filter(({ type }) => type === "waiting").length > 1);
    module.run(2, options(2));
    await settled();
    const questions = events.flatMap((event) => (event.type === "question" ? [event.data] : []));
    expect(questions).toMatchObject([{ toolName: "pay" }, { toolName: "look" }]);
    run.abort();
    await run.result;
  });
});

describe("a run that works while its module changes", () => {
  it("lets a call that has begun come to its end with the old code", async () => {
    let settle!: (output: string) => void;
    const module = new Module([() => calls("slow"), () => calls("slow2"), () => "Done."]);
    const tools = (version: number) => {
      const slow = () => {
        module.log.push(`slow ${version}`);
        return new Promise<string>((resolve) => (settle = resolve));
      };
      return { slow: module.tool("slow", version, { execute: slow }), slow2: module.tool("slow2", version) };
    };
    const { run, events } = begun(module.run(1, { tools: tools(1) }));
    await until(() => module.log.includes("slow 1"));
    for (let version = 2; version < 9; version++) {
      module.run(version, { tools: tools(version) });
      await settled();
    }
    settle("slow of 1");
    const { toolCalls, outcome } = await run.result;
    expect([outcome, ...toolCalls.map(({ output }) => output)]).toEqual([
      "completed",
      "slow of 1",
      "slow2 of 8",
    ]);
    expect(module.log).toEqual([
      "model 1: prompt 1",
      "slow 1",
      "model 8: prompt 8",
      "slow2 8",
      "model 8: prompt 8",
    ]);
    expect(twice(events)).toEqual([]);
  });

  it("reads an answer that streams to its end, and makes its calls with the new code", async () => {
    const module = new Module([
      () =>
        (async function* () {
          yield "I look";
          await nextTask();
          module.run(2);
          await settled();
          yield " now.";
          yield* calls("look");
        })(),
      () => "Done.",
    ]);
    const { run, events } = begun(module.run(1));
    expect((await run.result).outcome).toBe("completed");
    expect(module.log).toEqual(["model 1: prompt 1", "look 2", "model 2: prompt 2"]);
    expect(twice(events)).toEqual([]);
    expect(told(events)).not.toContain("reset");
    const texts = events.flatMap((event) => (event.type === "text-delta" ? [event.text] : []));
    expect(texts.join("")).toBe("I look now.Done.");
  });

  it("reads a last answer to its end, and is over", async () => {
    const module = new Module([
      () =>
        (async function* () {
          yield "All ";
          await nextTask();
          module.run(2);
          await settled();
          yield "done.";
        })(),
    ]);
    const { run, events } = begun(module.run(1));
    expect(await run.result).toMatchObject({ outcome: "completed", text: "All done." });
    expect(told(events)).not.toContain("hot_reload");
  });

  it("sends no request with the old code", async () => {
    const module: Module = new Module([() => calls("look"), () => "Done."]);
    const execute = () => {
      module.log.push("look 1");
      module.run(2);
      return "seen";
    };
    const tools = { look: module.tool("look", 1, { execute }) };
    const { run, events } = begun(module.run(1, { tools }));
    expect((await run.result).toolCalls).toMatchObject([{ output: "seen" }]);
    expect(module.log).toEqual(["model 1: prompt 1", "look 1", "model 2: prompt 2"]);
    expect(twice(events)).toEqual([]);
  });

  it("waits for the answers of all subagents, and holds back what would follow", async () => {
    const goOn: { [name: string]: () => void } = {};
    const module = new Module([
      () => calls("quick", "slow").map((call) => ({ ...call, input: { prompt: "Look." } })),
      () => "Done.",
    ]);
    const options = (version: number): Partial<AgentOptions> => {
      const below = (name: string) => {
        const model = custom(async function* ({ messages }) {
          module.log.push(`${name} ${version}`);
          if (messages.length > 1) return yield "Seen.";
          yield "I ";
          await new Promise<void>((resolve) => (goOn[name] = resolve));
          yield* calls("look");
        });
        const look = module.tool("look", version, { readOnly: true });
        return subagent({ description: name, model, tools: { look } });
      };
      return { tools: { quick: below("quick"), slow: below("slow") } };
    };
    const { run, events } = begun(module.run(1, options(1)));
    await until(() => goOn["quick"] !== undefined && goOn["slow"] !== undefined);
    module.run(2, options(2));
    goOn["quick"]!();
    await settled();
    expect(module.log).toEqual(["model 1: prompt 1", "quick 1", "slow 1"]);
    goOn["slow"]!();
    const { toolCalls, outcome } = await run.result;
    expect(module.log.slice(3).sort()).toEqual([
      "look 2",
      "look 2",
      "model 2: prompt 2",
      "quick 2",
      "slow 2",
    ]);
    expect([outcome, ...toolCalls.map(({ output }) => output)]).toEqual(["completed", "Seen.", "Seen."]);
    expect(twice(events)).toEqual([]);
  });

  it("goes on when the last answer under way brings nothing more, and nobody listens", async () => {
    const goOn: { [name: string]: () => void } = {};
    const prompt = (name: string) => calls(name).map((call) => ({ ...call, input: { prompt: "Look." } }));
    const module = new Module([() => [...prompt("quick"), ...prompt("slow")], () => "Done."]);
    const options = (version: number): Partial<AgentOptions> => {
      const below = (name: string) => {
        const model = custom(async function* ({ messages }) {
          if (messages.length === 1) await new Promise<void>((resolve) => (goOn[name] = resolve));
          if (name === "slow" || messages.length > 1) yield `Seen by ${version}.`;
          else yield* calls("look");
        });
        return subagent({ description: name, model, tools: { look: module.tool("look", version) } });
      };
      return { tools: { quick: below("quick"), slow: below("slow") } };
    };
    const run = module.run(1, options(1)).run("Go.");
    await until(() => goOn["quick"] !== undefined && goOn["slow"] !== undefined);
    module.run(2, options(2));
    goOn["quick"]!();
    await settled();
    goOn["slow"]!();
    const { toolCalls } = await run.result;
    expect(toolCalls.map(({ output }) => output)).toEqual(["Seen by 2.", "Seen by 1."]);
    expect(module.log).toEqual(["model 1: prompt 1", "look 2", "model 2: prompt 2"]);
  });

  it("sends no request whose key comes after the change", async () => {
    const module = new Module([]);
    const fetch = scripted([{ text: "Done." }, { text: "Twice." }]);
    const options = (version: number): Partial<AgentOptions> => ({
      model: anthropic("m", {
        fetch,
        apiKey: async () => {
          if (version === 1) module.run(2, options(2));
          return "key";
        },
      }),
    });
    const { run, events } = begun(module.run(1, options(1)));
    expect((await run.result).text).toBe("Done.");
    expect(fetch.requests).toMatchObject([{ body: { system: [{ text: "prompt 2" }] } }]);
    expect(twice(events)).toEqual([]);
  });

  it("tries a request again at once with the new code, if it waits for its next attempt", async () => {
    const module = new Module([]);
    const fetch = scripted([{ status: 500 }, { text: "Done." }]);
    const clock = new VirtualClock();
    const options = { model: anthropic("m", { fetch, apiKey: "k" }), retry: { delaysMs: [60_000] }, clock };
    const { run, events } = begun(module.run(1, options));
    await until(() => told(events).includes("retry"));
    module.run(2, options);
    expect((await run.result).text).toBe("Done.");
    expect(fetch.requests[1]).toMatchObject({ body: { system: [{ text: "prompt 2" }] } });
    expect(twice(events)).toEqual([]);
  });

  it("takes a change that comes before the engine is there", async () => {
    const module = new Module([() => calls("look"), () => "Done."]);
    const { run } = begun(module.run(1));
    module.run(2);
    expect((await run.result).outcome).toBe("completed");
    expect(module.log.slice(1)).toEqual(["look 2", "model 2: prompt 2"]);
  });
});

describe("a change that is refused", () => {
  const turns = [() => calls("look"), () => calls("pay"), () => "Done."];

  it("by createAgent leaves the old code at work", async () => {
    const module = new Module(turns);
    const { run, events } = begun(module.run(1));
    await until(() => waits(events));
    expect(() => module.run(2, { limits: { maxIterations: -1 } })).toThrow(/maxIterations/);
    await settled();
    run.answer(questionOf(events), { behavior: "allow" });
    expect((await run.result).outcome).toBe("completed");
    expect(module.log).toContain("pay 1");
    expect(told(events)).not.toContain("hot_reload");
  });

  it("by the engine leaves the old code at work, says why, and the next change is taken", async () => {
    const module = new Module(turns);
    const { run, events } = begun(module.run(1));
    await until(() => waits(events));
    const look = module.tool("look", 2, {
      inputSchema: { type: "object", properties: { n: { type: "no" } } },
    });
    module.run(2, { tools: { look, pay: module.tool("pay", 2, { needsApproval: true }) } });
    await settled();
    const refused = events.filter((event) => event.type === "warning" && event.code === "hot_reload");
    expect(refused).toMatchObject([
      { message: expect.stringMatching(/refused.*previous code.*tools\.look/s) },
    ]);
    expect(module.said.at(-1)).toMatch(/refused.*tools\.look/s);
    module.run(3);
    await settled();
    run.answer(questionOf(events), { behavior: "allow" });
    expect((await run.result).outcome).toBe("completed");
    expect(module.log.slice(-2)).toEqual(["pay 3", "model 3: prompt 3"]);
  });
});

describe("an agent of a module that changes", () => {
  it("is one agent for its whole page, whose next runs have the new code", async () => {
    const module = new Module([() => calls("look"), () => "Done."]);
    const agent = module.run(1);
    await agent.run("Go.").result;
    expect(module.run(2)).toBe(agent);
    await agent.run("Go.").result;
    expect(module.log.slice(3)).toEqual(["model 2: prompt 2", "look 2", "model 2: prompt 2"]);
    expect(module.said).toEqual(['[looplet] "agent" has new code']);
  });

  it("has the new code where it becomes the subagent of another one", async () => {
    const module = new Module([() => "Done."]);
    const agent = module.run(1);
    module.run(2);
    const model = custom(({ messages }) =>
      messages.length > 1 ? "Asked." : calls("helper").map((call) => ({ ...call, input: { prompt: "Go." } })),
    );
    const tools = { helper: subagent(agent, { description: "helps" }) };
    await createAgent({ model, tools }).run("Go.").result;
    expect(module.log).toEqual(["model 2: prompt 2"]);
  });

  it("keeps the store of its runs, so that a chat goes on under its id", async () => {
    const module = new Module([() => calls("look"), () => "Done.", () => "Again."]);
    const agent = module.run(1, { store: memoryStore() });
    const chat = await agent.openChat("c");
    await chat.run("Go.").result;
    module.run(2, { store: memoryStore() });
    expect((await chat.run("Again.").result).text).toBe("Again.");
    const { messages } = (await agent.readChat("c"))!;
    expect(messages.filter(({ role }) => role === "assistant")).toHaveLength(3);
  });

  it("has no store that its code does not name", async () => {
    const module = new Module([() => "Done."]);
    const agent = module.run(1);
    await expect(agent.pending()).rejects.toThrow(/store/);
    await expect(agent.openChat("c")).rejects.toThrow(/store/);
    expect(() => agent.resume("r")).toThrow(/store/);
  });

  it("is left alone in a build, where there is no hot", async () => {
    const module = new Module([() => "Done."]);
    const agent = createAgent(module.options(1));
    expect(hotAgent(agent, undefined)).toBe(agent);
    expect((await agent.run("Go.").result).text).toBe("Done.");
  });

  it("may stand beside another one", async () => {
    const hot = { data: {} };
    const make = (name: string, version: string) =>
      hotAgent(
        createAgent({ system: version, model: new Module([() => "Done."]).options(1).model }),
        hot,
        name,
      );
    const [one, other] = [make("one", "a"), make("other", "a")];
    expect(one).not.toBe(other);
    expect([make("one", "b"), make("other", "b")]).toEqual([one, other]);
  });

  it("must be one that createAgent has made", () => {
    expect(() => hotAgent({}, { data: {} })).toThrow(/createAgent/);
  });
});

describe("the record of a run that went on with new code", () => {
  it("plays again, with both halves", async () => {
    const module = new Module([() => calls("look"), () => calls("pay"), () => "Done."]);
    const { run, events } = begun(module.run(1, { record: recorder() }));
    await until(() => waits(events));
    module.run(2, { record: recorder() });
    await settled();
    run.answer(questionOf(events), { behavior: "allow" });
    await run.result;
    const { steps, at } = await replay(run.export());
    expect(at(steps.length - 1)).toMatchObject({ text: "Done.", outcome: "completed" });
    expect(steps.flatMap((step) => step.calls).map(({ toolCallId }) => toolCallId)).toEqual(["look", "pay"]);
  });
});
