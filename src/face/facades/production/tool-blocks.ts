/** Tool calls of one answer, run beside each other, each with a result. */

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

/** What {@link executeToolBlocks} gets beside the blocks. Your function gets it too. */
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
    const content = JSON.stringify(value) ?? "null";
    return { ...result, content, ...(isToolError(value) ? { is_error: true } : {}) };
  } catch (error) {
    return { ...result, content: `error: ${messageOf(error)}`, is_error: true };
  }
}

/** The key of a call; none if `resourceKey` throws, because the call itself then fails at its input. */
function keyOf<C extends ToolBlockContext>({ name, input }: ToolUseBlock, ctx: C): string | undefined {
  try {
    return ctx.resourceKey?.(name, input);
  } catch {
    return undefined;
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
