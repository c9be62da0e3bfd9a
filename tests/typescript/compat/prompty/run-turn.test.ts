import { describe, expect, it } from "vitest";
import {
  IndeterminateError,
  replayJournal,
  resumeModelReconciliation,
  resumeToolReconciliation,
  resumeTurn,
  runTurn,
  type ModelResponse,
  type RunTurnRequest,
  type TurnCheckpoint,
  type TurnEvent,
  type TurnPorts,
} from "looplet/prompty";
import { hasVectors, stage } from "./vectors.js";

const say = (content: string) => ({ role: "user", content }) as const;
const request: RunTurnRequest = { turnId: "turn-1", messages: [say("Go.")] };
const call = (id: string, name = "echo", args: object = {}) => ({ id, name, arguments: args as {} });

/** Ports on these answers of the model. Each entry of `log` is one effect; `journal` is what the store has. */
function host(answers: (ModelResponse | Error)[], more: Partial<TurnPorts> = {}) {
  const log: string[] = [];
  const journal: TurnEvent[] = [];
  const checkpoints: TurnCheckpoint[] = [];
  const left = [...answers];
  const ports: TurnPorts = {
    model: {
      async invoke(_, { requestId, attempt }) {
        log.push(`model ${requestId} ${attempt}`);
        const answer = left.shift() ?? { output: "Done." };
        if (answer instanceof Error) throw answer;
        return answer;
      },
    },
    tools: {
      names: ["echo", "fail"],
      async execute({ id, name }) {
        log.push(`${name} ${id}`);
        if (name === "fail") throw new Error("out of paper");
        return `${id} done`;
      },
    },
    durability: {
      async commit({ events, checkpoint }) {
        journal.push(...events);
        if (checkpoint !== undefined)
          checkpoints.push(JSON.parse(JSON.stringify(checkpoint)) as TurnCheckpoint);
      },
    },
    clock: { now: () => 7, wait: async () => {} },
    ...more,
  };
  return { ports, log, journal, checkpoints };
}

const round: ModelResponse = { assistant: "I look.", tools: [call("a"), call("b")] };

describe.skipIf(!hasVectors)("vectors", () => {
  it.each(stage("turn"))("T-01, T-08, P-25: turn %s", async (_, { input, expected }) => {
    const tools = input.model.flatMap((answer: any) => answer.tools ?? []);
    const { ports } = host(input.model, {
      tools: {
        names: tools.map(({ name }: any) => name),
        execute: async ({ id }) => input.toolOutputs[id],
      },
      permission: async ({ name }) => ({ isAllowed: !input.denyTools?.includes(name) }),
      postCommit: [async () => {}],
    });
    const result = await runTurn({ messages: input.messages }, ports);
    expect(result).toMatchObject({
      status: expected.status,
      output: expected.output,
      iterations: expected.iterations,
    });
    expect(result.snapshots).toHaveLength(expected.snapshots);
    expect(result.snapshots.map((snapshot) => snapshot.stablePrefixMessages)).toEqual(
      expected.snapshotStablePrefixes,
    );
    expect(result.toolResults).toHaveLength(expected.toolResults);
    const order = result.toolResults.map(({ requestId }) => requestId);
    expect(order).toEqual(expected.toolResultOrder ?? []);
    const kinds = result.events.map(({ kind }) => kind);
    expect(kinds).toEqual(expected.eventKinds ?? kinds);
  });

  it.each(stage("replay"))("P-25: replay %s", async (name, { input, expected }) => {
    const tool = name === "tool_failure" ? "fail" : "add";
    const { ports } = host([{ tools: [call("exec-1", tool)] }], {
      tools: {
        names: ["add", "fail"],
        async execute({ name }) {
          if (name === "fail") throw new Error("failed");
          return "3";
        },
      },
      permission: async () => ({ isAllowed: name !== "permission_denied" }),
      clock: { now: () => Date.parse(input.clock), wait: async () => {} },
    });
    const result = await runTurn({ turnId: input.turnId, messages: [say("Go.")] }, ports);
    expect(replayJournal(result, { sessionId: input.sessionId })).toEqual(expected);
  });
});

