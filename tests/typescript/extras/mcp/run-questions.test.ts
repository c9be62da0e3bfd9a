import { describe, expect, it } from "vitest";
import { createAgent, custom } from "looplet";
import type { Agent, AgentOptions, Reconcile, Run, RunEvent } from "looplet";
import { connectMcp, type McpFetch } from "looplet/mcp";
import { memoryStore } from "looplet/stores";
import { settled } from "../../support/virtual-clock.js";
import { asking, sessionful, stateless } from "./servers.js";

const url = "https://files.test/mcp";

/** An agent that calls `remove` once. Each call of this function is a process. */
async function processOn(fetch: McpFetch, options: Partial<AgentOptions> = {}): Promise<Agent> {
  const client = await connectMcp({ url, fetch, onElicitation: "run" });
  const model = custom(({ messages }) =>
    messages.length === 1 ? [{ type: "tool_call", id: "a", name: "mcp__far__remove", input: {} }] : "Done.",
  );
  return createAgent({ model, tools: await client.tools("far"), ...options });
}

/** A store for processes that are cut off, which must not hold their runs. */
function kept(): { store: AgentOptions["store"] } {
  const { append, load } = memoryStore();
  return { store: { append, load } };
}

async function question(run: Run): Promise<Extract<RunEvent, { question: "elicitation" }>> {
  for await (const event of run.events({ detached: true }))
    if (event.type === "question" && event.question === "elicitation") return event;
  throw new Error("nobody was asked");
}

const yes = { action: "accept", content: { sure: true } } as const;

const outputOf = async (run: Run): Promise<string> => JSON.stringify((await run.result).toolCalls[0]!.output);

for (const isModern of [true, false])
  it(`a question of a server of ${isModern ? "2026" : "2025"} is a question of the run`, async () => {
    const far = isModern ? stateless(() => asking(true), "reject") : sessionful(() => asking(false));
    const run = (await processOn(far.fetch)).run("Remove it.");
    const { questionId, data } = await question(run);
    expect(data.request).toMatchObject({ message: "Really?", requestedSchema: { required: ["sure"] } });
    expect(run.answer(questionId, yes)).toBe(true);
    expect(await outputOf(run)).toContain('accept {\\"sure\\":true}');
  });

it("outside of a run nobody is asked", async () => {
  const { fetch } = stateless(() => asking(true), "reject");
  const client = await connectMcp({ url, fetch, onElicitation: "run" });
  expect((await client.callTool("remove", {})).content[0]).toMatchObject({ text: "decline {}" });
});

describe("a call that waits for the user", () => {
  it("goes on in another process with the answer, without a second first call", async () => {
    const far = stateless(() => asking(true), "reject");
    const options = kept();
    const first = (await processOn(far.fetch, options)).run("Remove it.", { id: "x" });
    const asked = await question(first);
    await first.saved();
    const second = (await processOn(far.fetch, options)).resume("x");
    expect((await question(second)).questionId).toBe(asked.questionId);
    expect(second.answer(asked.questionId, yes)).toBe(true);
    expect(await outputOf(second)).toContain("accept");
    const calls = far.requests.filter(({ body }) => body.method === "tools/call");
    expect(calls.map(({ body }) => body.params.inputResponses?.sure)).toEqual([undefined, yes]);
    first.abort();
  });

  it("is asked about when its process ends after the answer went out", async () => {
    const far = stateless(() => asking(true), "reject");
    const options = kept();
    let isSent = false;
    const hangs: McpFetch = (url, init) => {
      isSent ||= init.body!.includes("inputResponses");
      return isSent ? new Promise(() => {}) : far.fetch(url, init);
    };
    const first = (await processOn(hangs, options)).run("Remove it.", { id: "x" });
    first.answer((await question(first)).questionId, yes);
    while (!isSent) await settled();
    const reconciled: string[] = [];
    const reconcile: Reconcile = ({ toolCallId }) => {
      reconciled.push(toolCallId);
      return { outcome: "done", output: "was removed" };
    };
    const second = (await processOn(far.fetch, { ...options, durable: { reconcile } })).resume("x");
    expect(await outputOf(second)).toBe('"was removed"');
    expect(reconciled).toEqual(["a"]);
    first.abort();
  });
});

/** A server whose tool makes a task, by the schema of the extension of 2026-07-28. `looks` are what `tasks/get` answers. */
function taskServer(looks: (answers: object) => object) {
  const requests: { method: string; name: string | null; params: any }[] = [];
  const answers: { [key: string]: unknown } = {};
  const fetch: McpFetch = async (_, { body, headers }) => {
    const { id, method, params } = JSON.parse(body!) as { id: number; method: string; params: any };
    requests.push({ method, name: new Headers(headers).get("mcp-name"), params });
    if (method === "tasks/update") Object.assign(answers, params.inputResponses);
    const task = { taskId: "t1", createdAt: "2026-01-01T00:00:00Z", ttlMs: null, pollIntervalMs: 0 };
    const tools = [{ name: "remove", inputSchema: { type: "object" } }];
    const results: { [method: string]: () => object } = {
      "server/discover": () => ({ supportedVersions: ["2026-07-28"] }),
      "tools/list": () => ({ tools }),
      "tools/call": () => ({ ...task, resultType: "task", status: "working" }),
      "tasks/get": () => ({ ...task, resultType: "complete", ...looks(answers) }),
    };
    const result = results[method]?.() ?? { resultType: "complete" };
    return Response.json({ jsonrpc: "2.0", id, result });
  };
  return { fetch, requests, sent: (method: string) => requests.filter((sent) => sent.method === method) };
}

