/**
 * Checks the parts that a custom model yields. The engine would ignore a wrong part, so it is reported as a mistake
 * in your function.
 */
import { describe, describeWord, isObject } from "../options/check.js";

/** A mistake in a custom model's function; another attempt would repeat it. */
export class CustomMistake extends Error {
  override readonly name = "CustomMistake";
}

type Part = { readonly [field: string]: unknown };

const REASONS = ["stop", "length", "tool_calls", "content_filter", "refusal", "pause"];
const COUNTS = [
  "inputTokens",
  "outputTokens",
  "cacheReadTokens",
  "cacheWriteTokens",
  "cacheWriteHourTokens",
  "audioInputTokens",
  "audioOutputTokens",
  "reasoningTokens",
  "costUsd",
];

/** Checks the parts of one answer, in their order. */
export class PartCheck {
  /** Ids and indexes of the calls that have started in pieces. */
  readonly #started = new Set<unknown>();

  /** Throws a `CustomMistake` that names the part and its field. */
  check(part: unknown): void {
    if (!isObject(part))
      throw new CustomMistake(`the custom model yielded ${describe(part)}, not a text or a part`);
    const { type } = part;
    if (typeof type !== "string" || !Object.hasOwn(this.#checks, type)) {
      const known = Object.keys(this.#checks).join(", ");
      throw new CustomMistake(
        `the custom model yielded a part whose type is ${describeWord(type)}; there are ${known}`,
      );
    }
    this.#checks[type]!(part);
  }

  readonly #checks: { readonly [type: string]: (part: Part) => void } = {
    text: (part) => need(part, "text", "string"),
    reasoning: (part) => {
      need(part, "text", "string");
      may(part, "signature", "string");
    },
    refusal: (part) => need(part, "text", "string"),
    file: (part) => {
      need(part, "mediaType", "string");
      need(part, "data", "string");
    },
    source: (part) => {
      need(part, "url", "string");
      may(part, "title", "string");
    },
    raw: (part) => {
      if (part["json"] === undefined) throw mistake(part, "json", "a value that JSON can hold");
    },
    tool_call: (part) => {
      may(part, "id", "string");
      need(part, "name", "string");
      const { input } = part;
      if (input != null && typeof input !== "string" && !isObject(input)) {
        throw mistake(part, "input", "an object or its JSON text");
      }
    },
    tool_call_start: (part) => {
      may(part, "id", "string");
      may(part, "index", "number");
      need(part, "name", "string");
      this.#started.add("any").add(part["id"]).add(part["index"]);
    },
    tool_call_delta: (part) => {
      need(part, "text", "string");
      this.#needStart(part);
    },
    tool_call_end: (part) => this.#needStart(part),
    usage: (part) => COUNTS.forEach((count) => may(part, count, "number")),
    response: (part) => {
      may(part, "id", "string");
      may(part, "model", "string");
    },
    finish: (part) => {
      if (!REASONS.includes(part["reason"] as string)) {
        throw mistake(part, "reason", `one of ${REASONS.join(", ")}`);
      }
    },
    error: (part) => need(part, "message", "string"),
  };

  #needStart(part: Part): void {
    if (!this.#started.has("any")) {
      throw new CustomMistake(`the custom model yielded a ${part["type"]} before any tool_call_start`);
    }
    // If a part has both, its index counts.
    const field = part["index"] == null ? "id" : "index";
    if (part[field] != null && !this.#started.has(part[field])) {
      throw mistake(part, field, "that of a tool_call_start");
    }
  }
}

function need(part: Part, field: string, type: "string" | "number"): void {
  if (typeof part[field] !== type) throw mistake(part, field, `a ${type}`);
}

function may(part: Part, field: string, type: "string" | "number"): void {
  if (part[field] != null) need(part, field, type);
}

function mistake(part: Part, field: string, what: string): CustomMistake {
  return new CustomMistake(
    `the custom model yielded a part of type ${part["type"]} whose ${field} is ${describeWord(part[field])}, and needs ${what}`,
  );
}
