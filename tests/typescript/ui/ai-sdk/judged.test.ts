/** A page's answer comes after the function of the agent that judges the call, and an answer is taken once. */
import { beforeAll, describe, expect, it } from "vitest";
import { anthropic, createAgent, tool } from "looplet";
import { agUiHandler } from "looplet/ag-ui";
import { LoopletChatTransport } from "looplet/ai-sdk";
import { scripted } from "looplet/practice";
import { handler } from "looplet/server";
import { memoryStore } from "looplet/stores";

interface Gate {
  readonly asked: Promise<void>;
  decide(answer: object | null): void;
}

/** An agent that calls `pay`, whose function `canUseTool` decides when it is let. */
function judged() {
  let hear = (): void => {};
  let decide!: (answer: object | null) => void;
  const asked = new Promise<void>((resolve) => (hear = resolve));
  const verdict = new Promise<object | null>((resolve) => (decide = resolve));
  const ran: string[] = [];
  const store = memoryStore();
  const pay = tool({
    description: "Pays",
    inputSchema: { type: "object" },
    execute: () => {
      ran.push("pay");
      return "paid";
    },
  });
  const turns = [{ toolCalls: [{ id: "c1", name: "pay", input: {} }] }, { text: "Done." }];
  const agent = createAgent({
    model: anthropic("m", { apiKey: "sk-0123456789abcdef", fetch: scripted(turns) }),
    tools: { pay },
    store,
    permissions: {
      canUseTool: async () => {
        hear();
        return (await verdict) as never;
      },
    },
  });
  const gate: Gate = { asked, decide };
  return { agent, ran, store, gate };
}

// The first run loads the engine.
beforeAll(
  () =>
    createAgent({
      model: anthropic("m", { apiKey: "sk-0123456789abcdef", fetch: scripted([{ text: "Hi." }]) }),
    }).run("Hi").result,
  60_000,
);

/** The numbers that the question of the call may have. */
const IDS = Array.from({ length: 12 }, (_, at) => at);

const turns = async (): Promise<void> => {
  for (let at = 0; at < 30; at += 1) await new Promise((resolve) => setTimeout(resolve, 0));
};
const prompt = { id: "m1", role: "user", parts: [{ type: "text", text: "Pay." }] };
const approving = (id: string, approved: boolean, reason?: string) => ({
  id: "a1",
  role: "assistant",
  parts: [
    {
      type: "tool-pay",
      toolCallId: "c1",
      state: "approval-responded",
      input: {},
      approval: { id, approved, reason },
    },
  ],
});

/** A chat of a route, whose page answers before it is asked and while the function judges. */
function transported() {
  const { agent, ran, gate } = judged();
  const transport = new LoopletChatTransport(agent as never);
  const read = async (stream: unknown): Promise<any[]> => {
    const chunks: any[] = [];
    for await (const chunk of stream as AsyncIterable<any>) chunks.push(chunk);
    return chunks;
  };
  const send = (messages: object[]) =>
    transport.sendMessages({ trigger: "submit-message", chatId: "c", messages } as never);
  /** Begins the run, and returns its id. */
  const begin = async (): Promise<[string, Promise<any[]>]> => {
    const stream = await send([prompt]);
    const [one, other] = (stream as unknown as ReadableStream).tee();
    const { value } = await one.getReader().read();
    return [value.messageId as string, read(other)];
  };
  return { ran, gate, send, read, begin };
}

