/** What a recorded run answers instead of the outside world: results of tools, and messages of the user. */
import type { ToolInvocation, Input } from "../../core/kit/engine.js";
import type {
  ContentBlock,
  ElicitationAnswer,
  PermissionResult,
  RunOptions,
  RunEvent,
} from "../../core/api/index.js";
import type { LoopFile } from "../replay/loop-file.js";
import type { Replay } from "../replay/replay.js";
import { resultsIn, type RecordedResult } from "../testing/run-tools.js";
import { callText, canonical } from "./decisions.js";

/** A message that the user sent during the run. */
export interface QueuedMessage {
  readonly kind: "steer" | "followUp";
  readonly content: ContentBlock[];
  /** The number of requests that had been sent before. */
  readonly requests: number;
}

type EngineAnswer = Extract<Input, { answered: unknown }>["answered"]["answer"];

export class Recording {
  readonly prompt: ContentBlock[];
  readonly options: Pick<RunOptions, "messages" | "subagents" | "inputs">;
  readonly said: readonly QueuedMessage[];
  /** Why the run cannot begin again; undefined if it can. */
  readonly problem: string | undefined;
  readonly #results = new Answers<RecordedResult>();
  readonly #permissions = new Answers<PermissionResult>();
  readonly #elicitations = new Answers<ElicitationAnswer>();

  /** `calls` are the calls of the replay of this file, and `bound` the fields that `bindings` fill in a tool's input. */
  constructor(
    file: LoopFile,
    played: Replay,
    calls: readonly ToolInvocation[],
    private readonly bound: (toolName: string) => readonly string[],
  ) {
    const results = resultsIn(file);
    for (const call of calls)
      this.#results.add(this.#keyOf(call.toolName, call.input), results.get(call.call));
    const questions = new Map<number, Extract<RunEvent, { type: "question" }>>();
    const said: QueuedMessage[] = [];
    let prompt: ContentBlock[] = [];
    let requests = 0;
    let isCancelled = false;
    for (const step of played.steps) {
      const input = inputOf(step.input.input);
      if (input?.kind === "prompt") prompt = [...input.content];
      if (input?.kind === "steer" || input?.kind === "followUp") said.push({ ...input, requests });
      if (input?.kind === "cancel") isCancelled = true;
      if (input?.kind === "answered") this.#hear(questions.get(input.question), input.answer);
      for (const event of step.events) if (event.type === "question") questions.set(event.questionId, event);
      requests += step.requests.length;
    }
    const [first] = file.processes;
    const { messages, subagents, inputs, profile } = (first!.options ?? {}) as Recording["options"] & {
      profile?: number;
    };
    this.prompt = prompt;
    this.said = said;
    this.options = { messages, subagents, inputs };
    this.problem =
      first!.options === undefined
        ? "The file begins in the middle of the run."
        : profile !== undefined
          ? "The run begins with an agent that had taken a conversation over."
          : isCancelled
            ? "The recorded run was aborted."
            : undefined;
  }

  /** The next result of an equal call. */
  result(toolName: string, input: unknown): RecordedResult | undefined {
    return this.#results.next(this.#keyOf(toolName, input));
  }

  /** The next answer to the question whether an equal call may run. */
  permission(toolName: string, input: unknown): PermissionResult | undefined {
    return this.#permissions.next(this.#keyOf(toolName, input));
  }

  /** The next answer to an equal question of a tool. */
  elicitation(request: unknown): ElicitationAnswer | undefined {
    return this.#elicitations.next(canonical(request));
  }

  #hear(question: Extract<RunEvent, { type: "question" }> | undefined, given: EngineAnswer): void {
    const answer = "read" in given ? given.read.answer : given;
    if (question?.question === "permission" && "permission" in answer)
      this.#permissions.add(this.#keyOf(question.data.toolName, question.data.input), answer.permission);
    if (question?.question === "elicitation" && "elicited" in answer)
      this.#elicitations.add(canonical(question.data.request), answer.elicited);
  }

  /** Equal calls have equal keys, whatever `bindings` have filled in. */
  #keyOf(toolName: string, input: unknown): string {
    const shown = JSON.parse(JSON.stringify(input ?? null)) as unknown;
    if (typeof shown === "object" && shown !== null)
      for (const field of this.bound(toolName)) delete (shown as { [field: string]: unknown })[field];
    return callText({ toolName, input: shown });
  }
}

/** Answers by keys, each given once and in the order in which they came. */
class Answers<T> {
  readonly #all = new Map<string, T[]>();

  add(key: string, answer: T | undefined): void {
    if (answer === undefined) return;
    const list = this.#all.get(key);
    if (list === undefined) this.#all.set(key, [answer]);
    else list.push(answer);
  }

  next(key: string): T | undefined {
    return this.#all.get(key)?.shift();
  }
}

type Told =
  | { readonly kind: "prompt"; readonly content: ContentBlock[] }
  | { readonly kind: "steer" | "followUp"; readonly content: ContentBlock[] }
  | { readonly kind: "answered"; readonly question: number; readonly answer: EngineAnswer }
  | { readonly kind: "cancel" };

/** The content of an input, if it came from the user or a function. */
function inputOf(input: Replay["steps"][number]["input"]["input"]): Told | undefined {
  return "json" in input ? toldBy(input.json as Input) : undefined;
}

function toldBy(input: Input): Told | undefined {
  if (typeof input === "string") return undefined;
  if ("once" in input) return toldBy(input.once.input);
  if ("prompt" in input) return { kind: "prompt", content: [...input.prompt.content] as ContentBlock[] };
  if ("steer" in input) return { kind: "steer", content: [...input.steer.content] as ContentBlock[] };
  if ("followUp" in input)
    return { kind: "followUp", content: [...input.followUp.content] as ContentBlock[] };
  if ("answered" in input) return { kind: "answered", ...input.answered };
  return "cancel" in input ? { kind: "cancel" } : undefined;
}
