/**
 * The journal of a chat, in which its runs follow each other. A run writes only what is new: it says how many
 * messages of the transcript the journal has already.
 */
import type { AgentParts } from "../agent-parts.js";
import { LoopletError } from "../../api/errors.js";
import type {
  AgentTranscript,
  JournalEntry,
  Message,
  ModelUsage,
  SubagentMemory,
  Usage,
} from "../../api/index.js";
import type { JournalTail } from "../../generated/model.js";
import type { ChatEnd, HostCallbacks, RunSource } from "../../host/driver.js";
import { journalOf } from "../../host/entries.js";
import { refusal, reportUncaught } from "../../host/failures.js";
import { withTemporaryRun } from "../temporary-run.js";
import { resultOf, type Driver, type OpenRun } from "../../host/engine.js";
import { Journal, type JournalHost } from "../journal.js";
import { runConfig } from "../prompt.js";
import { withCost } from "../result.js";

/** A chat as its journal has it. */
export interface RestoredChat {
  readonly tail: JournalTail;
  readonly messages: readonly Message[];
  readonly subagents: readonly SubagentMemory[];
  readonly usage: ModelUsage | null;
  /** The index of the agent that spoke last. */
  readonly profile: number;
}

export class ChatJournal {
  readonly key: string;
  readonly #parts: AgentParts;
  readonly #open: OpenRun;
  /** The end of the journal, and the number of messages that it has of the transcript. */
  #end: ChatEnd = { seq: 0, whole: 0, leftOut: 0, messages: 0, requests: [] };
  /** Whether all entries counted when they were read. */
  isWhole = true;
  /** The requests that the run under way has taken. */
  readonly #taken = new Set<string>();
  #journal: Journal | undefined;

  constructor(key: string, parts: AgentParts, open: OpenRun) {
    this.key = key;
    this.#parts = parts;
    this.#open = open;
  }

  /**
   * The chat of these entries.
   *
   * @throws LoopletError `config_invalid_value` for a journal that cannot be read, or that these options do not fit
   */
  read(entries: readonly JournalEntry[]): RestoredChat {
    const [tail, result] = this.#briefly(journalOf(entries), (driver) => {
      driver.recall();
      return [driver.tail(), resultOf(driver)] as const;
    });
    if (tail === undefined || result === undefined) throw wrong("the WebAssembly was lost");
    this.#end = tail;
    this.isWhole = tail.leftOut === 0;
    const { messages, subagents, chatUsage, profile } = result;
    return { tail, messages, subagents, usage: withCost(chatUsage), profile };
  }

  /**
   * The transcripts of all agents of these entries.
   *
   * @throws LoopletError as `read`
   */
  transcripts(entries: readonly JournalEntry[]): AgentTranscript[] {
    const journal = journalOf(entries);
    const transcripts = this.#briefly(journal, (driver) => driver.transcripts(journal));
    if (transcripts === undefined) throw wrong("the WebAssembly was lost");
    return transcripts;
  }

  /** The number of the journal's last entry. */
  get last(): number {
    return this.#end.seq;
  }

  /** The journal for the run of this id, which continues where the previous run ended. */
  next(host: JournalHost, run: string): Journal {
    this.#taken.clear();
    this.take(run);
    return (this.#journal = new Journal(host, this.key, this.#journal));
  }

  /** Sets the end of the journal for a new run, before its first input. */
  follow(driver: Driver, run: string): void {
    driver.follow(this.#end, run);
  }

  /** The run takes a message with this id. */
  take(request: string): void {
    this.#taken.add(request);
  }

  /** Whether a run of the chat has taken this request. */
  hasTaken(request: string): boolean {
    return this.#taken.has(request) || this.#end.requests.includes(request);
  }

  /** A run has ended. The engine does not know the tail of a run that it has not ended. */
  end(tail?: JournalTail): void {
    const last = this.#journal?.last;
    const requests = [...this.#end.requests, ...this.#taken];
    if (tail !== undefined) this.#end = tail;
    // A run that has saved nothing has taken nothing.
    else if (last !== undefined) this.#end = { seq: last, whole: last, leftOut: 0, messages: 0, requests };
    this.#taken.clear();
  }

  /**
   * Puts these messages in place of the transcript. `usage` is that of the chat so far.
   *
   * @throws LoopletError `config_invalid_value` for a history that is not legal
   */
  reset(messages: readonly Message[], usage: Usage | null): void {
    const { seq } = this.#end;
    if (seq === 0 && messages.length === 0) return;
    const { store, clock, ids } = this.#parts;
    const host = { store: store!, clock, report: reportUncaught, lost: nothing, gone: nothing };
    const save: HostCallbacks["save"] = (_, entries) => journal.save(entries, nothing);
    const journal = new Journal(host, this.key, this.#journal);
    const begin = (driver: Driver): JournalTail | undefined => {
      this.#journal = journal;
      this.#end = { ...this.#end, messages: 0 };
      this.follow(driver, ids());
      // There is no prompt, so the run writes its start entry and does nothing more.
      driver.tell("resume");
      return driver.tail();
    };
    const tail = this.#briefly(runConfig({ messages, chatUsage: usage }, {}, undefined, 0), begin, save);
    journal.end("ended");
    this.end(tail);
  }

  async saved(): Promise<void> {
    await this.#journal?.saved();
  }

  /** Opens a run for a moment. */
  #briefly<T>(source: RunSource, act: (driver: Driver) => T, save?: HostCallbacks["save"]): T {
    let isOpen = false;
    const acting = (driver: Driver): T => {
      isOpen = true;
      return act(driver);
    };
    try {
      return withTemporaryRun(this.#parts, this.#open, source, acting, save);
    } catch (error) {
      throw isOpen ? error : wrong(refusal(error).message, error);
    }
  }
}

function wrong(problem: string, cause?: unknown): LoopletError {
  return new LoopletError("config_invalid_value", "chat", problem, cause);
}

function nothing(): void {}
