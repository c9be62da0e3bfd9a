/**
 * The chat of the page: owns the agent, with options that change between runs, and what no message contains. The
 * conversation of `looplet/ui` owns the chat: its messages, its runs, its questions and its queue, also after a
 * reload. Screens draw the state, which is immutable and replaced at each change.
 */
import {
  createAgent,
  type Agent,
  type JournalEntry,
  type Run,
  type RunBound,
  type RunEvent,
  type Tool,
} from "looplet";
import { publish, type DevtoolsChannel } from "looplet/devtools/publish";
import {
  type Answers,
  conversation,
  type Conversation,
  type ConversationSnapshot,
  type OpenQuestion,
  type UiMessage,
} from "looplet/ui";
import { demoTools, system } from "../../../examples/tools/index.mjs";
import type { QueuedKind } from "../chat/composer.js";
import { Store } from "../chat/store.js";
import { initialLimits, optionsOf, type Limits } from "../words/budget.js";
import { modelOf, practiceConnection, windowOf, type Connection } from "../words/connection.js";
import { harmless, type Mode } from "../words/permission.js";
import { ends, phaseOf } from "../words/phase.js";
import {
  forget,
  forgetChat,
  forgetOldChats,
  keep,
  keepDraft,
  keptDraft,
  keptRun,
  remembered,
  shownAgain,
  store,
  type Changes,
  type OpenRun,
} from "./kept.js";
import { keptRows } from "./panels/all-runs.js";
import {
  asked,
  isAwaited,
  isUnanswered,
  placed,
  promptAfter,
  promptIn,
  settled,
  withEvent,
  withMessages,
  withNews,
  textOf,
  type ShownRun,
} from "./shown-run.js";
import { team } from "./team.js";

/** Events after which the page is saved, for a reload. */
const steps: ReadonlySet<RunEvent["type"]> = new Set(["tool-call", "question", "iteration-start", "usage"]);

const reloaded = "The page was reloaded here. The run continues.";

/** The user's settings. */
export interface Setup extends Changes {
  readonly connection: Connection;
  readonly limits: Limits;
  readonly mode: Mode;
}

/** What the page says between two runs. */
export interface Note {
  /** The number of runs before it. */
  readonly after: number;
  /** Why nothing was sent. Undefined if a summary was requested and there was nothing to summarise. */
  readonly thrown?: unknown;
}

export interface State extends Pick<ConversationSnapshot, "questions" | "queue"> {
  readonly setup: Setup;
  readonly runs: readonly ShownRun[];
  readonly notes: readonly Note[];
  readonly isRunning: boolean;
  /** The current activity, in a word or two. */
  readonly phase: string;
  /** Whether the history will be summarised before the next model call. */
  readonly isCompacting: boolean;
  /** A run from before a reload, with a key that was lost with the page. */
  readonly cutOff: { readonly run: ShownRun; readonly open: OpenRun } | undefined;
  /** The user's draft. */
  readonly text: string;
}

