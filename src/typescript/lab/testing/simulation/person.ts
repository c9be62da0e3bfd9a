/** The user of a simulated run: answers questions immediately, late or never. */
import type { AgentOptions } from "../../../core/api/agent.js";
import type { RunEventOf } from "../../../core/api/event.js";
import type { QuestionAnswer } from "../../../core/api/run.js";
import { fillInput } from "../../practice/planner/fill.js";
import type { Process } from "./process.js";
import { never } from "./timeline.js";

/** The time of a late answer, and that of any other. */
const LATE_MS = 3_600_000;
const PROMPT_MS = 2000;

/** The user is asked about a call, and approves or denies it. */
export async function askPerson(process: Process, toolCallId: string, what: string): Promise<boolean> {
  // Another process may have the answer already, and then this one asks for nothing.
  if (process.world.approvals.get(toolCallId)?.person === undefined)
    process.approve(toolCallId, { person: "asked" });
  const verdict = await decided(process, what);
  // An answer to a run that has ended, because another process performs it, has no effect.
  if (process.run?.outcome === undefined) process.approve(toolCallId, { person: verdict });
  return verdict === "allow";
}

/** The questions of one process. A function of the agent is asked first, then the user. */
export class Questions {
  readonly #process: Process;
  /** The questions that functions of the agent have got. */
  readonly #taken = new Set<number>();
  readonly #events = new Map<number, RunEventOf<"question">>();

  constructor(process: Process) {
    this.#process = process;
  }

  /** Wraps the functions that answer questions, to record their answers. */
  watched({ permissions, durable, toolCalls }: AgentOptions): Partial<AgentOptions> {
    const { canUseTool } = permissions ?? {};
    const { reconcile } = durable ?? {};
    const { onElicitation } = toolCalls ?? {};
    return {
      ...(canUseTool && {
        permissions: {
          ...permissions,
          canUseTool: async (toolName, input, request) => {
            const answer = await this.#asked(request.questionId, () => canUseTool(toolName, input, request));
            if (answer !== null) this.#process.approve(request.toolCallId, { canUseTool: answer.behavior });
            return answer;
          },
        },
      }),
      ...(reconcile && {
        durable: { ...durable, reconcile: (call) => this.#asked(call.questionId, () => reconcile(call)) },
      }),
      ...(onElicitation && {
        toolCalls: {
          ...toolCalls,
          onElicitation: (request, context) =>
            this.#asked(context.questionId, () => onElicitation(request, context)),
        },
      }),
    };
  }

  hear(event: RunEventOf<"question">): void {
    const { questionId } = event;
    this.#events.set(questionId, event);
    const ask = (): void => {
      if (!this.#taken.has(questionId)) answerQuestion(this.#process, event);
    };
    this.#process.world.timeline.after(0, ask, this.#process);
  }

  async #asked<T>(questionId: number, ask: () => T | null | PromiseLike<T | null>): Promise<T | null> {
    this.#taken.add(questionId);
    const answer = (await ask()) ?? null;
    const event = this.#events.get(questionId);
    if (answer === null && event !== undefined) answerQuestion(this.#process, event);
    return answer;
  }
}

/** Answers the question of an event, unless the user never does. */
function answerQuestion(process: Process, event: RunEventOf<"question">): void {
  const { question, questionId, data } = event;
  if (question !== "permission" && question !== "reconcile" && question !== "elicitation") return;
  const answer = (given: QuestionAnswer): void => void process.run?.answer(questionId, given);
  if (question === "permission") {
    const { toolCallId, toolName } = data as { toolCallId: string; toolName: string };
    void askPerson(process, toolCallId, toolName).then((isAllowed) =>
      answer(isAllowed ? { behavior: "allow" } : { behavior: "deny", message: "No." }),
    );
  } else if (question === "reconcile") {
    const { toolCallId, toolName } = data as { toolCallId: string; toolName: string };
    void process.wait(PROMPT_MS).then(() => {
      const known = reconciled(process, toolCallId);
      process.tell("person", () => `the user reports the outcome of ${toolName}: ${WORDS[known.outcome]}`);
      answer(known);
    });
  } else {
    const { request } = data as { request?: { requestedSchema?: Record<string, unknown> } };
    void decided(process, "a question of a tool").then((verdict) => {
      const schema = request?.requestedSchema ?? { type: "object" };
      const content = fillInput({ name: "answer", description: "", schema }, { text: "1" });
      answer(verdict === "allow" ? ({ action: "accept", content } as QuestionAnswer) : { action: "decline" });
    });
  }
}

async function decided(process: Process, what: string): Promise<"allow" | "deny"> {
  const { choices, rates } = process.world;
  const word = choices.pick(`the person about ${what}`, [rates.deny, rates.lateAnswer, rates.noAnswer]);
  if (word > 1)
    process.tell(
      "person",
      () => `the user is asked about ${what}, and takes ${word === 2 ? "an hour" : "for ever"}`,
    );
  if (word === 3) {
    process.world.neverAnswers = true;
    return never();
  }
  await process.wait(word === 2 ? LATE_MS : PROMPT_MS);
  const verdict = word === 1 ? "deny" : "allow";
  process.tell("person", () => `the user ${verdict === "allow" ? "allows" : "denies"} ${what}`);
  return verdict;
}

/** The truth about a call, as far as anybody can know it. */
function reconciled(process: Process, toolCallId: string): Extract<QuestionAnswer, { outcome: unknown }> {
  const begun = process.world.record.calls.filter((call) => call.toolCallId === toolCallId);
  const done = begun.find(({ endedMs, isError }) => endedMs !== undefined && isError === false);
  if (done !== undefined) return { outcome: "done", output: JSON.parse(done.output ?? '"done"') as unknown };
  if (begun.length === 0) return { outcome: "run" };
  return { outcome: "fail", message: "Nobody knows what became of it." };
}

const WORDS = { done: "it was done", run: "it was not done", fail: "unknown" };
