/**
 * Merges a view and a transcript of the same conversation. The transcript has files, sources and messages that no
 * event contains. The view has subagents, exact outputs, and messages that a summary has replaced.
 */
import type { Message, Run, RunResult } from "../../core/api/index.js";
import type { ConversationAgent } from "./conversation.js";
import { isDone, type ToolUiPart, type UiMessage, type UiPart } from "./message.js";
import { placesIn, withAt, type AgentPlace, type Places } from "./places.js";
import { failed, idAt, recorded, shownMessages } from "./transcript.js";
import { end, viewOfTranscripts, viewWith, withSame, type View } from "./view.js";

/** The view after a run has ended, with the files and sources from the run's transcript, which no event contains. */
export function withResult(view: View, result: RunResult): View {
  const shown = shownMessages(result.messages);
  // A run that was stopped while its server could not be reached may lack the messages before it.
  const isKnown =
    lastOfPerson(shown) >= 0 || lastOfPerson(view.messages) < 0 || shown[0]?.parts[0]?.type === "compaction";
  const ended = end(isKnown ? withTranscript(view, shown) : view);
  const records = new Map(result.toolCalls.map((record) => [record.toolCallId, record]));
  const summaries = shown.flatMap(({ parts }) => parts.filter(isCompaction));
  let messages = withSummary(ended.messages, summaries.at(-1));
  const from = lastOfPerson(messages) + 1;
  messages = messages.map((message, index) => {
    if (index < from) return message;
    return withSame(
      message,
      message.parts.map((part) => settled(part, records)),
    );
  });
  return { ...ended, messages, usage: result.usage, failure: result.error };
}

/** The messages with the text of the latest summary, which no event has. */
function withSummary(messages: readonly UiMessage[], known: UiPart | undefined): readonly UiMessage[] {
  if (known?.type !== "compaction") return messages;
  const isSummary = (part: UiPart): boolean => part.type === "compaction" && part.trigger !== "pruning";
  const at = messages.map(({ parts }) => parts.some(isSummary)).lastIndexOf(true);
  return messages.map((message, index) => {
    if (index !== at) return message;
    const last = message.parts.map(isSummary).lastIndexOf(true);
    const { summary } = known;
    return { ...message, parts: withAt(message.parts, last, { ...message.parts[last], summary } as UiPart) };
  });
}

function settled(part: UiPart, records: ReadonlyMap<string, RunResult["toolCalls"][number]>): UiPart {
  if (part.type !== "tool" || isDone(part)) return part;
  const record = records.get(part.toolCallId);
  if (record !== undefined) return recorded(part, record);
  return failed(part, { code: "not_run", message: "The run has ended.", hint: "", recoverable: true });
}

/** The view with the transcript as it is now. */
export function withMessages(view: View, messages: readonly Message[]): View {
  return withTranscript(view, shownMessages(messages));
}

/** Whether two readings of a transcript are equal. */
export function isSame(before: readonly Message[], now: readonly Message[]): boolean {
  return before.length === now.length && JSON.stringify(before.at(-1)) === JSON.stringify(now.at(-1));
}

/**
 * Replaces the view's messages after the user's last message with those of a transcript. Earlier messages stay,
 * because a summary may have replaced them in the transcript. Facts that only events contain stay with their calls.
 */
function withTranscript(view: View, shown: readonly UiMessage[]): View {
  const tail = lastOfPerson(view.messages) + 1;
  const shownTail = lastOfPerson(shown) + 1;
  const isSummarised = shown[0]?.parts[0]?.type === "compaction";
  const countOf = (list: readonly UiMessage[]): number => list.filter(({ role }) => role === "user").length;
  const isWhole = !isSummarised && countOf(shown) !== countOf(view.messages);
  const hasBoundary = view.messages.slice(tail).some(({ parts }) => parts.some(isCompaction));
  if (!isWhole && (hasBoundary || (isSummarised && shownTail === 0))) return view;
  const before = isWhole ? [] : view.messages.slice(0, tail);
  // A message may have been merged into the previous one, which had no answer.
  const asked = isSummarised ? undefined : shown[shownTail - 1];
  if (asked !== undefined && before.length > 0)
    before.push(shared(before.pop(), { ...asked, id: idAt(before.length) }));
  const known = view.messages.slice(before.length);
  const fresh = shown.slice(isWhole ? 0 : shownTail);
  const messages = [
    ...before,
    ...fresh.map((message, index) => shared(known[index], { ...message, id: idAt(before.length + index) })),
  ];
  return { ...view, messages, places: withBlocksOf(view.places, placesIn(messages)) };
}

