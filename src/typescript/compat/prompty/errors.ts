/** The errors of `looplet/prompty`, by the names of the specification. */
import type { Message } from "./types.js";

/** A value that you gave is wrong: a file's frontmatter, an input, a tool. */
export class ValueError extends Error {
  override readonly name: string = "ValueError";
}

/** A file that a path or a `${file:…}` names cannot be read. */
export class FileNotFoundError extends ValueError {
  override readonly name = "FileNotFoundError";
}

/** The value of a strict input forges a line that would begin a message. */
export class StrictViolation extends ValueError {
  override readonly name = "StrictViolation";
}

/** No renderer, parser, executor or processor is registered under a key. */
export class InvokerError extends ValueError {
  override readonly name = "InvokerError";

  constructor(component: string, key: string) {
    super(`No ${component} registered for key: ${key}`);
  }
}

/** Every attempt of a model call has failed. To continue, pass `messages` as the thread input of another `turn`. */
export class ExecuteError extends Error {
  override readonly name = "ExecuteError";
  readonly messages: Message[];

  constructor(message: string, messages: Message[], cause: unknown) {
    super(message, { cause });
    this.messages = messages;
  }
}

/** The signal of a turn has fired. `messages` are those so far, with a result for each call. */
export class CancelledError extends Error {
  override readonly name = "CancelledError";
}

/** A guardrail refused the input or the output. */
export class GuardrailError extends Error {
  override readonly name = "GuardrailError";
  readonly reason: string;

  constructor(message: string, reason: string) {
    super(message);
    this.reason = reason;
  }
}
