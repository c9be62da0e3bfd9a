/** A conversation: the transcript of each run is the history of the next. */
import { isObject } from "./check.js";
import { LoopletError } from "./errors.js";
import { checkMessages } from "./prompt.js";
import type { Chat, Message, Prompt, Run, RunOptions, RunResult } from "./types.js";

/** Starts a run; `onEnd` is called as soon as it has ended. */
export type StartRun = (prompt: Prompt, options: RunOptions, onEnd: (result: RunResult) => void) => Run;

export class Conversation implements Chat {
  readonly #start: StartRun;
  #messages: readonly Message[];
  #current: Run | undefined;

  constructor(start: StartRun, messages: readonly Message[]) {
    checkMessages(messages, "messages");
    this.#start = start;
    this.#messages = [...messages];
  }

  get messages(): readonly Message[] {
    return this.#messages;
  }

  get current(): Run | undefined {
    return this.#current;
  }

  run(prompt: Prompt, options: Omit<RunOptions, "messages"> = {}): Run {
    this.#refuseWhileBusy("run");
    if (isObject(options) && "messages" in options) {
      throw new LoopletError(
        "config_unknown_option",
        "messages",
        "the chat keeps the transcript; use chat.reset(messages)",
      );
    }
    const all = isObject(options) ? { ...options, messages: this.#messages } : options;
    const run = this.#start(prompt, all, (result) => {
      this.#messages = result.messages;
      this.#current = undefined;
    });
    this.#current = run;
    return run;
  }

  reset(messages: readonly Message[] = []): void {
    this.#refuseWhileBusy("reset");
    checkMessages(messages, "messages");
    this.#messages = [...messages];
  }

  #refuseWhileBusy(field: string): void {
    if (this.#current === undefined) return;
    throw new LoopletError(
      "misuse_chat_busy",
      field,
      "a run of this chat goes on; await its result, steer it or abort it",
    );
  }
}
