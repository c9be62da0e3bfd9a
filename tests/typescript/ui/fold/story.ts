/**
 * A random run with parallel calls, failed attempts, subagents in subagents, handoffs, questions, a tool of the page
 * and steers. Its process may end at any event, and another one resumes the run. What readers get of it, who begin at
 * different moments.
 */
import {
  anthropic,
  createAgent,
  handoff,
  subagent,
  tool,
  ToolError,
  type Agent,
  type SavedChat,
  type Run,
  type RunEvent,
  type RunEventOf,
  type RunResult,
} from "looplet";
import { scripted, type ScriptedTurn } from "looplet/practice";
import { pageTool } from "looplet/tools";
import { between, seededRandom } from "../../../../src/typescript/lab/practice/random.js";
import { unloggedIn } from "../../../../src/typescript/server/workers/hosting/unlogged.js";
import { acts, answerTo, form, ProcessStore, tick } from "../../support/processes.js";

export const PROMPT = "Go.";

export interface Reader {
  /** The number of events of `whole` that came before its first one. */
  readonly after: number;
  /** Its events, from its snapshot on. */
  readonly events: readonly RunEvent[];
}

export interface Story {
  /** The events of a reader from the beginning. */
  readonly whole: readonly RunEvent[];
  /** Readers that began later than the run. */
  readonly late: readonly Reader[];
  readonly result: RunResult;
}

/** Plays the run of a seed. */
export async function play(seed: string): Promise<Story> {
  const random = seededRandom(seed);
  const chance = (percent: number): boolean => random() * 100 < percent;
  const processes = new Processes(seed);
  const whole: RunEvent[] = [];
  const late: { after: number; events: RunEvent[] }[] = [];
  let steers = 0;

  const listen = (isGone: () => boolean) => (event: RunEvent) => {
    if (!isGone()) whole.push(structuredClone(event));
  };
  const follow = async (run: Run, isGone: () => boolean): Promise<void> => {
    const reader = { after: whole.length, events: [] as RunEvent[] };
    late.push(reader);
    for await (const event of run.events({ detached: true }))
      if (!isGone()) reader.events.push(structuredClone(event));
  };
  /** Performs the run until its end, or until its process ends. Returns whether the run has ended. */
  const perform = async (run: Run, end: number, isGone: () => boolean): Promise<boolean> => {
    let isOver = false;
    void run.result.then(() => (isOver = true));
    const open = new Map<number, RunEventOf<"question">["question"]>();
    let at = whole.length;
    let waits = false;
    for (let steps = 0; !isOver; steps++) {
      if (steps > 5000) throw new Error(`story ${seed} does not end: ${JSON.stringify(whole.at(-1))}`);
      for (; at < whole.length; at++) {
        const event = whole[at]!;
        if (event.type === "waiting" || event.type === "answered") waits = event.type === "waiting";
        if (event.type === "answered") open.delete(event.questionId);
        if (event.type !== "question" || event.data === undefined) continue;
        open.set(event.questionId, event.question);
        if (chance(60)) run.answer(event.questionId, chance(80) ? yes(event.question) : no(event.question));
      }
      if (waits) for (const [id, question] of open) run.answer(id, yes(question));
      if (late.length < 4 && chance(10)) void follow(run, isGone);
      if (chance(2) && steers++ < 3) run.steer(`Steer ${whole.length}.`);
      if (whole.length >= end) return false;
      await tick();
    }
    await run.saved();
    await tick();
    return true;
  };

  let isDead = false;
  const isGone = (): boolean => isDead;
  const first = processes.agent().run(PROMPT, { id: "r", onEvent: listen(isGone) });
  const end = chance(50) ? between(random, 3, 80) : Infinity;
  if (await perform(first, end, isGone)) return { whole, late, result: await first.result };
  isDead = true;
  processes.end();
  const cut = whole.length;
  const readers = late.splice(0);
  const kept = (await processes.agent().readChat("r", { transcripts: true })) as SavedChat | undefined;
  if (kept !== undefined) whole.push(...unloggedIn(kept, whole));
  const never = (): boolean => false;
  const second = processes.agent().resume("r", { onEvent: listen(never) });
  await perform(second, Infinity, never);
  // An answer that the first process did not save is asked for again. A reader that has it from a snapshot, as a part
  // of the transcript, does not learn that it is void.
  const saved = kept?.transcripts?.[0]?.messages.length ?? 0;
  for (const { after, events } of readers) {
    const [snapshot] = events;
    if (snapshot?.type === "snapshot" && snapshot.messages.length > saved) continue;
    const last = Math.max(...events.map(({ seq }) => seq));
    const missed = snapshot === undefined ? [] : whole.slice(0, cut).filter(({ seq }) => seq > last);
    late.push({ after, events: [...events, ...missed, ...whole.slice(cut)] });
  }
  return { whole, late, result: await second.result };
}