const fresh: State = {
  setup: { connection: practiceConnection, limits: initialLimits, mode: "default" },
  runs: [],
  notes: [],
  questions: [],
  queue: [],
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
  /** Tools that the user has allowed permanently for this conversation. */
  readonly #allowed = new Set<string>();
  #chat: string = crypto.randomUUID();
  #agent: Agent = this.#agentOf(fresh.setup);
  /** The conversation with the agent. A run under way may have an older one. */
  #talk: Conversation | undefined;
  #leave = (): void => {};
  #run: Run | undefined;
  /** A summary is waited for: since before the run, or since its middle. */
  #compacts: "before" | "within" | undefined;

  constructor() {
    super(fresh);
  }

  /** The channel on which the runs of the page are published. */
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
   * Changes the model or the limits for the next run. A run in progress keeps its settings, except for the permission
   * mode.
   *
   * @throws LoopletError `config_…`
   */
  change(part: Partial<Setup>): void {
    const setup = { ...this.getState().setup, ...part };
    this.#agent = this.#agentOf(setup);
    this.set({ setup });
    this.#talk?.setAgent(this.#agent);
    if (part.mode !== undefined) this.#run?.setPermissionMode(part.mode);
  }

  /**
   * Changes the model for the next request, also in the current run.
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
  answer(question: OpenQuestion, answer: Answers[keyof Answers]): void {
    const { questions } = this.getState();
    this.#talk?.answer(question as never, answer as never);
    if (question.kind !== "permission" || !("updatedPermissions" in answer) || !answer.updatedPermissions)
      return;
    const { toolName } = question;
    this.#allowed.add(toolName);
    for (const other of questions)
      if (other.kind === "permission" && other.toolName === toolName && other !== question)
        this.#talk?.answer(other, { behavior: "allow" });
    this.change({});
    this.#keep();
  }

  ask(prompt: string): void {
    if (this.#isBusy) return this.tell("steer", prompt);
    const { runs, cutOff } = this.getState();
    this.#continueRun();
    // A prompt that failed without an answer is no part of the history: it can be tried again, or left.
    const last = cutOff?.run ?? runs.at(-1);
    void this.#ask(prompt, cutOff || isUnanswered(last) ? last : undefined);
  }

  /** Asks, in place of another run's prompt if one is given. */
  async #ask(prompt: string, instead: ShownRun | undefined): Promise<void> {
    this.set({ runs: [...this.getState().runs, asked(prompt)], phase: "Starting" });
    this.#keep();
    const talk = this.#talk!;
    const { messages } = talk.getSnapshot();
    const isAsked =
      instead && (await talk.edit(instead.messages[0]!.id, promptAfter(instead, messages, prompt)));
    if (isAsked || (await talk.send(prompt)) || this.#talk !== talk) return;
    this.set({ runs: this.getState().runs.slice(0, -1), phase: "Ready" });
    this.#refuse(talk, prompt);
    this.#keep();
  }

  /** Says why a message was not sent, and gives it back to the field. */
  #refuse(talk: Conversation, text: string): void {
    this.#note({ thrown: talk.getSnapshot().error });
    this.#giveBack(text);
  }

  tell(kind: QueuedKind, text: string): void {
    if (!this.#isBusy) return this.ask(text);
    const followUp = kind === "follow-up";
    const { id } = this.getState().runs.at(-1)!;
    if (followUp) this.#change(id, (run) => ({ ...run, followUps: [...run.followUps, text] }));
    this.#keep();
    const talk = this.#talk!;
    void talk.send(text, { followUp }).then((isSent) => isSent || this.#refuse(talk, text));
  }

  /** Takes a message back that was not delivered. */
  takeBack(id: string): void {
    this.#talk?.withdraw(id);
  }

  stop(): void {
    this.#talk?.stop();
  }

  /** Asks the last prompt again, on the transcript as it was before. */
  retry(): void {
    const last = this.getState().runs.at(-1);
    if (last && !this.#isBusy) void this.#ask(last.prompt, last);
  }

  /** What a run with this prompt may cost at most. */
  async bound(prompt: string): Promise<RunBound> {
    // A chat with a run that waits for its key is not opened.
    return (this.#talk ?? this.#agent).bound(prompt);
  }

  clear(): void {
    this.#forget();
    this.#open(crypto.randomUUID());
  }

  #forget(): void {
    this.stop();
    this.#leave();
    const { connection, limits, mode } = this.getState().setup;
    forgetChat(this.#chat).catch(() => {});
    forget();
    this.#allowed.clear();
    this.#compacts = this.#run = this.#talk = undefined;
    this.#chat = "";
    this.set({ ...fresh, setup: { connection, limits, mode }, text: this.getState().text });
    this.#agent = this.#agentOf(this.getState().setup);
  }

  /**
   * Continues from the journal of a run file, with these changes. Replaces the current chat.
   *
   * @throws LoopletError `config_…`
   */
  async fork(
    prompt: string,
    journal: readonly JournalEntry[],
    origin: string,
    setup: Partial<Setup>,
    told: string,
  ): Promise<void> {
    this.#agentOf({ ...this.getState().setup, ...setup });
    this.#forget();
    this.change(setup);
    const chat = `fork_${crypto.randomUUID()}`;
    await store.append(chat, journal, 0);
    this.set({ runs: [{ ...asked(prompt), id: chat, origin }] });
    this.#open(chat);
    if (told !== "") this.tell("steer", told);
  }

  /** Restores the conversation that this tab had before a reload, and continues it. */
  recall(): void {
    this.set({ text: keptDraft() });
    forgetOldChats().catch(() => {});
    try {
      this.#recall();
    } catch (error) {
      // Another version of the page wrote it.
      this.clear();
      console.warn(error);
    }
  }

  #recall(): void {
    const kept = remembered();
    if (!kept) return this.#open(this.#chat);
    this.#chat = kept.chat;
    const runs = kept.runs.map(shownAgain);
    const run = kept.open && runs.pop();
    this.set({ runs });
    if (!kept.open || !run) return this.#open(this.#chat);
    const { connection, allowed, ...setup } = kept.open;
    for (const name of allowed) this.#allowed.add(name);
    const isGone = connection.kind === "gone";
    // The store has the messages after the prompt.
    const messages = run.messages.slice(0, 1);
    this.set({ cutOff: { run: { ...run, messages, origin: reloaded }, open: kept.open } });
    this.change({ ...setup, ...(isGone ? {} : { connection }) });
    if (isGone) this.#keep();
    else this.#continueRun();
  }

  /** Resumes the run that a reload has cut off, if its model can be asked again. */
  continueRun(): void {
    if (this.getState().setup.connection.kind !== "practice") this.#continueRun();
  }

  #continueRun(): void {
    const { cutOff, runs } = this.getState();
    if (!cutOff) return;
    this.set({ cutOff: undefined, runs: [...runs, cutOff.run], phase: "Starting" });
    this.#open(this.#chat);
  }

  /** Whether a run is under way, is about to begin, or is about to resume. */
  get #isBusy(): boolean {
    return this.#run !== undefined || isAwaited(this.getState().runs.at(-1));
  }

  #open(chat: string): void {
    this.#chat = chat;
    const talk = conversation(this.#agent, { id: chat, store, frame: (update) => update() });
    this.#talk = talk;
    this.#leave = talk.subscribe(() => this.#show(talk));
  }

  /** Shows the conversation as it is. */
  #show({ current, getSnapshot }: Conversation): void {
    const { messages, questions, queue, status, error } = getSnapshot();
    if (status === "opening") return;
    const before = this.#run;
    this.#run = current;
    if (current !== undefined && current !== before) this.#begin(current, messages);
    if (current === undefined) this.#beginAgain(messages, error);
    const state = this.getState();
    const isPiece =
      current === before && status === "streaming" && questions === state.questions && queue === state.queue;
    const shown = current ?? before;
    if (shown) this.#change(shown.id, (run) => withMessages(run, messages), isPiece);
    this.set({ questions, queue, isRunning: current !== undefined }, isPiece);
    if (shown && !current) this.#keep();
    const left = queue.find(({ isUndelivered }) => isUndelivered);
    if (!left) return;
    this.#giveBack(textOf(left));
    this.#talk!.withdraw(left.id);
  }

  /** A message that the model has not received is put back into the field. */
  #giveBack(text: string): void {
    this.write([this.getState().text.trim(), text].filter(Boolean).join("\n"));
  }

  /** Shows a run that has just started or resumed. */
  #begin({ id }: Run, messages: readonly UiMessage[]): void {
    const { runs } = this.getState();
    const last = runs.at(-1);
    const own = runs.find((run) => run.id === id) ?? (isAwaited(last) ? last : undefined);
    const known = own ?? asked(promptIn(messages));
    const { origin, ...begun } = { ...(placed(known, messages) ?? known), id };
    const shown = withMessages(begun, messages);
    const next = origin === undefined ? shown : withNews(shown, "root", origin);
    const all = own ? runs.map((run) => (run === own ? next : run)) : [...runs, next];
    this.set({ runs: all, phase: "Starting" });
    if (this.#compacts) {
      this.#compacts = "before";
      this.#run!.compact();
    }
    this.#keep();
    void this.#follow(this.#run!);
  }

  /** Asks again what a reload has cut off before the chat had it. */
  #beginAgain(messages: readonly UiMessage[], error: ConversationSnapshot["error"]): void {
    const { runs } = this.getState();
    const run = runs.find(({ origin }) => origin !== undefined);
    if (!run) return;
    if (error) this.#note({ thrown: error });
    const found = placed(run, messages);
    const { origin, ...known } = found ?? run;
    const isThere = found || error || origin !== reloaded;
    const others = runs.filter((one) => one !== run);
    this.set({ runs: isThere ? [...others, withMessages(known, messages)] : others });
    if (!isThere && run === runs.at(-1)) void this.#ask(run.prompt, undefined);
  }

  /** Notes the events of a run. */
  async #follow(run: Run): Promise<void> {
    const chat = this.#chat;
    for await (const event of run.events({ detached: true })) {
      // After "new chat" a run may still have events.
      if (this.#chat !== chat) continue;
      if (event.type === "compact-boundary") this.#compactLater(undefined);
      const phase = phaseOf(event);
      if (phase !== undefined) this.set({ phase });
      const timeMs = event.timeMs ?? Date.now();
      this.#change(run.id, (shown) => withEvent(shown, event, timeMs), event.type.endsWith("-delta"));
      if (steps.has(event.type)) this.#keep();
    }
    const result = await run.result;
    if (this.#chat !== chat) return;
    this.#change(run.id, (shown) => settled(shown, result));
    this.set({ phase: ends[result.outcome] });
    this.#keep();
    // One that was asked for within the last model call waits for the next message.
    if (this.#compacts !== "before") return;
    this.#compactLater(undefined);
    if (result.outcome === "completed") this.#note({});
  }

  #change(id: string, next: (run: ShownRun) => ShownRun, isPiece = false): void {
    const { runs } = this.getState();
    this.set({ runs: runs.map((run) => (run.id === id ? next(run) : run)) }, isPiece);
  }

  #note(note: Omit<Note, "after">): void {
    this.set({ notes: [...this.getState().notes, { ...note, after: this.getState().runs.length }] });
  }

  #keep(): void {
    const { runs, cutOff, setup } = this.getState();
    const { connection, ...chosen } = setup;
    const open: OpenRun = {
      connection: connection.kind === "practice" ? connection : { kind: "gone", model: connection.model },
      ...chosen,
      allowed: [...this.#allowed],
    };
    keep({
      chat: this.#chat,
      runs: [...runs, ...(cutOff ? [cutOff.run] : [])].map(keptRun),
      open: this.#isBusy ? open : cutOff?.open,
    });
  }

  #agentOf(setup: Setup): Agent {
    const { connection, limits, mode, system: said = system, without = [], descriptions } = setup;
    const tools = Object.entries(this.tools)
      .filter(([name]) => !without.includes(name))
      .map(([name, tool]) => [name, { ...tool, description: descriptions?.[name] ?? tool.description }]);
    return createAgent({
      model: modelOf(connection),
      store,
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
        // The user who switches to it is watching the page.
        allowDangerouslySkipPermissions: true,
      },
      trace: keptRows,
    });
  }
}

async function readDocument(name: string, signal: AbortSignal): Promise<string> {
  const response = await fetch(`/docs/${name}`, { signal });
  if (!response.ok) throw new Error(`status ${response.status}`);
  return response.text();
}
