/** The walk over a history: which results answer which calls, and the smallest change where that fails. */
import type { TranscriptChange, TranscriptCode } from "./index.js";

/** One piece of a message. `raw` is its own form, and `at` its place in the message, such as `.content[0]`. */
export interface Part {
  kind: "call" | "result" | "other";
  raw: unknown;
  at: string;
  /** The id of a call, or of the call that a result answers. */
  id: string;
  /** A problem that needs no other message to be seen. Without `mended` the part is removed. */
  fault?: { code: TranscriptCode; message: string; mended?: unknown };
  /** The call needs no result: the provider runs it, or a person has yet to allow it. */
  isSettled?: boolean;
}

/** How a format writes messages. */
export interface View {
  /** The role and the parts of a message, or undefined if it is not a message of the format. */
  read(message: unknown): { role: string; parts: Part[] } | undefined;
  /** A message with other parts. */
  write(message: unknown, parts: Part[]): unknown;
  /** The role whose messages hold results. */
  results: string;
  /** The roles whose messages leave a round open: later messages can still answer its calls. */
  keepsOpen: readonly string[];
  /** Messages with a result for each of these calls. Absent if a call without a result is legal. */
  answer?(calls: Part[]): { messages: unknown[]; parts: Part[] };
  /** The part with another id. Present if an id is refused that an earlier message has used. */
  rename?(part: Part, id: string): Part;
  /** Results must stand before the rest of their message. */
  resultsFirst?: boolean;
  /** A message without parts is legal. */
  allowsEmpty?: boolean;
}

/** Returns the history as it can be sent, and each change that this took. */
export function walk(messages: readonly unknown[], view: View) {
  const out: unknown[] = [];
  const changes: TranscriptChange[] = [];
  const used = new Set<string>();
  /** The calls that a result can answer, by the id that the history gives them, with the place of each. */
  let round = new Map<string, { call: Part; path: string; isAnswered: boolean }>();
  const report = (path: string, code: TranscriptCode, message: string, change: string) =>
    changes.push({ path, code, message, change });

  /** Ends the round. Returns its calls that have no result. */
  const close = (): Part[] => {
    const missing = [...round.values()].filter(({ call, isAnswered }) => !isAnswered && !call.isSettled);
    round = new Map();
    if (view.answer === undefined) return [];
    for (const { path, call } of missing) {
      const where = view.keepsOpen.length === 0 ? "the next message" : "the messages after it";
      const message = `the call ${JSON.stringify(call.id)} needs a result in ${where}`;
      report(path, "missing_result", message, "A result is added that says that the call was not run.");
    }
    return missing.map(({ call }) => call);
  };
  const closeBefore = () => {
    const calls = close();
    if (calls.length > 0) out.push(...view.answer!(calls).messages);
  };

  for (const [index, message] of messages.entries()) {
    const path = `messages[${index}]`;
    const read = view.read(message);
    if (read === undefined) {
      report(
        path,
        "invalid_message",
        "this is not a message of the format: check its role and content",
        "The message is removed.",
      );
      continue;
    }
    const { role, parts } = read;
    if (parts.length === 0 && !view.allowsEmpty) {
      report(path, "empty_message", "a message needs content", "The message is removed.");
      continue;
    }
    if (role !== view.results && !view.keepsOpen.includes(role)) closeBefore();
    let isChanged = false;
    let kept: Part[] = [];
    const calls = new Map<string, { call: Part; path: string; isAnswered: boolean }>();
    for (let part of parts) {
      const place = path + part.at;
      if (part.fault) {
        const { code, message, mended } = part.fault;
        const isMended = mended !== undefined;
        report(place, code, message, isMended ? "The part is mended." : "The part is removed.");
        isChanged = true;
        if (!isMended) continue;
        part = { ...part, raw: mended };
      }
      if (part.kind === "call") {
        if (calls.has(part.id)) {
          report(
            place,
            "duplicate_call",
            `two calls of one message have the id ${JSON.stringify(part.id)}`,
            "The second call is removed.",
          );
          isChanged = true;
          continue;
        }
        const id = part.id;
        if (view.rename && used.has(id)) {
          const free = unused(id, used);
          report(
            place,
            "duplicate_call",
            `an earlier call has the id ${JSON.stringify(id)}`,
            `The id of the call and of its result is ${JSON.stringify(free)}.`,
          );
          part = view.rename(part, free);
          isChanged = true;
        }
        used.add(part.id);
        calls.set(id, { call: part, path: place, isAnswered: false });
      }
      if (part.kind === "result") {
        const answered = calls.get(part.id) ?? round.get(part.id);
        if (answered === undefined || answered.isAnswered) {
          const isDouble = answered !== undefined;
          report(
            place,
            isDouble ? "duplicate_result" : "orphan_result",
            isDouble
              ? `the call ${JSON.stringify(part.id)} has already been answered`
              : `no call before it has the id ${JSON.stringify(part.id)}`,
            "The result is removed.",
          );
          isChanged = true;
          continue;
        }
        answered.isAnswered = true;
        if (answered.call.id !== part.id) {
          part = view.rename!(part, answered.call.id);
          isChanged = true;
        }
      }
      kept.push(part);
    }
    if (role === view.results && !view.keepsOpen.includes(role)) {
      const missing = close();
      if (missing.length > 0) {
        kept = [...view.answer!(missing).parts, ...kept];
        isChanged = true;
      }
    }
    if (view.resultsFirst) {
      const results = kept.filter((part) => part.kind === "result");
      const late = kept.findIndex((part, at) => part.kind === "result" && at >= results.length);
      if (late >= 0) {
        report(
          path + kept[late]!.at,
          "results_not_first",
          "tool results must stand before all other content of their message",
          "The results are moved to the front.",
        );
        kept = [...results, ...kept.filter((part) => part.kind !== "result")];
        isChanged = true;
      }
    }
    for (const [id, call] of calls) round.set(id, call);
    if (!isChanged) out.push(message);
    else if (kept.length > 0) out.push(view.write(message, kept));
  }
  closeBefore();
  return { messages: out, changes };
}

function unused(id: string, used: ReadonlySet<string>): string {
  for (let count = 2; ; count += 1) if (!used.has(`${id}_${count}`)) return `${id}_${count}`;
}
