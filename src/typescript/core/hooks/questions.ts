/**
 * Answers the questions of one run: finds your functions for a point, calls them, and hands their answers on. A
 * withdrawn question is forgotten at once: nothing that its function does afterwards has an effect.
 */
import type { ProfileOptions } from "../api/agent.js";
import type { CompactionOptions, CompactionRequest, StopPredicate } from "../api/iteration.js";
import { LoopletError } from "../api/errors.js";
import type { PermissionOptions, PermissionResult } from "../api/permission.js";
import type { Message } from "../api/message.js";
import type { QuestionAnswer, Reconcile, Reconciliation } from "../api/run.js";
import type { ElicitationAnswer, OnElicitation, ToolCallOptions } from "../api/tool.js";
import type { Reconciled } from "../generated/input.js";
import type { Answer, Question } from "../host/question.js";
import type { Point } from "../generated/model.js";
import { at, describe, fieldOf, isObject, joined, jsonOf } from "../options/check.js";
import { checkPermissionResult, type RuledTools } from "../options/permissions.js";
import { conditions } from "../options/stopping.js";
import { messagesOf } from "../options/messages.js";
import { message } from "../options/thrown.js";
import type { Driver } from "../host/engine.js";
import type { StructuredOutput } from "../tools/structured-output.js";
import { Abort, type ToolCalls } from "../tools/tool-calls.js";
import type { ToolSet } from "../tools/tool.js";
import type { HostFunction, TakeModel } from "./host-functions.js";

/** Your functions of one run, and the objects that they need. `profiles` and `sets` are indexed by profile. */
export interface RunFunctions {
  readonly functions: readonly HostFunction[];
  readonly profiles: readonly ProfileOptions[];
  readonly sets: readonly ToolSet[];
  readonly permissions: PermissionOptions;
  readonly durable: { readonly reconcile?: Reconcile | undefined };
  readonly fence: () => number | undefined;
  readonly toolRun: Pick<ToolCallOptions, "onElicitation">;
  readonly ruledTools: RuledTools;
  readonly tools: ToolCalls;
  readonly output: StructuredOutput;
  readonly takeModel: TakeModel;
  readonly report: (error: unknown) => void;
}

/** Contract: an error that it throws is the question's failure; `null` leaves the question open for `run.answer`. */
type Asker = (question: Question, id: number, abort: Abort) => Promise<Answer | null>;

/** The points with one function each. All others, in capitals, ask hooks, guardrails or functions of an iteration. */
type OwnPoint = Exclude<Point, Capitalize<Point>>;

function askers(asked: RunFunctions): { readonly [P in OwnPoint]: Asker } {
  const { profiles, tools, output, report } = asked;
  return {
    prepare_calls: async ({ data }) => ({ prepared: await tools.prepare(data.calls) }),
    word_errors: async ({ data }) => ({ worded: await tools.word(data.errors) }),
    permission: (question, id, abort) => decide(asked, "canUseTool", question, id, abort),
    classify: (question, id, abort) => decide(asked, "classifyTool", question, id, abort),
    reconcile: (question, id, abort) => reconcile(asked, question, id, abort),
    elicitation: (question, id, abort) => elicit(asked.toolRun, question, id, abort),
    summarize: async ({ data, profile }, _, abort) => ({
      summary: await summary(profiles, profile, data, abort),
    }),
    filter_handoff: async (question, _, abort) => ({ filtered: await filtered(asked, question, abort) }),
    check_output: async ({ data, profile }) => ({ checked: await output.check(data.output, profile) }),
    stop_condition: async ({ data, profile }) => {
      const predicates = conditions(joined(profiles[profile]!.limits)).filter(
        (condition) => typeof condition === "function",
      );
      return { stop: await any(predicates, data, report) };
    },
    stop_repeat: async ({ data, profile }) => {
      const { onRepeat } = joined(profiles[profile]!.limits);
      return { stop: await any([onRepeat as unknown as StopPredicate], data, report) };
    },
  };
}

/** Questions that a journal has, and the answers that they take. */
const ANSWERS: { readonly [P in Point]?: string } = {
  permission: "permission",
  reconcile: "reconciled",
  elicitation: "elicited",
};

interface OpenQuestion {
  readonly question: Question;
  readonly abort: Abort;
  readonly answer: Promise<Answer | null>;
  /** Whether someone has answered it, for the next instance. */
  readonly isAnswered?: boolean;
}