const ask = (key: string) => ({
  [key]: { method: "elicitation/create", params: { message: "Go on?", requestedSchema: { type: "object" } } },
});

const done = { status: "completed", result: { content: [{ type: "text", text: "removed" }] } };

describe("a server that answers with a task", () => {
  it("is asked until the task is over, and gets what it asks of the user once", async () => {
    let looks = 0;
    const far = taskServer((answers) => {
      looks++;
      if ("second" in answers) return done;
      const isFirst = !("first" in answers);
      if (looks === 1) return { status: "working", statusMessage: "Counting." };
      // It shows the first question for a while after its answer.
      return {
        status: "input_required",
        inputRequests: { ...ask("first"), ...(isFirst ? {} : ask("second")) },
      };
    });
    const run = (await processOn(far.fetch)).run("Remove it.");
    const told: string[] = [];
    for await (const event of run.events({ detached: true })) {
      if (event.type === "tool-progress") told.push((event.data as { message: string }).message);
      if (event.type !== "question" || event.question !== "elicitation") continue;
      told.push(event.data.request.message);
      run.answer(event.questionId, { action: "accept", content: {} });
    }
    expect(told).toEqual(["Counting.", "Go on?", "Go on?"]);
    expect(await outputOf(run)).toContain("removed");
    const updates = far.sent("tasks/update");
    expect(updates.map(({ params }) => Object.keys(params.inputResponses))).toEqual([["first"], ["second"]]);
    expect(new Set([...far.sent("tasks/get"), ...updates].map(({ name }) => name))).toEqual(new Set(["t1"]));
    const meta = far.sent("tools/call")[0]!.params._meta["io.modelcontextprotocol/clientCapabilities"];
    expect(meta).toMatchObject({ elicitation: {}, extensions: { "io.modelcontextprotocol/tasks": {} } });
  });

  it("is not called again by the next process, which asks about the task", async () => {
    let isDone = false;
    const far = taskServer(() => (isDone ? done : { status: "working" }));
    const options = { store: memoryStore() };
    const agent = await processOn(far.fetch, options);
    const first = agent.run("Remove it.", { id: "x" });
    while (far.sent("tasks/get").length < 2) await settled();
    await agent.close({ recoverable: true });
    await first.result;
    await settled();
    expect(far.sent("tasks/cancel"), "another process goes on with it").toEqual([]);
    isDone = true;
    const second = (await processOn(far.fetch, options)).resume("x");
    expect(await outputOf(second)).toContain("removed");
    expect(far.sent("tools/call")).toHaveLength(1);
  });

  it("does not take the answer to one question for another in the same words", async () => {
    const far = taskServer((answers) => {
      if ("second" in answers) return done;
      return { status: "input_required", inputRequests: ask("first" in answers ? "second" : "first") };
    });
    const options = kept();
    const holding: McpFetch = async (url, init) => {
      const response = await far.fetch(url, init);
      return init.body!.includes("tasks/update") ? new Promise(() => {}) : response;
    };
    const first = (await processOn(holding, options)).run("Remove it.", { id: "x" });
    const asked = await question(first);
    first.answer(asked.questionId, yes);
    while (far.sent("tasks/update").length === 0) await settled();
    await first.saved();
    const second = (await processOn(far.fetch, options)).resume("x");
    const next = await question(second);
    expect(next.questionId).not.toBe(asked.questionId);
    second.answer(next.questionId, yes);
    expect(await outputOf(second)).toContain("removed");
    first.abort();
  });

  it("hears of an abort, and its failures are errors that the model reads", async () => {
    const far = taskServer(() => ({ status: "working" }));
    const run = (await processOn(far.fetch)).run("Remove it.");
    while (far.sent("tasks/get").length === 0) await settled();
    run.abort();
    await run.result;
    await settled();
    expect(far.sent("tasks/cancel").map(({ params }) => params.taskId)).toEqual(["t1"]);

    for (const [look, words] of [
      [{ status: "failed", error: { code: -32603, message: "no disk" } }, "is failed: no disk"],
      [{ status: "cancelled", statusMessage: "by an operator" }, "is cancelled: by an operator"],
    ] as const) {
      const agent = await processOn(taskServer(() => look).fetch);
      expect(await outputOf(agent.run("Remove it.", { onError: () => {} }))).toContain(words);
    }
  });
});
