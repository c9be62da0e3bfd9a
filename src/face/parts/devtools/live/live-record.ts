/** The record of a run that tells its inputs as they come, beside what it keeps for a file. */
import type { ExportOptions, OutcomeKind, RunRecord } from "../../../core/api/index.js";
import { textsOf } from "../../replay/bytes.js";
import type { LoopInput } from "../../replay/loop-file.js";
import { chunkOf, cleaned, entriesText, UNKNOWN_MS } from "../../replay/recorder.js";
import { Redaction } from "../../replay/redaction.js";
import type { LoopHead } from "./protocol.js";

/** Hears of a process that begins, and of the inputs of the latest one that one task has brought. */
export interface RecordListener {
  onProcess(index: number): void;
  onInputs(process: number, at: number, inputs: readonly LoopInput[]): void;
}

export class LiveRecord implements RunRecord {
  readonly processes: { readonly head: LoopHead; readonly inputs: LoopInput[] }[] = [];
  readonly #kept: RunRecord;
  readonly #listener: RecordListener;
  readonly #secrets: string[] = [];
  /** A secret in two chunks is seen in the file alone. */
  #redaction = new Redaction([], (text) => text);
  /** The inputs of the latest process that were told already. */
  #told = 0;
  #isDue = false;

  constructor(kept: RunRecord, listener: RecordListener) {
    this.#kept = kept;
    this.#listener = listener;
  }

  begin(config: string, source: Parameters<RunRecord["begin"]>[1]): void {
    this.#kept.begin(config, source);
    this.flush();
    const began =
      typeof source === "string"
        ? { options: this.#read<object>(source) }
        : { entries: this.#read<NonNullable<LoopHead["entries"]>>(entriesText(source)), last: source.last };
    this.processes.push({ head: { config: this.#read(config), ...began }, inputs: [] });
    this.#told = 0;
    this.#listener.onProcess(this.processes.length - 1);
  }

  input(...[nowMs, random, after, told]: Parameters<RunRecord["input"]>): void {
    this.#kept.input(nowMs, random, after, told);
    const input =
      typeof told === "string"
        ? { json: this.#read<unknown>(told) }
        : chunkOf(told.request, this.#redaction.chunks(textsOf([told.bytes]))[0]!);
    const time = nowMs < UNKNOWN_MS ? { nowMs } : {};
    this.processes.at(-1)?.inputs.push({ ...time, random: `${random}`, after, input });
    if (this.#isDue) return;
    this.#isDue = true;
    // An input that comes while an earlier one is at work belongs to the same task: a player needs both to know how
    // far the first one came.
    queueMicrotask(() => this.flush());
  }

  know(secrets: readonly string[]): void {
    this.#kept.know(secrets);
    this.#secrets.push(...secrets);
    this.#redaction = new Redaction(this.#secrets, (text) => text);
  }

  lose(error: string): void {
    this.#kept.lose(error);
  }

  text(id: string, outcome: OutcomeKind | undefined, options?: ExportOptions): string {
    return this.#kept.text(id, outcome, options);
  }

  /** Tells the inputs that nobody has heard yet. */
  flush(): void {
    this.#isDue = false;
    const index = this.processes.length - 1;
    const inputs = this.processes[index]?.inputs.slice(this.#told) ?? [];
    if (inputs.length === 0) return;
    this.#listener.onInputs(index, this.#told, inputs);
    this.#told += inputs.length;
  }

  #read<T>(json: string): T {
    return JSON.parse(cleaned(json, this.#redaction)) as T;
  }
}
