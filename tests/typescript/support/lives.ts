/**
 * A run of six iterations, alone or within a chat, that is killed and goes on, again and again, in fresh instances of
 * the engine.
 *
 * The run has read-only tools beside each other, tools of every `replay`, an approval, a steer, a summary, a retry
 * and a subagent. A {@link World} outlives its processes: it has the store, the tools' effects, and the person who
 * answers. A process can be cut off at each of its callbacks. From there on it reaches nothing any more.
 */
import { vi } from "vitest";
import { scripted, type ScriptedTurn } from "../../../src/typescript/lab/practice/index.js";
import { memoryStore } from "../../../src/typescript/extras/stores/index.js";
import type {
  Agent,
  AgentOptions,
  JournalEntry,
  Message,
  Run,
  RunEvent,
  RunResult,
  Store,
} from "../../../src/typescript/core/api/index.js";
import { bodyText } from "./bodies.js";

/** Everything that outlives a process. */
export class World {
  /** How often each call has had its effect. */
  readonly effects = new Map<string, number>();
  processes = 0;
  /** The vendor has refused one request. */
  isRefused = false;
  /** The callbacks of all processes, by their names. */
  readonly callbacks: string[] = [];
  now = 1_000_000;

  constructor(readonly store: Store = memoryStore()) {}

  async kept(): Promise<readonly JournalEntry[]> {
    return (await this.store.load(ID)) ?? [];
  }
}

/** What happens to one process. */
export interface Fate {
  /** The number of callbacks after which it dies. Default: it lives to the end. */
  cut?: number;
  /** Makes the store of the process out of the store that outlives it. `die` ends the process at once. */
  wrap?: (store: Store, die: () => never) => Store;
  /** The number of tasks that a write into the store takes. Default 0. */
  saveTasks?: number;
  /** Whether the process has an instance of the engine of its own. Default false. */
  isFresh?: boolean;
  /** Whether the run is the second one of a chat with three. Default false. */
  isChat?: boolean;
}

/** The end of a life: the result of the run, or the messages of the chat. A process that was cut off has neither. */
export interface Life {
  readonly result?: RunResult | undefined;
  readonly messages?: readonly Message[] | undefined;
  readonly warnings: readonly string[];
  /** The errors that `onError` has heard. */
  readonly errors: readonly unknown[];
}

const ID = "run";
/** The prompt of the run of six iterations. */
const LONG = "Go.";
/** The prompts of a chat, and the last text of each answer. */
const CHAT = { "Hi.": "Hello.", [LONG]: "All done.", "Bye.": "See you." };
/** Timers above this are timeouts, which never come. */
const LONGEST_WAIT_MS = 2000;
/** Real milliseconds of one process, beyond which it hangs. */
const HANGS_MS = 20_000;
const forever = new Promise<never>(() => {});

/**
 * One process: begins the run, or goes on with it if the store has any of it.
 *
 * @throws Error if nothing happens any more
 */
export async function live(world: World, fate: Fate = {}): Promise<Life> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const hangs = new Promise<never>((_, reject) => {
    const last = (): string => world.callbacks.slice(-20).join(", ");
    timer = setTimeout(() => reject(new Error(`The run hangs after: ${last()}`)), HANGS_MS);
  });
  try {
    return await Promise.race([hangs, process(world, fate)]);
  } finally {
    clearTimeout(timer);
  }
}

