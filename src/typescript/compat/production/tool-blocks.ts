/** Runs the tool calls of one answer in parallel. Each gets a result. */
import { isErrorObject } from "../../core/kit/check.js";

/** A `tool_use` block of the Messages API. */
export interface ToolUseBlock {
  type?: "tool_use";
  id: string;
  name: string;
  input: unknown;
}

/** A `tool_result` block of the Messages API. */
export interface ToolUseResult {
  type: "tool_result";
  tool_use_id: string;
  content: string;
  is_error?: true;
}

/** The context of {@link executeToolBlocks}. Your function gets it too. */
export interface ToolBlockContext {
  runTool(name: string, input: unknown, ctx: this): unknown;
  /** The resource that a call writes to. Calls with equal keys run in their order. */
  resourceKey?(name: string, input: unknown): string | undefined;
}

/** A tool's error in the words of the loop, for the model. */
export interface ToolErrorBody {
  error: true;
  /** Short, machine-readable and stable. */
  code: string;
  message: string;
  /** What to do otherwise. */
  hint: string;
  /** `false` ends the loop. */
  recoverable: boolean;
}

/** Makes the error that a tool returns in place of a result. Leave stacks out of `message`: they belong in a trace. */
export function toolError({
  code,
  message,
  hint,
  recoverable = true,
}: Omit<ToolErrorBody, "error" | "recoverable"> & { recoverable?: boolean }): ToolErrorBody {
  return { error: true, code, message, hint, recoverable };
}

/** True for what {@link toolError} makes. */
export function isToolError(value: unknown): value is ToolErrorBody {
  const { error, code, message } = (value ?? {}) as Partial<ToolErrorBody>;
  return error === true && typeof code === "string" && typeof message === "string";
}

/** Runs the calls and returns their results in the order of the calls. It never rejects: an error is a result too. */
export async function executeToolBlocks<C extends ToolBlockContext>(
  blocks: readonly ToolUseBlock[],
  ctx: C,
): Promise<ToolUseResult[]> {
  const last = new Map<string, Promise<unknown>>();
  return Promise.all(
    blocks.map((block) => {
      const run = (): Promise<ToolUseResult> => resultOf(block, ctx);
      const key = keyOf(block, ctx);
      if (key === undefined) return run();
      const result = (last.get(key) ?? Promise.resolve()).then(run);
      last.set(key, result);
      return result;
    }),
  );
}

async function resultOf<C extends ToolBlockContext>(
  { id, name, input }: ToolUseBlock,
  ctx: C,
): Promise<ToolUseResult> {
  const result = { type: "tool_result", tool_use_id: id } as const;
  try {
    const value = await ctx.runTool(name, input, ctx);
    // A returned error counts as thrown, as in `createAgent`.
    if (isErrorObject(value)) throw value;
    const content = JSON.stringify(value) ?? "null";
    return { ...result, content, ...(isToolError(value) ? { is_error: true } : {}) };
  } catch (error) {
    return { ...result, content: `error: ${messageOf(error)}`, is_error: true };
  }
}

/**
 * A result of a tool as the `content` of a `tool_result` block: a text as it is, an `Error` as `error: <message>`,
 * any other value as JSON, and nothing as `null`. It never throws: what JSON cannot hold is an `error: …` too.
 */
export function serializeResult(value: unknown): string {
  return serialized(value).content;
}

/**
 * The `tool_result` block for a result with the id of its call, as in `results.map(toToolResult)`. Further fields are
 * the tool's result: `content` if it is the only one, else all of them as JSON. `is_error` is set for a result that
 * says so, that has `error: true`, as {@link toolError} makes it, or that is an `Error`.
 *
 * @throws TypeError without a `tool_use_id`
 */
export function toToolResult(result: ToolResultOf): ToolUseResult {
  const { tool_use_id, type: _, is_error, ...fields } = (result ?? {}) as ToolResultOf;
  if (typeof tool_use_id !== "string" || tool_use_id === "")
    throw new TypeError(
      "toToolResult needs { tool_use_id, ... }: the id of the tool_use block and its result",
    );
  const names = Object.keys(fields);
  const value = names.length === 1 && names[0] === "content" ? fields["content"] : valueOf(fields);
  const { content, isError } = serialized(value);
  const block = { type: "tool_result", tool_use_id, content } as const;
  return is_error === true || isError ? { ...block, is_error: true } : block;
}

/** What {@link toToolResult} takes: the id of a call, and what its tool has returned. */
export interface ToolResultOf {
  tool_use_id: string;
  is_error?: boolean | undefined;
  [field: string]: unknown;
}

function serialized(value: unknown): { content: string; isError: boolean } {
  if (isErrorObject(value)) return { content: `error: ${messageOf(value)}`, isError: true };
  if (typeof value === "string") return { content: value, isError: false };
  try {
    const isError = (value as { error?: unknown } | null | undefined)?.error === true;
    return { content: JSON.stringify(value) ?? "null", isError };
  } catch (error) {
    return { content: `error: ${messageOf(error)}`, isError: true };
  }
}

/** The value with the spread fields: nothing, a text, which has a field for each character, a list or an object. */
function valueOf(fields: { readonly [name: string]: unknown }): unknown {
  const names = Object.keys(fields);
  if (names.length === 0) return undefined;
  const isList = names.every((name, at) => name === String(at));
  if (!isList) return fields;
  const values = Object.values(fields);
  return values.every((one) => typeof one === "string" && one.length === 1) ? values.join("") : values;
}

/** The key of a call. None if `resourceKey` throws, because the call itself then fails at its input. */
function keyOf<C extends ToolBlockContext>({ name, input }: ToolUseBlock, ctx: C): string | undefined {
  try {
    return ctx.resourceKey?.(name, input);
  } catch {
    return undefined;
  }
}

export function messageOf(error: unknown): string {
  return isErrorObject(error) ? error.message || error.name : String(error);
}
