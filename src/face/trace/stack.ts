/** Where something was thrown, without what it says: a message may hold what a trace must not. */

/** V8 and JavaScriptCore or SpiderMonkey: `    at f (file:1:2)`, `f@file:1:2`. */
const FRAME = /^\s*at |@.*:\d+:\d+$/;

const MAX_FRAMES = 30;

export function framesOf(thrown: unknown): string {
  const stack: unknown = thrown instanceof Error ? thrown.stack : undefined;
  if (typeof stack !== "string") return "";
  // What an Error says may look like a frame: it stands before them, as a whole.
  const message = (thrown as Error).message;
  const after = message === "" ? stack : stack.slice(Math.max(0, stack.indexOf(message)) + message.length);
  const lines = (stack.includes(message) ? after : stack).split("\n");
  return lines
    .filter((line) => FRAME.test(line))
    .slice(0, MAX_FRAMES)
    .join("\n");
}