type Question = "permission" | "reconcile" | "elicitation";

const yes = (question: RunEventOf<"question">["question"]): never =>
  answerTo({ kind: question as Question }) as never;

function no(question: RunEventOf<"question">["question"]): never {
  if (question === "permission") return { behavior: "deny", message: "No." } as never;
  return (question === "elicitation" ? { action: "decline" } : { outcome: "fail", message: "No." }) as never;
}

/** Processes over one store. */
class Processes extends ProcessStore {
  readonly #seed: string;
  readonly #asked = new Map<string, number>();

  constructor(seed: string) {
    super();
    this.#seed = seed;
  }

  agent(): Agent {
    const slow = tool({
      description: "slow",
      inputSchema: { type: "object" },
      replay: "safe",
      async execute(_, { progress }) {
        progress("half");
        await tick();
        throw new ToolError("no paper");
      },
    });
    const dig = acts("dig", { readOnly: true });
    const pay = acts("pay", { needsApproval: true });
    const retry = { baseMs: 0, jitterMs: 0 };
    const below = subagent({ description: "digs deeper", retry, tools: { dig, pay, slow } });
    const model = anthropic("m", { apiKey: "k", fetch: this.#fetch() as never });
    const other = createAgent({ model, tools: { dig, form } });
    return createAgent({
      model,
      store: this.store,
      retry,
      limits: { maxIterations: 5, maxSubagentDepth: 2 },
      tools: {
        stock: acts("stock", { readOnly: true }),
        order: acts("order", { needsApproval: true, replay: "once" }),
        slow,
        form,
        point: pageTool({ description: "points", inputSchema: { type: "object" } }),
        helper: subagent({ description: "helps", retry, tools: { dig, pay, below } }),
        team: subagent({ description: "a team", retry, persistent: true, tools: { dig, pay } }),
        other: handoff(other, { description: "another one" }),
      },
    });
  }

  /** A model whose answer depends on the prompt, the turn and how often it was asked. */
  #fetch(): unknown {
    const answers = scripted(
      Array.from(
        { length: 200 },
        () =>
          ({ body }: { body: any }) =>
            this.#turn(body),
      ),
    );
    return async (...request: Parameters<typeof answers>) => {
      await tick();
      return answers(...request);
    };
  }

  #turn({ messages, tools = [] }: any): ScriptedTurn {
    const turns = messages.filter(({ role }: any) => role === "assistant").length;
    const key = `${JSON.stringify(messages[0]).slice(0, 80)} ${turns} ${tools.length}`;
    const time = (this.#asked.get(key) ?? 0) + 1;
    this.#asked.set(key, time);
    const random = seededRandom(`${this.#seed} ${key} ${time}`);
    const pick = <T>(...of: readonly T[]): T => of[between(random, 0, of.length - 1)]!;
    const names: string[] = tools.map(({ name }: any) => name);
    if (time === 1 && random() < 0.08) return { status: 500 };
    const count = turns > 2 || names.length === 0 ? 0 : pick(0, 1, 1, 2, 3);
    const calls = Array.from({ length: count }, () => pick(...names)).filter(
      (name, at, all) => !/other|team/.test(name) || all.indexOf(name) === at,
    );
    const input = (name: string) => (/helper|below|team|other/.test(name) ? { prompt: `Dig ${turns}.` } : {});
    return {
      ...(pick(true, false) && { thinking: { text: ["Let me ", "think."] } }),
      ...((count === 0 || pick(true, false)) && { text: [`Step ${turns}`, ` of ${time}.`] }),
      ...(count > 0 && { toolCalls: calls.map((name) => ({ name, input: input(name) })) }),
      ...(time === 1 && random() < 0.15 && { dropAfterEvents: between(random, 2, 9) }),
    };
  }
}