describe("LoopletChatTransport", () => {
  it("gives an answer that comes early after the function, whose no counts", async () => {
    const { ran, gate, send, begin, read } = transported();
    const [id, first] = await begin();
    const answer = () =>
      IDS.map((at) => send([prompt, approving(`${id}:${at}`, true)]).then(read, (): any[] => []));
    const streams = [first, ...answer()];
    await gate.asked;
    streams.push(...answer());
    await turns();
    expect(ran).toEqual([]);
    gate.decide({ behavior: "deny", message: "Never." });
    expect(JSON.stringify(await Promise.all(streams))).toContain("Never.");
    expect(ran).toEqual([]);
  });

  it("takes the first of two answers that come while the function judges", async () => {
    const { ran, gate, send, begin, read } = transported();
    const [id] = await begin();
    await gate.asked;
    for (const approved of [false, true])
      for (const at of IDS)
        void send([prompt, approving(`${id}:${at}`, approved, "First no.")]).then(read, () => {});
    await turns();
    gate.decide(null);
    await turns();
    expect(ran).toEqual([]);
  });

  it("takes an answer once, if the function leaves the question to the page", async () => {
    const { ran, gate, send, begin, read } = transported();
    const [id] = await begin();
    await gate.asked;
    for (const approved of [true, true, false])
      for (const at of IDS) void send([prompt, approving(`${id}:${at}`, approved)]).then(read, () => {});
    gate.decide(null);
    await turns();
    expect(ran).toEqual(["pay"]);
  });
});

/** The number of the question that a run has asked. */
async function questionOf(ask: (path: string, body: object) => Promise<any>): Promise<number> {
  for (;;) {
    const { value } = await ask("/c/call", { run: "r", method: "snapshot", args: [] });
    const found = value.events.find(({ type }: any) => type === "question");
    if (found !== undefined) return found.questionId;
    await turns();
  }
}

describe("a handler", () => {
  const served = async () => {
    const { agent, ran, store, gate } = judged();
    const handle = handler(agent as never, { store, authorize: () => "eve" });
    const ask = async (path: string, body: object): Promise<any> => {
      const init = {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      };
      return ((await handle(new Request(`http://s.test${path}`, init))) as unknown as Response).json();
    };
    await ask("/c/call", { method: "run", args: ["Pay.", { id: "r" }] });
    await gate.asked;
    const questionId = await questionOf(ask);
    return { ask, gate, ran, questionId };
  };

  it("takes one of many answers that come while the function judges", async () => {
    const { ask, gate, ran, questionId } = await served();
    const answers = ["deny", "allow", "allow", "deny"].map((behavior) =>
      ask("/c/answer", { questionId, answer: { behavior } }),
    );
    const calls = ["allow", "deny"].map((behavior) =>
      ask("/c/call", { run: "r", method: "answer", args: [questionId, { behavior }] }),
    );
    await turns();
    expect(ran).toEqual([]);
    gate.decide(null);
    const taken = [
      ...(await Promise.all(answers)).map(({ taken }) => taken),
      ...(await Promise.all(calls)).map(({ value }) => value),
    ];
    await turns();
    // One of them counts. The same answer again is that answer.
    const said = ["deny", "allow", "allow", "deny", "allow", "deny"];
    const counted = new Set(said.filter((_, at) => taken[at] === true));
    expect(counted.size).toBe(1);
    expect(ran).toEqual(counted.has("allow") ? ["pay"] : []);
  });
});

describe("agUiHandler", () => {
  const ask = (handle: ReturnType<typeof agUiHandler>, body: object) =>
    handle(
      new Request("http://s.test/", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({
          threadId: "t",
          runId: "r",
          messages: [{ id: "1", role: "user", content: "Pay." }],
          ...body,
        }),
      }),
    ) as unknown as Promise<Response>;

  it("takes one of two inputs with an answer", async () => {
    const { agent, ran, gate } = judged();
    const handle = agUiHandler(agent as never, { authorize: () => "eve" });
    gate.decide(null);
    const interruptId = /"interrupts":\[\{"id":"([^"]+)"/.exec(await (await ask(handle, {})).text())?.[1];
    expect(interruptId).toEqual(expect.any(String));
    const resume = (approved: boolean) => [{ interruptId, status: "resolved", payload: { approved } }];
    const two = await Promise.all(
      [false, true].map(async (approved) =>
        (await ask(handle, { runId: "r2", resume: resume(approved) })).text(),
      ),
    );
    expect(two.filter((text) => text.includes("misuse_chat_busy"))).toHaveLength(1);
    expect(ran).toEqual([]);
  });
});
