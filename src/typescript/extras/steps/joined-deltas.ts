/**
 * The stream of an answer with its deltas joined. A vendor sends an event of 100 to 300 bytes for each word, and a
 * step saves the content of the answer: consecutive events that differ only in new text become one. Every other event
 * is unchanged, byte for byte. So is a partial event at the end of a stream that was cut off.
 */

/** The fields that bring new text. */
const DELTAS = new Set([
  "arguments",
  "content",
  "delta",
  "partial_json",
  "reasoning",
  "reasoning_content",
  "refusal",
  "text",
  "thinking",
]);

/** The fields that differ between events and are not content. The last value is used. */
const PASSING = new Set(["created", "obfuscation", "sequence_number", "usage", "usageMetadata", "x_groq"]);

/** The maximum number of characters of deltas in one event: an event has a limit, the stream has none. */
const MAX_CHARS = 256 * 1024;

/** A stream of this type, joined. A body of any other type stays as it is. */
export function withJoinedDeltas(body: string, contentType: string): string {
  if (contentType.startsWith("text/event-stream")) return joinedEvents(body);
  if (/^application\/(x-)?ndjson\b/.test(contentType)) return joinedLines(body);
  return body;
}

/** A run of events that are one. */
class Joining {
  readonly #out: string[] = [];
  readonly #write: (name: string, data: string) => string;
  #name = "";
  /** The event so far. Undefined if the next one cannot be joined to it. */
  #value: object | undefined;
  /** The text of an event with no joined deltas. */
  #raw: string | undefined;

  /** `write` returns an event as the stream has it. */
  constructor(write: (name: string, data: string) => string) {
    this.#write = write;
  }

  /** Adds an event. `raw` is its text in the stream. */
  add(raw: string, name: string, data: string): void {
    const value = objectOf(data);
    const joined = value && this.#value && name === this.#name ? join(this.#value, value) : undefined;
    if (joined !== undefined) {
      this.#value = joined;
      this.#raw = undefined;
      return;
    }
    this.flush();
    this.#name = name;
    this.#raw = raw;
    this.#value = value !== undefined && isOfDeltas(value) ? value : undefined;
  }

  flush(): void {
    if (this.#raw !== undefined) this.#out.push(this.#raw);
    else if (this.#value !== undefined) this.#out.push(this.#write(this.#name, JSON.stringify(this.#value)));
    this.#raw = this.#value = undefined;
  }

  /** The stream, followed by the rest after its last complete event. */
  end(rest: string): string {
    this.flush();
    return this.#out.join("") + rest;
  }
}

function joinedEvents(body: string): string {
  const joining = new Joining((name, data) => `${name === "" ? "" : `event: ${name}\n`}data: ${data}\n\n`);
  const ends = /(\r\n|\n|\r)(\r\n|\n|\r)/g;
  let from = 0;
  for (let end = ends.exec(body); end !== null; end = ends.exec(body)) {
    const raw = body.slice(from, ends.lastIndex);
    from = ends.lastIndex;
    const fields = fieldsOf(raw);
    // Comments and pings only keep a connection open.
    if (fields === undefined || fields.name === "ping") continue;
    joining.add(raw, fields.name, fields.data);
  }
  return joining.end(body.slice(from));
}

/** The fields of an event; undefined if it has only comments. */
function fieldsOf(raw: string): { name: string; data: string } | undefined {
  let [name, isEvent] = ["", false];
  const data: string[] = [];
  for (const line of raw.split(/\r\n|\n|\r/)) {
    const [, field = "", value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (field === "event") name = value;
    else if (field === "data") data.push(value);
    isEvent ||= field !== "";
  }
  return isEvent ? { name, data: data.join("\n") } : undefined;
}

function joinedLines(body: string): string {
  const joining = new Joining((_, data) => `${data}\n`);
  const lines = body.split("\n");
  const rest = lines.pop()!;
  for (const line of lines) joining.add(`${line}\n`, "", line);
  return joining.end(rest);
}

function objectOf(data: string): object | undefined {
  if (!data.startsWith("{")) return undefined;
  try {
    return JSON.parse(data) as object;
  } catch {
    return undefined;
  }
}

/** Whether an event may be one of several text deltas. Chunks of audio are not text. */
function isOfDeltas(value: object): boolean {
  const { type } = value as { type?: unknown };
  return type === undefined || (typeof type === "string" && !/audio|image|\.done$|_start$|_stop$/.test(type));
}

/** Both events as one; undefined if they differ in more than new text. */
function join(before: object, next: object): object | undefined {
  let chars = 0;
  const both = (one: unknown, other: unknown, key: string): unknown => {
    if (PASSING.has(key)) return other;
    if (typeof one === "string" && typeof other === "string" && DELTAS.has(key)) {
      chars += one.length + other.length;
      return one + other;
    }
    if (typeof one !== "object" || one === null || typeof other !== "object" || other === null) {
      if (one !== other) throw DIFFERENT;
      return one;
    }
    if (Array.isArray(one) !== Array.isArray(other)) throw DIFFERENT;
    if (Array.isArray(one)) {
      if (one.length !== (other as unknown[]).length) throw DIFFERENT;
      return one.map((value, at) => both(value, (other as unknown[])[at], key));
    }
    const [names, others] = [Object.keys(one), Object.keys(other)];
    if (names.length !== others.length) throw DIFFERENT;
    return Object.fromEntries(
      names.map((name) => {
        if (!Object.hasOwn(other, name)) throw DIFFERENT;
        return [name, both((one as Fields)[name], (other as Fields)[name], name)];
      }),
    );
  };
  try {
    const joined = both(before, next, "") as object;
    return chars > 0 && chars <= MAX_CHARS ? joined : undefined;
  } catch (error) {
    if (error === DIFFERENT) return undefined;
    throw error;
  }
}

interface Fields {
  readonly [name: string]: unknown;
}

/** Thrown where two events differ. */
const DIFFERENT = new Error("The events differ.");
