/**
 * One run as the page shows it: the view of `looplet/ui` on its own messages, and beside it what no message has: the
 * news between its parts, what waits for delivery, what was used. Each event makes another object of it.
 */
import type { AgentTranscript, ContentBlock, Message, RunEvent, RunEventOf, RunResult } from "looplet";
import {
  reduce,
  viewOf,
  viewOfTranscripts,
  withPrompt,
  withResult,
  type UiPart,
  type View,
} from "looplet/ui";
import type { QueuedKind } from "../chat/composer.js";
import { Tally } from "./tally.js";

export interface Happened {
  readonly event: RunEvent;
  readonly timeMs: number;
}

/** News between the parts of an agent. */
export interface Line {
  readonly agentPath: string;
  /** The place of the message in the view, and of the part that the line stands before. */
  readonly message: number;
  readonly part: number;
  /** A text: why the run began with a snapshot. */
  readonly news: string | News;
}

export type News = RunEventOf<"retry" | "handoff" | "model-change" | "answer-cut-off" | "warning">;

/** A message on its way into the run. */
export interface Waiting {
  readonly kind: QueuedKind;
  readonly text: string;
  readonly requestId: string;
  /** Those of the run. One that goes on has the message by its first id, or by the one with which it comes again. */
  readonly ids: readonly number[];
}

export interface ShownRun {
  readonly id: string;
  readonly prompt: string;
  /** The number of messages before its own in the transcript. */
  readonly before: number;
  /** Why it begins with a snapshot, if it does. */
  readonly origin: string | undefined;
  readonly view: View;
  readonly lines: readonly Line[];
  /** How the messages came that were not the prompt, by their places: `"2.0"` is the first part of the third message. */
  readonly kinds: { readonly [place: string]: QueuedKind };
  readonly queue: readonly Waiting[];
  /** Every event; the list grows. */
  readonly happened: Happened[];
  readonly tally: Tally;
  /** The result without its messages, when the run is over. */
  readonly result: RunResult | undefined;
  /** The text that stands for the history that was summarised. */
  readonly summary: string | undefined;
}

export function begun(
  facts: Pick<ShownRun, "id" | "prompt" | "before" | "tally"> & Partial<ShownRun>,
): ShownRun {
  return {
    view: withPrompt(viewOf(), [textOf(facts.prompt)]),
    lines: [],
    kinds: {},
    queue: [],
    happened: [],
    origin: undefined,
    result: undefined,
    summary: undefined,
    ...facts,
  };
}

/** What a run and its subagents had done before it resumes, from the transcripts of its journal. */
export function past(
  transcripts: readonly AgentTranscript[],
  facts: Pick<ShownRun, "prompt" | "before">,
): Pick<ShownRun, "tally"> & Partial<Pick<ShownRun, "view">> {
  const tally = new Tally();
  tally.recall(transcripts);
  const own = transcripts.map((one) =>
    one.agentPath === "root" ? { ...one, messages: ownPart(one.messages, facts) } : one,
  );
  const view = viewOfTranscripts(own);
  return view.messages.length > 0 ? { tally, view } : { tally };
}

/** The run after an event. */
export function withEvent(run: ShownRun, told: RunEvent, timeMs: number): ShownRun {
  const event = told.type === "snapshot" ? { ...told, messages: ownPart(told.messages, run) } : told;
  const news = newsOf(run, event);
  run.happened.push({ event, timeMs });
  run.tally.handle(event, timeMs);
  if (event.type === "snapshot") return withSnapshot(run, event);
  if (event.type === "steer-delivered") return withDelivered(run, event.ids);
  const next = { ...run, view: reduce(run.view, event) };
  return news ? withNews(next, event.agentPath, news) : next;
}

export function settled(run: ShownRun, result: RunResult): ShownRun {
  run.tally.settle(result);
  const view = withResult(run.view, { ...result, messages: ownPart(result.messages, run) });
  const kept = { ...result, messages: [], toolCalls: [], subagents: [] };
  return { ...run, view, queue: [], result: kept, summary: summaryOf(result) };
}

