/**
 * One conversation with the packaged library: owns the agent, its chat and the run that goes on. Knows nothing of the
 * page; tells a view what happens.
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
  type RunEventOf,
  type RunResult,
  type Tool,
  type TracedRun,
  type Tracer,
} from "looplet";
import { recorder } from "looplet/replay";
import { demoTools, system } from "../../examples/tools/index.mjs";
import { keptRows } from "./all-runs.js";
import { optionsOf, type Limits } from "./budget.js";
import { modelOf, windowOf, type Connection } from "./connection.js";
import { forgetJournal, journals } from "./journals.js";
import {
  conclude,
  forget,
  keep,
  record,
  remembered,
  traceFrom,
  wholeEvents,
  type Changes,
  type Happened,
  type OpenRun,
  type Recording,
} from "./memory.js";
import { harmless, type Mode } from "./permission.js";
import { team } from "./team.js";

/** Events after which the trace of a run is kept, for a reload. */
const steps: ReadonlySet<RunEvent["type"]> = new Set(["tool-call", "question", "iteration-start"]);

export type QueuedKind = "steer" | "follow-up";

/** What a person chose. */
export interface Setup extends Changes {
  connection: Connection;
  limits: Limits;
  mode: Mode;
}

/** Contract: synchronous; called in the order in which things happen. */
export interface ConversationView {
  /** `number` counts the runs of this conversation, from 1; `origin` says why a run begins with a snapshot. */
  started(prompt: string, number: number, origin: string | undefined): void;
  /** Follows a run that starts, for its trace. */
  traced: Tracer;
  /** `timeMs`: since the Unix epoch. */
  happened(event: RunEvent, timeMs: number): void;
  queued(kind: QueuedKind, text: string, queued: Queued): void;
  settled(result: RunResult): void;
  /** A run goes on after a reload, with what was chosen for it. */
  restored(setup: Readonly<Setup>): void;
  /** A run was cut off by a reload, and the key of its model went with the page. */
  cannotGoOn(prompt: string, model: string): void;
  /** Something threw at once: the configuration or the call was wrong. */
  refused(error: unknown): void;
  /** Whether the history is to be summarised before the next model call. */
  compacting(isWaiting: boolean): void;
  /** A summary was asked for, and there was nothing that it could stand for. */
  nothingToCompact(): void;
  cleared(): void;
}

export class Conversation {
  readonly #view: ConversationView;
  #setup: Setup;
  readonly #tools = demoTools({ storage: localStorage, readDocument });
  readonly #team = team(this.#tools);
  /** Tools that the person has allowed once and for all of this conversation. */
  readonly #allowed = new Set<string>();
  #agent: Agent;
  #chat: Chat;
  #run: Run | undefined;
  /** The run that began last, also when it is over. */
  #latest: Run | undefined;
  /** All runs, the one that goes on too. */
  #recordings: Recording[] = [];
  /** The run that begins, as its tracer was told. */
  #traced: TracedRun | undefined;
  /** Events of before the reload of the run that goes on. */
  #earlier: Happened[] = [];
  #last: { prompt: string; before: readonly Message[] } | undefined;
  /** A run of before the reload that waits for its connection. */
  #cutOff: { recording: Recording; open: OpenRun } | undefined;
  /** The ids of queued messages that a run got again when it went on, with those that they had before. */
  readonly #sentAgain = new Map<number, number>();
  /** A summary is waited for: since before the run, or since its middle. */
  #compacts: "before" | "within" | undefined;

  constructor(view: ConversationView, setup: Setup) {
    this.#view = view;
    this.#setup = setup;
    this.#agent = this.#agentOf(setup);
    this.#chat = this.#agent.chat();
  }

  get isRunning(): boolean {
    return this.#run !== undefined;
  }

  /** How many runs there were. */
  get runs(): number {
    return this.#recordings.length;
  }

  get setup(): Readonly<Setup> {
    return this.#setup;
  }

