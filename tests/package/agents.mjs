// Agents of a page, one for each protocol and option, against vendors that answer from a list. Each returns how its
// run ended.
import { anthropic, bedrock, createAgent, custom, gemini, openai, openaiChat, subagent, tool } from "looplet";

const input = { a: 3, b: 4 };
/** A call of `add`, then its answer, as whole bodies. */
const bodies = {
  anthropic: (call, text) =>
    call === undefined
      ? { content: [{ type: "text", text }], stop_reason: "end_turn" }
      : { content: [{ type: "tool_use", id: "c1", name: call, input }], stop_reason: "tool_use" },
  openai_chat: (call, text) => ({
    choices: [
      call === undefined
        ? { message: { role: "assistant", content: text }, finish_reason: "stop" }
        : {
            message: {
              role: "assistant",
              tool_calls: [
                { id: "c1", type: "function", function: { name: call, arguments: JSON.stringify(input) } },
              ],
            },
            finish_reason: "tool_calls",
          },
    ],
  }),
  openai_responses: (call, text) => ({
    status: "completed",
    output: [
      call === undefined
        ? { type: "message", role: "assistant", content: [{ type: "output_text", text }] }
        : { type: "function_call", id: "fc1", call_id: "c1", name: call, arguments: JSON.stringify(input) },
    ],
  }),
  gemini: (call, text) => ({
    candidates: [
      {
        content: {
          role: "model",
          parts: [call === undefined ? { text } : { functionCall: { name: call, args: input } }],
        },
        finishReason: "STOP",
      },
    ],
  }),
  bedrock_converse: (call, text) => ({
    output: {
      message: {
        role: "assistant",
        content: [call === undefined ? { text } : { toolUse: { toolUseId: "c1", name: call, input } }],
      },
    },
    stopReason: call === undefined ? "end_turn" : "tool_use",
  }),
  ndjson: (call, text) => (call === undefined ? text : [{ type: "tool_call", name: call, input }]),
};

export const protocols = Object.keys(bodies);

const add = tool({
  description: "Adds",
  inputSchema: {
    type: "object",
    properties: { a: { type: "number" }, b: { type: "number" } },
    required: ["a", "b"],
  },
  execute: ({ a, b }) => a + b,
});

/** A model of that protocol that calls `add` as often as `calls` says, and then answers `text`. */
function modelOf(protocol, { calls = ["add"], text = "added 7", status = 200 } = {}) {
  const left = [...calls];
  const next = () => bodies[protocol](left.shift(), text);
  if (protocol === "ndjson") return custom(next);
  const fetch = async () => Response.json(next(), { status });
  const options = { apiKey: "k", dangerouslyAllowBrowser: true, stream: false, fetch };
  switch (protocol) {
    case "anthropic":
      return anthropic("m", options);
    case "openai_chat":
      return openaiChat("m", options);
    case "openai_responses":
      return openai("m", options);
    case "gemini":
      return gemini("m", options);
    default:
      return bedrock("m", { ...options, region: "us-east-1" });
  }
}

async function told(run) {
  const { outcome, text, error } = await run.result;
  return `${outcome}: ${error === undefined || error === null ? text : `${error.code} ${error.message}`}`;
}

export function converse(protocol) {
  return told(createAgent({ model: modelOf(protocol), tools: { add } }).run("Add"));
}

export function fallBack(first, second) {
  const model = modelOf(first, { status: 503 });
  const fallbackModels = [modelOf(second, { text: "added 7 by fallback" })];
  return told(createAgent({ model, fallbackModels, retry: { maxRetries: 0 }, tools: { add } }).run("Add"));
}

export function delegate(own, other) {
  const helper = subagent({ description: "Helps", model: modelOf(other), tools: { add } });
  let calls = 0;
  const model = custom(({ messages }) =>
    calls++ === 0
      ? [{ type: "tool_call", name: "helper", input: { prompt: "Add" } }]
      : `the other says ${messages.at(-1).content[0].content[0].text}`,
  );
  return told(createAgent({ model, tools: { helper } }).run("Help"));
}

