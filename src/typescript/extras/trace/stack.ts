/** The stack of a thrown value, without its message, which may contain text that a trace must not have. */

/** The frames of V8, and of JavaScriptCore and SpiderMonkey: `    at f (file:1:2)`, `f@file:1:2`. */
const FRAME = /^\s*at |@.*:\d+:\d+$/;

const MAX_FRAMES = 30;

export function framesOf(thrown: unknown): string {
  const stack: unknown = thrown instanceof Error ? thrown.stack : undefined;
  if (typeof stack !== "string") return "";
  // A line of an error's message may look like a frame, so the message is cut out as a whole.
  const message = (thrown as Error).message;
  const after = message === "" ? stack : stack.slice(Math.max(0, stack.indexOf(message)) + message.length);
  const lines = (stack.includes(message) ? after : stack).split("\n");
  return lines
    .filter((line) => FRAME.test(line))
    .slice(0, MAX_FRAMES)
    .join("\n");
}
