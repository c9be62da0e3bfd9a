// A run is recorded, exported and played again.
import { describe, expect, it } from "vitest";
import { anthropic, createAgent, LoopletError, subagent, tool } from "looplet";
import type { Agent, AgentOptions, JournalEntry, Run, RunEvent, Store } from "looplet";
import { scripted } from "looplet/practice";
import { fork, recorder, replay, type LoopFile } from "looplet/replay";
import { memoryStore } from "looplet/stores";
import { expectReplay, ReplayDifference, withExpectations } from "looplet/testing";
import { traceRows, type TraceRow } from "looplet/trace";

const KEY = "sk-test-0123456789abcdef";

interface Sent {
  method: string;
  url: string;
  body: string;
}

/** An agent with tools, a subagent and an approval, and everything that leaves it. */
function bench(options: Partial<AgentOptions> = {}) {
  const sent: Sent[] = [];
  const rows: TraceRow[] = [];
  const saved: JournalEntry[] = [];
  const effects: string[] = [];
  const answers = scripted([
    { status: 529, error: { type: "overloaded_error", message: "busy" } },
    {
      thinking: { text: "Hm." },
      text: ["Let me ", "see – ", "ja 🦀."],
      toolCalls: [
        { id: "a", name: "read", input: { n: 1 } },
        { id: "b", name: "pay", input: { n: 2 } },
      ],
    },
    { toolCalls: [{ id: "c", name: "helper", input: { prompt: "Dig." } }] },
    { toolCalls: [{ id: "d", name: "dig", input: { n: 3 } }] },
    { text: "Gold." },
    { text: "All is paid." },
  ]);
  const fetch: typeof globalThis.fetch = async (url, init) => {
    const body = new TextDecoder().decode(init?.body as Uint8Array);
    sent.push({ method: init!.method!, url: url as string, body });
    return answers(url as string, init as never) as Promise<Response>;
  };
  const acts = (name: string, more: { readOnly?: boolean; needsApproval?: boolean }) =>
    tool({
      description: name,
      inputSchema: { type: "object", properties: { n: { type: "number" } } },
      ...more,
      execute: (_, { toolCallId }) => {
        effects.push(toolCallId);
        return `output of ${toolCallId}`;
      },
    });
  const model = anthropic("m", { apiKey: KEY, headers: { "x-team": "team-secret-1" } });
  const digger = createAgent({ model, tools: { dig: acts("dig", {}) } });
  const inner = memoryStore();
  const store: Store = {
    load: inner.load,
    append(key, entries, expectedSeq) {
      saved.push(...entries);
      return inner.append(key, entries, expectedSeq);
    },
  };
  const agent = createAgent({
    model,
    system: "Pay what is due.",
    tools: {
      read: acts("read", { readOnly: true }),
      pay: acts("pay", { needsApproval: true }),
      helper: subagent(digger, { name: "helper", description: "digs" }),
    },
    fetch,
    record: recorder(),
    retry: { baseMs: 0, jitterMs: 0 },
    trace: traceRows((row) => rows.push(row), { jobId: "job" }),
    ...options,
    ...(options.store === undefined ? {} : { store }),
  });
  return { agent, sent, rows, saved, effects, store };
}

/** Runs to the end; the approval comes from the loop over the events. */
async function live(agent: Agent, onEvent: (event: RunEvent, run: Run) => void = () => {}, prompt = "Pay.") {
  const events: RunEvent[] = [];
  let question = 0;
  const run = agent.run(prompt, {
    onEvent: (event) => {
      events.push(event);
      onEvent(event, run);
      if (event.type === "question") question = event.questionId;
      // The person takes their time: the other call of the answer is done.
      if (event.type !== "tool-result" || event.toolCallId !== "a") return;
      void Promise.resolve().then(() => run.answer(question, { behavior: "allow" }));
    },
  });
  const result = await run.result;
  await run.saved();
  return { run, events, result };
}

