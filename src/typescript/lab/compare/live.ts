/** The live comparison: a run starts again with another agent, and tools and users answer from the recording. */
import { LoopletError, ToolError } from "../../core/api/errors.js";
import type { AgentOptions, Run, RunEvent, RunResult, ToolContext, Usage } from "../../core/api/index.js";
import { internalsOf, type AgentInternals } from "../../core/kit/runs.js";
import { handlerOf, type KnownTool } from "../../core/kit/tools.js";
import { wrong } from "../replay/loop-file.js";
import type { RecordedResult } from "../testing/run-tools.js";
import type { Budget } from "./budget.js";
import { callsDifference, endingDifference } from "./decisions.js";
import type { Changed } from "./free.js";
import type { Recording } from "./recording.js";
import type { RunEnd } from "./report.js";

/** A run that was asked live. */
export interface Asked extends Changed {
  readonly usage: Usage | null;
  readonly usd: number;
}

/**
 * Runs the agent with the prompt of the recording. Equal calls get the recorded results, in their order. A call that
 * was not recorded runs if its tool is read-only, and else it ends the run.
 */
export async function askedLive(
  made: AgentInternals,
  recording: Recording,
  before: RunEnd,
  budget: Budget,
): Promise<Asked> {
  if (recording.problem !== undefined) return unasked(recording.problem);
  if (budget.isSpent) return unasked(SPENT);
  const { result, why } = await new LiveRun(made, recording, budget).run();
  const { usage, costUsd: usd } = result;
  budget.take(usage, usd);
  const after = result as RunEnd;
  const call = callsDifference(before.toolCalls, after.toolCalls);
  const isCut =
    result.outcome === "stopped" && ["usd", "tokens"].includes(result.stoppedBy) && budget.isSpent;
  const reason = why ?? (isCut ? SPENT : undefined);
  const found =
    reason !== undefined
      ? { verdict: "stopped" as const, difference: call }
      : call !== undefined
        ? { verdict: "another decision" as const, difference: call }
        : (endingDifference(before, after) ?? { verdict: "equal" as const });
  const { verdict, difference } = found;
  const first = difference === undefined ? {} : { firstDifference: difference };
  const failure = result.outcome === "failed" ? result.error.message : "";
  return { verdict, why: reason ?? failure, ...first, after, usage, usd };
}

/** Why a run or a judge is not asked any more. */
export const SPENT = "The budget is spent.";

/** A run that does not begin. */
export function unasked(why: string): Asked {
  const after = { outcome: undefined, text: "", output: undefined, toolCalls: [], messages: [], usage: null };
  return { verdict: "stopped", why, after, usage: null, usd: 0 };
}

/** The options of the agent that a comparison must not use: those that store, emit or throw. */
const ALONE = {
  store: undefined,
  steps: undefined,
  durable: undefined,
  record: undefined,
  trace: undefined,
  onCancel: "result",
  onRefusal: "result",
  onFailure: "result",
} as const satisfies Partial<AgentOptions>;

/** A run that starts again with calls and questions that are answered from a recording. */
export class LiveRun {
  #why: string | undefined;
  #run: Run | undefined;
  #requests = 0;

  constructor(
    private readonly made: AgentInternals,
    private readonly recording: Recording,
    private readonly budget: Pick<Budget, "request" | "limits">,
    /** Options in place of the agent's. With any, calls that were not recorded never run. */
    private readonly own?: Partial<AgentOptions>,
  ) {}