/** The places with the blocks of the subagents that are at work. A transcript has no part of those. */
function withBlocksOf(known: Places, { agents, ...places }: Places): Places {
  const kept = Object.entries(agents).map(([path, place]): [string, AgentPlace] => {
    const { blocks } = (path !== "root" && known.agents[path]) || place;
    return [path, { ...place, blocks }];
  });
  return { ...places, agents: Object.fromEntries(kept) };
}

/** The index of the user's last message, or -1. */
export function lastOfPerson(messages: readonly UiMessage[]): number {
  return messages.map(({ role }) => role).lastIndexOf("user");
}

function isCompaction({ type }: UiPart): boolean {
  return type === "compaction";
}

/** A message of the transcript, with the known objects where nothing has changed and the known facts of its calls. */
function shared(known: UiMessage | undefined, message: UiMessage): UiMessage {
  if (known?.role !== message.role) return message;
  const calls = new Map(
    known.parts.flatMap((part) => (part.type === "tool" ? [[part.toolCallId, part]] : [])),
  );
  const parts = message.parts.map((part, index) => {
    if (part.type === "tool") return sharedCall(calls.get(part.toolCallId), part);
    const before = known.parts[index];
    return JSON.stringify(before) === JSON.stringify(part) ? before! : part;
  });
  return withSame({ ...known, id: message.id }, parts);
}

function sharedCall(known: ToolUiPart | undefined, call: ToolUiPart): ToolUiPart {
  if (known === undefined) return call;
  if (isDone(known) || !isDone(call)) return known;
  const { agent, durationMs, input } = known;
  return {
    ...call,
    ...(agent === undefined ? {} : { agent }),
    ...(durationMs === undefined ? {} : { durationMs }),
    ...(input === undefined ? {} : { input }),
  };
}

/** The view without open calls. The transcript has the results of the calls that the end of the run closed. */
function withClosedCalls(view: View, transcript: readonly Message[]): View {
  const results = new Map(
    shownMessages(transcript).flatMap(({ parts }) =>
      parts.flatMap((part) => (part.type === "tool" ? [[part.toolCallId, part] as const] : [])),
    ),
  );
  const close = (part: UiPart): UiPart =>
    part.type !== "tool" || isDone(part)
      ? part
      : settled(sharedCall(part, results.get(part.toolCallId) ?? part), new Map());
  const messages = view.messages.map((message) => withSame(message, message.parts.map(close)));
  return { ...view, messages };
}

/** A chat as the store has it. */
export interface StoredView {
  readonly view: View;
  readonly messages: readonly Message[];
  /** The view when its last run started: the messages up to the prompt of that run. */
  readonly beforeRun: View;
}

export async function readView(
  agent: Pick<ConversationAgent, "readChat">,
  id: string | undefined,
): Promise<StoredView> {
  const kept = id === undefined ? undefined : await agent.readChat(id, { transcripts: true });
  const { transcripts = [], messages = [], runStart = 0 } = kept ?? {};
  const past = viewOfTranscripts(transcripts);
  const view = kept?.isRunning === false ? withClosedCalls(past, messages) : past;
  // Steers and follow-ups of the run come with its events.
  const asked = shownMessages(transcripts[0]?.messages.slice(runStart) ?? []).filter(isOfPerson).length;
  const places = view.messages.flatMap((message, at) => (isOfPerson(message) ? [at] : []));
  const prompt = places[places.length - Math.max(1, asked)] ?? lastOfPerson(view.messages);
  return { view, messages, beforeRun: viewWith(view.messages.slice(0, prompt + 1)) };
}

/** Like `readView`, with everything that the run has said so far. Undefined if it cannot be read. */
export async function readDuring(
  run: Run<any, any>,
  agent: Pick<ConversationAgent, "readChat">,
  id: string | undefined,
): Promise<StoredView | undefined> {
  try {
    await run.saved();
    return await readView(agent, id);
  } catch {
    return undefined;
  }
}

function isOfPerson({ role }: UiMessage): boolean {
  return role === "user";
}