describe("a recorded run", () => {
  it("I-07 replays to equal requests, events, rows of its trace, and journal", async () => {
    const { agent, sent, rows, saved, effects } = bench({ store: memoryStore() });
    // A steer from inside a listener is an input while outputs wait.
    const { run, events, result } = await live(agent, (event, run) => {
      if (event.type === "tool-call" && event.toolName === "read") run.steer("Be quick.");
    });
    expect(result.outcome).toBe("completed");
    expect(effects).toEqual(["a", "b", "d"]);
    const played = await replay(run.export());
    expect(played.id).toBe(run.id);
    expect(played.requests.map(({ number: _, ...own }) => own)).toEqual(sent);
    const told = played.steps.flatMap((step) => step.events);
    expect(told).toEqual(events);
    const again: TraceRow[] = [];
    const trace = traceRows((row) => again.push(row), { jobId: "job" })({
      id: run.id,
      vendor: "anthropic",
      model: "m",
      now: () => 0,
      random: () => 0.5,
    });
    for (const event of told) trace.onEvent(event);
    const known = (all: TraceRow[]) => all.map((row) => ({ ...row, job_id: row.agent_path ?? row.job_id }));
    expect(known(again)).toEqual(known(rows));
    expect(again.length).toBeGreaterThan(3);
    expect(played.steps.flatMap((step) => step.entries)).toEqual(saved);
    expect(played.steps.flatMap(({ calls }) => calls.map(({ toolCallId }) => toolCallId))).toEqual(effects);
    const questions = played.steps.flatMap((step) => step.questions.map(({ point }) => point));
    expect(questions).toContain("permission");
    const end = played.at(played.steps.length - 1);
    expect(end).toMatchObject({ outcome: "completed", text: "All is paid.", usage: result.usage });
    expect(end.messages).toEqual(result.messages);
    expect(end.toolCalls).toEqual(result.toolCalls);
  });

  it.each(["attempt-start", "tool-call", "text-delta", "iteration-start"])(
    "I-07 replays an abort from inside the listener of %s",
    async (type) => {
      const { agent, sent, saved } = bench({ store: memoryStore() });
      const { run, events, result } = await live(agent, (event, run) => {
        if (event.type === type) run.abort("enough");
      });
      expect(result).toMatchObject({ outcome: "cancelled", abortReason: "enough" });
      const played = await replay(run.export());
      expect(played.requests.map(({ number: _, ...own }) => own)).toEqual(sent);
      expect(played.steps.flatMap((step) => step.events)).toEqual(events);
      expect(played.steps.flatMap((step) => step.entries)).toEqual(saved);
      expect(played.at(played.steps.length - 1).outcome).toBe("cancelled");
    },
  );

  it("tells the state behind each step, forth and back", async () => {
    const { agent } = bench();
    const { run } = await live(agent);
    const { steps, at } = await replay(run.export());
    const lengths = steps.map((_, step) => at(step).messages.length);
    expect(lengths.at(-1)).toBe(6);
    expect(lengths).toEqual([...lengths].sort((a, b) => a - b));
    expect(at(0)).toMatchObject({ text: "", outcome: undefined, iterations: 0 });
    const half = steps.findIndex(({ events }) => events.some(({ type }) => type === "text-delta"));
    expect(at(half).text).not.toBe("");
    expect("Let me see – ja 🦀.".startsWith(at(half).text)).toBe(true);
    expect(() => at(steps.length)).toThrow(/index of a step/);
    expect(() => at(-1)).toThrow(LoopletError);
  });

  it("forks with another model and prompt; finished calls do not run again, and an open question stays", async () => {
    const { agent } = bench();
    const { run } = await live(agent);
    const file = run.export();
    const { steps } = await replay(file);
    const answered = steps.findIndex(({ input }) => JSON.stringify(input).includes('"answered"'));
    const entries = await fork(file, answered - 1);
    const fetch = scripted([{ text: "Done otherwise." }]);
    const other = bench({ model: anthropic("other", { fetch }), system: "Be kind." });
    const questions: string[] = [];
    const again = other.agent.resume(entries, {
      onEvent: (event) => {
        if (event.type !== "question") return;
        questions.push(event.question);
        again.answer(event.questionId, { behavior: "deny", message: "Not today." });
      },
    });
    const result = await again.result;
    expect(result).toMatchObject({ outcome: "completed", text: "Done otherwise." });
    expect(questions).toEqual(["permission"]);
    expect(other.effects).toEqual([]);
    expect(fetch.requests).toHaveLength(1);
    expect(fetch.requests[0]!.body).toMatchObject({ model: "other" });
    // A fork is recorded too, from its journal on.
    const second = await replay(again.export());
    expect(second.steps.flatMap(({ requests }) => requests)).toHaveLength(1);
    const last = second.at(second.steps.length - 1);
    expect(last.messages).toEqual(result.messages);
    // A file of a run has no checksums, because its texts may be cleaned.
    const { crc, ...begun } = JSON.parse(entries[0]!.json) as { crc: number };
    expect([typeof crc, JSON.parse(last.journal[0]!.json)]).toEqual(["number", begun]);
    expect(last.journal.map(({ seq }) => seq)).toEqual(last.journal.map((_, index) => index + 1));
  });

  it("exports during the run, and before it has begun", async () => {
    const { agent } = bench({ fetch: () => new Promise(() => {}) });
    const run = agent.run("Pay.");
    expect(() => run.export()).not.toThrow();
    await expect(replay(run.export())).rejects.toThrow(/had not started/);
    await new Promise((resolve) => setTimeout(resolve, 50));
    const played = await replay(run.export());
    expect(played.requests).toHaveLength(1);
    expect(played.at(played.steps.length - 1).outcome).toBeUndefined();
    run.abort();
    expect((await replay(run.export())).steps.length).toBe(played.steps.length + 1);
  });

  it("replays chunks that are cut inside characters, and the end of a body that breaks off", async () => {
    const answers = scripted([{ text: "Räder 🦀🦀 drehen" }]);
    const fetch: typeof globalThis.fetch = async (url, init) => {
      const whole = new Uint8Array(
        await ((await answers(url as string, init as never)) as Response).arrayBuffer(),
      );
      let at = 0;
      const pull = (stream: ReadableStreamDefaultController<Uint8Array>): void => {
        if (at > whole.length - 300) return stream.error(new Error("reset"));
        stream.enqueue(whole.subarray(at, (at += 7)));
      };
      return new Response(new ReadableStream({ pull }));
    };
    const agent = createAgent({
      model: anthropic("m", { fetch }),
      retry: { maxRetries: 0 },
      record: recorder(),
    });
    const { run, events, result } = await live(agent);
    expect(result.outcome).toBe("failed");
    expect(result.text).toContain("🦀🦀");
    const file = run.export();
    expect(file).not.toContain('"base64"');
    const played = await replay(file);
    expect(played.steps.flatMap((step) => step.events)).toEqual(events);
    expect(played.at(played.steps.length - 1)).toMatchObject({ outcome: "failed", text: result.text });
    const broken = file.replace(
      /\{"text":\{("request":\d+),"text":"(?:[^"\\]|\\.)*"/,
      '{"bytes":{$1,"base64":"*"',
    );
    await expect(replay(broken)).rejects.toThrow(/input \d+: its bytes are not base64/);
  });

  it("needs the option record, which is recorder()", () => {
    const wrong = () => bench({ record: true as never });
    expect(wrong).toThrow(/^record: needs recorder\(\) of looplet\/replay/);
    const run = bench({ record: undefined }).agent.run("Pay.");
    run.abort();
    expect(() => run.export()).toThrow(expect.objectContaining({ code: "misuse_not_recorded" }));
  });
});

