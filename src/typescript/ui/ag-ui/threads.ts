/**
 * The conversations of an agent by owner and thread. An input starts a run, or brings the answers that the thread's
 * run waits for. Between two inputs, a waiting run stays in memory here. Its chat is in the agent's store, if it has
 * one.
 */
import { LoopletError, type LoopletErrorCode } from "../../core/api/errors.js";
import type { Agent, ContentBlock, QuestionAnswer, Run } from "../../core/api/index.js";
import { reportUncaught, internalsOf } from "../../core/kit/runs.js";
import { checkOptions } from "../../core/kit/check.js";
import { Deciding } from "./deciding.js";
import { answerOf, isOfPage, type Asked } from "./interrupts.js";
import { blocksOf, historyOf, pastMessages } from "./messages.js";
import { forClient } from "./older.js";
import { callAnswer, withPageTools } from "./page-tools.js";
import { followAgain, goingOf, GONE, toAgUi, type AgUiOptions } from "./stream.js";
import { judged } from "../../server/workers/hosting/hosted-run.js";
import { nextTask } from "../../server/workers/hosting/task.js";
import { interruptId, memoryOf, Translation } from "./translation.js";
import type { AgUiEvent, AgUiInput, AgUiMessage } from "./types.js";

/** The facts by which a function chooses the agent of an input. */
export interface AgUiAsked {
  readonly input: AgUiInput;
  /** The owner that `authorize` has returned; empty in a page. */
  readonly owner: string;
}

/** An agent, or a function that returns the agent of an input. */
export type AgUiAgents =
  Agent<any, any> | ((asked: AgUiAsked) => Agent<any, any> | PromiseLike<Agent<any, any>>);

export interface AgUiThreadOptions extends AgUiOptions {
  /**
   * The maximum number of runs that wait for answers in this process's memory. Beyond it the oldest is dropped.
   * Default 1,000.
   */
  maxWaiting?: number | undefined;
  /**
   * Whether a run continues when its page disconnects. AG-UI stops a run by disconnecting, so a page cannot stop a
   * run then. Default false: the run is aborted.
   */
  keepRunning?: boolean | undefined;
}

export const THREAD_TABLE = { add: "function", maxWaiting: "count", keepRunning: "boolean" } as const;

/** An AG-UI run: its events, and how to leave it. */
export interface Segment {
  readonly events: AsyncGenerator<AgUiEvent>;
  leave(): void;
}

interface Going {
  readonly run: Run;
  /** The agent that has the chat of the run in its store; undefined without a store. */
  readonly keeper: Agent | undefined;
  /** The agent that was created for this run only. Undefined if it is not ours to close. */
  readonly own: Agent | undefined;
}

/** A page that reads the events of a chat. */
interface Reader {
  hasLeft: boolean;
  /** Resolves when it is known which run the page reads. */
  readonly begun: Promise<void>;
}

/** The id of a thread's chat in the agent's store. */
export function agUiChatId(owner: string, threadId: string): string {
  return `ag-ui ${JSON.stringify([owner, threadId])}`;
}

export class Threads {
  readonly #agents: AgUiAgents;
  readonly #options: AgUiOptions;
  readonly #maxWaiting: number;
  readonly #keepRunning: boolean;
  /** The runs that wait for answers, by chat. The oldest is first. */
  readonly #waiting = new Map<string, Going>();
  /** The runs in progress that no page reads any more, by chat. */
  readonly #left = new Map<string, Going>();
  /** The pages that read the events of chats. */
  readonly #read = new Map<string, Reader>();

  constructor(agents: AgUiAgents, given: AgUiThreadOptions) {
    const { maxWaiting = 1000, keepRunning = false, ...options } = checkOptions(given, "", THREAD_TABLE);
    this.#agents = agents;
    this.#options = options;
    this.#maxWaiting = maxWaiting;
    this.#keepRunning = keepRunning;
  }