async function process(
  world: World,
  { cut = Infinity, wrap = (store) => store, isFresh = false, saveTasks = 0, isChat = false }: Fate,
): Promise<Life> {
  world.processes += 1;
  if (isFresh) vi.resetModules();
  const { anthropic, createAgent, subagent, tool } =
    await import("../../../src/typescript/core/entry/node.js");
  let left = cut;
  let isDead = false;
  let died!: () => void;
  const death = new Promise<void>((resolve) => (died = resolve));
  const die = (): void => {
    isDead = true;
    died();
  };
  /** A moment at which the process may die. Returns false if it is dead. */
  const isAlive = (name: string): boolean => {
    if (isDead) return false;
    world.callbacks.push(name);
    if (left-- > 0) return true;
    die();
    return false;
  };
  const at = async (name: string): Promise<void> => {
    // The moment comes in a task of its own, so that others can come before it.
    await null;
    if (!isAlive(name)) await forever;
  };

  const inner = wrap(world.store, () => {
    die();
    throw new Error("the process is dead");
  });
  const store: Store = {
    async append(key, entries, expectedSeq) {
      await at("save");
      // A call that did not wait for its save would be made in these tasks.
      for (let task = 0; task < saveTasks; task++) await new Promise((resolve) => setImmediate(resolve));
      if (isDead) await forever;
      try {
        await inner.append(key, entries, expectedSeq);
      } finally {
        await at("saved");
      }
    },
    async load(key) {
      await at("load");
      return inner.load(key);
    },
  };
  const clock = {
    now: () => world.now,
    setTimer(due: () => void, delayMs: number) {
      const atMs = world.now + delayMs;
      if (delayMs > LONGEST_WAIT_MS) return undefined;
      return setImmediate(() => {
        if (!isAlive("timer")) return;
        world.now = Math.max(world.now, atMs);
        due();
      });
    },
    clearTimer: (timer: unknown) => clearImmediate(timer as NodeJS.Immediate),
  };

  let [agentPath, iteration] = ["", 0];
  const fetch: typeof globalThis.fetch = async (url, init) => {
    await at("fetch");
    const body = bodyText(init as never);
    if (promptOf(body) === LONG && agentPath === "root" && iteration === 3) {
      // The user says it once, unless a whole save of the store has it. The last entry of a save is about the run.
      const kept = await world.kept();
      const ends = kept.map(({ json }) => json.includes('"fact":{"run":'));
      const whole = kept.slice(0, ends.lastIndexOf(true));
      const isSaid = whole.some(({ json }) => json.includes("Hurry."));
      if (isDead) return forever;
      if (!isSaid) run.steer("Hurry.");
    }
    const turn = turnOf(world, body, agentPath, iteration);
    const response = (await scripted([turn])(url as string, init as never)) as Response;
    await at("head");
    const reader = response.body!.getReader();
    const slow = new ReadableStream<Uint8Array>({
      async pull(controller) {
        await at("chunk");
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      },
    });
    return new Response(slow, response);
  };
  const acts = (name: string, more: object) =>
    tool({
      description: name,
      inputSchema: { type: "object", properties: {} },
      ...more,
      async execute(_, { toolCallId }) {
        await at("tool start");
        world.effects.set(toolCallId, (world.effects.get(toolCallId) ?? 0) + 1);
        await at("tool end");
        return outputOf(toolCallId);
      },
    });
  const errors: unknown[] = [];
  const warnings: string[] = [];
  const options = {
    model: anthropic("big", { apiKey: "k" }),
    tools: {
      read: acts("Reads", { readOnly: true }),
      note: acts("Notes", { replay: "safe" }),
      pay: acts("Pays", {}),
      wipe: acts("Wipes", { needsApproval: true }),
      helper: subagent({
        description: "Helps",
        model: anthropic("small", { apiKey: "k", fetch }),
        tools: { dig: acts("Digs", {}) },
      }),
    },
    fetch,
    store,
    clock,
    context: { window: 12_000, compaction: { keepLast: 2 } },
    retry: { delaysMs: [10], jitterMs: 0 },
    durable: {
      reconcile: async ({ toolCallId }: { toolCallId: string }) => {
        await at("reconcile");
        // The outside knows what it has done.
        return world.effects.has(toolCallId)
          ? { outcome: "done", output: outputOf(toolCallId) }
          : { outcome: "run" };
      },
    },
  } as AgentOptions;
  const onEvent = (event: RunEvent): void => {
    if (!isAlive(event.type)) return;
    if (event.type === "attempt-start") [agentPath, iteration] = [event.agentPath, event.iteration];
    if (event.type === "warning") warnings.push(`${event.code}: ${event.message}`);
    if (event.type !== "question" || event.question !== "permission") return;
    void at("answer").then(() => run.answer(event.questionId, { behavior: "allow" }));
  };
  const onError = (error: unknown): void => void errors.push(error);
  const agent = createAgent(options);
  const listeners = { onEvent, onError };
  let run!: Run;
  const goOn = async (): Promise<Partial<Life>> => {
    const hasBegun = (await world.kept()).length > 0;
    run = hasBegun ? agent.resume(ID, listeners) : agent.run(LONG, { id: ID, ...listeners });
    const result = await run.result;
    await run.saved().catch(() => {});
    return { result };
  };
  const talk = async (): Promise<Partial<Life>> => ({
    messages: await conversation(agent, listeners, (begun) => (run = begun)),
  });
  const end = await Promise.race([death, isChat ? talk() : goOn()]);
  return { ...(isDead ? {} : end), warnings, errors };
}

