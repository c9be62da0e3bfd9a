/**
 * The record of a run: every input that reached the engine, with its moment, and its text as a `.loop` file. The driver
 * hands the inputs in before the engine takes them, so the record outlives a lost instance.
 */
import { LoopletError } from "../api/errors.js";
import type { ExportOptions, OutcomeKind, Recorder, RunRecord } from "../api/index.js";
import { VERSION } from "../generated/tables.js";
import type { JournalText } from "../host/entries.js";
import { redact } from "../host/redact.js";
import { checkOptions, describeReturned, isObject } from "../options/check.js";
import { LOOP_FORMAT, type LoopInput } from "./loop-file.js";

/** Records the runs of an agent: `createAgent({ record: recorder() })`. Every run gets a record of its own. */
export function recorder(): Recorder {
  return () => new LoopRecord();
}

/** The inputs of one process: of a whole run, or of a run that went on from a journal. */
interface Process {
  readonly config: string;
  readonly source: Parameters<RunRecord["begin"]>[1];
  /** The JSON of each. */
  readonly inputs: string[];
  lost?: string;
}

/** The first time that is unknown. */
const UNKNOWN_MS = 2 ** 53;

class LoopRecord implements RunRecord {
  readonly #processes: Process[] = [];
  readonly #secrets = new Set<string>();

  begin(config: string, source: Process["source"]): void {
    this.#processes.push({ config, source, inputs: [] });
  }

  input(...[nowMs, random, after, input]: Parameters<RunRecord["input"]>): void {
    const time = nowMs < UNKNOWN_MS ? `"nowMs":${nowMs},` : "";
    const told = typeof input === "string" ? `{"json":${input}}` : JSON.stringify(chunkOf(input));
    const line = `{${time}"random":"${random}","after":${after},"input":${told}}`;
    this.#processes.at(-1)?.inputs.push(line);
  }

  know(secrets: readonly string[]): void {
    for (const secret of secrets) this.#secrets.add(secret);
  }

  lose(error: string): void {
    const last = this.#processes.at(-1);
    if (last !== undefined) last.lost = error;
  }

  /**
   * The text of the `.loop` file, without secrets.
   *
   * @throws LoopletError `config_…`, `misuse_invalid_argument`
   */
  text(id: string, outcome: OutcomeKind | undefined, given: ExportOptions = {}): string {
    const options = checkOptions(given, "", { redact: "function" });
    const secrets = [...this.#secrets];
    const clean = (json: string): string =>
      cleaned(json, (text) => {
        const known = redact(text, secrets).replace(SECRETS, stars);
        const told: unknown = options.redact?.(known) ?? known;
        if (typeof told === "string") return told;
        const problem = `needs to return a text, got ${describeReturned(told)}`;
        throw new LoopletError("misuse_invalid_argument", "redact", problem);
      });
    const processes = this.#processes.map(({ config, source, inputs, lost }) => {
      const began =
        typeof source === "string"
          ? `"options":${clean(source)}`
          : `"entries":${clean(entriesText(source))},\n"last":${source.last}`;
      const end = lost === undefined ? "" : `,"lost":${clean(JSON.stringify(lost))}`;
      const lines = inputs.map(clean).join(",\n");
      return `{"config":${clean(config)},\n${began},\n"inputs":[\n${lines}\n]${end}}`;
    });
    const head = JSON.stringify({ loop: LOOP_FORMAT, looplet: VERSION, id, outcome });
    return `${head.slice(0, -1)},\n"processes":[${processes.join(",\n")}]}\n`;
  }
}

/**
 * Texts that are secrets by their form: bearer tokens, keys in addresses, keys of vendors, web tokens, private keys. They
 * are replaced by as many asterisks, because limits count characters.
 */
const SECRETS =
  /(\bbearer\s|[?&](?:key|token|api[-_]?key)=)[\w.~+/=%-]{8,}|\b(?:sk|pk|rk|xox[a-z]|gsk|glpat|hf|npm|github_pat|gh[a-z])[-_][\w-]{12,}|\b(?:AIza|AKIA|ASIA)[\w-]{12,}|\beyJ[\w-]+\.[\w-]+\.[\w-]*|-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]+/gi;

/** A secret without its characters. The words before it stay. */
function stars(found: string, before = ""): string {
  return before + "*".repeat(found.length - before.length);
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** A chunk as text, or in base64 if it is not UTF-8. */
function chunkOf({ request, bytes }: { request: number; bytes: Uint8Array }): LoopInput["input"] {
  try {
    return { text: { request, text: decoder.decode(bytes) } };
  } catch {
    const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
    return { bytes: { request, base64: btoa(binary) } };
  }
}

/** The entries as a JSON array. A text that is cleaned no longer has its checksum, and a damaged one is kept as a text. */
function entriesText({ lines }: JournalText): string {
  const texts = lines.split("\n").map((line) => {
    const text = line.replace(/,"crc":\d+\}$/, "}");
    try {
      return isObject(JSON.parse(text)) ? text : JSON.stringify(text);
    } catch {
      return JSON.stringify(text);
    }
  });
  return `[${texts.join(",")}]`;
}

/** The JSON with other texts. JSON without a change stays as it is written. */
function cleaned(json: string, clean: (text: string) => string): string {
  let isChanged = false;
  const value: unknown = JSON.parse(json, function (this: object, key: string, value: unknown) {
    let told = value;
    if (typeof value === "string") told = clean(value);
    // The headers of a model may be secret. Of a response's, the engine reads some.
    else if (key === "headers" && Array.isArray(value))
      told = value.map((pair: [string, string]) =>
        "status" in this && !/cookie|auth/i.test(pair[0]) ? pair : [pair[0], "[redacted]"],
      );
    isChanged ||= told !== value && JSON.stringify(told) !== JSON.stringify(value);
    return told;
  });
  return isChanged ? JSON.stringify(value) : json;
}
