/**
 * Reads the token usage of an answer as it is forwarded. The engine's decoders are WebAssembly, and they build the
 * whole answer. A proxy only needs the few numbers of the report. For an answer that was cut off, it estimates them
 * from the text.
 */
import type { NanoPrice } from "./upstream.js";
import { Frames } from "./frames.js";
import type { Body } from "./protocols.js";
import type { SentSize } from "./sent-size.js";

/** What a call has used. */
export interface ProxyUsage {
  /** Everything that the model has read, with tokens from a cache. */
  readonly inputTokens: number;
  /** Everything that it has written, reasoning included. */
  readonly outputTokens: number;
  /** The vendor's own figure, or the cost by the model's price. Null if neither is known. */
  readonly costUsd: number | null;
  /** Whether the vendor reported all of it. Otherwise it is an estimate. */
  readonly isReported: boolean;
}

export interface Counts {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  cacheWriteHour: number;
  /** Dollars by the vendor's account. */
  cost?: number | undefined;
}

/** Characters of an event that are stored. The last event of a Responses stream contains the whole answer. */
const MAX_EVENT_CHARS = 32_000_000;

/** Estimates: letters, or bytes of a request, that make a token. */
export const LETTERS_A_TOKEN = 4;

/** Fields with texts that a model streams. */
const WRITTEN =
  /"(?:text|delta|thinking|content|partial_json|arguments|reasoning|reasoning_content|input|refusal|transcript|summary|code)"\s*:\s*"/g;

