// `recorder({ save })` of `looplet/replay`: the file of each run that has ended.
import { expect, it } from "vitest";
import { anthropic, createAgent, tool, type AgentOptions } from "looplet";
import { scripted } from "looplet/practice";
import { recorder, replay, type Recording } from "looplet/replay";
import { handler } from "looplet/server";
import { memoryStore } from "looplet/stores";

const allow: AgentOptions["permissions"] = { canUseTool: () => ({ behavior: "allow" }) };

function agentOf(save: (recording: Recording) => unknown, more: Partial<AgentOptions> = {}) {
  const pay = tool({
    description: "pays",
    inputSchema: { type: "object" },
    needsApproval: true,
    execute: () => "4711 0815",
  });
  const turns = [{ toolCalls: [{ id: "a", name: "pay", input: {} }] }, { text: "Paid with 4711 0815." }];
  const redact = (text: string) => text.replace(/\d{4} \d{4}/g, "**** ****");
  return createAgent({
    model: anthropic("m", { apiKey: "plain-key-of-a-user-42", fetch: scripted(turns) }),
    tools: { pay },
    record: recorder({ save: save as never, redact }),
    ...more,
  });
}

it("a server keeps the file of each run by one option, without keys, and the file plays", async () => {
  const saved: Recording[] = [];
  const store = memoryStore();
  const agent = agentOf((recording) => void saved.push(recording), {
    store,
    permissions: allow,
  });
  const handle = handler(agent, { store, authorize: () => "ada" });
  const response = await handle(
    new Request("http://test/chat/run", {
      method: "POST",
      headers: { "content-type": "application/json", accept: "text/event-stream" },
      body: JSON.stringify({ prompt: "Pay." }),
    }),
  );
  expect(await new Response(response.body as ReadableStream).text()).toContain("Paid with 4711 0815.");
  expect(saved).toHaveLength(1);
  const [{ id, outcome, file }] = saved as [Recording];
  expect(outcome).toBe("completed");
  expect(JSON.parse(file)).toMatchObject({ id, outcome: "completed" });
  expect(file).not.toMatch(/plain-key|4711 0815/);
  const { steps, at } = await replay(file);
  expect(at(steps.length - 1)).toMatchObject({ outcome: "completed" });
});

it("a run that is aborted, closed or failed is saved once, and one that goes on is not", async () => {
  const saved: Recording[] = [];
  const begin = (more: Partial<AgentOptions> = {}) => {
    const agent = agentOf((recording) => void saved.push(recording), more);
    return { agent, run: agent.run("Pay.") };
  };
  const asked = async ({ run }: ReturnType<typeof begin>) => {
    for await (const { type } of run.events({ detached: true })) if (type === "question") return;
  };
  const aborted = begin();
  await asked(aborted);
  expect(saved).toEqual([]);
  aborted.run.abort("enough");
  const closed = begin({ store: memoryStore() });
  await asked(closed);
  await closed.agent.close({ recoverable: true });
  const refusal = { status: 400, error: { type: "invalid_request_error", message: "no" } };
  const failed = begin({ model: anthropic("m", { apiKey: "key", fetch: scripted([refusal]) }) });
  await failed.run.result;
  expect(saved.map(({ id, outcome }) => [id, outcome])).toEqual([
    [aborted.run.id, "cancelled"],
    [closed.run.id, "cancelled"],
    [failed.run.id, "failed"],
  ]);
});

it.each([
  [
    "throws",
    () => {
      throw new Error("the disk is full");
    },
  ],
  ["rejects", () => Promise.reject(new Error("the disk is full"))],
])("an error that save %s goes to onError, and the run has its result", async (_, save) => {
  const errors: unknown[] = [];
  const run = agentOf(save, { permissions: allow }).run("Pay.", {
    onError: (error) => void errors.push(error),
  });
  expect((await run.result).outcome).toBe("completed");
  await Promise.resolve();
  expect(errors).toEqual([new Error("the disk is full")]);
});

it("a wrong option is named", () => {
  expect(() => recorder({ save: "./files" as never })).toThrow(/save/);
  expect(() => recorder({ saves: () => {} } as never)).toThrow(/saves/);
});
