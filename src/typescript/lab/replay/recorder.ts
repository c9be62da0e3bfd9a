/**
 * The record of a run: every input of the engine, with its moment, and its text as a `.loop` file. The driver records
 * inputs before it passes them to the engine, so the record survives a lost instance.
 */
import { LoopletError } from "../../core/api/errors.js";
import type { ExportOptions, OutcomeKind, Recorder, RunRecord } from "../../core/api/index.js";
import { VERSION } from "../../core/kit/tables.js";
import { withoutChecksum, type JournalText } from "../../core/kit/journal.js";
import { checkOptions, describeReturned, isObject } from "../../core/kit/check.js";
import { base64Of, isBinary, textsOf } from "./bytes.js";
import { decoded, LOOP_FORMAT, readLoop, type LoopFile, type LoopInput } from "./loop-file.js";
import { Redaction } from "./redaction.js";

/** The file of a run that has ended. @beta */
export interface Recording {
  /** The id of the run. */
  readonly id: string;
  readonly outcome: OutcomeKind;
  /** The text of the `.loop` file. It has only the inputs of this process. */
  readonly file: string;
}

/** The options of {@link recorder}. @beta */
export interface RecorderOptions extends ExportOptions {
  /**
   * Contract: called once for each run that ends in this process, when its result is known. Save the file anywhere.
   * If it throws or rejects, the error goes to `onError` of the run, which has already ended. Default: nothing is
   * saved, and only `run.export()` writes the file.
   */
  save?: ((recording: Recording) => void | PromiseLike<void>) | undefined;
}

/**
 * Records the runs of an agent: `createAgent({ record: recorder() })`. Every run has a separate record. `redact`
 * applies to the files that `save` gets. `run.export({ redact })` has its own.
 *
 * @beta
 *
 * @example
 * ```ts
 * import { createAgent, custom } from "looplet";
 * import { recorder } from "looplet/replay";
 *
 * const agent = createAgent({ model: custom(() => Promise.resolve("Hello.")), record: recorder() });
 * const run = agent.run("Hi");
 * await run.result;
 * const file = run.export(); // save it as run.loop
 * ```
 *
 * @throws LoopletError `config_…`
 */
export function recorder(options: RecorderOptions = {}): Recorder {
  const { save, redact } = checkOptions(options, "", { save: "function", redact: "function" });
  return () => new LoopRecord(save, { redact });
}

/** The inputs of one process: of a whole run, or of a run that was resumed from a journal. */
interface Process {
  readonly config: string;
  readonly source: string | JournalText;
  readonly inputs: Kept[];
  lost?: string;
}

/** An input: the fields of its moment, and its JSON or a chunk of a body. */
interface Kept {
  readonly moment: string;
  readonly told: string | { readonly request: number; readonly bytes: Uint8Array };
}

/** The first time that is unknown. */
export const UNKNOWN_MS = 2 ** 53;

class LoopRecord implements RunRecord {
  readonly #processes: Process[] = [];
  readonly #secrets = new Set<string>();

  constructor(
    private readonly save: RecorderOptions["save"],
    private readonly options: ExportOptions,
  ) {}

  begin(config: string, source: Process["source"]): void {
    this.#processes.push({ config, source, inputs: [] });
  }

  input(...[nowMs, random, after, input]: Parameters<RunRecord["input"]>): void {
    const moment = momentText(nowMs < UNKNOWN_MS ? nowMs : undefined, `${random}`, after);
    // The memory of a chunk is used again for the next one.
    const told = typeof input === "string" ? input : { ...input, bytes: input.bytes.slice() };
    this.#processes.at(-1)?.inputs.push({ moment, told });
  }

  know(secrets: readonly string[]): void {
    for (const secret of secrets) this.#secrets.add(secret);
  }

  lose(error: string): void {
    const last = this.#processes.at(-1);
    if (last !== undefined) last.lost = error;
  }

  ended(id: string, outcome: OutcomeKind): void | PromiseLike<void> {
    return this.save?.({ id, outcome, file: this.text(id, outcome, this.options) });
  }