/** Fields with objects that a model writes: the inputs of calls. */
const WRITTEN_OBJECTS = /"(?:args|arguments|input)"\s*:\s*\{/g;

/** Letters that count as much as a token each: those outside of ASCII. */
const WIDE = /[^\x00-\x7f]/g;

/** The form of an answer: server-sent events, Amazon event stream frames, one JSON object, or anything else. */
export type Form = "events" | "frames" | "json" | "other";

/** The form of an answer by its content-type. */
export function formOf(type: string): Form {
  const [name = ""] = type.toLowerCase().split(";");
  const forms: { readonly [type: string]: Form } = {
    "text/event-stream": "events",
    "application/vnd.amazon.eventstream": "frames",
    "application/json": "json",
  };
  return forms[name.trim()] ?? "other";
}

export class UsageReader {
  readonly #protocol: string;
  /** Whether the answer is one JSON object, not a stream. */
  readonly #isWhole: boolean;
  readonly #frames: Frames | undefined;
  readonly #decoder = new TextDecoder();
  #rest = "";
  #isSkipping = false;
  #counts: Partial<Counts> = {};
  #hasEnd = false;
  #written = 0;
  /** Whether an event contained text of the model, or an error of the vendor. */
  #isSeen = false;

  constructor(protocol: string, form: Form) {
    this.#protocol = protocol;
    this.#isWhole = form === "json" || form === "other";
    this.#frames = form === "frames" ? new Frames() : undefined;
  }

  look(bytes: Uint8Array): void {
    if (this.#frames !== undefined) {
      for (const payload of this.#frames.feed(bytes)) this.#line(`data:${payload}`);
      return;
    }
    const text = this.#decoder.decode(bytes, { stream: true });
    this.#rest += text;
    // A long line comes in many chunks, and is looked through once.
    if (!this.#isWhole && /[\r\n]/.test(text)) {
      const lines = this.#rest.split(/\r\n|\r|\n/);
      this.#rest = lines.pop()!;
      for (const line of lines) this.#line(line);
    }
    if (this.#rest.length <= MAX_EVENT_CHARS) return;
    this.#written += this.#rest.length;
    this.#rest = "";
    this.#isSkipping = true;
  }

  /** `isOver`: the answer is complete. */
  spent(
    isOver: boolean,
    { inputTokens, maxTokens, hiddenTokens }: SentSize,
    price: NanoPrice | undefined,
  ): ProxyUsage {
    this.#line(this.#isWhole ? `data:${this.#rest}` : this.#rest);
    this.#rest = "";
    const counts = this.#counts;
    const isReported = isOver && this.#hasEnd;
    const written = Math.ceil(this.#written / LETTERS_A_TOKEN);
    // A vendor writes a non-streamed answer before its first byte, and a model may think before its first text.
    const isUnseen = this.#isWhole || !this.#isSeen;
    const most = isUnseen ? (maxTokens ?? 0) : Math.min(written + hiddenTokens, maxTokens ?? Infinity);
    const estimated = this.#hasEnd ? written : Math.max(written, most);
    const all: Counts = {
      cacheRead: 0,
      cacheWrite: 0,
      cacheWriteHour: 0,
      ...counts,
      input: counts.input ?? inputTokens,
      output: isReported ? counts.output! : Math.max(counts.output ?? 0, estimated),
    };
    const cost = counts.cost ?? (price === undefined ? null : costUsd(all, price));
    return { inputTokens: all.input, outputTokens: all.output, costUsd: cost, isReported };
  }

  #line(line: string): void {
    if (this.#isSkipping) {
      this.#isSkipping = false;
      return;
    }
    if (!line.startsWith("data:") || line === "data:") return;
    // A field `usage` may be empty in every event, and an event with a report may have text in it.
    const found = line.includes('"usage') ? this.#report(line.slice("data:".length)) : "none";
    if (found === "whole") return;
    const letters = writtenIn(line);
    this.#isSeen ||= letters > 0 || isFailure(line);
    this.#written += Math.max(letters, found === "none" ? LETTERS_A_TOKEN : 0);
  }

  /** Takes the counts of an event. The text of a `whole` event is the text of the events before it. */
  #report(json: string): "none" | "part" | "whole" {
    let event: Body;
    try {
      event = Object(JSON.parse(json)) as Body;
    } catch {
      return "none";
    }
    const read = READERS[this.#protocol]!;
    const known = read(event);
    if (known === undefined || Object.values(known.counts).every((count) => count === undefined))
      return "none";
    const { counts, isEnd } = known;
    for (const [name, count] of Object.entries(counts))
      if (count !== undefined) this.#counts[name as keyof Counts] = count;
    const isReport = isEnd && this.#counts.input !== undefined && this.#counts.output !== undefined;
    this.#hasEnd ||= isReport;
    return isReport && (this.#isWhole || this.#protocol === "openai_responses") ? "whole" : "part";
  }
}

/** Whether an event is an error of the vendor. Only JSON that contains an error field is parsed. */
function isFailure(line: string): boolean {
  if (!line.includes('"error"')) return false;
  try {
    const event = Object(JSON.parse(line.slice("data:".length))) as Body;
    return (
      event["type"] === "error" || [event, event["response"]].some((one) => objectIn(Object(one), "error"))
    );
  } catch {
    return false;
  }
}

/** The letters of an event that the model has written. */
function writtenIn(line: string): number {
  let letters = 0;
  for (const { index, 0: begin } of line.matchAll(WRITTEN)) {
    const from = index + begin.length;
    letters += weightOf(line.slice(from, endOfText(line, from)));
  }
  // The end of the object is not searched for, because only a few characters follow it.
  const [object] = line.matchAll(WRITTEN_OBJECTS);
  if (object !== undefined) letters = Math.max(letters, weightOf(line.slice(object.index)));
  return letters;
}

function weightOf(text: string): number {
  return text.length + (LETTERS_A_TOKEN - 1) * (text.match(WIDE)?.length ?? 0);
}

/** The index of the quote that ends a JSON string, or the end of the line if the string is cut off. */
function endOfText(line: string, from: number): number {
  for (let at = from; at < line.length; at += 1) {
    if (line[at] === '"') return at;
    if (line[at] === "\\") at += 1;
  }
  return line.length;
}

interface Known {
  readonly counts: Partial<{ [name in keyof Counts]: number | undefined }>;
  /** Whether the output is counted to its end. */
  readonly isEnd: boolean;
}

const READERS: { readonly [protocol: string]: (event: Body) => Known | undefined } = {
  // https://platform.claude.com/docs/en/build-with-claude/streaming (2026-11-26)
  anthropic(event) {
    const usage = objectIn(event, "usage") ?? objectIn(objectIn(event, "message"), "usage");
    if (usage === undefined) return undefined;
    const beside = listIn(usage, "iterations").filter(({ type }) =>
      ["compaction", "advisor_message"].includes(String(type)),
    );
    const more = (name: string): number => beside.reduce((sum, one) => sum + (countIn(one, name) ?? 0), 0);
    const cacheRead = countIn(usage, "cache_read_input_tokens");
    const cacheWrite = countIn(usage, "cache_creation_input_tokens");
    const fresh = countIn(usage, "input_tokens");
    const output = countIn(usage, "output_tokens");
    return {
      counts: {
        // A delta without the input repeats nothing of it.
        input: fresh && fresh + (cacheRead ?? 0) + (cacheWrite ?? 0) + more("input_tokens"),
        output: output && output + more("output_tokens"),
        cacheRead,
        cacheWrite,
        cacheWriteHour: countIn(objectIn(usage, "cache_creation"), "ephemeral_1h_input_tokens"),
      },
      isEnd: event["type"] !== "message_start",
    };
  },
  openai_responses: (event) =>
    openAi(objectIn(event, "usage") ?? objectIn(objectIn(event, "response"), "usage")),
  openai_chat: (event) => openAi(objectIn(event, "usage")),
  // https://ai.google.dev/api/generate-content#UsageMetadata (2026-11-26)
  gemini(event) {
    const usage = objectIn(event, "usageMetadata");
    const sum = (...names: string[]): number | undefined => {
      const counts = names.map((name) => countIn(usage, name));
      return counts.every((count) => count === undefined)
        ? undefined
        : counts.reduce<number>((all, count) => all + (count ?? 0), 0);
    };
    const candidates = listIn(event, "candidates");
    return {
      counts: {
        input: sum("promptTokenCount", "toolUsePromptTokenCount"),
        output: sum("candidatesTokenCount", "thoughtsTokenCount"),
        cacheRead: countIn(usage, "cachedContentTokenCount"),
      },
      isEnd: candidates.some(({ finishReason }) => finishReason !== undefined),
    };
  },
  // https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_TokenUsage.html (2026-11-26)
  bedrock_converse(event) {
    const usage = objectIn(event, "usage");
    if (usage === undefined) return undefined;
    const [cacheRead = 0, cacheWrite = 0] = ["cacheReadInputTokens", "cacheWriteInputTokens"].map((name) =>
      countIn(usage, name),
    );
    const hours = listIn(usage, "cacheDetails").filter(({ ttl }) => ttl === "1h");
    const fresh = countIn(usage, "inputTokens");
    return {
      counts: {
        input: fresh === undefined ? undefined : fresh + cacheRead + cacheWrite,
        output: countIn(usage, "outputTokens"),
        cacheRead,
        cacheWrite,
        cacheWriteHour: hours.reduce((sum, one) => sum + (countIn(one, "inputTokens") ?? 0), 0),
      },
      isEnd: true,
    };
  },
};

/** https://platform.openai.com/docs/api-reference/chat/object, …/responses/object (2026-11-26) */
function openAi(usage: Body | undefined): Known | undefined {
  if (usage === undefined) return undefined;
  const details = objectIn(usage, "prompt_tokens_details") ?? objectIn(usage, "input_tokens_details");
  const written = objectIn(usage, "completion_tokens_details") ?? objectIn(usage, "output_tokens_details");
  const input = countIn(usage, "prompt_tokens") ?? countIn(usage, "input_tokens");
  const told = countIn(usage, "completion_tokens") ?? countIn(usage, "output_tokens");
  const output = told ?? 0;
  const reasoning = countIn(written, "reasoning_tokens") ?? 0;
  // xAI counts reasoning in addition to the completion. The total shows which.
  const isBeside = countIn(usage, "total_tokens") === (input ?? 0) + output + reasoning;
  const ticks = countIn(usage, "cost_in_usd_ticks");
  const fee = countIn(usage, "cost");
  const cost =
    fee === undefined ? countIn(objectIn(usage, "cost"), "total_cost") : fee + upstreamCost(usage, fee);
  return {
    counts: {
      input,
      output: told === undefined ? undefined : isBeside ? output + reasoning : output,
      cacheRead: countIn(details, "cached_tokens"),
      cost: ticks ? ticks / 1e10 : cost,
    },
    isEnd: true,
  };
}

/** As `read_upstream_cost` of `src/engine/protocol/openai_chat/usage.rs`: what the vendor of a key at OpenRouter charges. */
function upstreamCost(usage: Body, fee: number): number {
  const upstream = countIn(objectIn(usage, "cost_details"), "upstream_inference_cost") ?? 0;
  const isBeside = typeof usage["is_byok"] === "boolean" ? usage["is_byok"] : upstream > fee;
  return isBeside ? upstream : 0;
}

function objectIn(object: Body | undefined, name: string): Body | undefined {
  const value = object?.[name];
  return typeof value === "object" && value !== null ? (value as Body) : undefined;
}

function listIn(object: Body, name: string): Body[] {
  const list = object[name];
  return Array.isArray(list) ? list.map((one) => Object(one) as Body) : [];
}

/** A count. Undefined for any other value. */
function countIn(object: Body | undefined, name: string): number | undefined {
  const value = object?.[name];
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}

/** As `Price::cost_nano_usd` of `src/engine/model/usage.rs`, which a test compares. */
export function costUsd(
  { input, output, cacheRead, cacheWrite, cacheWriteHour }: Counts,
  price: NanoPrice,
): number {
  const read = price.cacheReadNanoUsd ?? price.inputNanoUsd;
  const write = price.cacheWriteNanoUsd ?? price.inputNanoUsd;
  const hour = Math.min(cacheWriteHour, cacheWrite);
  const isLong = price.longAboveTokens != null && input > price.longAboveTokens;
  const part = (cost: number, percent: number | null | undefined): number =>
    isLong && percent != null ? Math.floor((cost * percent) / 100) : cost;
  const ofInput =
    Math.max(0, input - cacheRead - cacheWrite) * price.inputNanoUsd +
    cacheRead * read +
    (cacheWrite - hour) * write +
    hour * (price.cacheWriteHourNanoUsd ?? write);
  const nano =
    part(ofInput, price.longInputPercent) + part(output * price.outputNanoUsd, price.longOutputPercent);
  return nano / 1e9;
}