export class Questions {
  readonly #asked: RunFunctions;
  readonly #askers: { readonly [P in Point]?: Asker };
  readonly #driver: () => Driver | undefined;
  readonly #open = new Map<number, OpenQuestion>();
  /** Questions of a lost instance that the next one asks again under their ids. */
  readonly #kept: Map<number, OpenQuestion>;

  /**
   * `driver` returns undefined before the run's start and after its end. `before` are the asks that these take the
   * place of, after a loss.
   */
  constructor(asked: RunFunctions, driver: () => Driver | undefined, before?: Questions) {
    this.#kept = before === undefined ? new Map<number, OpenQuestion>() : before.#kept;
    this.#asked = asked;
    this.#askers = askers(asked);
    this.#driver = driver;
  }

  ask(id: number, question: Question): void {
    const kept = this.#kept.get(id);
    this.#kept.delete(id);
    const isSame =
      kept?.question.point === question.point && kept.question.data.toolCallId === question.data.toolCallId;
    if (kept !== undefined && !isSame) kept.abort.abort("the question is not asked again");
    const abort = new Abort();
    const open =
      kept !== undefined && isSame ? kept : { question, abort, answer: this.#answer(id, question, abort) };
    this.#open.set(id, open);
    void open.answer.then((answer) => {
      if (answer === null || this.#open.get(id) !== open) return;
      const driver = this.#driver();
      driver?.answer(id, answer, question.data.texts);
      // An answer that is lost with its instance is given again to the next one.
      if (driver !== undefined && this.#driver() === driver) this.#open.delete(id);
    });
  }

  /** Keeps the questions that a journal has, because their functions may wait for a person, and forgets the others. */
  loseInstance(): void {
    for (const [id, open] of this.#open) {
      if (ANSWERS[open.question.point] !== undefined) this.#kept.set(id, open);
      else open.abort.abort("the WebAssembly instance was lost");
    }
    this.#open.clear();
  }

  /** Takes the answer to a question that the next instance has not asked again yet; false for any other. */
  answerKept(id: number, answer: Answer): boolean {
    const kept = this.#kept.get(id);
    if (kept === undefined || kept.isAnswered === true) return false;
    if (!(ANSWERS[kept.question.point]! in answer)) return false;
    kept.abort.abort("the question was answered");
    this.#kept.set(id, { ...kept, answer: Promise.resolve(answer), isAnswered: true });
    return true;
  }

  /** Resolves when no function judges a question any more, whose answer the engine has by then. */
  decided(id: number): Promise<unknown> | undefined {
    return (this.#open.get(id) ?? this.#kept.get(id))?.answer;
  }

  /** Forgets a question whose answer no longer matters: it came from elsewhere, or comes too late. */
  withdraw(id: number, why: string): void {
    for (const questions of [this.#open, this.#kept]) {
      questions.get(id)?.abort.abort(why);
      questions.delete(id);
    }
  }

  withdrawAll(why: string): void {
    for (const id of [...this.#open.keys(), ...this.#kept.keys()]) this.withdraw(id, why);
  }

  async #answer(id: number, question: Question, abort: Abort): Promise<Answer | null> {
    try {
      return await (this.#askers[question.point] ?? this.#hook)(question, id, abort);
    } catch (error) {
      return { failed: { why: message(error) } };
    }
  }

  readonly #hook: Asker = async ({ point, asker, profile: _, data, ...place }, __, abort) => {
    const { functions, takeModel } = this.#asked;
    const { signal } = abort;
    const input = { event: point, ...place, ...data };
    return { hook: await functions[asker]!.ask(input, { signal, takeModel }) };
  };
}

async function decide(
  { permissions, sets, ruledTools }: RunFunctions,
  which: "canUseTool" | "classifyTool",
  { profile, agentPath, data: { toolName, input, ...call } }: Question,
  questionId: number,
  { signal }: Abort,
): Promise<Answer | null> {
  const judge = permissions[which];
  if (judge === undefined) return null;
  const { description } = sets[profile]?.get(toolName)?.config ?? {};
  try {
    const said =
      (await judge(toolName, input, { description, ...call, agentPath, questionId, signal })) ?? null;
    if (said === null) return null;
    const result = checkPermissionResult(said, permissions, ruledTools);
    return which === "canUseTool" ? { permission: result } : { classified: result };
  } catch (error) {
    return { failed: { why: `The call was denied, because it could not be decided: ${message(error)}` } };
  }
}

async function reconcile(
  { durable: { reconcile }, fence }: RunFunctions,
  { agentPath, data }: Question,
  questionId: number,
  { signal }: Abort,
): Promise<Answer | null> {
  const said = (await reconcile?.({ ...data, agentPath, questionId, fence: fence(), signal })) ?? null;
  return said === null ? null : { reconciled: checkReconciliation(said) };
}

/**
 * The answer of a person in the engine's form.
 *
 * @throws LoopletError `misuse_invalid_argument`
 */
export function checkAnswer(
  answer: QuestionAnswer,
  { permissions, ruledTools }: Pick<RunFunctions, "permissions" | "ruledTools">,
): Answer {
  let given: Answer;
  if (isObject(answer) && "outcome" in answer)
    given = { reconciled: checkReconciliation(answer as Reconciliation) };
  else if (isObject(answer) && "action" in answer)
    given = { elicited: checkElicitation(answer as unknown as ElicitationAnswer) };
  else given = { permission: checkPermissionResult(answer as PermissionResult, permissions, ruledTools) };
  jsonOf(given, "answer", "misuse_invalid_argument");
  return given;
}

async function elicit(
  { onElicitation }: Pick<ToolCallOptions, "onElicitation">,
  { agentPath, data: { request, reason: _, ...call } }: Question,
  questionId: number,
  { signal }: Abort,
): Promise<Answer | null> {
  // A question for the code of a page, which no person sees.
  if (request.url?.startsWith("looplet:") === true) return null;
  const context = { ...call, agentPath, questionId, signal } as Parameters<OnElicitation>[1];
  const said = (await onElicitation?.(request, context)) ?? null;
  return said === null ? null : { elicited: checkElicitation(said) };
}

/**
 * The answer of a person to a tool.
 *
 * @throws LoopletError `misuse_invalid_argument`
 */
function checkElicitation(said: ElicitationAnswer): ElicitationAnswer {
  const { action, content } = said as Partial<ElicitationAnswer>;
  const isKnown = action === "accept" || action === "decline" || action === "cancel";
  if (isKnown && (content === undefined || isObject(content)))
    return content === undefined ? { action } : { action, content };
  throw new LoopletError(
    "misuse_invalid_argument",
    "answer",
    `needs { action: "accept", content: {…} }, { action: "decline" } or { action: "cancel" }`,
  );
}

/**
 * An answer about a call in the engine's form.
 *
 * @throws LoopletError `misuse_invalid_argument`
 */
function checkReconciliation(said: Reconciliation): Reconciled {
  const { outcome, output, message } = said as { outcome: string; output?: unknown; message?: unknown };
  if (outcome === "run") return "run";
  if (outcome === "done") return { done: { output: output ?? null } };
  if (outcome === "fail" && typeof message === "string") return { fail: { message } };
  throw new LoopletError(
    "misuse_invalid_argument",
    "answer",
    `needs { outcome: "done", output }, { outcome: "run" } or { outcome: "fail", message }`,
  );
}

/** Asks for a summary. A subagent without its own function uses the run's. */
async function summary(
  profiles: RunFunctions["profiles"],
  profile: number,
  compact: Omit<CompactionRequest, "signal">,
  { signal }: Abort,
): Promise<string> {
  const [own, runs] = [profile, 0].map((of) => {
    const { compaction } = joined(profiles[of]!.context);
    if (typeof compaction !== "object") return undefined;
    const summarize = fieldOf(compaction, "summarize") as CompactionOptions["summarize"];
    return typeof summarize === "function" ? summarize : undefined;
  });
  const said: unknown = await (own ?? runs)?.({ ...compact, signal });
  if (typeof said !== "string")
    throw new TypeError(`${at("context.compaction", "summarize")} returned ${describe(said)}`);
  return said;
}

/** Asks for the messages that an agent begins with when it takes the conversation over. */
async function filtered(
  { sets }: RunFunctions,
  { profile, agentPath, data: { toolName, ...handoff } }: Question,
  { signal }: Abort,
): Promise<readonly Message[]> {
  const inputFilter = sets[profile]?.get(toolName)?.inputFilter;
  // A run that resumes asks the code of now, which may have no filter: the agent reads the whole conversation then.
  if (inputFilter === undefined) return handoff.messages;
  const messages: unknown = await inputFilter({ ...handoff, toolName, agentPath, signal });
  if (messages === undefined) throw new TypeError("it returned nothing where messages belong");
  return messagesOf(messages, "messages");
}

async function any(
  predicates: readonly StopPredicate[],
  round: Parameters<StopPredicate>[0],
  report: (error: unknown) => void,
): Promise<boolean> {
  for (const stops of predicates) {
    try {
      if (await stops(round)) return true;
    } catch (error) {
      report(error);
    }
  }
  return false;
}