  /**
   * The text of the `.loop` file, without secrets.
   *
   * @throws LoopletError `config_…`, `misuse_invalid_argument`
   */
  text(id: string, outcome: OutcomeKind | undefined, options: ExportOptions = {}): string {
    const head = { loop: LOOP_FORMAT, looplet: VERSION, id, outcome };
    return fileText(head, this.#processes, redactionOf([...this.#secrets], options));
  }
}

/**
 * The text of a `.loop` file without what `redact` takes out, as `run.export({ redact })` writes it. What the file
 * expects of its replay is left out, because its requests have the texts too.
 *
 * @beta
 *
 * @throws LoopletError `misuse_run_file`, `config_…`, `misuse_invalid_argument`
 */
export function redact(file: string, options: ExportOptions = {}): string {
  const { processes, expected: _, ...head } = readLoop(file);
  const kept = processes.map(({ config, options: own, entries, last = 0, inputs, lost }) => ({
    config: JSON.stringify(config),
    // As in a replay, a process with entries resumes from them.
    source:
      entries === undefined
        ? JSON.stringify(own)
        : {
            texts: entries.map((entry) => (typeof entry === "string" ? entry : JSON.stringify(entry))),
            last,
          },
    inputs: inputs.map(keptOf),
    ...(lost !== undefined && { lost }),
  }));
  return fileText(head, kept, redactionOf([], options));
}

function redactionOf(secrets: readonly string[], given: ExportOptions): Redaction {
  const options = checkOptions(given, "", { redact: "function" });
  return new Redaction(secrets, (text) => {
    const told: unknown = options.redact?.(text) ?? text;
    if (typeof told === "string") return told;
    const problem = `needs to return a text, got ${describeReturned(told)}`;
    throw new LoopletError("misuse_invalid_argument", "redact", problem);
  });
}

function fileText(head: Omit<LoopFile, "processes">, kept: readonly Process[], redaction: Redaction): string {
  const clean = (json: string): string => cleaned(json, redaction);
  const processes = kept.map(({ config, source, inputs, lost }) => {
    const began =
      typeof source === "string"
        ? `"options":${clean(source)}`
        : `"entries":${clean(entriesText(source))},\n"last":${source.last}`;
    const end = lost === undefined ? "" : `,"lost":${clean(JSON.stringify(lost))}`;
    const lines = linesOf(inputs, redaction).join(",\n");
    return `{"config":${clean(config)},\n${began},\n"inputs":[\n${lines}\n]${end}}`;
  });
  return `${JSON.stringify(head).slice(0, -1)},\n"processes":[${processes.join(",\n")}]}\n`;
}

/** An input of a file in the form of a record. */
function keptOf({ nowMs, random, after, input }: LoopInput, index: number): Kept {
  const moment = momentText(nowMs, random, after);
  if ("json" in input) return { moment, told: JSON.stringify(input.json) };
  const [request, bytes] =
    "text" in input
      ? [input.text.request, new TextEncoder().encode(input.text.text)]
      : [input.bytes.request, decoded(input.bytes.base64, index + 1)];
  return { moment, told: { request, bytes } };
}

function momentText(nowMs: number | undefined, random: string, after: number): string {
  const time = nowMs === undefined ? "" : `"nowMs":${nowMs},`;
  return `${time}"random":${JSON.stringify(random)},"after":${after},`;
}

/** The inputs as JSON. The chunks of one body are searched together. */
function linesOf(inputs: readonly Kept[], redaction: Redaction): string[] {
  const bodies = new Map<number, Uint8Array[]>();
  for (const { told } of inputs) {
    if (typeof told === "string") continue;
    const chunks = bodies.get(told.request);
    if (chunks === undefined) bodies.set(told.request, [told.bytes]);
    else chunks.push(told.bytes);
  }
  const texts = new Map(
    Array.from(bodies, ([request, chunks]) => [request, redaction.chunks(textsOf(chunks)).values()]),
  );
  return inputs.map(({ moment, told }) => {
    if (typeof told === "string") return `{${moment}"input":{"json":${cleaned(told, redaction)}}}`;
    const { request } = told;
    return `{${moment}"input":${JSON.stringify(chunkOf(request, texts.get(request)!.next().value!))}}`;
  });
}

/** A chunk of the body of a response. The text is one of `textsOf`. */
export function chunkOf(request: number, text: string): LoopInput["input"] {
  return isBinary(text) ? { bytes: { request, base64: base64Of(text) } } : { text: { request, text } };
}

/**
 * The entries as a JSON array. A redacted text has no checksum any more. An entry that JSON would serialise
 * differently, such as a damaged one and one with the number 1.0, is a string.
 */
export function entriesText({ texts }: Pick<JournalText, "texts">): string {
  const entries = texts.map((entry) => {
    const text = withoutChecksum(entry);
    try {
      const value: unknown = JSON.parse(text);
      return isObject(value) && JSON.stringify(value) === text ? text : JSON.stringify(text);
    } catch {
      return JSON.stringify(text);
    }
  });
  return `[${entries.join(",")}]`;
}

/** The JSON with other texts. JSON without a change stays as it is written. */
export function cleaned(json: string, redaction: Redaction): string {
  let isChanged = false;
  const value: unknown = JSON.parse(json, function (this: object, key: string, value: unknown) {
    let told = value;
    if (typeof value === "string") told = redaction.text(value);
    // The headers of a model may be secret. Of a response's, the engine reads some.
    else if (key === "headers" && Array.isArray(value))
      told = value.map((pair: unknown) => {
        const name: unknown = Array.isArray(pair) ? pair[0] : undefined;
        const isOpen = "status" in this && typeof name === "string" && !/cookie|auth/i.test(name);
        return isOpen ? pair : [name, "[redacted]"];
      });
    else if (isObject(value)) told = named(value, redaction);
    isChanged ||= told !== value && JSON.stringify(told) !== JSON.stringify(value);
    return told;
  });
  return isChanged ? JSON.stringify(value) : json;
}

/** A copy of an object without secrets in its field names, or the object itself if they have none. */
function named(value: object, redaction: Redaction): object {
  const names = Object.keys(value);
  const told = names.map((name) => redaction.name(name));
  if (told.every((name, at) => name === names[at])) return value;
  return Object.fromEntries(Object.values(value).map((one: unknown, at) => [told[at]!, one]));
}
