/** `.loop` files: their form, their reader, and the refusal of a text that is not such a file. */
import { LoopletError } from "../../core/api/errors.js";
import type { JournalEntry, OutcomeKind } from "../../core/api/index.js";
import { isObject } from "../../core/kit/check.js";
import { oneLine } from "./harmless.js";

/** The number of the format of `.loop` files. A file with a higher one is refused. */
export const LOOP_FORMAT = 1;

/** One input of a run with its moment: a `Record` of the engine. @beta */
export interface LoopInput {
  /** Milliseconds since the epoch; absent if unknown. */
  readonly nowMs?: number;
  /** The seed of everything random that the input causes, in decimal digits. */
  readonly random: string;
  /** The number of outputs that were performed before the input. */
  readonly after: number;
  readonly input:
    | { readonly json: unknown }
    | { readonly text: { readonly request: number; readonly text: string } }
    | { readonly bytes: { readonly request: number; readonly base64: string } };
}

/** The inputs of one process. @beta */
export interface LoopProcess {
  readonly config: { readonly [name: string]: unknown };
  /** The options of a new run. */
  readonly options?: object;
  /**
   * The entries of the journal from which the run resumed. An entry that JSON would serialise differently, such as a
   * damaged one, is a string.
   */
  readonly entries?: readonly (string | { readonly seq: number })[];
  /** The number of the last entry, as the store had it. */
  readonly last?: number;
  readonly inputs: readonly LoopInput[];
  /** The error that ended the WebAssembly after the last input. */
  readonly lost?: string;
}

/** A request as a `.loop` file expects it. Bodies repeat each other, so it has only what is new. @beta */
export interface ExpectedRequest {
  readonly method: string;
  readonly url: string;
  /** Characters at the beginning and at the end that the body shares with the one before. */
  readonly start: number;
  readonly end: number;
  /** The rest between them. */
  readonly body: string;
}

/** What a replay has to come to. @beta */
export interface Expected {
  readonly requests: readonly ExpectedRequest[];
  readonly outcome?: OutcomeKind | undefined;
  readonly text: string;
}

/** A `.loop` file. @beta */
export interface LoopFile {
  /** The number of its format. */
  readonly loop: number;
  /** The version of looplet that wrote it. */
  readonly looplet: string;
  readonly id: string;
  readonly outcome?: OutcomeKind | undefined;
  readonly processes: readonly LoopProcess[];
  /** Added by `withExpectations`. */
  readonly expected?: Expected | undefined;
}

/**
 * Reads a `.loop` file.
 *
 * @throws LoopletError `misuse_run_file`
 */
export function readLoop(text: string): LoopFile {
  let file: Partial<LoopFile>;
  try {
    file = JSON.parse(text) as Partial<LoopFile>;
  } catch (error) {
    const isBegun = typeof text === "string" && text.trimStart().startsWith('{"loop":');
    throw isBegun ? wrong("is cut off or damaged: export the run again", error) : wrong(NONE, error);
  }
  if (!isObject(file) || typeof file.loop !== "number" || file.loop < 1) throw wrong(NONE);
  const { loop, looplet, processes, id, outcome, expected } = file;
  const isVersion = typeof looplet === "string" && /^[\w.+-]{1,40}$/.test(looplet);
  if (loop > LOOP_FORMAT)
    throw wrong(`was written by ${isVersion ? `looplet ${looplet}, ` : ""}a newer version: update looplet`);
  if (isTooDeep(file)) throw wrong(`is damaged: it has more than ${MAX_DEPTH} levels`);
  if (!Array.isArray(processes) || !processes.every(isProcess)) throw wrong("is damaged: it has no inputs");
  for (const { inputs } of processes) {
    const at = inputs.findIndex((input) => !isInput(input));
    if (at >= 0) throw wrong(`is damaged: input ${at + 1} is not valid`);
  }
  if (typeof id !== "string") throw wrong("is damaged: it has no id");
  if (!isVersion) throw wrong("is damaged: its version is not valid");
  if (outcome !== undefined && typeof outcome !== "string")
    throw wrong("is damaged: its outcome is not valid");
  if (expected !== undefined && !isExpected(expected))
    throw wrong("is damaged: what it expects is unreadable");
  if (processes.every(({ inputs }) => inputs.length === 0))
    throw wrong("has no inputs: the run had not started when it was exported");
  return file as LoopFile;
}

