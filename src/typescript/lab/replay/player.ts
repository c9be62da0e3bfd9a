/** Plays one process of a `.loop` file in the engine: nothing is sent, called or waited for. */
import { playChunk, playInput } from "../../../../target/glue/looplet.js";
import type { JournalEntry, Outcome } from "../../core/api/index.js";
import {
  type BatchListener,
  readResult,
  type Question,
  type RawRunResult,
  type ToolInvocation,
  instanceOf,
  isProblem,
  type Instance,
  type Handle,
  type LoadedWasm,
  type Output,
} from "../../core/kit/engine.js";
import { batchesOf, entriesOf, journalOf } from "../../core/kit/journal.js";
import { describeError } from "../../core/kit/http.js";
import { decoded, journalIn, wrong, type LoopInput, type LoopProcess } from "./loop-file.js";

/** What the engine asks for while a process is played. */
export interface Asked extends BatchListener {
  /** `body` copies the bytes. It may be called until `onRequest` returns. */
  onRequest(number: number, request: { method: string; url: string; body: () => Uint8Array }): void;
  onCall(call: ToolInvocation): void;
  onQuestion(question: Question): void;
  onEntries(entries: readonly JournalEntry[]): void;
}

/** The `Shell` of a replay (`src/shell/javascript.rs`). */
class ReplayShell {
  constructor(
    private readonly instance: Instance,
    private readonly asked: Asked,
  ) {}

  deliver(wordsAt: number, records: number, textAt: number, textBytes: number): void {
    this.instance.reader.read(wordsAt, records, textAt, textBytes, this.asked);
  }

  perform(json: string): void {
    const output = JSON.parse(json) as Output;
    if ("callTool" in output) this.asked.onCall(output.callTool);
    if ("ask" in output) this.asked.onQuestion(output.ask.ask);
  }

  save(_save: number, firstSeq: number, entries: readonly string[]): void {
    this.asked.onEntries(entriesOf(firstSeq, entries));
  }

  send(request: number, json: string, at: number, length: number): void {
    const { method, url } = JSON.parse(json) as { method: string; url: string };
    this.asked.onRequest(request, { method, url, body: () => this.instance.reader.copy(at, length) });
  }

  now(): number {
    return NaN;
  }

  random(): number {
    return 0;
  }

  // The record has the answers to all of these.
  done(): void {}
  release(): void {}
  arm(): void {}
  disarm(): void {}
  record(): void {}
}

const encoder = new TextEncoder();

/** A process on its way through its inputs. */
export class Player {
  readonly #instance: Instance;
  readonly #handle: Handle;
  readonly #inputs: readonly LoopInput[];
  readonly #tenant: { lose(error: unknown): void };
  #at = 0;
  /** The error that ended the WebAssembly. */
  lost: string | undefined;

  /** @throws LoopletError `misuse_run_file` */
  constructor(wasm: LoadedWasm, process: LoopProcess, asked: Asked) {
    const instance = (this.#instance = instanceOf(wasm));
    this.#inputs = process.inputs;
    const shell = new ReplayShell(instance, asked);
    const { config, options, last = 0 } = process;
    const journal = journalIn(process);
    const handle = refusing(() =>
      instance.enter(() => {
        const agent = instance.agent(JSON.stringify(config));
        return journal === undefined
          ? agent?.open(JSON.stringify(options), shell)
          : agent?.restore(batchesOf(journalOf(journal)), last, shell);
      }),
    );
    if (handle === undefined) throw wrong("the WebAssembly was lost when its run was opened");
    this.#handle = handle;
    this.#tenant = { lose: (error) => (this.lost = describeError(error)) };
    instance.shells.add(this.#tenant);
  }

  /** Plays the next input and everything that follows from it before the next one. */
  step(): void {
    const { nowMs = NaN, random, input } = this.#inputs[this.#at++]!;
    const before = this.#inputs[this.#at]?.after ?? 0xffff_ffff;
    const seed = /^\d{1,20}$/.test(random) ? BigInt(random) : undefined;
    if (seed === undefined || BigInt.asUintN(64, seed) !== seed)
      throw wrong(`cannot be played: input ${this.#at}: random is not a number of 64 bits`);
    if ("json" in input) {
      const json = JSON.stringify(input.json);
      const play = (): void => playInput(this.#handle, json, nowMs, seed, before);
      return refusing(() => this.#instance.enter(play), this.#at);
    }
    const [request, bytes] =
      "text" in input
        ? [input.text.request, encoder.encode(input.text.text)]
        : [input.bytes.request, decoded(input.bytes.base64, this.#at)];
    this.#instance.widen(bytes.length);
    const { reader } = this.#instance;
    if (reader.bytes.length === 0) reader.look();
    if (bytes.length > reader.capacity) throw wrong(`cannot be played: input ${this.#at}: it is too long`);
    reader.bytes.set(bytes, reader.inletAt);
    this.#instance.enter(() => playChunk(this.#handle, request, bytes.length, nowMs, seed, before));
  }

  /** An agent's path, and the provider's id of the call that it answers. */
  agent(index: number): [path: string, toolCallId: string] {
    const told = this.#instance.enter(() => this.#handle.agent(index)) ?? "";
    const [path = "", toolCallId = ""] = told.split("\n");
    return [path, toolCallId];
  }

  outcome(): Outcome | undefined {
    return this.#instance.enter(() => this.#handle.outcome() as Outcome | undefined);
  }

  result(): RawRunResult | undefined {
    return readResult((read) => this.#instance.enter(() => read(this.#handle)));
  }

  free(): void {
    this.#instance.enter(() => {
      this.#handle.letGo();
      this.#handle.free();
    });
    this.#instance.shells.delete(this.#tenant);
  }
}

/** Words a problem of the engine with the file. */
function refusing<T>(call: () => T, input?: number): T {
  try {
    return call();
  } catch (error) {
    if (!isProblem(error)) throw error;
    const place = input === undefined ? "" : `input ${input}: `;
    throw wrong(`cannot be played: ${place}${error.field} ${error.problem}`);
  }
}
