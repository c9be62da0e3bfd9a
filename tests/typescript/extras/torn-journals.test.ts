import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { anthropic, createAgent, tool } from "looplet";
import type { Agent, AgentOptions, JournalEntry, RunEvent, Store } from "looplet";
import { scripted, type ScriptedTurn } from "looplet/practice";
import { sessionsOf } from "looplet/sessions";
import { memoryStore } from "looplet/stores";
import { fileStore } from "looplet/stores/node";

const replaced = (texts: readonly string[], at: number, text: string): string[] =>
  texts.map((own, place) => (place === at ? text : own));

/** An agent with a tool that must not pay twice. The model gives each call another id. */
function payer(store: Store, turns: ScriptedTurn[], more: Partial<AgentOptions> = {}) {
  const paid: string[] = [];
  const agent = createAgent({
    model: anthropic("big", { apiKey: "k" }),
    fetch: scripted(turns),
    store,
    tools: {
      pay: tool({
        description: "Pays",
        inputSchema: { type: "object", properties: {} },
        replay: "once",
        execute(_, { toolCallId }) {
          paid.push(toolCallId);
          return "paid";
        },
      }),
    },
    ...more,
  } as AgentOptions) as Agent;
  return { agent, paid };
}

const paying = (id: string): ScriptedTurn => ({ toolCalls: [{ id, name: "pay", input: {} }] });

/** A store with the entries of another one but for those that `isLost` names. */
async function without(store: Store, isLost: (entry: JournalEntry) => boolean): Promise<Required<Store>> {
  const kept = (await store.load("run"))!;
  let entries = kept.filter((entry) => !isLost(entry));
  const memory = memoryStore();
  return {
    ...memory,
    load: (key) => (key === "run" ? entries : memory.load(key)),
    append(_, added) {
      entries = [...entries, ...added];
    },
  };
}

type Question = Extract<RunEvent, { type: "question" }>;

describe("a run whose journal has lost the entries of a call", () => {
  /** A run that has paid and was then cut off, and its journal without the answer that has called the tool. */
  async function lostCall(): Promise<Required<Store>> {
    const store = memoryStore();
    const { agent, paid } = payer(store, [paying("first"), { text: "Done." }]);
    const run = agent.run("Pay.", { id: "run" });
    await run.result;
    await run.saved();
    expect(paid).toEqual(["first"]);
    const entries = (await store.load("run"))!;
    const answer = entries.findIndex(({ json }) => json.includes('"first"'));
    const ended = entries.findIndex(({ json }) => json.includes("Done."));
    const cut = await without(store, ({ seq }) => seq - 1 === answer || seq - 1 >= ended);
    return cut;
  }

  it("asks before it makes one under another id, and says that the journal is torn", async () => {
    const store = await lostCall();
    const warnings: string[] = [];
    const { agent, paid } = payer(store, [paying("second"), { text: "Done." }]);
    const run = agent.resume("run", {
      onEvent: (event) => void (event.type === "warning" && warnings.push(event.code)),
    });
    const question = await new Promise<Question>((resolve) => {
      void (async () => {
        for await (const event of run.events()) if (event.type === "question") resolve(event);
      })();
    });
    expect(question).toMatchObject({ question: "reconcile", data: { isTorn: true, toolCallId: "second" } });
    expect(warnings).toContain("journal_torn");
    expect(run.answer(question.questionId, { outcome: "done", output: "paid before" })).toBe(true);
    const { outcome, toolCalls } = await run.result;
    expect([outcome, toolCalls.map(({ output }) => output), paid]).toEqual([
      "completed",
      ["paid before"],
      [],
    ]);
  });

  it("asks in the process after that too, and makes the call when it is told to, once", async () => {
    const store = await lostCall();
    const { agent: dead } = payer(store, [new Promise(() => {}) as never]);
    const first = dead.resume("run");
    await first.saved().catch(() => {});
    await dead.close({ recoverable: true });
    const asked: unknown[] = [];
    const { agent, paid } = payer(store, [paying("second"), { text: "Done." }], {
      durable: {
        reconcile: ({ isTorn, toolCallId }) => {
          asked.push([toolCallId, isTorn]);
          return { outcome: "run" };
        },
      },
    });
    const { outcome } = await agent.resume("run").result;
    expect([outcome, asked, paid]).toEqual(["completed", [["second", true]], ["second"]]);
  });
});

it("a chat whose journal is torn says so in its next run, which is not asked about calls of a new prompt", async () => {
  const store = memoryStore();
  const { agent } = payer(store, [{ text: "Hi." }, { text: "Well." }]);
  const chat = await agent.openChat("run");
  for (const prompt of ["Hello.", "How are you?"]) await chat.run(prompt).result;
  await chat.saved();
  // The beginning of the second run.
  const torn = await without(store, ({ json }) => json.includes('"next"'));
  const { agent: next, paid } = payer(torn, [paying("new"), { text: "Paid." }]);
  const warnings: string[] = [];
  const opened = await next.openChat("run", {
    onEvent: (event) => void (event.type === "warning" && warnings.push(event.code)),
  });
  expect([opened.current, opened.messages.length]).toEqual([undefined, 2]);
  const run = opened.run("Pay.", {
    onEvent: (event) => void (event.type === "warning" && warnings.push(event.code)),
  });
  await run.result;
  expect([warnings, paid]).toEqual([["journal_torn"], ["new"]]);
});

