/**
 * The conversation of the page: owns the agent, its chat and the run that goes on, and hands each event to
 * `looplet/ui`. What a screen draws of it is its state, which never changes but is replaced.
 */
import {
  createAgent,
  type Agent,
  type Chat,
  type JournalEntry,
  type Message,
  type PermissionResult,
  type Queued,
  type Reconciliation,
  type Run,
  type RunBound,
  type RunEvent,
  type Tool,
} from "looplet";
import { publish, type DevtoolsChannel } from "looplet/devtools/publish";
import type { OpenQuestion } from "looplet/ui";
import { demoTools, system } from "../../../examples/tools/index.mjs";
import type { QueuedKind } from "../chat/composer.js";
import { Store } from "../chat/store.js";
import { initialLimits, optionsOf, type Limits } from "../words/budget.js";
import { modelOf, practiceConnection, windowOf, type Connection } from "../words/connection.js";
import { harmless, type Mode } from "../words/permission.js";
import { forgetJournal, journals } from "./journals.js";
import {
  forget,
  keep,
  keepDraft,
  keptDraft,
  keptRun,
  remembered,
  type Changes,
  type KeptRun,
  type OpenRun,
} from "./kept.js";
import { keptRows } from "./panels/all-runs.js";
import { begun, isUnanswered, past, settled, withEvent, type ShownRun } from "./shown-run.js";
import { Tally } from "./tally.js";
import { team } from "./team.js";

/** Events after which a run that goes on is kept, for a reload. */
const steps: ReadonlySet<RunEvent["type"]> = new Set(["tool-call", "question", "iteration-start"]);

/** What a person chose. */
export interface Setup extends Changes {
  readonly connection: Connection;
  readonly limits: Limits;
  readonly mode: Mode;
}

/** What the page says between two runs. */
export interface Note {
  /** The number of runs before it. */
  readonly after: number;
  /** What was thrown at once. Without it: a summary was asked for, and there was nothing that it could stand for. */
  readonly thrown?: unknown;
}

export interface State {
  readonly setup: Setup;
  readonly runs: readonly ShownRun[];
  readonly notes: readonly Note[];
  readonly isRunning: boolean;
  /** What goes on, in a word or two. */
  readonly phase: string;
  /** Whether the history is to be summarised before the next model call. */
  readonly isCompacting: boolean;
  /** A run of before a reload whose key is gone with the page. */
  readonly cutOff: { readonly run: KeptRun; readonly open: OpenRun } | undefined;
  /** What the person writes. */
  readonly text: string;
}

const ends = { completed: "Done", cancelled: "Stopped", stopped: "Limit reached", failed: "Failed" } as const;

const fresh: State = {
  setup: { connection: practiceConnection, limits: initialLimits, mode: "default" },
  runs: [],
  notes: [],
  isRunning: false,
  phase: "Ready",
  isCompacting: false,
  cutOff: undefined,
  text: "",
};

export class Session extends Store<State> {
  readonly #tools = demoTools({ storage: localStorage, readDocument });
  readonly #team = team(this.#tools);
  readonly #ports = new MessageChannel();
  readonly #publisher = publish(this.#ports.port1, { name: "this page" });
  /** Tools that the person has allowed once and for all of this conversation. */
  readonly #allowed = new Set<string>();
  #agent: Agent = this.#agentOf(fresh.setup);
  #chat: Chat = this.#agent.chat();
  #run: Run | undefined;
  /** What is on its way into the run, by its `requestId`. */
  readonly #queued = new Map<string, Queued>();
  #last: { prompt: string; before: readonly Message[] } | undefined;
  /** A summary is waited for: since before the run, or since its middle. */
  #compacts: "before" | "within" | undefined;

  constructor() {
    super(fresh);
  }

  /** The channel on which the runs of the page are told. */
  get devtools(): DevtoolsChannel {
    return this.#ports.port2;
  }

  readonly write = (text: string): void => {
    keepDraft(text);
    this.set({ text });
  };