/** Whether a run failed before any answer of the model was complete. */
export function isUnanswered({ outcome, finishReason }: RunResult): boolean {
  return outcome === "failed" && finishReason === null;
}

export function textOf(text: string): ContentBlock {
  return { type: "text", text };
}

/** What the run had done before the page was reloaded, or before the moment from which it was forked. */
function withSnapshot(run: ShownRun, event: RunEventOf<"snapshot">): ShownRun {
  const heard = event.messages.flatMap((message) => (message.role === "user" ? textsOf(message) : []));
  const next = {
    ...run,
    view: reduce(run.view, event),
    queue: run.queue.filter(({ text }) => !heard.includes(text)),
  };
  return run.origin === undefined ? next : withNews(next, "root", run.origin);
}

function withDelivered(run: ShownRun, ids: readonly number[]): ShownRun {
  let { view } = run;
  const isHere = (waiting: Waiting) => waiting.ids.some((id) => ids.includes(id));
  const kinds = { ...run.kinds };
  for (const { kind, text } of run.queue.filter(isHere)) {
    view = withPrompt(view, [textOf(text)]);
    const last = view.messages.length - 1;
    kinds[`${last}.${view.messages[last]!.parts.length - 1}`] = kind;
  }
  return { ...run, view, kinds, queue: run.queue.filter((waiting) => !isHere(waiting)) };
}

function withNews(run: ShownRun, agentPath: string, news: Line["news"]): ShownRun {
  const { messages } = run.view;
  const last = messages.at(-1);
  const isOpen = last?.role === "assistant";
  const own = isOpen ? partsOf(last.parts, agentPath) : [];
  const message = isOpen ? messages.length - 1 : messages.length;
  return { ...run, lines: [...run.lines, { agentPath, message, part: own.length, news }] };
}

/** The parts of an agent, among those of the root. */
function partsOf(parts: readonly UiPart[], agentPath: string): readonly UiPart[] {
  if (agentPath === "root") return parts;
  const agents = parts.flatMap((part) => (part.type === "tool" && part.agent ? [part.agent] : []));
  const above = agents.find((agent) => `${agentPath}/`.startsWith(`${agent.agentPath}/`));
  if (!above) return [];
  return above.agentPath === agentPath ? above.parts : partsOf(above.parts, agentPath);
}

function newsOf({ happened }: ShownRun, event: RunEvent): News | undefined {
  switch (event.type) {
    case "retry":
    case "handoff":
    case "answer-cut-off":
      return event;
    case "warning":
      // Which tools need no question is what the page has set: news for the event log only.
      return event.code === "can_use_tool_shadowed" ? undefined : event;
    case "model-change": {
      // A handoff back tells the model that went on all the time.
      const models = happened.flatMap(({ event: known }) =>
        (known.type === "agent-start" || known.type === "model-change") && known.agentPath === event.agentPath
          ? [known.model]
          : [],
      );
      return models.at(-1) === event.model && !event.error ? undefined : event;
    }
  }
  return undefined;
}

/** The messages of a run in a transcript: without those before it, but for a summary of them. */
function ownPart(
  messages: readonly Message[],
  { prompt, before }: Pick<ShownRun, "prompt" | "before">,
): Message[] {
  if (messages[0] && summaryIn(messages[0]) !== undefined) return [...messages];
  const isAsked = (message: Message | undefined) =>
    message !== undefined && textsOf(message).includes(prompt);
  const from = isAsked(messages[before]) ? before : messages.map(isAsked).lastIndexOf(true);
  return messages.slice(Math.max(0, from));
}

const textsOf = ({ content }: Message) =>
  content.flatMap((block) => (block.type === "text" ? [block.text] : []));

function summaryOf({ messages: [first] }: RunResult): string | undefined {
  return first && summaryIn(first);
}

function summaryIn({ content: [first] }: Message): string | undefined {
  if (first?.type !== "text" || first.purpose !== "summary") return undefined;
  // `[Context summary: …]`
  return first.text.slice(first.text.indexOf(": ") + 2, -1);
}
