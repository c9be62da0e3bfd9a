/**
 * One conversation with the packaged library: owns the agent, its chat and the run that goes on. Knows nothing of the
 * page; tells a view what happens.
 */
import {
  createAgent,
  type Agent,
  type Chat,
  type Message,
  type PermissionResult,
  type Queued,
  type Run,
  type RunEvent,
  type RunResult,
  type TracedRun,
  type Tracer,
} from "looplet";
import { demoTools, system } from "../../examples/tools/index.mjs";
import { optionsOf, type Limits } from "./budget.js";
import { modelOf, type Connection } from "./connection.js";
import { conclude, forget, keep, record, remembered, type Recording } from "./memory.js";
import { harmless, type Mode } from "./permission.js";
import { team } from "./team.js";

export type QueuedKind = "steer" | "follow-up";

/** Why a run ended whose page went away. */
export const left = "the page was left";

/** What a person chose. */
export interface Setup {
  connection: Connection;
  limits: Limits;
  mode: Mode;
}

/** Contract: synchronous; called in the order in which things happen. */
export interface ConversationView {
  /** `number` counts the runs of this conversation, from 1. */
  started(prompt: string, number: number): void;
  /** Follows a run that starts, for its trace. */
  traced: Tracer;
  /** `timeMs`: since the Unix epoch. */
  happened(event: RunEvent, timeMs: number): void;
  queued(kind: QueuedKind, text: string, queued: Queued): void;
  settled(result: RunResult): void;
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
  /** All runs, the one that goes on too. */
  #recordings: Recording[] = [];
  /** The run that begins, as its tracer was told. */
  #traced: TracedRun | undefined;
  #last: { prompt: string; before: readonly Message[] } | undefined;
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
   * Goes on with another model or other limits; the transcript stays. A run that goes on keeps what it began with, but
   * for the permission mode.
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
  answer(questionId: number, result: PermissionResult): void {
    for (const update of result.updatedPermissions ?? [])
      if (update.type === "addRules")
        for (const rule of update.rules) if (typeof rule === "string") this.#allowed.add(rule);
    this.#run?.answer(questionId, result);
    if (result.updatedPermissions) this.#agent = this.#agentOf(this.#setup);
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
    this.#run = run;
    if (this.#compacts) {
      this.#compacts = "before";
      run.compact();
    }
    const { id, vendor = "", model = "" } = { ...this.#traced, id: run.id };
    const recording: Recording = { prompt, run: { id, vendor, model }, queued: [], happened: [] };
    this.#recordings.push(recording);
    this.#view.started(prompt, this.#recordings.length);
    void this.#follow(run, recording);
  }

  /** Asks the last prompt again, on the transcript as it was before. */
  retry(): void {
    if (this.#run || !this.#last) return;
    this.#chat = this.#agent.chat({ messages: this.#last.before });
    this.ask(this.#last.prompt);
  }

  tell(kind: QueuedKind, text: string): void {
    if (!this.#run) return this.ask(text);
    const queued = kind === "steer" ? this.#run.steer(text) : this.#run.followUp(text);
    this.#recordings.at(-1)?.queued.push({ kind, text, id: queued.id });
    this.#view.queued(kind, text, queued);
  }

  stop(): void {
    this.#run?.abort("stopped by the user");
  }

  /** The page goes away, and the run with it: what it has done by now is kept. */
  leave(): void {
    this.#run?.abort(left);
  }

  /** Shows the conversation again that this tab had before a reload, and goes on from there. */
  recall(): void {
    const kept = remembered();
    if (!kept) return;
    try {
      this.#chat = this.#agent.chat({ messages: kept.messages });
      for (const recording of kept.recordings) this.#replay(recording);
      this.#last = kept.last;
    } catch (error) {
      // Another version of the page wrote it.
      this.clear();
      console.warn(error);
    }
  }

  clear(): void {
    this.stop();
    this.#run = undefined;
    this.#recordings = [];
    forget();
    this.#last = undefined;
    this.#allowed.clear();
    this.#compactLater(undefined);
    this.#agent = this.#agentOf(this.#setup);
    this.#chat = this.#agent.chat();
    this.#view.cleared();
  }

  #replay(recording: Recording): void {
    const { prompt, run, queued, happened, result } = recording;
    if (!result) return;
    let nowMs = happened[0]?.timeMs ?? 0;
    const trace = this.#view.traced({ ...run, now: () => nowMs, random: Math.random });
    this.#recordings.push(recording);
    this.#view.started(prompt, this.#recordings.length);
    for (const { kind, text, id } of queued) this.#view.queued(kind, text, { id, withdraw: () => false });
    for (const { event, timeMs } of happened) {
      nowMs = timeMs;
      if (!event.type.endsWith("-delta")) trace.onEvent(event);
      this.#view.happened(event, timeMs);
    }
    trace.onEnd?.(result);
    this.#view.settled(result);
  }

  async #follow(run: Run, recording: Recording): Promise<void> {
    for await (const event of run) {
      // After "new chat" a run may still have words to say: they belong to nobody.
      if (this.#run !== run) continue;
      if (event.type === "compact-boundary") this.#compactLater(undefined);
      const timeMs = event.timeMs ?? Date.now();
      record(recording, event, timeMs);
      this.#view.happened(event, timeMs);
    }
    const result = await run.result;
    if (this.#run !== run) return;
    this.#run = undefined;
    // A prompt that failed without an answer is no part of the history: it can be tried again, or left.
    const history = isUnanswered(result) && this.#last ? this.#last.before : this.#chat.messages;
    this.#chat = this.#agent.chat({ messages: history });
    conclude(recording, result);
    keep({ messages: this.#chat.messages, last: this.#last, recordings: this.#recordings });
    this.#view.settled(result);
    // One that was asked for within the last model call waits for the next message.
    if (this.#compacts !== "before") return;
    this.#compactLater(undefined);
    if (result.outcome === "completed") this.#view.nothingToCompact();
  }

  #compactLater(when: "before" | "within" | undefined): void {
    this.#compacts = when;
    this.#view.compacting(when !== undefined);
  }

  #agentOf({ connection, limits, mode }: Setup): Agent {
    return createAgent({
      model: modelOf(connection),
      system,
      tools: { ...this.#tools, ...this.#team },
      ...optionsOf(limits),
      // Little stays as it is, so that a short conversation can be compacted too.
      compaction: { keepLast: 1 },
      permissionMode: mode,
      permissions: { allow: [...harmless, ...Object.keys(this.#team), ...this.#allowed] },
      // The card of the call asks.
      canUseTool: () => null,
      trace: (run) => {
        this.#traced = run;
        return this.#view.traced(run);
      },
      // The person who switches to it sits in front of the page.
      allowDangerouslySkipPermissions: true,
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