  /**
   * Goes on with another model or other limits; the transcript stays. A run that goes on keeps what it began with,
   * but for the permission mode.
   *
   * @throws LoopletError `config_…`
   */
  change(part: Partial<Setup>): void {
    const setup = { ...this.#setup, ...part };
    this.#agent = this.#agentOf(setup);
    this.#setup = setup;
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

  /** JSON Schema of a tool's input; `undefined` for one that is not the page's. */
  schemaOf(toolName: string): unknown {
    return Object.entries(this.#tools).find(([name]) => name === toolName)?.[1].inputSchema;
  }

  /** Answers the question whether a call may run. */
  answer(questionId: number, result: PermissionResult | Reconciliation): void {
    this.#run?.answer(questionId, result);
    if ("outcome" in result || !result.updatedPermissions) return;
    for (const update of result.updatedPermissions)
      if (update.type === "addRules")
        for (const rule of update.rules) if (typeof rule === "string") this.#allowed.add(rule);
    this.#agent = this.#agentOf(this.#setup);
    this.#keep();
  }

  ask(prompt: string): void {
    if (this.#run) return this.tell("steer", prompt);
    this.#last = { prompt, before: this.#chat.messages };
    let run: Run;
    try {
      run = this.#chat.run(prompt);
    } catch (error) {
      return this.#view.refused(error);
    }
    this.#run = this.#latest = run;
    if (this.#compacts) {
      this.#compacts = "before";
      run.compact();
    }
    const { id, vendor = "", model = "" } = { ...this.#traced, id: run.id };
    const recording: Recording = { prompt, run: { id, vendor, model }, queued: [], happened: [] };
    this.#dropCutOff();
    this.#recordings.push(recording);
    this.#keep();
    this.#view.started(prompt, this.#recordings.length, undefined);
    void this.#follow(run, recording, run);
  }

  /** Goes on with the run that a reload has cut off, if its model can be asked again. */
  goOn(): void {
    const cutOff = this.#cutOff;
    if (!cutOff || this.#run || this.#setup.connection.kind === "practice") return;
    void this.#resume(cutOff.recording);
  }

  /** What a run with this prompt may cost at most. */
  bound(prompt: string): Promise<RunBound> {
    return this.#agent.bound(prompt, { messages: this.#chat.messages });
  }

  /** Asks the last prompt again, on the transcript as it was before. */
  retry(): void {
    if (this.#run || !this.#last) return;
    this.#chat = this.#agent.chat({ messages: this.#last.before });
    this.ask(this.#last.prompt);
  }

  tell(kind: QueuedKind, text: string): void {
    if (!this.#run) return this.ask(text);
    const requestId = crypto.randomUUID();
    const queued = send(this.#run, kind, text, requestId);
    this.#recordings.at(-1)?.queued.push({ kind, text, id: queued.id, requestId });
    this.#keep();
    this.#view.queued(kind, text, queued);
  }

  stop(): void {
    this.#run?.abort("stopped by the user");
  }

  /** Shows the conversation again that this tab had before a reload, and goes on from there. */
  recall(): void {
    const kept = remembered();
    if (!kept) return;
    try {
      this.#chat = this.#agent.chat({ messages: kept.messages });
      for (const recording of kept.recordings) this.#replay(recording);
      this.#last = kept.last;
      const recording = kept.recordings.at(-1);
      if (kept.open && recording) this.#goOnFrom(kept.open, recording);
    } catch (error) {
      // Another version of the page wrote it.
      this.clear();
      console.warn(error);
    }
  }

  clear(): void {
    this.stop();
    this.#run = this.#latest = undefined;
    const { connection, limits, mode } = this.#setup;
    this.#setup = { connection, limits, mode };
    for (const { run } of this.#recordings) forgetJournal(run.id);
    this.#dropCutOff();
    this.#recordings = [];
    forget();
    this.#last = undefined;
    this.#allowed.clear();
    this.#compactLater(undefined);
    this.#agent = this.#agentOf(this.#setup);
    this.#chat = this.#agent.chat();
    this.#view.cleared();
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
    this.#agentOf({ ...this.#setup, ...setup });
    this.clear();
    this.change(setup);
    this.#view.restored(this.#setup);
    this.#last = { prompt, before: [] };
    const run = { id: `fork_${crypto.randomUUID()}`, vendor: "", model: "" };
    const recording: Recording = { prompt, run, queued: [], happened: [], origin };
    void this.#resumeFrom(journal, recording, told);
  }

  async #resumeFrom(journal: readonly JournalEntry[], recording: Recording, told: string): Promise<void> {
    await journals.append(recording.run.id, journal, 0);
    await this.#resume(recording);
    if (told !== "") this.tell("steer", told);
  }

  /** The latest run as a `.loop` file. */
  export(): { name: string; text: string } | undefined {
    return this.#latest && { name: `${this.#latest.id}.loop`, text: this.#latest.export() };
  }

  /** The tools that an agent of the page can have. */
  get tools(): { readonly [name: string]: Tool } {
    return { ...this.#tools, ...this.#team };
  }

  #goOnFrom(open: OpenRun, recording: Recording): void {
    const { connection, allowed, ...setup } = open;
    for (const name of allowed) this.#allowed.add(name);
    const isGone = connection.kind === "gone";
    this.change({ ...setup, ...(isGone ? {} : { connection }) });
    this.#view.restored(this.#setup);
    const cutOff = { ...recording, origin: "The page was reloaded here, and the run goes on." };
    if (!isGone) return void this.#resume(cutOff);
    this.#cutOff = { recording: cutOff, open };
    this.#keep();
    this.#view.cannotGoOn(recording.prompt, connection.model);
  }

  async #resume(recording: Recording): Promise<void> {
    this.#cutOff = undefined;
    const { id } = recording.run;
    // A journal without entries is that of a run that had not begun.
    const entries = await journals.load(id);
    if (this.#run) return;
    if (!entries?.length) return this.ask(recording.prompt);
    let begin: (events: AsyncIterable<RunEvent>) => void;
    const events = new Promise<AsyncIterable<RunEvent>>((resolve) => (begin = resolve));
    const onEvent = () => begin(run.events({ detached: true }));
    this.#earlier = [...(recording.earlier ?? [])];
    const run = this.#agent.resume(id, { onEvent });
    this.#run = this.#latest = run;
    // Its journal may have missed what was queued at last.
    this.#sentAgain.clear();
    for (const { kind, text, id, requestId } of recording.queued)
      this.#sentAgain.set(send(run, kind, text, requestId).id, id);
    const goesOn: Recording = { ...recording, run: { ...recording.run, ...this.#traced, id }, happened: [] };
    this.#recordings.push(goesOn);
    this.#keep();
    this.#view.started(recording.prompt, this.#recordings.length, recording.origin);
    // A run that fails before its first event has no events.
    void this.#follow(run, goesOn, await Promise.race([events, run.result.then(() => [])]));
  }

  /** The run that a reload has cut off is left. */
  #dropCutOff(): void {
    if (this.#cutOff) forgetJournal(this.#cutOff.recording.run.id);
    this.#cutOff = undefined;
  }

  #keep(): void {
    const { connection, ...setup } = this.#setup;
    const gone = { kind: "gone", model: connection.model } as const;
    const isOpen = this.#run !== undefined;
    const open: OpenRun = {
      connection: connection.kind === "practice" ? connection : gone,
      ...setup,
      allowed: [...this.#allowed],
    };
    // The transcript of the run that goes on is in its journal.
    const recordings = this.#recordings.map((recording) =>
      recording.result ? recording : { ...recording, earlier: wholeEvents(recording), happened: [] },
    );
    if (this.#cutOff) recordings.push(this.#cutOff.recording);
    keep({
      messages: this.#last && isOpen ? this.#last.before : this.#chat.messages,
      last: this.#last,
      recordings,
      open: isOpen ? open : this.#cutOff?.open,
    });
  }

  #replay(recording: Recording): void {
    const { prompt, run, queued, happened, earlier = [], result } = recording;
    if (!result) return;
    let nowMs = happened[0]?.timeMs ?? 0;
    const traced = { ...run, now: () => nowMs, random: Math.random };
    const trace = traceFrom(earlier, this.#view.traced, traced);
    this.#recordings.push(recording);
    this.#view.started(prompt, this.#recordings.length, recording.origin);
    for (const { kind, text, id } of queued) this.#view.queued(kind, text, { id, withdraw: () => false });
    for (const { event, timeMs } of happened) {
      nowMs = timeMs;
      if (!event.type.endsWith("-delta")) trace.onEvent(event);
      this.#view.happened(event, timeMs);
    }
    trace.onEnd?.(result);
    this.#view.settled(result);
  }

  async #follow(
    run: Run,
    recording: Recording,
    events: AsyncIterable<RunEvent> | Iterable<RunEvent>,
  ): Promise<void> {
    for await (const told of events) {
      const event = told.type === "snapshot" ? this.#ownPart(told, recording) : this.#withKnownIds(told);
      // After "new chat" a run may still have words to say: they belong to nobody.
      if (this.#run !== run) continue;
      if (event.type === "compact-boundary") this.#compactLater(undefined);
      const timeMs = event.timeMs ?? Date.now();
      record(recording, event, timeMs);
      this.#view.happened(event, timeMs);
      if (steps.has(event.type)) this.#keep();
    }
    const result = await run.result;
    if (this.#run !== run) return;
    this.#run = undefined;
    forgetJournal(run.id);
    // A prompt that failed without an answer is no part of the history: it can be tried again, or left.
    const history = isUnanswered(result) && this.#last ? this.#last.before : result.messages;
    this.#chat = this.#agent.chat({ messages: history });
    conclude(recording, result);
    this.#keep();
    this.#view.settled({ ...result, undelivered: this.#knownIds(result.undelivered) });
    // One that was asked for within the last model call waits for the next message.
    if (this.#compacts !== "before") return;
    this.#compactLater(undefined);
    if (result.outcome === "completed") this.#view.nothingToCompact();
  }

  #knownIds(ids: readonly number[]): number[] {
    return ids.map((id) => this.#sentAgain.get(id) ?? id);
  }

  /** An event about messages that were sent again, by the ids under which the page shows them. */
  #withKnownIds(event: RunEvent): RunEvent {
    if (event.type !== "steer-delivered") return event;
    return { ...event, ids: this.#knownIds(event.ids) };
  }

  /** The messages of a run without those before it, and what was queued in it and not delivered. */
  #ownPart(event: RunEventOf<"snapshot">, { prompt, queued }: Recording): RunEvent {
    const texts = event.messages.map(({ role, content }) =>
      role === "user" ? content.flatMap((block) => (block.type === "text" ? [block.text] : [])) : [],
    );
    // A summary stands for a prompt that is not there.
    const asked = texts.map((said) => said.includes(prompt)).lastIndexOf(true);
    const own = Math.max(0, asked) + 1;
    const heard = texts.slice(own).flat();
    for (const { kind, text, id } of queued)
      if (!heard.includes(text)) this.#view.queued(kind, text, { id, withdraw: () => false });
    return { ...event, messages: event.messages.slice(own) };
  }

  #compactLater(when: "before" | "within" | undefined): void {
    this.#compacts = when;
    this.#view.compacting(when !== undefined);
  }

  #agentOf(setup: Setup): Agent {
    const { connection, limits, mode, system: said = system, without = [], descriptions } = setup;
    const tools = Object.entries(this.tools)
      .filter(([name]) => !without.includes(name))
      .map(([name, tool]) => [name, { ...tool, description: descriptions?.[name] ?? tool.description }]);
    return createAgent({
      model: modelOf(connection),
      store: journals,
      record: recorder(),
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
      trace: [
        (run) => {
          this.#traced = run;
          return traceFrom(this.#earlier.splice(0), this.#view.traced, run);
        },
        keptRows,
      ],
    });
  }
}

/** Whether a run failed before any answer of the model was complete. */
export function isUnanswered({ outcome, finishReason }: RunResult): boolean {
  return outcome === "failed" && finishReason === null;
}

async function readDocument(name: string, signal: AbortSignal): Promise<string> {
  const response = await fetch(`/docs/${name}`, { signal });
  if (!response.ok) throw new Error(`status ${response.status}`);
  return response.text();
}

function send(run: Run, kind: QueuedKind, text: string, requestId: string): Queued {
  return kind === "steer" ? run.steer(text, { requestId }) : run.followUp(text, { requestId });
}
