/** The parts that the checks of requests share: rules in order, and one walk over the history. */
import { listOf } from "../json.js";
import type { Refusal } from "./format.js";

/** A rule of a check: whether the request breaks it, and then the vendor's words, `param` and `code`. */
export type Rule = readonly [isBroken: unknown, message: string, param?: string, code?: string];

/** The refusal of the first rule that is broken. */
export function firstBroken(rules: readonly Rule[]): Refusal | undefined {
  const broken = rules.find(([isBroken]) => isBroken);
  if (!broken) return undefined;
  const [, message, param, code = null] = broken;
  return { status: 400, message, param, code };
}

/** A message of a history. */
export interface Place {
  message: any;
  at: number;
  previous: any;
  /** Ids of the calls that wait for a result before this message. */
  asked: string[];
  /** Ids of the calls that this message should have answered and did not. */
  open: string[];
}

/**
 * Walks over the messages and tracks the calls that wait for a result. `end` are those without a result at the end. A
 * message of the role "tool" answers one call, other messages must answer all.
 */
export function walk(
  messages: unknown,
  callsIn: (message: any) => string[],
  answersIn: (message: any) => string[],
): { places: Place[]; end: string[] } {
  let asked: string[] = [];
  const places = listOf(messages).map((message, at, { [at - 1]: previous }): Place => {
    const answered = answersIn(message);
    const left = asked.filter((id) => !answered.includes(id));
    const isPart = message?.role === "tool";
    const place = { message, at, previous, asked, open: isPart ? [] : left };
    asked = isPart ? left : callsIn(message);
    return place;
  });
  return { places, end: asked };
}