/** The journal from which the run of this process resumed. Undefined for a new run. */
export function journalIn({ entries, last }: LoopProcess): readonly JournalEntry[] | undefined {
  return entries?.map((entry, at) =>
    typeof entry === "string"
      ? { seq: Math.min(at + 1, last ?? Infinity), json: entry }
      : { seq: entry.seq, json: JSON.stringify(entry) },
  );
}

/** The most levels of objects and lists in a file. The engine reads 128 in one input. */
const MAX_DEPTH = 500;

/** True for a value that JavaScript cannot write as JSON without a full stack, and for some below that. */
export function isTooDeep(value: unknown, most = MAX_DEPTH): boolean {
  if (typeof value !== "object" || value === null) return false;
  return most === 0 || Object.values(value).some((one) => isTooDeep(one, most - 1));
}

/** Whether a value is a process of a file. Its inputs are not checked yet. */
export function isProcess(value: unknown): value is LoopProcess {
  if (!isObject(value)) return false;
  const { config, options, entries, last, inputs, lost } = value as Partial<LoopProcess>;
  const isJournal = Array.isArray(entries) && entries.every(isEntry) && (last === undefined || isCount(last));
  return (
    isObject(config) &&
    (entries === undefined ? isObject(options) : isJournal) &&
    Array.isArray(inputs) &&
    (lost === undefined || typeof lost === "string")
  );
}

function isEntry(value: unknown): boolean {
  return typeof value === "string" || (isObject(value) && isCount(value["seq"]));
}

export function isInput(value: unknown): value is LoopInput {
  if (!isObject(value)) return false;
  const { nowMs, random, after, input } = value;
  const isMoment = nowMs === undefined || typeof nowMs === "number";
  if (!isMoment || typeof random !== "string" || !isCount(after) || !isObject(input)) return false;
  const { text, bytes } = input;
  if ("json" in input) return true;
  if (isObject(text)) return isCount(text["request"]) && typeof text["text"] === "string";
  return isObject(bytes) && isCount(bytes["request"]) && typeof bytes["base64"] === "string";
}

function isExpected(value: unknown): value is Expected {
  if (!isObject(value)) return false;
  const { requests, outcome, text } = value;
  let length = 0;
  const isRequest = (one: unknown): boolean => {
    if (!isObject(one)) return false;
    const { method, url, start, end, body } = one;
    const isText = [method, url, body].every((word) => typeof word === "string");
    // A body shares with the one before it no more than that one has.
    if (!isText || !isCount(start) || !isCount(end) || start + end > length) return false;
    length = start + (body as string).length + end;
    return true;
  };
  const isOutcome = outcome === undefined || typeof outcome === "string";
  return Array.isArray(requests) && requests.every(isRequest) && isOutcome && typeof text === "string";
}

/** True for a number that the engine takes as an effect or as a count. */
export function isCount(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) < 2 ** 32;
}

/**
 * Runs a part of a replay. A file that passes the checks of {@link readLoop} may still be one that no run has
 * written, so the file is at fault for any error that is not a `LoopletError`.
 *
 * @throws LoopletError
 */
export function playing<T>(part: () => T): T {
  try {
    return part();
  } catch (error) {
    if (error instanceof LoopletError) throw error;
    throw wrong("cannot be played: no run has written it so", error);
  }
}

const NONE = "is not a .loop file: run.export() writes one";

/** The error for a file that cannot be played. The problem may have words of the file. */
export function wrong(problem: string, cause?: unknown): LoopletError {
  const told = oneLine(problem);
  const short = told.length > MAX_WORDS ? `${told.slice(0, MAX_WORDS)}…` : told;
  return new LoopletError("misuse_run_file", "file", short, cause);
}

/** Characters of a problem. */
const MAX_WORDS = 500;

/** The bytes of the input of this number. @throws LoopletError `misuse_run_file` */
export function decoded(base64: string, input: number): Uint8Array {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch (error) {
    throw wrong(`cannot be played: input ${input}: its bytes are not base64`, error);
  }
}