type Listeners = { onEvent: (event: RunEvent) => void; onError: (error: unknown) => void };

/** Opens the chat, goes on with what it is at, and says the prompts that have no answer yet. Returns its messages. */
async function conversation(
  agent: Agent,
  listeners: Listeners,
  begin: (run: Run) => void,
): Promise<readonly Message[]> {
  const chat = await agent.openChat(ID, listeners);
  if (chat.current !== undefined) {
    begin(chat.current);
    await chat.current.result;
  }
  const last = chat.messages.at(-1)?.content.at(-1);
  const answers = Object.values(CHAT);
  const said = last?.type === "text" ? answers.indexOf(last.text) + 1 : 0;
  for (const prompt of Object.keys(CHAT).slice(said)) {
    const run = chat.run(prompt, listeners);
    begin(run);
    await run.result;
  }
  await chat.saved().catch(() => {});
  return chat.messages;
}

/** The model's answer, which depends on the agent and its iteration alone. */
function turnOf(world: World, body: string, agentPath: string, iteration: number): ScriptedTurn {
  if (body.includes("write a summary of this conversation")) return { text: "They read, paid and wiped." };
  const prompt = promptOf(body);
  if (prompt !== LONG) return { text: CHAT[prompt] };
  const call = (id: string, name: string, input = {}) => ({ id, name, input });
  switch (`${agentPath} ${iteration}`) {
    case "root 1":
      return { text: "First.", toolCalls: [call("r1", "read"), call("r2", "read")] };
    case "root 2":
      if (!world.isRefused) {
        world.isRefused = true;
        return { status: 529 };
      }
      return { toolCalls: [call("p", "pay"), call("n", "note")] };
    case "root 3":
      return { toolCalls: [call("w", "wipe"), call("r3", "read")] };
    case "root 4":
      return { toolCalls: [call("h", "helper", { prompt: "Dig." }), call("q", "pay")] };
    case "root 5":
      return {
        text: "Nearly.",
        toolCalls: [call("r4", "read")],
        usage: { inputTokens: 20_000, outputTokens: 9 },
      };
    case "root 6":
      return { text: "All done." };
    case "root/helper 1":
      return { toolCalls: [call("d", "dig")] };
    case "root/helper 2":
      return { text: "Gold." };
    default:
      throw new Error(`${agentPath} is asked in iteration ${iteration}: ${body}`);
  }
}

/** The prompt that a request answers. A summary has taken the place of the long one, and a subagent has none of them. */
function promptOf(body: string): keyof typeof CHAT {
  const places = (Object.keys(CHAT) as (keyof typeof CHAT)[]).map(
    (prompt) => [body.lastIndexOf(JSON.stringify(prompt)), prompt] as const,
  );
  const [[place, prompt]] = places.sort(([a], [b]) => b - a) as [(typeof places)[number]];
  return place < 0 ? LONG : prompt;
}

const outputOf = (toolCallId: string): string => `output of ${toolCallId}`;

/** The calls that must have their effect exactly once, and those that may have it again. */
export const once = ["p", "w", "d", "q"];
export const safe = ["r1", "r2", "r3", "r4", "n"];

/** The facts of an end that every life must come to. */
export function told({ outcome, text, messages, toolCalls, iterations }: RunResult): object {
  const calls = toolCalls.map(({ toolCallId, toolName, output, isError }) => ({
    toolCallId,
    toolName,
    output,
    isError,
  }));
  return { outcome, text, messages, calls, iterations };
}