  segment(input: AgUiInput, owner: string): Segment {
    return this.#segment(input, owner, !this.#keepRunning, async (key, take) => {
      const going = await this.#going(input, owner, key);
      take(going);
      return this.#follow(going, input, key);
    });
  }

  /**
   * The current conversation of a thread, for a page that was reloaded: its messages, and the run that is in progress
   * or waits for answers. Leaving it stops nothing.
   */
  connection(input: AgUiInput, owner: string): Segment {
    return this.#segment(input, owner, false, (key, take) => this.#connected(input, owner, key, take));
  }

  /**
   * If `stops` is true, the run is aborted when the page disconnects. Contract of `take`: called with the run that
   * the page reads.
   */
  #segment(
    input: AgUiInput,
    owner: string,
    stops: boolean,
    read: (key: string, take: (going: Going) => void) => Promise<AsyncIterable<AgUiEvent>>,
  ): Segment {
    const key = agUiChatId(owner, input.threadId);
    let going: Going | undefined;
    let begin = (): void => {};
    const begun = new Promise<void>((resolve) => (begin = resolve));
    const reader = { hasLeft: false, begun };
    const leave = (): void => {
      reader.hasLeft = true;
      if (going === undefined) return;
      if (this.#read.get(key) === reader) this.#read.delete(key);
      if (stops) going.run.abort(GONE);
      else this.#leave(key, going);
      void drained(events);
    };
    const take = (taken: Going): void => {
      going = taken;
      if (reader.hasLeft) leave();
      begin();
    };
    const events = this.#reading(input, key, reader, () => read(key, take));
    return { events, leave };
  }

  /** The page that read a run has disconnected. The next page may follow the run. */
  #leave(key: string, going: Going): void {
    const { run } = going;
    if (run.outcome !== undefined || this.#waiting.get(key) === going) return;
    this.#left.set(key, going);
    const forget = (): void => {
      if (this.#left.get(key) === going) this.#left.delete(key);
    };
    run.result.then(forget, forget);
  }

  /** The events of a thread, which one page reads at a time. */
  async *#reading(
    input: AgUiInput,
    key: string,
    reader: Reader,
    read: () => Promise<AsyncIterable<AgUiEvent>>,
  ): AsyncGenerator<AgUiEvent> {
    const before = this.#read.get(key);
    if (before?.hasLeft === true) await before.begun;
    const isFree = !this.#read.has(key);
    if (isFree) this.#read.set(key, reader);
    let hasBegun = false;
    try {
      if (!isFree) throw refused("threadId", "has a run under way; wait for its end", "misuse_chat_busy");
      for await (const event of await read()) {
        hasBegun = true;
        yield event;
      }
    } catch (error) {
      const translation = new Translation(input, memoryOf(""));
      if (!hasBegun) yield translation.begin();
      yield* translation.fail(...wordsOf(error));
    } finally {
      if (this.#read.get(key) === reader) this.#read.delete(key);
    }
  }

  /**
   * If `isNew` is true, the page gets the messages first. A client shows messages in the order in which they arrive.
   */
  async *#follow(going: Going, input: AgUiInput, key: string, isNew = false): AsyncGenerator<AgUiEvent> {
    const { run, keeper } = going;
    if (keeper !== undefined) goingOf(run).stored = () => storedIn(going, key);
    for await (const event of toAgUi(run, input, this.#options)) {
      if (event.type === "RUN_FINISHED" && run.outcome === undefined) {
        // The answers may arrive at another process.
        await run.saved();
        this.#keep(key, going);
      }
      yield event;
      const { messages } = input;
      if (isNew && event.type === "RUN_STARTED")
        yield forClient(input, { type: "MESSAGES_SNAPSHOT", messages: [...messages] });
    }
  }

  #keep(key: string, going: Going): void {
    this.#left.delete(key);
    this.#waiting.set(key, going);
    if (this.#waiting.size <= this.#maxWaiting) return;
    const [oldest, { run, own }] = this.#waiting.entries().next().value!;
    this.#waiting.delete(oldest);
    // A run of a store stays there, for an input that comes later.
    if (own === undefined) run.abort("too many runs wait for answers");
    else void own.close({ recoverable: true });
  }

  /** The run that waits for this input, or a new one. */
  async #going(input: AgUiInput, owner: string, key: string): Promise<Going> {
    const known = this.#waiting.get(key);
    if (known !== undefined && known.run.outcome === undefined) {
      continueRun(known.run, input);
      this.#waiting.delete(key);
      return known;
    }
    this.#waiting.delete(key);
    const left = this.#takeLeft(key);
    if (left !== undefined) {
      resume(left.run, followAgain(left.run), input);
      return left;
    }
    const { agent, own, keeper, deciding } = await this.#agentFor(input, owner);
    const run = keeper ? await open(keeper, input, key, deciding) : begin(agent, input, deciding);
    return { run, own, keeper };
  }

  /** The agent of an input, with the tools of its page. */
  async #agentFor(input: AgUiInput, owner: string) {
    const agents = this.#agents;
    const given = typeof agents === "function" ? await agents({ input, owner }) : agents;
    const made = internalsOf(given);
    const deciding = new Deciding();
    const own = made?.again(deciding.watch(withPageTools(made.options, input.tools ?? [])));
    const agent = own ?? given;
    return { agent, own, keeper: made?.options.store === undefined ? undefined : agent, deciding };
  }

  /** The run of this chat that no page reads any more, if it is in progress. */
  #takeLeft(key: string): Going | undefined {
    const left = this.#left.get(key);
    this.#left.delete(key);
    return left?.run.outcome === undefined ? left : undefined;
  }

  async #connected(
    input: AgUiInput,
    owner: string,
    key: string,
    take: (going: Going) => void,
  ): Promise<AsyncIterable<AgUiEvent>> {
    const known = this.#left.get(key);
    if (known !== undefined) {
      const stored = await storedIn(known, key);
      // Now the events for the previous page have been read. The rest must run without an interruption.
      await nextTask();
      const left = this.#takeLeft(key);
      if (left !== undefined) {
        take(left);
        const messages = stored(goingOf(left.run).shown?.() ?? input.messages);
        followAgain(left.run);
        return this.#follow(left, { ...input, messages }, key);
      }
    }
    const { own, keeper, deciding } = await this.#agentFor(input, owner);
    const kept = await keeper?.readChat(key, { transcripts: true });
    const messages = kept === undefined ? input.messages : pastMessages(kept, key, input.messages);
    const shown: AgUiInput = { ...input, messages };
    const waiting = this.#waiting.get(key)?.run;
    if (waiting !== undefined && waiting.outcome === undefined)
      return told(shown, new Translation(shown, goingOf(waiting)), "wait");
    if (kept?.isRunning !== true) return told(shown, new Translation(shown, memoryOf("")), "stand");
    const { current } = await keeper!.openChat(key, { takeOver: true });
    if (current === undefined) return told(shown, new Translation(shown, memoryOf("")), "stand");
    goingOf(current, "", deciding);
    const going = { run: current, own, keeper };
    take(going);
    return this.#follow(going, shown, key, true);
  }
}

