/** The runs that a host has started, in order. The sessions of the last ones retain their logs. */
import type { Store } from "../../../core/api/run.js";
import { reportUncaught } from "../../../core/kit/runs.js";
import { SharedLog, type LogObject } from "../../../extras/stores/logs/shared-log.js";
import type { Target } from "../protocol.js";
import { entriesOf, logOf } from "./session-log.js";
import { StoreLog } from "./store-log.js";

/** The journal of the list. */
const LIST = "looplet.runs";

/** A run, and its chat if it has one. */
export interface ListedRun extends Target {
  readonly run: string;
}

/** The name of the session of a run. */
export function sessionOf({ run, chat }: ListedRun): string {
  return chat ?? run;
}

export class RunList {
  readonly #store: Store | undefined;
  readonly #list: SharedLog | undefined;
  readonly #keep: number;

  /** `keep` is the number of runs with logs that are retained. */
  constructor(store: Store | undefined, keep: number) {
    this.#store = store;
    this.#list = store && new SharedLog(store, LIST, { twice: true });
    this.#keep = keep;
  }

  /** The log of a session. A chat has the last runs, and forgets those before them a few at a time. */
  logOf(session: string): StoreLog {
    return new StoreLog(this.#store, logOf(session), (told) => {
      const ends = told.flatMap(({ end }, at) => (end === undefined ? [] : [at + 1]));
      return ends.length < 2 * this.#keep ? 0 : ends.at(-this.#keep)!;
    });
  }

  /** Notes a run that is about to start, and deletes the log of an old one. A failure of the list stops no run. */
  async add(listed: ListedRun): Promise<void> {
    await this.#note(listed).catch(reportUncaught);
  }

  async #note(listed: ListedRun): Promise<void> {
    const before = runsOf((await this.#list?.add(listed)) ?? []);
    const old = before.at(-this.#keep);
    const staying = [...before, listed].slice(-this.#keep).map(sessionOf);
    if (old === undefined || staying.includes(sessionOf(old))) return;
    if (!(await this.#isOpen(old))) await this.#store?.delete?.(logOf(sessionOf(old)));
  }

  /**
   * The last runs of sessions that have not ended. `isFree`: only runs that no host performs, if the store has
   * leases.
   */
  async open(isFree: boolean): Promise<ListedRun[]> {
    const pending = isFree ? await this.#store?.pending?.() : undefined;
    const last = new Map((await this.#all()).slice(-this.#keep).map((run) => [sessionOf(run), run]));
    const open: ListedRun[] = [];
    for (const [session, run] of last) {
      const isHeld = pending?.includes(session) === false;
      // The other runs are read even if the store cannot give one log.
      if (!isHeld && (await this.#isOpen(run).catch(() => true))) open.push(run);
    }
    return open;
  }

  async #isOpen(listed: ListedRun): Promise<boolean> {
    const log = this.logOf(sessionOf(listed));
    await log.load();
    return entriesOf(log, listed.run).at(-1)?.entry.end === undefined;
  }

  /** The chat of a run that the list has. */
  async chatOf(run: string): Promise<string | undefined> {
    return (await this.#all()).find((listed) => listed.run === run)?.chat;
  }

  async #all(): Promise<ListedRun[]> {
    return runsOf((await this.#list?.load()) ?? []);
  }
}

/** The runs of a list. Entries that are damaged do not count. */
function runsOf(entries: readonly LogObject[]): ListedRun[] {
  return entries.flatMap(({ run, chat }) => {
    if (typeof run !== "string") return [];
    return [typeof chat === "string" ? { run, chat } : { run }];
  });
}