describe("a .loop file", () => {
  it("has no key, no header of a model and no text that looks like a key", async () => {
    const { agent } = bench();
    const prompt = "My key is ghp_abcdefghijklmnop1234, call Ann at 555-1234. Bearer abcdefgh1234!";
    const { run } = await live(agent, () => {}, prompt);
    const file = run.export({ redact: (text) => text.replaceAll("555-1234", "000-0000") });
    for (const secret of [KEY, "team-secret-1", "ghp_abcdefghijklmnop1234", "555-1234", "abcdefgh1234"])
      expect(file).not.toContain(secret);
    expect(file).toContain("My key is ************************, call Ann at 000-0000. Bearer ************!");
    expect((await replay(file)).requests[0]!.body).toContain("Ann at 000-0000");
    const wrong = () => run.export({ redact: () => 1 as never });
    expect(wrong).toThrow(expect.objectContaining({ code: "misuse_invalid_argument" }));
  });

  it("does not repeat a key that a server repeats", async () => {
    const key = "plain-key-of-a-user-42";
    const answers = scripted([{ text: `You sent ${key}, did you?` }]);
    const model = anthropic("m", { apiKey: key, fetch: answers });
    const run = createAgent({ model, record: recorder() }).run("Hi");
    expect((await run.result).text).toContain(key);
    expect(run.export()).not.toContain(key);
  });

  it.each([
    ["", /not a .loop file/],
    ["hello", /not a .loop file/],
    ["{}", /not a .loop file/],
    ['{"loop":2,"looplet":"9.9.9","processes":[]}', /looplet 9.9.9, a newer version/],
    ['{"loop":1,"processes":[{"config":{}', /cut off or damaged/],
    ['{"loop":1}', /no inputs/],
    ['{"loop":1,"processes":[{"config":{},"options":{},"inputs":[{"input":1}]}]}', /input 1 is not valid/],
  ])("%j is refused", async (file, message) => {
    const refused = replay(file);
    await expect(refused).rejects.toThrow(message);
    await expect(refused).rejects.toMatchObject({ name: "LoopletError", code: "misuse_run_file" });
  });

  it("is refused with the place of an input that is wrong", async () => {
    const { agent } = bench();
    const { run } = await live(agent);
    const file = JSON.parse(run.export()) as { processes: { inputs: { random: string }[] }[] };
    file.processes[0]!.inputs[2]!.random = "x";
    await expect(replay(JSON.stringify(file))).rejects.toThrow(/input 3: random is not a number/);
  });
});

