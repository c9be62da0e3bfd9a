/** The walk over a history: which results answer which calls, and the smallest repair if that fails. */
import type { TranscriptChange, TranscriptCode } from "./index.js";

/** One part of a message. `raw` is its original form, and `at` its position in the message, such as `.content[0]`. */
export interface Part {
  /** A `reference` refers to items that the provider has stored, which may include calls. */
  kind: "call" | "result" | "reference" | "other";
  raw: unknown;
  at: string;
  /** The id of a call, or of the call that a result answers. */
  id: string;
  /**
   * A problem that is visible without other messages. Without `mended` the part is removed. `change` describes the
   * repair.
   */
  fault?: { code: TranscriptCode; message: string; mended?: unknown; change?: string };
  /** The call needs no result: the provider runs it, or the user must still allow it. */
  isSettled?: boolean;
}

/** How a format writes messages. */
export interface View {
  /** The role and the parts of a message, or undefined if it is not a message of the format. */
  read(message: unknown): { role: string; parts: Part[] } | undefined;
  /** A message with other parts. */
  write(message: unknown, parts: Part[]): unknown;
  /** The role of messages with results. */
  results: string;
  /** The roles of messages that leave a round open: later messages can still answer its calls. */
  keepsOpen: readonly string[];
  /** Messages with a result for each of these calls. Absent if a call without a result is legal. */
  answer?(calls: Part[]): { messages: unknown[]; parts: Part[] };
  /** The part with another id. Present if an id is refused that an earlier message has used. */
  rename?(part: Part, id: string): Part;
  /** The history has one message per call and per result. A result that is missing is added right after its call. */
  answersInPlace?: boolean;
  /** The role of messages that are valid only before one with the role `assistant`. */
  leads?: string;
  /** Results must come before the rest of their message. */
  resultsFirst?: boolean;
  /** A message without parts is legal. */
  allowsEmpty?: boolean;
}

interface OpenCall {
  call: Part;
  path: string;
  /** The index of its message in the repaired history. */
  at: number;
  isAnswered: boolean;
}

/** Returns the history in a form that can be sent, and each change that was made. */
export function walk(messages: readonly unknown[], view: View) {
  const out: unknown[] = [];
  /** The messages at the end of `out` that need another one after them: their positions, first to last. */
  let leading: string[] = [];
  let hasReference = false;
  const changes: TranscriptChange[] = [];
  const used = new Set<string>();
  /** The calls that a result can answer, by the id that the history gives them, with the position of each. */
  let round = new Map<string, OpenCall>();
  const report = (path: string, code: TranscriptCode, message: string, change: string) =>
    changes.push({ path, code, message, change });

  /** Ends the round. Returns its calls without a result. */
  const close = (): OpenCall[] => {
    const missing = [...round.values()].filter(({ call, isAnswered }) => !isAnswered && !call.isSettled);
    round = new Map();
    if (view.answer === undefined) return [];
    for (const { path, call } of missing) {
      const where = view.keepsOpen.length === 0 ? "the next message" : "the messages after it";
      const message = `the call ${JSON.stringify(call.id)} needs a result in ${where}`;
      report(path, "missing_result", message, "A result is added that says that the call was not run.");
    }
    return missing;
  };
  const closeBefore = () => {
    const missing = close();
    if (view.answersInPlace) {
      missing.sort((a, b) => b.at - a.at);
      for (const { call, at } of missing) out.splice(at + 1, 0, ...view.answer!([call]).messages);
    } else if (missing.length > 0) {
      out.push(...view.answer!(missing.map(({ call }) => call)).messages);
    }
  };
  /** Removes the messages that nothing of the model follows. */
  const dropLeading = () => {
    for (const path of leading) {
      report(
        path,
        "unfollowed_reasoning",
        "a reasoning item needs the item that it led to after it",
        "The item is removed.",
      );
    }
    out.length -= leading.length;
    leading = [];
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
    const calls = new Map<string, OpenCall>();
    for (let part of parts) {
      const place = path + part.at;
      if (part.fault) {
        const { code, message, mended, change } = part.fault;
        const isMended = mended !== undefined;
        report(place, code, message, isMended ? (change ?? "The part is mended.") : "The part is removed.");
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
        calls.set(id, { call: part, path: place, at: out.length, isAnswered: false });
      }
      if (part.kind === "reference") hasReference = true;
      const answered = calls.get(part.id) ?? round.get(part.id);
      if (part.kind === "result" && !(answered === undefined && hasReference)) {
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
        kept = [...view.answer!(missing.map(({ call }) => call)).parts, ...kept];
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
          "tool results must come before all other content of their message",
          "The results are moved to the front.",
        );
        kept = [...results, ...kept.filter((part) => part.kind !== "result")];
        isChanged = true;
      }
    }
    for (const [id, call] of calls) round.set(id, call);
    if (isChanged && kept.length === 0) continue;
    if (role === view.leads) leading.push(path);
    else if (role === "assistant") leading = [];
    else dropLeading();
    out.push(isChanged ? view.write(message, kept) : message);
  }
  dropLeading();
  closeBefore();
  changes.sort((a, b) => indexOf(a) - indexOf(b));
  return { messages: out, changes };
}

/** The index of the message that a change is about. */
function indexOf({ path }: TranscriptChange): number {
  return Number(/\d+/.exec(path)![0]);
}

function unused(id: string, used: ReadonlySet<string>): string {
  for (let count = 2; ; count += 1) if (!used.has(`${id}_${count}`)) return `${id}_${count}`;
}
