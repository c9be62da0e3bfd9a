import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type {
  Block,
  FailureCode,
  FinishReason,
  OutcomeKind,
  RunEvent,
  StoppedBy,
} from "../../src/face/api/index.js";

/** The names of a Rust enum's variants, in `style`. */
function variants(file: string, name: string, style: "-" | "_"): string[] {
  const rust = readFileSync(new URL(`../../src/engine/${file}`, import.meta.url), "utf8");
  const body = new RegExp(`pub enum ${name} \\{\\n(.*?)\\n\\}`, "s").exec(rust)?.[1] ?? "";
  const names = [...body.matchAll(/^ {4}(\w+)(?: \{|,|\()/gm)].map(([, variant]) => variant ?? "");
  return names.map((variant) => variant.replace(/(?<=[a-z])[A-Z]/g, `${style}$&`).toLowerCase());
}

/** Every name of a union; the compiler refuses a list that lacks one or has one too many. */
const names = <T extends string>(all: Record<T, true>): string[] => Object.keys(all);

describe("the vocabulary of TypeScript is the engine's", () => {
  it("in events, but for the snapshot, which the face makes", () => {
    const events = names<Exclude<RunEvent["type"], "snapshot">>({
      "run-start": true,
      "agent-start": true,
      "iteration-start": true,
      handoff: true,
      "model-change": true,
      "attempt-start": true,
      "text-start": true,
      "text-delta": true,
      "text-end": true,
      "reasoning-start": true,
      "reasoning-delta": true,
      "reasoning-end": true,
      "tool-input-start": true,
      "tool-input-delta": true,
      "tool-input-end": true,
      "tool-call": true,
      "tool-progress": true,
      "tool-result": true,
      "tool-error": true,
      question: true,
      answered: true,
      retry: true,
      reset: true,
      "steer-delivered": true,
      "compact-start": true,
      "compact-boundary": true,
      usage: true,
      limits: true,
      warning: true,
      "iteration-finish": true,
      "agent-finish": true,
      abort: true,
      error: true,
      finish: true,
    });
    expect(events).toEqual(variants("event.rs", "EventKind", "-"));
  });

  it("in failure codes, but for the load of the wasm, which the face sees", () => {
    const codes = names<Exclude<FailureCode, "config_wasm">>({
      rate_limit: true,
      overloaded: true,
      auth: true,
      billing: true,
      invalid_request: true,
      context_length: true,
      content_filter: true,
      not_found: true,
      server: true,
      network: true,
      timeout: true,
      malformed_stream: true,
      finish_reason: true,
      config_invalid: true,
      guardrail: true,
      bug: true,
    });
    expect(codes).toEqual(variants("error.rs", "FailureCode", "_"));
  });

  it("in outcomes, limits, finish reasons and blocks", () => {
    expect(names<OutcomeKind>({ completed: true, stopped: true, cancelled: true, failed: true })).toEqual(
      variants("outcome.rs", "OutcomeKind", "_"),
    );
    expect(
      names<StoppedBy>({
        iterations: true,
        tokens: true,
        usd: true,
        time: true,
        fatal_tool: true,
        tool_rounds: true,
        tool_calls: true,
        condition: true,
        repeat: true,
        structured_output: true,
        hook: true,
        guardrail: true,
      }),
    ).toEqual(variants("outcome.rs", "StoppedBy", "_"));
    expect(
      names<FinishReason>({
        stop: true,
        length: true,
        tool_calls: true,
        content_filter: true,
        refusal: true,
        pause: true,
        other: true,
      }),
    ).toEqual(variants("answer.rs", "FinishReason", "_"));
    expect(
      names<Block["type"]>({
        text: true,
        thinking: true,
        redacted_thinking: true,
        refusal: true,
        tool_call: true,
        tool_result: true,
        media: true,
        raw: true,
      }),
    ).toEqual(variants("message.rs", "Block", "_"));
  });
});
