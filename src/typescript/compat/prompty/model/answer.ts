import type { Message, Usage } from "../../../core/api/index.js";

/** What the built-in executor returns: the message of the model in looplet's form, with every block and its author. */
export interface Answer {
  readonly kind: "answer";
  readonly message: Message;
  /** The vendor's id of the answer. */
  readonly id?: string;
  readonly usage?: Usage;
}

export function isAnswer(response: unknown): response is Answer {
  const answer = response as Partial<Answer> | null | undefined;
  return answer?.kind === "answer" && answer.message !== undefined;
}
