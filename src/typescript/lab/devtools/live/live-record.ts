/** The record of a run that emits its inputs as they arrive, and also stores them for a file. */
import type { ExportOptions, OutcomeKind, RunRecord } from "../../../core/api/index.js";
import { textsOf } from "../../replay/bytes.js";
import type { LoopInput } from "../../replay/loop-file.js";
import { chunkOf, cleaned, entriesText, UNKNOWN_MS } from "../../replay/recorder.js";
import { Redaction } from "../../replay/redaction.js";
import type { LoopHead } from "./protocol.js";

/** A process of a run as devtools receive it. */
export interface ToldProcess {
  readonly head: LoopHead;
  readonly inputs: LoopInput[];
}

/** Receives a process when it starts, and the inputs that one task has added. */
export interface RecordListener {
  onProcess(index: number): void;
  onInputs(process: number, at: number, inputs: readonly LoopInput[]): void;
}

export class LiveRecord implements RunRecord {
  /** Those of the run. A run that is resumed has a record for each time, and they share these. */
  readonly #processes: ToldProcess[];
  /** The index of the process that this record started last. */
  #index = -1;
  readonly #kept: RunRecord;
  readonly #listener: RecordListener;
  readonly #secrets = new Set<string>();
  /** A secret that is split over two chunks is only found in the file. */
  #redaction = new Redaction([], (text) => text);
  /** The inputs of the latest process that were emitted already. */
  #told = 0;
  #isDue = false;

  constructor(kept: RunRecord, processes: ToldProcess[], listener: RecordListener) {
    this.#kept = kept;
    this.#processes = processes;
    this.#listener = listener;
  }

  begin(config: string, source: Parameters<RunRecord["begin"]>[1]): void {
    this.#kept.begin(config, source);
    this.flush();
    const began =
      typeof source === "string"
        ? { options: this.#read<object>(source) }
        : { entries: this.#read<NonNullable<LoopHead["entries"]>>(entriesText(source)), last: source.last };
    this.#index = this.#processes.push({ head: { config: this.#read(config), ...began }, inputs: [] }) - 1;
    this.#told = 0;
    this.#listener.onProcess(this.#index);
  }

  input(...[nowMs, random, after, told]: Parameters<RunRecord["input"]>): void {
    this.#kept.input(nowMs, random, after, told);
    const input =
      typeof told === "string"
        ? { json: this.#read<unknown>(told) }
        : chunkOf(told.request, this.#redaction.chunks(textsOf([told.bytes]))[0]!);
    const time = nowMs < UNKNOWN_MS ? { nowMs } : {};
    this.#processes[this.#index]?.inputs.push({ ...time, random: `${random}`, after, input });
    if (this.#isDue) return;
    this.#isDue = true;
    // An input that comes while an earlier one is at work belongs to the same task: a player needs both to know how
    // far the first one came.
    queueMicrotask(() => this.flush());
  }

  know(secrets: readonly string[]): void {
    this.#kept.know(secrets);
    const known = this.#secrets.size;
    for (const secret of secrets) this.#secrets.add(secret);
    if (this.#secrets.size > known) this.#redaction = new Redaction([...this.#secrets], (text) => text);
  }

  lose(error: string): void {
    this.#kept.lose(error);
  }

  text(id: string, outcome: OutcomeKind | undefined, options?: ExportOptions): string {
    return this.#kept.text(id, outcome, options);
  }

  /** Emits the inputs that were not emitted yet. */
  flush(): void {
    this.#isDue = false;
    const inputs = this.#processes[this.#index]?.inputs.slice(this.#told) ?? [];
    if (inputs.length === 0) return;
    const at = this.#told;
    this.#told += inputs.length;
    this.#listener.onInputs(this.#index, at, inputs);
  }

  #read<T>(json: string): T {
    return JSON.parse(cleaned(json, this.#redaction)) as T;
  }
}