describe("runTurn", () => {
  it("P-25: a turn that fails has its error and its end in the journal of its session", async () => {
    const add = { names: ["add"], execute: async () => "3" };
    const { ports } = host([{ tools: [call("exec-1", "add")] }], { tools: add });
    const result = await runTurn({ ...request, profile: { maxIterations: 1 } }, ports);
    expect(result.status).toBe("failed");
    expect(replayJournal(result, { sessionId: "session-1" })).toEqual([
      "session:session_start:session-1:turn-1",
      "turn:turn_start:0",
      "turn:llm_start:0",
      "turn:llm_complete:0",
      "session:checkpoint_created:session-1:turn-1",
      "turn:permission_requested:0:exec-1-permission",
      "turn:permission_completed:0:true",
      "turn:tool_execution_start:0:add",
      "turn:tool_execution_complete:0:add:true",
      "turn:tool_result:0:add:true",
      "turn:messages_updated:0",
      "turn:error:1:max_iterations",
      "turn:turn_end:1:error",
      "session:session_end:session-1:turn-1:error",
      "summary:session-1:error:turns=1:checkpoints=1",
    ]);
  });

  it("T-07: a state that the model's host keeps is in the next snapshot, in the checkpoint and in the result", async () => {
    const kept = { provider: "openai", kind: "previous_response", id: "resp_123" };
    const first: ModelResponse = {
      tools: [call("a")],
      nextPortability: "delegated",
      delegatedState: [kept],
    };
    const { ports, checkpoints } = host([first, { output: "continued" }]);
    const result = await runTurn(request, ports);
    expect(result).toMatchObject({ status: "success", portability: "delegated", delegatedState: [kept] });
    expect(result.snapshots.map(({ portability }) => portability)).toEqual(["portable", "delegated"]);
    expect(result.snapshots[1]!.delegatedState).toEqual([kept]);
    const again = await resumeTurn({ checkpoint: checkpoints[1]!, tail: [] }, host([]).ports);
    expect(again.snapshots.map(({ delegatedState }) => delegatedState)).toEqual([[kept]]);
    const back = host([first, { tools: [call("b")], nextPortability: "portable" }]);
    const { snapshots } = await runTurn(request, back.ports);
    expect(snapshots.map(({ portability }) => portability)).toEqual(["portable", "delegated", "portable"]);
    expect(snapshots[2]!.delegatedState).toEqual([]);
  });

  it("T-02, T-09: the host's tools count, and a tool that is not there fails the turn", async () => {
    const { ports, log } = host([{ tools: [call("a", "rm")] }]);
    const unknown = await runTurn(request, ports);
    expect(unknown).toMatchObject({
      status: "failed",
      error: { code: "configuration", message: expect.stringContaining("rm") },
    });
    const declared = await runTurn({ ...request, tools: ["rm"] }, ports);
    expect(declared).toMatchObject({ status: "failed", error: { code: "configuration" } });
    const chosen = await runTurn(
      { ...request, tools: ["echo"] },
      host([{ tools: [call("a", "fail")] }]).ports,
    );
    expect(chosen).toMatchObject({ status: "failed", error: { code: "configuration" } });
    expect(log).toEqual(["model turn-1-model-0 1"]);
  });

  it("T-09: a failure of a tool is told to the model", async () => {
    const { ports } = host([{ tools: [call("a", "fail"), call("b")] }]);
    const { messages, status } = await runTurn(request, ports);
    expect(status).toBe("success");
    expect(messages.slice(2).map(({ content }) => content)).toEqual(["out of paper", "b done"]);
  });

  it("T-03, T-14: attempts use the same snapshot and id, three at most, and ten iterations", async () => {
    const ids: string[] = [];
    const refuse = host([]).ports;
    refuse.model = {
      async invoke(snapshot, { requestId }) {
        ids.push(`${snapshot.id} ${requestId}`);
        expect(Object.isFrozen(snapshot.messages)).toBe(true);
        throw new Error("busy");
      },
    };
    expect(await runTurn(request, refuse)).toMatchObject({
      status: "failed",
      error: { code: "model", message: "busy" },
    });
    expect(ids).toEqual(Array.from({ length: 3 }, () => "turn-1-context-0 turn-1-model-0"));
    const endless = host(Array.from({ length: 20 }, (_, at) => ({ tools: [call(`c${at}`)] })));
    const result = await runTurn(request, endless.ports);
    expect(result).toMatchObject({ status: "failed", iterations: 10, error: { code: "max_iterations" } });
  });

  it.each([
    ["before the context", 0],
    ["before a tool", 1],
    ["behind a round", 2],
  ])("T-04: is cancelled %s, and what is committed stays", async (_, when) => {
    const abort = new AbortController();
    const { ports, log } = host([round]);
    if (when === 0) abort.abort("enough");
    ports.permission = async ({ id }) => {
      if (when === 1 && id === "a") abort.abort("enough");
      return { isAllowed: true };
    };
    ports.onEvent = ({ kind }) => {
      if (when === 2 && kind === "conversation_updated") abort.abort("enough");
    };
    const result = await runTurn({ ...request, signal: abort.signal }, ports);
    expect(result).toMatchObject({ status: "cancelled", reason: "enough" });
    expect(log.filter((effect) => effect.startsWith("echo"))).toHaveLength(when);
    expect(result.events.at(-1)!.kind).toBe("turn_cancelled");
  });

  it("T-05: a policy rewrites the output or rejects it", async () => {
    const beforeCommit = async (output: string) => ({
      isAllowed: output !== "bad",
      output: `${output}!`,
      reason: "No.",
    });
    const rewritten = await runTurn(request, host([{ output: "good" }], { policy: { beforeCommit } }).ports);
    expect(rewritten).toMatchObject({ status: "success", output: "good!" });
    const rejected = await runTurn(request, host([{ output: "bad" }], { policy: { beforeCommit } }).ports);
    expect(rejected).toMatchObject({ status: "failed", error: { code: "policy_rejected", message: "No." } });
  });

  it("T-06, T-11: an effect of which nobody knows the outcome is reconciled, and never repeated on its own", async () => {
    const model = host([new IndeterminateError("cut off")]);
    const unsure = await runTurn(request, model.ports);
    expect(unsure).toMatchObject({ status: "reconciliation_required", reconciliation: { kind: "model" } });
    expect(model.log).toHaveLength(1);
    const { checkpoint } = unsure;
    await expect(resumeTurn({ checkpoint, tail: [] }, model.ports)).rejects.toThrow(
      /resumeModelReconciliation/,
    );
    const known = await resumeModelReconciliation(
      { checkpoint, tail: [] },
      { output: "It was said." },
      model.ports,
    );
    expect(known).toMatchObject({ status: "success", output: "It was said." });
    const again = await resumeModelReconciliation({ checkpoint, tail: [] }, "not_invoked", model.ports);
    expect(again).toMatchObject({ status: "success", output: "Done." });
    expect(model.log).toEqual(["model turn-1-model-0 1", "model turn-1-model-0 1"]);

    const tool = host([round]);
    const { execute } = tool.ports.tools!;
    tool.ports.tools = {
      names: ["echo"],
      async execute(call, context) {
        if (call.id === "b" && !tool.log.includes("unsure")) {
          tool.log.push("unsure");
          throw new IndeterminateError("lost");
        }
        return execute(call, context);
      },
    };
    const lost = await runTurn(request, tool.ports);
    expect(lost).toMatchObject({
      status: "reconciliation_required",
      reconciliation: { kind: "tool", requestId: "b" },
    });
    const done = await resumeToolReconciliation(
      { checkpoint: lost.checkpoint, tail: [] },
      { output: "b was done" },
      tool.ports,
    );
    expect(done.toolResults.map(({ output }) => output)).toEqual(["a done", "b was done"]);
    const run = await resumeToolReconciliation(
      { checkpoint: lost.checkpoint, tail: [] },
      "not_executed",
      tool.ports,
    );
    expect(run.toolResults.map(({ output }) => output)).toEqual(["a done", "b done"]);
    expect(tool.log.filter((effect) => effect === "echo a")).toHaveLength(1);
  });

  it("T-07: sources, transforms and packing make a snapshot that says what became of each candidate", async () => {
    const { ports } = host([], {
      contextSources: [
        async () => [
          { id: "doc", message: say("A document") },
          { id: "old", message: say("An old one") },
        ],
      ],
      contextTransforms: [async (all) => all.filter(({ id }) => id !== "nothing")],
      packing: async (all) => ({
        decisions: all.map(({ id }) => ({
          id,
          isIncluded: id !== "old",
          reason: id === "old" ? "budget" : "fits",
        })),
        portability: "delegated",
        delegatedState: ["cache-1"],
      }),
    });
    const { snapshots } = await runTurn(request, ports);
    expect(snapshots[0]).toMatchObject({
      messages: [{ content: "Go." }, { content: "A document" }],
      decisions: [{ id: "message-0" }, { id: "doc" }, { id: "old", isIncluded: false, reason: "budget" }],
      stablePrefixMessages: 1,
      portability: "delegated",
      delegatedState: ["cache-1"],
    });
    const silent = host([], { packing: async () => ({ decisions: [] }) });
    expect(await runTurn(request, silent.ports)).toMatchObject({
      status: "failed",
      error: { code: "context" },
    });
    const twice = host([], { contextSources: [async () => [{ id: "message-0", message: say("x") }]] });
    expect(await runTurn(request, twice.ports)).toMatchObject({
      status: "failed",
      error: { code: "context" },
    });
  });

  it("T-10: events have numbers without a gap, and tokens a channel of their own", async () => {
    const tokens: string[] = [];
    const { ports, journal } = host([round], { onToken: (token) => tokens.push(token) });
    const { invoke } = ports.model;
    ports.model = {
      invoke(snapshot, context) {
        context.onToken("t");
        return invoke(snapshot, context);
      },
    };
    const { events } = await runTurn(request, ports);
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, at) => at + 1));
    expect(journal).toEqual(events);
    expect(tokens).toEqual(["t", "t"]);
  });

  it("T-11: goes on from every checkpoint and every tail of the journal without a second effect", async () => {
    const whole = host([round]);
    const end = await runTurn(request, whole.ports);
    expect(whole.checkpoints.length).toBeGreaterThan(4);
    for (const checkpoint of whole.checkpoints)
      for (let length = 0; length <= end.events.length - checkpoint.lastSequence; length++) {
        const tail = end.events.slice(checkpoint.lastSequence, checkpoint.lastSequence + length);
        const newer = whole.checkpoints.some(
          ({ lastSequence }) =>
            lastSequence > checkpoint.lastSequence && lastSequence <= checkpoint.lastSequence + length,
        );
        if (newer || tail.some(({ kind }) => kind === "turn_committed")) continue;
        const again = host(checkpoint.iteration === 0 && checkpoint.pending.length === 0 ? [round] : []);
        const result = await resumeTurn({ checkpoint, tail }, again.ports);
        const begun = [...tail].reverse().find(({ kind }) => /_(started|completed)$/.test(kind))?.kind;
        if (begun?.endsWith("_started")) {
          expect(result.status).toBe("reconciliation_required");
          expect(again.log).toEqual([]);
          continue;
        }
        expect(result).toMatchObject({ status: "success", output: "Done.", toolResults: end.toolResults });
        const done = checkpoint.results.map(({ requestId }) => `echo ${requestId}`);
        expect(again.log.filter((effect) => done.includes(effect))).toEqual([]);
        expect(result.events[0]!.sequence).toBe(checkpoint.lastSequence + length + 1);
      }
    const [first] = whole.checkpoints;
    await expect(
      resumeTurn({ checkpoint: first!, tail: end.events.slice(0, 1) }, whole.ports),
    ).rejects.toThrow(/does not follow/);
  });

  it("T-12: a write that fails behind a tool is a state of its own, and one behind the commit takes nothing back", async () => {
    const { ports, log } = host([round]);
    const { commit } = ports.durability!;
    let refused: string | undefined = "tool_execution_completed";
    ports.durability = {
      async commit(write) {
        if (write.events.some(({ kind }) => kind === refused)) throw new Error("disk full");
        return commit(write);
      },
    };
    const lost = await runTurn(request, ports);
    expect(lost).toMatchObject({
      status: "reconciliation_required",
      reconciliation: { kind: "durability", requestId: "a", message: "disk full" },
    });
    expect(log.filter((effect) => effect === "echo a")).toHaveLength(1);
    refused = "post_commit_completed";
    const resumed = await resumeToolReconciliation(
      { checkpoint: lost.checkpoint, tail: [] },
      { output: "a done" },
      { ...ports, postCommit: [async () => {}, () => Promise.reject(new Error("mail"))] },
    );
    expect(resumed).toMatchObject({ status: "success", postCommitErrors: ["mail"] });
    refused = "model_invocation_started";
    expect(await runTurn(request, ports)).toMatchObject({ status: "failed", error: { code: "durability" } });
  });

  it("T-13: needs a model and nothing else", async () => {
    const result = await runTurn(
      { messages: [say("Hi")] },
      { model: { invoke: async () => ({ output: "Hi." }) } },
    );
    expect(result).toMatchObject({ status: "success", output: "Hi.", iterations: 1 });
    await expect(runTurn(request, {} as TurnPorts)).rejects.toThrow(/ports\.model/);
    await expect(runTurn({ messages: [] }, host([]).ports)).rejects.toThrow(/messages/);
  });
});
