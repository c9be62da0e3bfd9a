/** The runs that a host has begun, in the order of their beginnings. The last ones keep their logs. */
import type { Store } from "../../../core/api/run.js";
import { reportUnheard } from "../../../core/host/failures.js";
import { SharedLog, type LogObject } from "../../stores/logs/shared-log.js";
import type { Target } from "../protocol.js";
import { RunLog } from "./run-log.js";

/** The journal of the list, and the beginning of the keys of logs. */
const LIST = "looplet.runs";
const LOG = "looplet.events ";

export interface ListedRun extends Target {
  readonly run: string;
}

export class RunList {
  readonly #store: Store | undefined;
  readonly #list: SharedLog | undefined;
  readonly #keep: number;
  readonly #logs = new Map<string, RunLog>();

  /** `keep` is the number of runs whose logs stay. */
  constructor(store: Store | undefined, keep: number) {
    this.#store = store;
    this.#list = store && new SharedLog(store, LIST);
    this.#keep = keep;
  }

  /** Notes a run that is about to begin, and forgets the log of one that is long over. A list that fails stops no run. */
  async add(run: string, chat: string | undefined): Promise<RunLog> {
    const log = this.log(run);
    await this.#note({ run, ...(chat === undefined ? {} : { chat }) }).catch(reportUnheard);
    const [oldest] = this.#logs.keys();
    if (this.#logs.size > this.#keep && (await this.log(oldest!).state()) === "over")
      this.#logs.delete(oldest!);
    return log;
  }

  async #note(run: ListedRun): Promise<void> {
    const before = runsOf((await this.#list?.add(run)) ?? []);
    const old = before.at(-this.#keep)?.run;
    if (old !== undefined && (await this.log(old).state()) === "over") await this.#store?.delete?.(LOG + old);
  }

  log(run: string): RunLog {
    let log = this.#logs.get(run);
    if (log === undefined) {
      log = new RunLog(this.#store, LOG + run);
      this.#logs.set(run, log);
    }
    return log;
  }

  /** The runs that have begun and not ended. `isFree`: only those that no host goes on with, if the store has leases. */
  async open(isFree: boolean): Promise<ListedRun[]> {
    const pending = isFree ? await this.#store?.pending?.() : undefined;
    const open: ListedRun[] = [];
    for (const listed of (await this.#all()).slice(-this.#keep)) {
      const isHeld = pending?.includes(listed.chat ?? listed.run) === false;
      if (isHeld) continue;
      // The other runs are read even if the store cannot give one log.
      const state = await this.log(listed.run)
        .state()
        .catch(() => "open");
      if (state !== "over") open.push(listed);
    }
    return open;
  }

  /** The chat of a run that the list has. */
  async chatOf(run: string): Promise<string | undefined> {
    return (await this.#all()).find((listed) => listed.run === run)?.chat;
  }

  /** The last run of a chat that the list has. */
  async lastOf(chat: string): Promise<string | undefined> {
    return (await this.#all()).filter((listed) => listed.chat === chat).at(-1)?.run;
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
