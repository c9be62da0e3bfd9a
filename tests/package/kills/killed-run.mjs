// One life of the run that is killed again and again. The module runs in every host; what outlives its process is the
// world (`world.mjs`), which answers below the address of this life.

/**
 * The agent of the run. Before and after everything that the process does, it reports a step to the world, and waits
 * for the answer. `looplet` is the package; `url` is the address of this life, `store` and `clock` as in
 * `createAgent`, `durable` has further options about crashes.
 */
export function agentOn({ createAgent, custom, tool }, { url, store, clock, durable }) {
  const ask = async (path) => {
    const response = await fetch(`${url}/${path}`, { method: "POST" });
    if (!response.ok) throw new Error(`The service has refused ${path}.`);
    return response.json();
  };
  const step = (name) => ask(`step?name=${encodeURIComponent(name)}`);
  const around = async (name, work) => {
    await step(`before ${name}`);
    const value = await work();
    await step(`after ${name}`);
    return value;
  };

  const inputSchema = { type: "object", properties: {} };
  /** A tool whose effect happens in the world. */
  const effect = (options) =>
    tool({
      description: "Does something",
      inputSchema,
      execute: (_, { toolCallId, fence }) =>
        around("effect", () => ask(`do?id=${toolCallId}&fence=${fence}&once=${options.replay !== "safe"}`)),
      ...options,
    });
  const reporting = {
    ...store,
    append: (...given) => around("save", () => store.append(...given)),
    lease: (...given) => around("lease", () => store.lease(...given)),
  };
  const agent = createAgent({
    model: custom(async function* ({ messages }) {
      const answered = messages.filter(({ role }) => role === "assistant").length;
      await step("request");
      yield `Part ${answered} `;
      await step("half of an answer");
      yield "is said.";
      for (const [id, name] of answers[answered] ?? []) yield { type: "tool_call", id, name, input: {} };
      await step("end of an answer");
    }),
    tools: {
      read: effect({ replay: "safe", readOnly: true }),
      pay: effect({ replay: "once" }),
      refund: effect({ replay: "once", needsApproval: true }),
    },
    store: reporting,
    clock,
    durable: {
      ...durable,
      async reconcile({ toolCallId, fence }) {
        const isDone = await around("question", () => ask(`find?id=${toolCallId}&fence=${fence}`));
        return isDone ? { outcome: "done", output: `done ${toolCallId}` } : { outcome: "run" };
      },
    },
  });
  return { agent, store: reporting, ask, step };
}

/**
 * Resumes the run until it has ended, and reports the end to the world. `looplet` is the package with
 * `checkTranscript` of `looplet/transcript`; the rest is as for `agentOn`.
 */
export async function live(looplet, options) {
  const { agent, ask, step } = agentOn(looplet, options);
  const approve = async (run) => {
    for await (const event of run.events({ detached: true })) {
      if (event.type !== "question" || event.question !== "permission") continue;
      await step("approval");
      run.answer(event.questionId, { behavior: "allow" });
    }
  };
  await step("birth");
  for (;;) {
    // Deaths may have stopped the run.
    for (const { stops } of await agent.pending()) await ask(`stops?count=${stops}`);
    const [pending] = await agent.resumePending({ stopped: true });
    // A run whose prompt is not saved begins again, and one that has ended ends again.
    const run = pending ?? agent.run("Pay.", { id: "order" });
    void approve(run);
    const { outcome, stoppedBy, text, iterations, messages, toolCalls } = await run.result;
    const unsaved = await run.saved().then(
      () => undefined,
      (error) => error.name,
    );
    const problems = looplet.checkTranscript(messages, "looplet");
    if (stoppedBy === "recovery_exhausted" && problems.length === 0) continue;
    const calls = toolCalls.map(({ toolCallId, output }) => [toolCallId, output]);
    const told = { outcome, unsaved, end: { text, iterations, calls, messages, problems } };
    return fetch(`${options.url}/end`, { method: "POST", body: JSON.stringify(told) });
  }
}

/** The calls of the answers, by the number of answers before. */
const answers = [
  [
    ["a", "read"],
    ["b", "read"],
  ],
  [
    ["c", "pay"],
    ["d", "pay"],
  ],
  [
    ["e", "read"],
    ["f", "refund"],
  ],
];