describe("a run in files", () => {
  async function madeFolder(): Promise<string> {
    const path = await mkdtemp(join(tmpdir(), "looplet-torn-"));
    onTestFinished(() => rm(path, { recursive: true }));
    return path;
  }

  it("has the numbers and the order of keys of the model after a restart", async () => {
    const folder = await madeFolder();
    const input = '{"z":9007199254740993,"10":1,"2":[1.0]}';
    const bodies: string[] = [];
    const fetchOf = (turns: ScriptedTurn[]) => {
      const answering = scripted(turns);
      return async (url: string, init: { body: Uint8Array }): Promise<Response> => {
        bodies.push(new TextDecoder().decode(init.body));
        // The second request is never answered.
        if (bodies.length === 2) return new Promise(() => {});
        const response = (await answering(url as never, init as never)) as Response;
        const text = (await response.text()).replace('{\\"marker\\":true}', input.replaceAll('"', '\\"'));
        return new Response(text, response);
      };
    };
    const fetch = fetchOf([{ toolCalls: [{ id: "a", name: "pay", input: { marker: true } }] }]);
    const { agent } = payer(fileStore(folder), [], { fetch: fetch as never });
    agent.run("Pay.", { id: "run" });
    await vi.waitFor(() => expect(bodies).toHaveLength(2));
    await agent.close({ recoverable: true });
    const again = payer(fileStore(folder), [], { fetch: fetchOf([{ text: "Done." }]) as never }).agent;
    const resumed = again.resume("run");
    expect((await resumed.result).outcome).toBe("completed");
    await resumed.saved();
    expect(bodies.map((body) => body.includes(input))).toEqual([false, true, true]);
  });

  it("has sessions, whose list loses nothing by a line that is damaged", async () => {
    const folder = await madeFolder();
    const sessions = sessionsOf(fileStore(folder));
    const { agent } = payer(fileStore(folder), [{ text: "Hi." }, { text: "Hi." }]);
    for (const id of ["a", "b"]) await (await sessions.open(agent, id)).run("Hello.").result;
    await sessions.rename("a", "Shirts");
    const file = join(folder, "looplet.sessions.jsonl");
    const lines = (await readFile(file, "utf8")).trimEnd().split("\n");
    for (const at of lines.keys()) {
      for (const damaged of [
        "null",
        "5",
        "{}",
        "",
        lines[at]!.replace("id", "ie"),
        lines[at]!.slice(0, 30),
      ]) {
        await writeFile(file, [...replaced(lines, at, damaged), ""].join("\n"));
        const other = sessionsOf(fileStore(folder));
        const listed = (await other.list()).map(({ id, title }) => [id, title]);
        expect(listed, `line ${at}: ${damaged}`).toEqual([
          ["a", "Shirts"],
          ["b", undefined],
        ]);
        await other.tag("a", ["shop"]);
        expect((await sessionsOf(fileStore(folder)).list({ tag: "shop" })).map(({ id }) => id)).toEqual([
          "a",
        ]);
      }
    }
  });

  it("has sessions, whose list loses nothing by a row that is changed, lost or swapped with another", async () => {
    const store = memoryStore();
    const { agent } = payer(store, [{ text: "Hi." }, { text: "Hi." }]);
    const sessions = sessionsOf(store);
    for (const id of ["a", "b"]) await (await sessions.open(agent, id)).run("Hello.").result;
    await sessions.rename("a", "Shirts");
    const rows = (await store.load("looplet.sessions"))!.map(({ json }) => json);
    const flipped = (row: string, at: number): string =>
      row.slice(0, at) + String.fromCharCode(row.charCodeAt(at) ^ 1) + row.slice(at + 1);
    const damaged: string[][] = rows.flatMap((row, at) => [
      ...[...row].map((_, character) => replaced(rows, at, flipped(row, character))),
      rows.filter((_, other) => other !== at),
      ...rows.map((other, place) => replaced(replaced(rows, at, other), place, row)),
    ]);
    for (const texts of damaged) {
      const broken: Store = {
        load: () => texts.map((json, at) => ({ seq: at + 1, json })),
        append: () => {},
      };
      const listed = (await sessionsOf(broken).list()).map(({ id }) => id).sort();
      expect(listed, texts.join("\n")).toEqual(["a", "b"]);
      expect((await sessionsOf(broken).get("a"))!.title).toBe("Shirts");
    }
  });
});