describe("expectReplay", () => {
  async function recorded(): Promise<string> {
    const { agent } = bench();
    return (await live(agent)).run.export();
  }

  it("passes a file, with and without expectations", async () => {
    const file = await recorded();
    await expectReplay(file);
    const full = await withExpectations(file);
    const played = await expectReplay(full);
    expect(played.requests.length).toBe(6);
    // Bodies share what they repeat.
    const { expected } = JSON.parse(full) as LoopFile;
    const sum = played.requests.reduce((all, { body }) => all + body.length, 0);
    expect(expected!.requests.reduce((all, { body }) => all + body.length, 0)).toBeLessThan(sum);
    expect(await withExpectations(full)).toBe(full);
  });

  it("names the first request that differs from the file, and the character", async () => {
    const full = await withExpectations(await recorded());
    const file = JSON.parse(full) as { expected: { requests: { body: string }[] } };
    const first = file.expected.requests[0]!;
    first.body = first.body.replace("Pay what is due", "Pay what was due");
    const failed = expectReplay(JSON.stringify(file));
    await expect(failed).rejects.toBeInstanceOf(ReplayDifference);
    await expect(failed).rejects.toMatchObject({
      request: 1,
      at: first.body.indexOf("was due"),
      expected: expect.stringContaining("what was due"),
      actual: expect.stringContaining("what is due"),
    });
  });

  it("says which request another prompt or tool changes", async () => {
    const file = await recorded();
    await expectReplay(file, { agent: bench().agent });
    const other = bench({ system: "Pay what is owed." }).agent;
    await expect(expectReplay(file, { agent: other })).rejects.toThrow(
      /^Request 1 differs in its body, at character \d+\.\n {2}expected .*due.*\n {2}actual .*owed/,
    );
    await expect(expectReplay(file, { agent: {} as never })).rejects.toThrow(
      /an agent that createAgent has made/,
    );
  });

  it("tells an outcome that differs", async () => {
    const file = JSON.parse(await recorded()) as { outcome: string };
    file.outcome = "failed";
    await expect(expectReplay(JSON.stringify(file))).rejects.toThrow(/outcome.*differs/);
  });
});