/** Events of a translation that no run caused. */
async function* told(
  input: AgUiInput,
  translation: Translation,
  what: "wait" | "stand",
): AsyncGenerator<AgUiEvent> {
  for (const event of [translation.begin(), ...translation[what]()]) yield forClient(input, event);
}

/** Starts a run with the history that the page sends. */
function begin(agent: Agent, input: AgUiInput, deciding: Deciding): Run {
  refuseAnswers(input);
  const prompt = promptOf(input);
  const messages = historyOf(prompt.length === 0 ? input.messages : input.messages.slice(0, -1));
  // Results of the page's tools bring the model on as a prompt does.
  if (prompt.length === 0 && messages.at(-1)?.role !== "user") throw noPrompt();
  return listened(agent.run(prompt, { messages }), deciding, input);
}

/** Starts a run in the chat of a thread, or resumes the run that another process left unfinished. */
async function open(agent: Agent, input: AgUiInput, key: string, deciding: Deciding): Promise<Run> {
  const chat = await agent.openChat(key, { takeOver: true });
  const prompt = promptOf(input);
  const id = lastIdOf(input);
  const isNew = prompt.length > 0 && !chat.hasTaken(id);
  const { current } = chat;
  if (current === undefined) {
    refuseAnswers(input);
    if (prompt.length === 0) throw noPrompt();
    // A resumed run recognizes its prompt by this id. A page that repeats a request sends the same id.
    return listened(chat.run(prompt, isNew ? { id } : {}), deciding, input);
  }
  resume(current, goingOf(current, "", deciding), input, isNew);
  return current;
}

/** Passes an input to a run in progress: its message, and answers to the questions that are asked again. */
function resume(
  run: Run,
  going: ReturnType<typeof goingOf>,
  input: AgUiInput,
  isNew = !going.taken.has(lastIdOf(input)),
): void {
  const id = lastIdOf(input);
  const prompt = isNew ? promptOf(input) : [];
  going.onAsked = (asked, isPast) => {
    const said = answerTo(asked, going.name, input, prompt.length > 0 && isPast);
    if (said === undefined) return false;
    void judged(run, asked.questionId)
      .then(() => run.answer(asked.questionId, said))
      .catch(reportUncaught);
    return true;
  };
  if (prompt.length > 0) going.added.add(run.steer(prompt, { requestId: id }).id);
  going.taken.add(id);
}

/**
 * Reads a chat with a run in progress. The result builds a page's messages from those that the page knows. Without a
 * store they are unchanged. A store has no answers of subagents that are still running, and no results of a round
 * that has not ended.
 */