export async function setModel(own, other) {
  const call = custom(async () => {
    await waiting;
    return [{ type: "tool_call", name: "wait", input: {} }];
  });
  let go;
  const waiting = new Promise((resolve) => (go = resolve));
  const wait = tool({
    description: "Waits until the other model is there",
    inputSchema: { type: "object" },
    execute: () => new Promise((resolve) => setTimeout(resolve, 500, "waited")),
  });
  const run = createAgent({ model: call, tools: { wait, add } }).run("Add");
  setTimeout(() => {
    run.setModel(modelOf(other, { calls: [] }));
    go();
  }, 50);
  return told(run);
}

export function prepareIteration(own, other) {
  const model = modelOf(other, { calls: [] });
  const agent = createAgent({
    model: modelOf(own),
    tools: { add },
    prepareIteration: ({ iteration }) => (iteration === 2 ? { model } : undefined),
  });
  return told(agent.run("Add"));
}

/** Agents that ask their host, each through another option. */
const asking = {
  hooks: { hooks: { PreToolUse: [{ hooks: [() => ({ additionalContext: "heard" })] }] } },
  guardrails: { guardrails: { input: () => ({ allowed: true }) } },
  canUseTool: { permissions: { canUseTool: () => ({ behavior: "allow" }) } },
  permissions: { permissions: { allow: ["add"] } },
  stopWhen: { limits: { stopWhen: () => false } },
  prepareIteration: { prepareIteration: () => ({ system: "You add." }) },
  wordError: { toolCalls: { wordError: () => "wrong" } },
  needsApproval: { tools: { add: { ...add, needsApproval: true } } },
  resourceKey: { tools: { add: { ...add, resourceKey: () => "sum" } } },
};

export async function ask(option) {
  const run = createAgent({ model: modelOf("ndjson"), tools: { add }, ...asking[option] }).run("Add", {
    onEvent: (event) => {
      if (option === "needsApproval" && event.type === "question")
        queueMicrotask(() => run.answer(event.questionId, { behavior: "allow" }));
    },
  });
  return told(run);
}

export async function structured() {
  const schema = { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] };
  const answers = ["no JSON", '{"sum":7}'];
  const agent = createAgent({ model: custom(() => answers.shift()), output: { schema, mode: "native" } });
  return JSON.stringify((await agent.run("Add").result).output);
}

/** What an agent without such options can come to. */
export async function plain() {
  const said = [];
  const fails = tool({
    description: "Fails",
    inputSchema: { type: "object", properties: { a: { type: "number" } }, required: ["a"] },
    execute: () => Promise.reject(new Error("no")),
  });
  const calls = (...inputs) => inputs.map((value) => ({ type: "tool_call", name: "fails", input: value }));
  const answers = [calls({ a: 1 }, { a: "x" }, {}), calls({ a: 1 }), calls({ a: 1 }), "at last"];
  const agent = createAgent({ model: custom(() => answers.shift() ?? "more"), tools: { fails } });
  const run = agent.run("Fail");
  run.steer("go on");
  run.followUp("and then?");
  run.setPermissionMode("plan");
  run.addBudget({ maxIterations: 1 });
  setTimeout(() => run.addBudget({ maxIterations: 1 }), 5);
  said.push(await told(run), run.answer(1, { behavior: "allow" }));
  const chat = agent.chat();
  answers.push("a", "b", "c", "d", "e", "a summary");
  for (let turn = 0; turn < 5; turn++) await chat.run("again").result;
  const compacting = chat.run("shorten");
  compacting.compact();
  said.push(await told(compacting));
  const stopping = createAgent({
    model: modelOf("ndjson"),
    tools: { add },
    limits: { maxIterations: 1 },
  }).run("Add");
  said.push((await stopping.result).stoppedBy);
  const aborting = createAgent({ model: custom(() => new Promise(() => {})) }).run("Wait");
  setTimeout(() => aborting.abort("enough"), 20);
  said.push((await aborting.result).outcome);
  const offline = custom(() => Promise.reject(new Error("offline")));
  said.push(
    await told(createAgent({ model: offline, retry: { maxRetries: 1, baseMs: 1, jitterMs: 0 } }).run("?")),
  );
  return said;
}
