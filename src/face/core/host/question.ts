/** The engine's questions and calls, in the form of their JSON. */
import type * as engine from "../generated/model.js";
import type { ToolFault } from "../generated/model.js";

export type { Answer, HookAnswer, PreparedCall } from "../generated/input.js";

/** One call of a tool. `input` is JSON text. */
export type ToolInvocation = Omit<engine.ToolInvocation, "input"> & { readonly input: string };

/** The call that the engine hands over. `texts` is its id, its name and its input in one text. */
export function invocationOf(
  texts: string,
  idUnits: number,
  nameUnits: number,
  others: Omit<ToolInvocation, "toolCallId" | "toolName" | "input" | "checkpoint">,
): ToolInvocation {
  const nameEnd = idUnits + nameUnits;
  const named = { toolCallId: texts.slice(0, idUnits), toolName: texts.slice(idUnits, nameEnd) };
  return { ...others, ...named, input: texts.slice(nameEnd) };
}

/** A question of the engine to one of your functions. `data` are the facts of its point: `Facts` of the engine. */
export type Question = Omit<engine.Question, "data"> & { readonly data: any };

/** A call whose input your code prepares. */
export type AskedCall = engine.ToolInvocation;

/** A failed call whose error your code words. Beside the fault's own fields it has `error: true` for the model. */
export type AskedError = engine.Facts["word_errors"]["errors"][number] & { readonly error: { error: true } };

/** The result of a tool. `value` is JSON text. */
export type ToolReturn = ({ value: string } | { content: readonly engine.Block[] } | { fault: ToolFault }) & {
  /** True if the tool wants the run to end after this round. */
  terminate?: boolean;
};
