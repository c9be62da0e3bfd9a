/**
 * The tokens of an answer, read as it passes. The engine's decoders are WebAssembly, and they build the whole answer.
 * A proxy looks for the few numbers of the report alone. An answer that broke off before is estimated by its text.
 */
import type { Price } from "../../core/generated/input.js";
import { Frames } from "./frames.js";
import type { Body } from "./protocols.js";

/** What a call has used. */
export interface ProxyUsage {
  /** Everything that the model has read, with tokens from a cache. */
  readonly inputTokens: number;
  /** Everything that it has written, reasoning included. */
  readonly outputTokens: number;
  /** The vendor's own figure, else by the price of the model; null where neither is known. */
  readonly costUsd: number | null;
  /** Whether the vendor has reported all of it. Otherwise it is an estimate. */
  readonly isReported: boolean;
}

interface Counts {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  cacheWriteHour: number;
  /** Dollars by the vendor's account. */
  cost?: number | undefined;
}

/** Characters of an event that are kept. The last event of a Responses stream has the whole answer in it. */
const MAX_EVENT_CHARS = 32_000_000;

/** Estimates: letters, or bytes of a request, that make a token. */
const LETTERS_A_TOKEN = 4;

/** Fields whose texts a model writes piece by piece. */
const WRITTEN =
  /"(?:text|delta|thinking|content|partial_json|arguments|reasoning|reasoning_content|input)"\s*:\s*"/g;

/** The form of an answer: server-sent events, frames of Amazon's, one JSON object, or anything else. */
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
  /** Whether the answer is one JSON object, and not a stream. */
  readonly #isWhole: boolean;
  readonly #frames: Frames | undefined;
  readonly #decoder = new TextDecoder();
  #rest = "";
  #isSkipping = false;
  #counts: Partial<Counts> = {};
  #hasEnd = false;
  #written = 0;

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
    this.#rest += this.#decoder.decode(bytes, { stream: true });
    if (!this.#isWhole) {
      const lines = this.#rest.split(/\r\n|\r|\n/);
      this.#rest = lines.pop()!;
      for (const line of lines) this.#line(line);
    }
    if (this.#rest.length <= MAX_EVENT_CHARS) return;
    this.#written += this.#rest.length;
    this.#rest = "";
    this.#isSkipping = true;
  }

  /** `isOver`: the answer has come to its end. `sentBytes` is the length of the request. */
  spent(isOver: boolean, sentBytes: number, price: Price | undefined): ProxyUsage {
    this.#line(this.#isWhole ? `data:${this.#rest}` : this.#rest);
    this.#rest = "";
    const counts = this.#counts;
    const isReported = isOver && this.#hasEnd;
    const estimated = Math.ceil(this.#written / LETTERS_A_TOKEN);
    const all: Counts = {
      cacheRead: 0,
      cacheWrite: 0,
      cacheWriteHour: 0,
      ...counts,
      input: counts.input ?? Math.ceil(sentBytes / LETTERS_A_TOKEN),
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
    if (!line.startsWith("data:")) return;
    if (line.includes('"usage')) this.#report(line.slice("data:".length));
    else this.#written += Math.max(writtenIn(line), LETTERS_A_TOKEN);
  }

  #report(json: string): void {
    let event: Body;
    try {
      event = Object(JSON.parse(json)) as Body;
    } catch {
      return;
    }
    const read = READERS[this.#protocol]!;
    const known = read(event);
    if (known === undefined) return;
    const { counts, isEnd } = known;
    for (const [name, count] of Object.entries(counts))
      if (count !== undefined) this.#counts[name as keyof Counts] = count;
    this.#hasEnd ||= isEnd && this.#counts.input !== undefined && this.#counts.output !== undefined;
  }
}

/** The letters of an event that the model has written. */
function writtenIn(line: string): number {
  let letters = 0;
  for (const { index, 0: begin } of line.matchAll(WRITTEN)) {
    const from = index + begin.length;
    const to = line.indexOf('"', from);
    letters += (to < 0 ? line.length : to) - from;
  }
  return letters;
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
  const output = countIn(usage, "completion_tokens") ?? countIn(usage, "output_tokens") ?? 0;
  const reasoning = countIn(written, "reasoning_tokens") ?? 0;
  // xAI counts reasoning beside the completion. The total tells.
  const isBeside = countIn(usage, "total_tokens") === (input ?? 0) + output + reasoning;
  const ticks = countIn(usage, "cost_in_usd_ticks");
  const cost = usage["cost"] ?? objectIn(usage, "cost")?.["total_cost"];
  return {
    counts: {
      input,
      output: isBeside ? output + reasoning : output,
      cacheRead: countIn(details, "cached_tokens"),
      cost: ticks ? ticks / 1e10 : typeof cost === "number" ? cost : undefined,
    },
    isEnd: true,
  };
}

function objectIn(object: Body | undefined, name: string): Body | undefined {
  const value = object?.[name];
  return typeof value === "object" && value !== null ? (value as Body) : undefined;
}

function listIn(object: Body, name: string): Body[] {
  const list = object[name];
  return Array.isArray(list) ? list.map((one) => Object(one) as Body) : [];
}

/** A count; undefined for anything that is none. */
function countIn(object: Body | undefined, name: string): number | undefined {
  const value = object?.[name];
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}

/** As `Price::cost_nano_usd` of `src/engine/model/usage.rs`, which a test compares. */
function costUsd({ input, output, cacheRead, cacheWrite, cacheWriteHour }: Counts, price: Price): number {
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
