/**
 * One run as the page shows it: its messages in the conversation of `looplet/ui`, and what no message has: the news
 * between its parts, its events, what was used. Each event makes another object of it.
 */
import type { ContentBlock, RunEvent, RunEventOf, RunResult } from "looplet";
import type { QueuedMessage, UiMessage, UiPart } from "looplet/ui";
import { Tally } from "./tally.js";

export interface Happened {
  readonly event: RunEvent;
  readonly timeMs: number;
}

/** News between the parts of an agent. */
export interface Line {
  readonly agentPath: string;
  /** The index of the message, and of the part that the line is in front of. */
  readonly message: number;
  readonly part: number;
  /** A text: where the run was resumed or forked. */
  readonly news: string | News;
}

export type News = RunEventOf<"retry" | "handoff" | "model-change" | "answer-cut-off" | "warning">;

export interface ShownRun {
  /** Empty until the run has started. */
  readonly id: string;
  readonly prompt: string;
  /** The text at the position where the run resumes. Undefined after that. */
  readonly origin?: string;
  /** The place of the prompt in the conversation. */
  readonly from: Place;
  /** The messages of the run. The first part of the first one is the prompt. */
  readonly messages: readonly UiMessage[];
  readonly lines: readonly Line[];
  /** The texts that were sent as follow-ups. */
  readonly followUps: readonly string[];
  /** Every event; the list grows. */
  readonly happened: Happened[];
  readonly tally: Tally;
  /** The result without its messages, when the run is over. */
  readonly result: RunResult | undefined;
}

interface Place {
  readonly message: number;
  readonly part: number;
}

/** A run with this prompt, before it begins. */
export function asked(prompt: string): ShownRun {
  const text = { type: "text", text: prompt, state: "done", stable: prompt.length } as const;
  return {
    id: "",
    prompt,
    from: { message: 0, part: 0 },
    messages: [{ id: "", role: "user", parts: [text] }],
    lines: [],
    followUps: [],
    happened: [],
    tally: new Tally(),
    result: undefined,
  };
}

/** The latest prompt in these messages. */
export function promptIn(messages: readonly UiMessage[]): string {
  const texts = messages.flatMap(({ role, parts }) => (role === "user" ? parts : []));
  return texts.flatMap((part) => (part.type === "text" ? [part.text] : [])).at(-1) ?? "";
}

/** A prompt for the place of another run's. The message may have prompts of before that run. */
export function promptAfter({ from }: ShownRun, all: readonly UiMessage[], prompt: string): ContentBlock[] {
  const parts = all[from.message]?.parts.slice(0, from.part) ?? [];
  const before = parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return [...before, prompt].map((text) => ({ type: "text", text }));
}

/** The run at the place of its prompt; undefined without one. One that resumes is looked for at its old place. */
export function placed(run: ShownRun, all: readonly UiMessage[]): ShownRun | undefined {
  const isAsked = (part: UiPart) => part.type === "text" && part.text === run.prompt;
  const places = all.flatMap(({ role, parts }, message) =>
    role === "user" ? parts.flatMap((part, at) => (isAsked(part) ? [{ message, part: at }] : [])) : [],
  );
  const known = places.find(({ message }) => run.id !== "" && message === run.from.message);
  const from = known ?? places.at(-1);
  return from && { ...run, from };
}

/** The run with its part of these messages. */
export function withMessages(run: ShownRun, all: readonly UiMessage[]): ShownRun {
  const [first, ...others] = all.slice(run.from.message);
  if (first === undefined) return run;
  const messages = [{ ...first, parts: first.parts.slice(run.from.part) }, ...others];
  run.tally.count(messages);
  return { ...run, messages };
}

/** The run after an event. */
export function withEvent(run: ShownRun, event: RunEvent, timeMs: number): ShownRun {
  const news = newsOf(run, event);
  run.happened.push({ event, timeMs });
  run.tally.handle(event, timeMs);
  return news ? withNews(run, event.agentPath, news) : { ...run };
}

export function settled(run: ShownRun, result: RunResult): ShownRun {
  run.tally.settle(result);
  return { ...run, result: { ...result, messages: [], toolCalls: [], subagents: [] } };
}

export function textOf({ content }: QueuedMessage): string {
  return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

/** Whether a run is about to begin, or to resume. */
export function isAwaited(run: ShownRun | undefined): boolean {
  return run?.id === "" || run?.origin !== undefined;
}

/** Whether a run failed before any answer of the model was complete. */
export function isUnanswered(run: ShownRun | undefined): run is ShownRun {
  return run?.result?.outcome === "failed" && run.result.finishReason === null;
}

/** Adds news after the output of the agent so far. */
export function withNews(run: ShownRun, agentPath: string, news: Line["news"]): ShownRun {
  const { messages } = run;
  const last = messages.at(-1);
  const isOpen = last?.role === "assistant";
  const own = isOpen ? partsOf(last.parts, agentPath) : [];
  const message = isOpen ? messages.length - 1 : messages.length;
  const part = own.length;
  // A page may be reloaded again before anything is received.
  const isSame = (line: Line) => line.news === news && line.message === message && line.part === part;
  const lines = run.lines.filter((line) => !isSame(line));
  return { ...run, lines: [...lines, { agentPath, message, part, news }] };
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
      // A handoff back reports the model that was active all the time.
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
