/** The caller's judgement of what a turn sends, gets and runs. */
import { GuardrailError } from "../errors.js";
import {
  StructuredResultSymbol,
  extractTextContent,
  type Processed,
  type StructuredResult,
} from "../model/process.js";
import { chatCall } from "../model/wire.js";
import type { Message, ToolCall } from "../types.js";
import type { Around } from "./events.js";

/** The decision of a guardrail; `rewrite` takes the place of what it looked at. */
export interface Verdict<T> {
  allowed: boolean;
  reason?: string;
  rewrite?: T;
}

/** Contract: gets the arguments that the function of the tool would get, those of its bindings among them. */
export type ToolGuardrail = (name: string, args: any) => Verdict<object> | Promise<Verdict<object>>;

/**
 * Contract: each returns whether it allows what it sees; anything but `allowed: true` is a no. An error of `input`
 * and `output` ends the turn. They are asked about the files of tools of kind `prompty` too.
 */
export interface Guardrails {
  /** Asked before each model call. */
  input?: (messages: readonly Message[]) => Verdict<Message[]> | Promise<Verdict<Message[]>>;
  /** Asked about each answer, before its tools run. `metadata.tool_calls` are its calls; a rewrite replaces its text. */
  output?: (message: Message) => Verdict<string> | Promise<Verdict<string>>;
  tool?: ToolGuardrail;
}

const untold: Around = async (_, work) => work();

/** The messages in place of these, if the guardrail rewrites them. @throws GuardrailError */
export async function judgedInput(
  messages: readonly Message[],
  { input }: Guardrails,
  around: Around = untold,
): Promise<Message[] | undefined> {
  if (input === undefined) return undefined;
  const verdict = await around("input_guardrail", () => input(messages));
  if (verdict?.allowed !== true) throw denied("Input", verdict?.reason);
  return verdict.rewrite;
}

/** The text in place of that of an answer, if the guardrail rewrites it. @throws GuardrailError */
export async function judgedOutput(
  message: Message,
  { output }: Guardrails,
  around: Around = untold,
): Promise<string | undefined> {
  if (output === undefined) return undefined;
  const verdict = await around("output_guardrail", () => output(message));
  if (verdict?.allowed !== true) throw denied("Output", verdict?.reason);
  return verdict.rewrite;
}

function denied(which: "Input" | "Output", reason = "no reason"): GuardrailError {
  return new GuardrailError(`${which} guardrail denied: ${reason}`, reason);
}

/** An answer as a message, with its calls. */
export function messageOf(response: unknown, result: Processed): Message {
  if (isCalls(result)) {
    const tool_calls = result.map(chatCall);
    return {
      role: "assistant",
      content: textParts(extractTextContent(response) ?? ""),
      metadata: { tool_calls },
    };
  }
  const text = typeof result === "string" ? result : (result as StructuredResult)[StructuredResultSymbol];
  return { role: "assistant", content: textParts(text) };
}

export function textParts(value: string): Message["content"] {
  return [{ kind: "text", value }];
}

export function isCalls(result: unknown): result is ToolCall[] {
  return Array.isArray(result) && !(StructuredResultSymbol in result);
}
