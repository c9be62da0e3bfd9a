/** The steers and follow-ups of one run, each of which may be delivered twice. */
import { LoopletError } from "../api/errors.js";
import type { ContentBlock, Prompt, Queued, SteerOptions } from "../api/index.js";
import type { Input } from "../generated/input.js";
import { checkOptions } from "../options/check.js";
import { content } from "./prompt.js";

/** Requests that are remembered, as many as the engine remembers. */
const MAX_REQUESTS = 256;

/** The way of a message into the run, and back. */
export interface Inbox {
  /**
   * The number before the first id. A resumed run has messages of other processes, so it starts at a random
   * one.
   */
  lastId(): number;
  hasEnded(): boolean;
  send(message: Message): void;
  withdraw(id: number): boolean;
}

export interface Message {
  readonly id: number;
  readonly isSteer: boolean;
  readonly content: ContentBlock[];
  readonly requestId: string | undefined;
}

/** The input of a message. One whose `requestId` the run has seen changes nothing. */
export function inputOf({ id, isSteer, content, requestId }: Message): Input {
  const input: Input = isSteer ? { steer: { id, content } } : { followUp: { id, content } };
  return requestId === undefined ? input : { once: { request: requestId, input } };
}

export class Steers {
  readonly #inbox: Inbox;
  #last: number | undefined;
  readonly #requests = new Map<string, Queued>();

  constructor(inbox: Inbox) {
    this.#inbox = inbox;
  }

  /** @throws LoopletError `misuse_run_ended`, `misuse_empty_prompt`, `config_…` */
  queue(isSteer: boolean, prompt: Prompt, options: SteerOptions): Queued {
    const field = isSteer ? "steer" : "followUp";
    const blocks = content(prompt, field);
    const { requestId } = checkOptions(options, field, { requestId: "id" });
    const known = requestId === undefined ? undefined : this.#requests.get(requestId);
    if (known !== undefined) return known;
    if (this.#inbox.hasEnded()) {
      throw new LoopletError(
        "misuse_run_ended",
        field,
        "the run has ended; start a new one with result.messages",
      );
    }
    const id = (this.#last ?? this.#inbox.lastId()) + 1;
    this.#last = id;
    const queued = { id, withdraw: () => this.#inbox.withdraw(id) };
    if (requestId !== undefined) this.#remember(requestId, queued);
    this.#inbox.send({ id, isSteer, content: blocks, requestId });
    return queued;
  }

  #remember(requestId: string, queued: Queued): void {
    const [oldest] = this.#requests.keys();
    if (this.#requests.size >= MAX_REQUESTS) this.#requests.delete(oldest!);
    this.#requests.set(requestId, queued);
  }
}