  async run(): Promise<{ readonly result: RunResult; readonly why: string | undefined }> {
    const { recording } = this;
    const agent = this.made.again(this.#options());
    for (const set of internalsOf(agent)!.sets)
      for (const [name, known] of set)
        (set as Map<string, KnownTool>).set(name, this.#answering(name, known));
    const run = begun(() =>
      agent.run(recording.prompt, {
        ...recording.options,
        onEvent: (event) => this.#hear(event),
        onError: () => {},
      }),
    );
    this.#run = run;
    this.#say();
    const result = await run.result.catch((error: { result?: RunResult }) => {
      if (error.result === undefined) throw error;
      return error.result;
    });
    return { result, why: this.#why };
  }

  #options(): AgentOptions {
    const { options } = this.made;
    const { permissions, toolCalls, limits } = options;
    const { canUseTool } = permissions ?? {};
    const { onElicitation, onUnknownTool } = toolCalls ?? {};
    const { recording } = this;
    return {
      ...options,
      ...ALONE,
      ...this.own,
      limits: this.budget.limits(limits),
      ...(canUseTool === undefined
        ? {}
        : {
            permissions: {
              ...permissions,
              canUseTool: (name, input, context) =>
                recording.permission(name, input) ?? canUseTool(name, input, context),
            },
          }),
      toolCalls: {
        ...toolCalls,
        ...(onElicitation === undefined
          ? {}
          : {
              onElicitation: (request, context) =>
                recording.elicitation(request) ?? onElicitation(request, context),
            }),
        ...(typeof onUnknownTool === "function"
          ? {
              onUnknownTool: ({ toolName, input }, context) =>
                this.#answer(toolName, input, context, undefined),
            }
          : {}),
      },
    };
  }

  /** The tool with calls that are answered from the recording. */
  #answering(name: string, known: KnownTool): KnownTool {
    const { options, defined, config } = known;
    const own = handlerOf(options, this.made.options.toolCalls?.handlers ?? {});
    const isSafe = config.readOnly === true && own !== undefined && this.own === undefined;
    const live = (input: unknown, context: ToolContext): unknown =>
      // A handler of a kind gets the tool as well.
      own!.call(
        defined,
        input,
        Object.create(context, {
          toolName: { __proto__: null, value: name } as PropertyDescriptor,
          tool: { __proto__: null, value: defined } as PropertyDescriptor,
        }) as never,
      );
    const execute = (input: unknown, context: ToolContext): unknown =>
      this.#answer(name, input, context, isSafe ? live : undefined);
    return { ...known, options: { ...options, execute } };
  }

  #answer(
    name: string,
    input: unknown,
    context: ToolContext,
    live: ((input: unknown, context: ToolContext) => unknown) | undefined,
  ): unknown {
    const recorded = this.recording.result(name, input);
    if (recorded !== undefined) return valueOf(recorded, context);
    if (live !== undefined) return live(input, context);
    throw this.stop(`It asked for something that was not recorded: ${name} ${JSON.stringify(input)}.`);
  }

  #hear(event: RunEvent): void {
    if (event.type === "attempt-start") {
      this.#requests++;
      if (!this.budget.request()) this.stop(SPENT);
      else this.#say();
    }
    if (event.type !== "question" || event.data === undefined) return;
    const { permissions, toolCalls } = this.made.options;
    if (event.question === "permission" && permissions?.canUseTool === undefined) {
      const { toolName, input } = event.data;
      this.#reply(
        event.questionId,
        this.recording.permission(toolName, input),
        `whether ${toolName} may run`,
      );
    }
    if (event.question === "elicitation" && toolCalls?.onElicitation === undefined)
      this.#reply(event.questionId, this.recording.elicitation(event.data.request), "a person");
  }

  #reply(questionId: number, answer: Parameters<Run["answer"]>[1] | undefined, about: string): void {
    if (answer === undefined) this.stop(`It asked ${about}, and no answer was recorded.`);
    else this.#run?.answer(questionId, answer);
  }

  /** Repeats the user's messages at this point of the run. */
  #say(): void {
    for (const { kind, content, requests } of this.recording.said)
      if (requests === this.#requests) this.#run?.[kind](content);
  }

  /** Ends the run for this reason, unless there is one already. */
  stop(why: string): Error {
    this.#why ??= why;
    this.#run?.abort(why);
    return new Error(why);
  }
}

/** The file is at fault for a prompt or a history that no run can begin with. */
function begun(begin: () => Run): Run {
  try {
    return begin();
  } catch (error) {
    if (error instanceof LoopletError) throw wrong(`cannot begin again: ${error.problem}`, error);
    throw error;
  }
}

/** A recorded result as a tool returns it. */
function valueOf(result: RecordedResult, context: ToolContext): unknown {
  if ("last" in result) {
    context.terminate();
    return valueOf(result.last, context);
  }
  if ("fault" in result) throw new ToolError(result.fault);
  return "content" in result ? { content: result.content } : result.value;
}