async function storedIn(
  { run, keeper }: Going,
  key: string,
): Promise<(known: readonly AgUiMessage[]) => readonly AgUiMessage[]> {
  if (keeper === undefined) return (known) => known;
  await run.saved();
  const kept = await keeper.readChat(key, { transcripts: true });
  return (known) => {
    if (kept === undefined) return known;
    const stored = pastMessages(kept, key, known);
    const ids = new Set(stored.map(({ id }) => id));
    const isOfRound = ({ role, subagentRunId }: AgUiMessage): boolean =>
      subagentRunId !== undefined || role === "tool";
    return [...stored, ...known.filter((one) => isOfRound(one) && !ids.has(one.id))];
  };
}

/** Reads events for no page, so that it is known what the page before would have. */
async function drained(events: AsyncIterable<AgUiEvent>): Promise<void> {
  for await (const _ of events);
}

/** Starts to receive events now, because a later iteration would miss some. */
function listened(run: Run, deciding: Deciding, input: AgUiInput): Run {
  goingOf(run, "", deciding).taken.add(lastIdOf(input));
  return run;
}

/**
 * Answers the questions of a waiting run from an input.
 *
 * @throws LoopletError `misuse_invalid_argument`; then no question is answered
 */
function continueRun(run: Run, input: AgUiInput): void {
  const going = goingOf(run);
  const { asked, name } = going;
  const open = [...asked.values()];
  const needed = open.filter((one) => !isOfPage(one)).map(({ questionId }) => interruptId(name, questionId));
  const given = (input.resume ?? []).map(({ interruptId }) => interruptId);
  const missing = needed.filter((id) => !given.includes(id));
  const unknown = given.filter((id) => !needed.includes(id));
  if (missing.length > 0)
    throw refused("resume", `needs an answer to every interrupt; missing: ${missing.join(", ")}`);
  if (unknown.length > 0)
    throw refused("resume", `answers interrupts that are not open: ${unknown.join(", ")}`);
  const id = lastIdOf(input);
  const prompt = going.taken.has(id) ? [] : promptOf(input);
  const isNew = prompt.length > 0;
  const answers = open.map((one) => [one, answerTo(one, name, input, isNew)] as const);
  if (!isNew && answers.every(([, said]) => said === undefined))
    throw refused(
      "messages",
      `needs the results of the calls ${open.map(({ data }) => data.toolCallId).join(", ")}`,
    );
  // The page has run all calls of the answer. A call that is not read-only is asked about only after the one before
  // it.
  going.onAsked = (later, isPast) => {
    const said = answerTo(later, name, input, isNew && isPast);
    return said !== undefined && run.answer(later.questionId, said);
  };
  for (const [one, said] of answers) if (said !== undefined) run.answer(one.questionId, said);
  if (isNew) going.added.add(run.steer(prompt, { requestId: id }).id);
  going.taken.add(id);
}

/** The answer of an input to a question, or undefined. */
export function answerTo(
  asked: Asked,
  run: string,
  { messages, resume = [] }: AgUiInput,
  isOver: boolean,
): QuestionAnswer | undefined {
  if (isOfPage(asked)) {
    const { toolCallId } = asked.data;
    const result = messages.find((message) => message.role === "tool" && message.toolCallId === toolCallId);
    // A page that sends something else has abandoned the call.
    return result !== undefined || isOver ? callAnswer(result) : undefined;
  }
  const entry = resume.find((one) => one.interruptId === interruptId(run, asked.questionId));
  return entry && answerOf(asked, entry);
}

export function promptOf({ messages }: AgUiInput): ContentBlock[] {
  const last = messages.at(-1);
  return last?.role === "user" ? blocksOf(last.content, `messages[${messages.length - 1}].content`) : [];
}

function lastIdOf({ messages }: AgUiInput): string {
  return messages.at(-1)?.id ?? "";
}

function refuseAnswers({ resume = [] }: AgUiInput): void {
  if (resume.length > 0)
    throw refused("resume", "answers interrupts, and no run of this thread waits for any");
}

function noPrompt(): LoopletError {
  return refused("messages", "needs a message of the user, or results of tools, at its end");
}

function refused(
  field: string,
  problem: string,
  code: LoopletErrorCode = "misuse_invalid_argument",
): LoopletError {
  return new LoopletError(code, field, problem);
}

/**
 * The message and code of an error for a page. A page sees only its own mistakes. Any other error concerns the
 * server, so its message is only logged.
 */
function wordsOf(error: unknown): [message: string, code: string] {
  // The class may be that of another bundle.
  const { name, message, code } = Object(error) as { name?: string; message?: string; code?: string };
  if (name === "LoopletError" && code?.startsWith("misuse_")) return [String(message), code];
  reportUncaught(error);
  return ["The agent cannot do this. Its log says why.", "failed"];
}
