/** The engine's outputs, questions and calls, in the form of their JSON. */
import type * as engine from "../generated/model.js";
import type { ToolFault } from "../generated/model.js";

export type { Answer, HookAnswer, PreparedCall } from "../generated/input.js";
export type { ToolInvocation } from "../generated/model.js";

/** An output of the engine that a run performs. */
export type HostOutput = Exclude<engine.Output, { abort: unknown } | { redact: unknown }>;

/** A question of the engine to one of your functions. `data` are the facts of its point: `Facts` of the engine. */
export type Question = Omit<engine.Question, "data"> & { readonly data: any };

/** A failed call whose error text user code returns. Besides the fault's own fields it has `error: true` for the model. */
export type AskedError = engine.Facts["word_errors"]["errors"][number] & { readonly error: { error: true } };

/** The result of a tool. `value` is JSON text. */
export type ToolReturn = ({ value: string } | { content: readonly engine.Block[] } | { fault: ToolFault }) & {
  /** True if the tool wants the run to end after this round. */
  terminate?: boolean;
};