  /** The tools that an agent of the page can have. */
  get tools(): { readonly [name: string]: Tool } {
    return { ...this.#tools, ...this.#team };
  }

  /**
   * Goes on with another model or other limits; the transcript stays. A run that goes on keeps what it began with,
   * but for the permission mode.
   *
   * @throws LoopletError `config_…`
   */
  change(part: Partial<Setup>): void {
    const setup = { ...this.getState().setup, ...part };
    this.#agent = this.#agentOf(setup);
    this.set({ setup });
    if (part.mode !== undefined) this.#run?.setPermissionMode(part.mode);
    if (!this.#run) this.#chat = this.#agent.chat({ messages: this.#chat.messages });
  }

  /**
   * Another model from the next request on, also in the run that goes on.
   *
   * @throws LoopletError `config_…`
   */
  changeModel(connection: Connection): void {
    this.change({ connection });
    this.#run?.setModel(modelOf(connection));
  }

  /** Has the history summarised before the next model call; again, while nothing runs: takes that back. */
  compact(): void {
    if (!this.#run && this.#compacts) return this.#compactLater(undefined);
    this.#compactLater(this.#run ? "within" : "before");
    this.#run?.compact();
  }

  #compactLater(when: "before" | "within" | undefined): void {
    this.#compacts = when;
    this.set({ isCompacting: when !== undefined });
  }

  /** JSON Schema of a tool's input; `undefined` for one that is not the page's. */
  schemaOf(toolName: string): unknown {
    return Object.entries(this.#tools).find(([name]) => name === toolName)?.[1].inputSchema;
  }

  /** Answers a question. Who allows a tool always does not want to be asked again for what is open already. */
  answer(question: OpenQuestion, result: PermissionResult | Reconciliation): void {
    const { questions } = this.getState().runs.at(-1)!.view;
    this.#run?.answer(question.questionId, result);
    if ("outcome" in result || !result.updatedPermissions || question.kind !== "permission") return;
    const { toolName } = question;
    this.#allowed.add(toolName);
    for (const other of questions)
      if (other.kind === "permission" && other.toolName === toolName && other !== question)
        this.#run?.answer(other.questionId, { behavior: "allow" });
    this.#agent = this.#agentOf(this.getState().setup);
    this.#keep();
  }

  ask(prompt: string): void {
    if (this.#run) return this.tell("steer", prompt);
    const before = this.#chat.messages;
    this.#last = { prompt, before };
    let run: Run;
    try {
      run = this.#chat.run(prompt);
    } catch (thrown) {
      return this.#note({ thrown });
    }
    if (this.#compacts) {
      this.#compacts = "before";
      run.compact();
    }
    this.#dropCutOff();
    this.#begin(run, run, { prompt, before: before.length });
  }

  tell(kind: QueuedKind, text: string): void {
    if (!this.#run) return this.ask(text);
    const requestId = crypto.randomUUID();
    const ids = [this.#send(this.#run, kind, text, requestId)];
    this.#change((run) => ({ ...run, queue: [...run.queue, { kind, text, ids, requestId }] }));
    this.#keep();
  }

  #send(run: Run, kind: QueuedKind, text: string, requestId: string): number {
    const queued = kind === "steer" ? run.steer(text, { requestId }) : run.followUp(text, { requestId });
    this.#queued.set(requestId, queued);
    return queued.id;
  }

  /** Takes a message back that was not delivered. */
  takeBack(requestId: string): void {
    if (!this.#queued.get(requestId)?.withdraw()) return;
    this.#change((run) => ({ ...run, queue: run.queue.filter((one) => one.requestId !== requestId) }));
  }

  stop(): void {
    this.#run?.abort("stopped by the user");
  }

  /** Asks the last prompt again, on the transcript as it was before. */
  retry(): void {
    if (this.#run || !this.#last) return;
    this.#chat = this.#agent.chat({ messages: this.#last.before });
    this.ask(this.#last.prompt);
  }

  /** What a run with this prompt may cost at most. */
  bound(prompt: string): Promise<RunBound> {
    return this.#agent.bound(prompt, { messages: this.#chat.messages });
  }

  clear(): void {
    this.stop();
    this.#run = this.#last = undefined;
    const { runs, setup } = this.getState();
    const { connection, limits, mode } = setup;
    for (const { id } of runs) forgetJournal(id);
    this.#dropCutOff();
    forget();
    this.#allowed.clear();
    this.#compactLater(undefined);
    this.set({ setup: { connection, limits, mode }, runs: [], notes: [], isRunning: false, phase: "Ready" });
    this.#agent = this.#agentOf(this.getState().setup);
    this.#chat = this.#agent.chat();
  }

  /**
   * Goes on from the journal of a run file, with what is otherwise. The chat so far is gone.
   *
   * @throws LoopletError `config_…`
   */
  fork(
    prompt: string,
    journal: readonly JournalEntry[],
    origin: string,
    setup: Partial<Setup>,
    told: string,
  ): void {
    this.#agentOf({ ...this.getState().setup, ...setup });
    this.clear();
    this.change(setup);
    this.#last = { prompt, before: [] };
    const id = `fork_${crypto.randomUUID()}`;
    void (async () => {
      await journals.append(id, journal, 0);
      await this.#resume({ id, prompt, before: 0, origin });
      if (told !== "") this.tell("steer", told);
    })();
  }

  /** Shows the conversation again that this tab had before a reload, and goes on from there. */
  recall(): void {
    this.set({ text: keptDraft() });
    const kept = remembered();
    if (!kept) return;
    try {
      this.#chat = this.#agent.chat({ messages: kept.messages });
      this.set({ runs: kept.runs.filter(({ result }) => result).map(shownAgain) });
      this.#last = kept.last;
      const run = kept.runs.at(-1);
      if (kept.open && run) this.#goOnFrom(kept.open, run);
    } catch (error) {
      // Another version of the page wrote it.
      this.clear();
      console.warn(error);
    }
  }

  #goOnFrom(open: OpenRun, kept: KeptRun): void {
    const { connection, allowed, ...setup } = open;
    for (const name of allowed) this.#allowed.add(name);
    const isGone = connection.kind === "gone";
    this.change({ ...setup, ...(isGone ? {} : { connection }) });
    const run = { ...kept, origin: "The page was reloaded here, and the run goes on." };
    if (!isGone) return void this.#resume(run);
    this.set({ cutOff: { run, open } });
    this.#keep();
  }

  /** Goes on with the run that a reload has cut off, if its model can be asked again. */
  goOn(): void {
    const { cutOff, setup } = this.getState();
    if (!cutOff || this.#run || setup.connection.kind === "practice") return;
    this.set({ cutOff: undefined });
    void this.#resume(cutOff.run);
  }

  /** The run that a reload has cut off is left. */
  #dropCutOff(): void {
    const { cutOff } = this.getState();
    if (cutOff) forgetJournal(cutOff.run.id);
    this.set({ cutOff: undefined });
  }

  async #resume(
    cutOff: Pick<ShownRun, "id" | "prompt" | "before" | "origin"> & Partial<Pick<ShownRun, "queue">>,
  ): Promise<void> {
    const { id, prompt, before, origin, queue = [] } = cutOff;
    // A journal without entries is that of a run that had not begun.
    const entries = await journals.load(id);
    if (!entries?.length) return this.#run ? undefined : this.ask(prompt);
    // `resume` says what is wrong with a journal that cannot be read.
    const kept = await this.#agent.readChat(id, { entries, transcripts: true }).catch(() => undefined);
    if (this.#run) return;
    let begin: (events: AsyncIterable<RunEvent>) => void;
    const events = new Promise<AsyncIterable<RunEvent>>((resolve) => (begin = resolve));
    const onEvent = () => begin(run.events({ detached: true }));
    const run = this.#agent.resume(id, { onEvent });
    // Its journal may have missed what was queued at last.
    const again = queue.map((one) => {
      const { kind, text, requestId, ids } = one;
      return { ...one, ids: [...ids, this.#send(run, kind, text, requestId)] };
    });
    // A run that fails before its first event has no events.
    const heard = Promise.race([events, run.result.then(() => [])]);
    const done = past(kept?.transcripts ?? [], { prompt, before });
    this.#begin(run, heard, { prompt, before, origin, queue: again, ...done });
  }

  /** Follows a run that has just begun. */
  #begin(
    run: Run,
    events: Promise<AsyncIterable<RunEvent> | Iterable<RunEvent>> | AsyncIterable<RunEvent>,
    facts: Pick<ShownRun, "prompt" | "before"> & Partial<ShownRun>,
  ): void {
    this.#run = run;
    const shown = begun({ tally: new Tally(), ...facts, id: run.id });
    this.set({ runs: [...this.getState().runs, shown], isRunning: true, phase: "Starting" });
    this.#keep();
    void this.#follow(run, events);
  }

  async #follow(
    run: Run,
    events: Promise<AsyncIterable<RunEvent> | Iterable<RunEvent>> | AsyncIterable<RunEvent>,
  ): Promise<void> {
    for await (const event of await events) {
      // After "new chat" a run may still have words to say: they belong to nobody.
      if (this.#run !== run) continue;
      if (event.type === "compact-boundary") this.#compactLater(undefined);
      this.#change((shown) => withEvent(shown, event, event.timeMs ?? Date.now()), event);
      if (steps.has(event.type)) this.#keep();
    }
    const result = await run.result;
    if (this.#run !== run) return;
    this.#run = undefined;
    forgetJournal(run.id);
    // A prompt that failed without an answer is no part of the history: it can be tried again, or left.
    const history = isUnanswered(result) && this.#last ? this.#last.before : result.messages;
    this.#chat = this.#agent.chat({ messages: history });
    const { queue } = this.getState().runs.at(-1)!;
    const left = queue
      .filter(({ ids }) => ids.some((id) => result.undelivered.includes(id)))
      .map(({ text }) => text);
    const text = this.getState().text.trim() === "" ? left.join("\n") : this.getState().text;
    this.#change((shown) => settled(shown, result));
    keepDraft(text);
    this.set({ isRunning: false, phase: ends[result.outcome], text });
    this.#keep();
    // One that was asked for within the last model call waits for the next message.
    if (this.#compacts !== "before") return;
    this.#compactLater(undefined);
    if (result.outcome === "completed") this.#note({});
  }

  /** Replaces the run that began last. */
  #change(next: (run: ShownRun) => ShownRun, event?: RunEvent): void {
    const { runs, phase } = this.getState();
    const isPiece = event?.type.endsWith("-delta") ?? false;
    const change = { runs: [...runs.slice(0, -1), next(runs.at(-1)!)] };
    this.set({ ...change, phase: (event && phaseOf(event)) ?? phase }, isPiece);
  }

  #note(note: Omit<Note, "after">): void {
    this.set({ notes: [...this.getState().notes, { ...note, after: this.getState().runs.length }] });
  }

  #keep(): void {
    const { runs, cutOff, setup } = this.getState();
    const { connection, ...chosen } = setup;
    const isOpen = this.#run !== undefined;
    const open: OpenRun = {
      connection: connection.kind === "practice" ? connection : { kind: "gone", model: connection.model },
      ...chosen,
      allowed: [...this.#allowed],
    };
    keep({
      messages: this.#last && isOpen ? this.#last.before : this.#chat.messages,
      last: this.#last,
      runs: [...runs.map(keptRun), ...(cutOff ? [cutOff.run] : [])],
      open: isOpen ? open : cutOff?.open,
    });
  }

  #agentOf(setup: Setup): Agent {
    const { connection, limits, mode, system: said = system, without = [], descriptions } = setup;
    const tools = Object.entries(this.tools)
      .filter(([name]) => !without.includes(name))
      .map(([name, tool]) => [name, { ...tool, description: descriptions?.[name] ?? tool.description }]);
    return createAgent({
      model: modelOf(connection),
      store: journals,
      record: this.#publisher.record,
      system: said,
      tools: Object.fromEntries(tools),
      ...optionsOf(limits),
      context: {
        window: windowOf(connection),
        // Little stays as it is, so that a short conversation can be compacted too.
        compaction: { keepLast: 1 },
      },
      permissions: {
        allow: [...harmless, ...Object.keys(this.#team), ...this.#allowed].filter(
          (name) => !without.includes(name),
        ),
        mode,
        // The card of the call asks.
        canUseTool: () => null,
        // The person who switches to it sits in front of the page.
        allowDangerouslySkipPermissions: true,
      },
      trace: keptRows,
    });
  }
}

/** A run of before a reload that is over. */
function shownAgain(kept: KeptRun): ShownRun {
  return { ...kept, tally: Object.assign(new Tally(), kept.tally) };
}

function phaseOf(event: RunEvent): string | undefined {
  const { agentPath } = event;
  const who = agentPath === "root" ? "" : `${agentPath.slice(agentPath.lastIndexOf("/") + 1)}: `;
  switch (event.type) {
    case "compact-start":
      return `${who}Summarising the history`;
    case "attempt-start":
      return `${who}Waiting for the model`;
    case "reasoning-start":
      return `${who}Thinking`;
    case "text-start":
      return `${who}Answering`;
    case "tool-input-start":
      return `${who}Calling ${event.toolName}`;
    case "tool-call":
      return `${who}Running tools`;
    case "answered":
      return "Running tools";
    case "retry":
      return `${who}Waiting to try again`;
  }
  return undefined;
}

async function readDocument(name: string, signal: AbortSignal): Promise<string> {
  const response = await fetch(`/docs/${name}`, { signal });
  if (!response.ok) throw new Error(`status ${response.status}`);
  return response.text();
}
