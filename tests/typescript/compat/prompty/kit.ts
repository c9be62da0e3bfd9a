/** Turns on an executor that answers from a list. */
import {
  chatToolMessages,
  loadPrompty,
  process,
  registerExecutor,
  registerProcessor,
  turn,
  type PromptInputs,
  type Message,
  type Prompty,
  type TurnOptions,
  type TurnTools,
} from "looplet/prompty";
import { createAgent, custom } from "looplet";
import { settled, VirtualClock } from "../../support/virtual-clock.js";

// Virtual time does not wait for the engine to load.
await createAgent({ model: custom(() => "Loaded.") }).run("Load.").result;

export const agentOf = (frontmatter: object = {}, text = "{{thread}}"): Promise<Prompty> => {
  const inputs = [{ name: "thread", kind: "thread" }];
  const model = { id: "m", provider: "listed" };
  return loadPrompty(`---\n${JSON.stringify({ model, inputs, ...frontmatter })}\n---\n${text}`);
};

/** An answer in the form of Chat Completions. */
export const said = (content: string | null, ...calls: [name: string, args: string][]) => ({
  choices: [
    {
      message: {
        content,
        tool_calls: calls.map(([name, text], at) => ({
          id: `call_${at}`,
          function: { name, arguments: text },
        })),
      },
    },
  ],
});

export interface Played {
  result: unknown;
  error: any;
  /** The messages of each request. */
  asked: Message[][];
  /** The events of P-14. */
  events: [type: string, data: any][];
  /** Those of P-15. */
  further: [type: string, data: any][];
  /** Before further attempts of model calls. */
  waits: number[];
}

const FURTHER = /^(?:turn|llm|hook|permission|tool_execution)_|^retry$|^tool_call_complete$/;

/** Plays a turn in virtual time. A function in place of an answer is called; what it throws is a failure. */
export async function play(
  answers: readonly unknown[],
  given: {
    agent?: Prompty;
    inputs?: PromptInputs;
    tools?: TurnTools;
    options?: TurnOptions;
  } = {},
): Promise<Played> {
  const { inputs = { thread: [{ role: "user", content: "Go." }] }, tools = {}, options = {} } = given;
  const agent = given.agent ?? (await agentOf());
  const asked: Message[][] = [];
  registerExecutor("listed", {
    execute(_, messages) {
      const answer = answers[asked.push(structuredClone([...messages])) - 1];
      return typeof answer === "function" ? answer() : answer;
    },
    formatToolMessages: chatToolMessages,
  });
  registerProcessor("listed", {
    process: (agent, response) =>
      process({ ...agent, model: { ...agent.model, provider: "openai" } }, response),
  });
  const events: Played["events"] = [];
  const further: Played["further"] = [];
  const clock = new VirtualClock();
  const host = { clock, random: () => 0 };
  let end: { result?: unknown; error?: any } | undefined;
  turn(agent, inputs, tools, {
    ...options,
    host: { ...host, ...options.host },
    onEvent(type, data) {
      (FURTHER.test(type) ? further : events).push([type, structuredClone(data)]);
      return options.onEvent?.(type, data);
    },
  }).then(
    (result) => (end = { result }),
    (error: unknown) => (end = { error }),
  );
  for (let passes = 0; passes < 10; passes++) {
    await settled();
    if (end !== undefined) break;
    await clock.pass(60_000);
  }
  const waits = further.flatMap(([type, { delayMs }]) => (type === "retry" ? [delayMs] : []));
  return { result: end?.result, error: end?.error, asked, events, further, waits };
}

export const types = ({ events }: Played): string[] => events.map(([type]) => type);
