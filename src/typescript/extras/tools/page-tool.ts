/** A tool with a function in a page, for a remote agent. */
import { LoopletError, ToolError } from "../../core/api/errors.js";
import type {
  ElicitationAnswer,
  InputSchema,
  StandardSchemaV1,
  ToolContext,
  ToolOptions,
} from "../../core/api/index.js";
import { checkOptions, isObject } from "../../core/kit/check.js";
import { isStandardSchema, markAsNamedByPage } from "../../core/kit/tools.js";
import { tool } from "../../core/index.js";
import { isPageId } from "../page-json.js";
import { resultFromPage } from "./from-page.js";
import { pageRequest, type PageAnswer } from "./page-call.js";

/** The options of `pageTool`: those of `tool` without its function, and what pages need. */
export interface PageToolOptions<S = InputSchema, O = unknown> extends Omit<
  ToolOptions<S>,
  "execute" | "kind" | "replay"
> {
  /**
   * A Standard Schema that validates what the page returns. The model gets its output value. Without it, the page's
   * user can return anything. Default: any JSON value.
   */
  outputSchema?: StandardSchemaV1<any, O> | undefined;
  /**
   * The time limit of a page for a call that it has started, in milliseconds. After it, the call fails. A call that
   * no page has started waits. Default: no limit.
   */
  deadlineMs?: number | undefined;
  /**
   * What to do with a call if its page disconnects before it sends a result. `"safe"` lets another page run it again.
   * `"once"` asks the user whether it was done. Default: `"safe"` for a `readOnly` tool, otherwise `"once"`.
   */
  replay?: "safe" | "once" | undefined;
}

/**
 * A tool that a page runs while the agent is on a server or in a worker. Pass its function to `connectAgent(…, {
 * tools })` in the page. One of the pages that have it runs a call. If there is none, the call waits as an open
 * question, in parallel with other calls. It continues when a page connects, also in another process.
 *
 * Pages of the AI SDK answer it with `addToolOutput`, and those of AG-UI as a call of their own tool.
 *
 * @throws LoopletError `config_…` as `tool()`
 */
export function pageTool<
  const S extends InputSchema,
  O = unknown,
  const N extends string | undefined = undefined,
>(
  options: PageToolOptions<S, O> & { name?: N },
): ToolOptions<S, Promise<O>> & (N extends string ? { name: N } : unknown) {
  const { outputSchema, deadlineMs, replay, ...own } = isObject(options) ? options : ({} as typeof options);
  const made = tool({
    ...own,
    // The question is asked again, and nothing has been done before its answer.
    replay: "safe",
    execute: (_: unknown, context: ToolContext) => resultOf(context, { isSafe, deadlineMs, outputSchema }),
  } as ToolOptions<S, Promise<O>> & { name?: N });
  const place = own.name ?? "tool";
  checkOptions({ deadlineMs, replay }, place, { deadlineMs: "count", replay: ["safe", "once"] });
  if (outputSchema !== undefined && !isStandardSchema(outputSchema))
    throw new LoopletError(
      "config_invalid_schema",
      `${place}.outputSchema`,
      "needs a Standard Schema, as zod's",
    );
  const isSafe = (replay ?? (isReadOnly(own) ? "safe" : "once")) === "safe";
  return markAsNamedByPage(made) as ReturnType<typeof pageTool<S, O, N>>;
}

function isReadOnly({ readOnly, annotations }: Pick<ToolOptions, "readOnly" | "annotations">): boolean {
  return readOnly ?? annotations?.readOnlyHint ?? false;
}

interface Terms<O> {
  readonly isSafe: boolean;
  readonly deadlineMs: number | undefined;
  readonly outputSchema: StandardSchemaV1<any, O> | undefined;
}

/** Asks pages until one of them has a result. */
async function resultOf<O>(context: ToolContext, terms: Terms<O>): Promise<O> {
  const { isSafe, deadlineMs, outputSchema } = terms;
  for (let page: string | undefined; ;) {
    const asked = context.elicit(pageRequest(page));
    const limitMs = page === undefined ? undefined : deadlineMs;
    const { action, content = {} } = await (limitMs === undefined ? asked : within(limitMs, asked));
    const { claim, left, error, output } = content as PageAnswer;
    if (action !== "accept") throw failed("The page has given no result.");
    if (error !== undefined) throw failed(String(error));
    if (claim === undefined && left === undefined) return checked(output, outputSchema);
    // Each question of the call has the name, so the journal has it too.
    if (page === undefined && isPageId(claim)) page = claim;
    else if (page !== undefined && left === page) {
      const done = isSafe ? undefined : await judged(context);
      if (done !== undefined) return checked(done.output, outputSchema);
      page = undefined;
    } else throw failed("The call was claimed or left by a page that does not have it.");
  }
}

/** Asks the user about a call when its page has disconnected. Undefined if a page should run it again. */
async function judged({ elicit }: ToolContext): Promise<{ readonly output: unknown } | undefined> {
  const { action, content = {} } = (await elicit(WAS_IT_DONE)) as ElicitationAnswer;
  const { outcome, output } = content;
  if (action === "accept" && outcome === "run") return undefined;
  if (action === "accept" && outcome === "done") return { output };
  throw failed("The page that ran this call has disconnected, and it is unknown whether the call was done.");
}

const WAS_IT_DONE = {
  message: "The page that ran this call disconnected before it sent a result. Was the call done?",
  requestedSchema: {
    type: "object",
    properties: {
      outcome: {
        type: "string",
        enum: ["done", "run", "fail"],
        title: "It was done, is to run again, or fails",
      },
      output: { type: "string", title: "Its result, if it was done" },
    },
    required: ["outcome"],
  },
};

/** @throws ToolError when the time is over */
function within<T>(limitMs: number, answer: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout>;
  const over = new Promise<never>((_, reject) => {
    const end = (): void => reject(failed(`The page has not answered in ${limitMs} ms.`));
    timer = setTimeout(end, limitMs);
  });
  return Promise.race([answer, over]).finally(() => clearTimeout(timer));
}

/** @throws ToolError for a value that does not fit */
async function checked<O>(output: unknown, schema: StandardSchemaV1<any, O> | undefined): Promise<O> {
  if (schema === undefined) return resultFromPage(output) as O;
  const result = await schema["~standard"].validate(output);
  if (result.issues === undefined) return resultFromPage(result.value) as O;
  const issues = result.issues.map(({ message }) => message).join("; ");
  throw failed(`The page has returned what does not fit: ${issues}`);
}

function failed(message: string): ToolError {
  return new ToolError({ code: "tool_failed", message });
}
