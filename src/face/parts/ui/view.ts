/**
 * The conversation as its events make it: a pure function from a view and an event to the next view. It keeps no
 * model of a run. A view is immutable, and pieces that an event does not touch stay the same objects.
 */
import type {
  ContentBlock,
  Failure,
  Message,
  RunEvent,
  RunEventOf,
  RunResult,
  Usage,
} from "../../core/api/index.js";
import type { OpenQuestion, Part, TextPart, ToolPart, UiMessage } from "./parts.js";
import {
  NOWHERE,
  callKey,
  partsAt,
  placesIn,
  withAt,
  withPartsAt,
  type AgentPlace,
  type Place,
  type Places,
} from "./places.js";
import { stableLength } from "./stable.js";
import { failed, idAt, partsOfBlock, recorded, shownMessages } from "./transcript.js";

/** The view of a conversation. */
export interface View {
  readonly messages: readonly UiMessage[];
  /** The questions that wait for a person, the oldest first. */
  readonly questions: readonly OpenQuestion[];
  /** The latest event that a person may want to know of beside the messages, until the answer goes on. */
  readonly notice: Notice | undefined;
  /** The usage of the run so far; `null` before the first report. */
  readonly usage: Usage | null;
  /** Whether only answers to open questions bring the run on. */
  readonly isWaiting: boolean;
  /** The failure that ends the run. */
  readonly failure: Failure | undefined;
  /** Where the next events belong. It is of no use for a screen. */
  readonly places: Places;
}

/** Facts beside the messages: a failed attempt, another model, a text that a crash has cut off, something odd. */
export type Notice = RunEventOf<
  "retry" | "model-change" | "handoff" | "answer-cut-off" | "warning" | "not-saved"
>;

type Stamped<K extends RunEvent["type"]> = RunEventOf<K>;

/** The view of a transcript, for example of `chat.messages`. */
export function viewOf(transcript: readonly Message[] = []): View {
  return viewWith(shownMessages(transcript));
}

/** The view of these messages, when nothing goes on. */
export function viewWith(messages: readonly UiMessage[]): View {
  return { ...EMPTY, messages, places: placesIn(messages) };
}

const EMPTY: View = {
  messages: [],
  questions: [],
  notice: undefined,
  usage: null,
  isWaiting: false,
  failure: undefined,
  places: NOWHERE,
};

/**
 * The view with a message of the person. A message that nobody has answered takes it in, as the transcript does.
 */
export function withPrompt(view: View, prompt: readonly ContentBlock[]): View {
  const parts = prompt.flatMap((block) => partsOfBlock(block));
  const last = view.messages.at(-1);
  const isJoined = last?.role === "user";
  const message: UiMessage = isJoined
    ? { ...last, parts: [...last.parts, ...parts] }
    : { id: idAt(view.messages.length), role: "user", parts };
  const messages = [...(isJoined ? view.messages.slice(0, -1) : view.messages), message];
  return { ...view, messages, places: withoutRoot(view.places) };
}

/** What comes next from the root begins a message of its own. */
function withoutRoot({ agents, calls }: Places): Places {
  const { root: _, ...others } = agents;
  return { agents: others, calls };
}

/** The view after an event of the run. */
export function reduce(view: View, event: RunEvent): View {
  switch (event.type) {
    case "run-start":
      return { ...view, usage: null, notice: undefined, failure: undefined, isWaiting: false };
    case "snapshot":
      return withSnapshot(view, event);
    case "agent-start":
      return begin(view, event);
    case "attempt-start":
      return withAgent(view, event.agentPath, { blocks: {} });
    case "text-start":
      return add(view, event, textPart(event.refusal), event.block);
    case "reasoning-start":
      return add(view, event, { type: "reasoning", text: "", state: "streaming" }, event.block);
    case "text-delta":
    case "reasoning-delta":
      return grow(view, event);
    case "text-end":
    case "reasoning-end":
      return endBlock(view, event);
    case "tool-input-start":
      return addCall(view, event, { state: "input-streaming", inputText: "" }, event.block);
    case "tool-input-delta":
      return writeInput(view, event);
    case "tool-call":
      return called(view, event);
    case "tool-progress":
      return onCall(view, event, (call) => ({ ...call, progress: event.data }));
    case "tool-result":
    case "tool-error":
      return finished(view, event);
    case "question":
      return event.data === undefined ? view : asked(view, questionOf(event));
    case "answered":
      return answered(view, event.questionId);
    case "waiting":
      return { ...view, isWaiting: true };
    case "reset":
      return takeBack(view, event);
    case "compact-start":
      return add(view, event, { type: "compaction", state: "running", ...compactionOf(event) });
    case "compact-boundary":
      return compacted(view, event);
    case "usage":
      return { ...view, usage: event.total };
    case "retry":
    case "model-change":
    case "handoff":
    case "answer-cut-off":
    case "warning":
    case "not-saved":
      return { ...view, notice: event };
    case "agent-finish":
      return finishAgent(view, event);
    case "error":
      return { ...view, failure: event.error };
    case "finish":
      return end(view);
    default:
      return view;
  }
}

/** The view when a run has ended: the transcript of the run has files and sources that no event tells. */
export function withResult(view: View, result: RunResult): View {
  const ended = end(withTranscript(view, shownMessages(result.messages)));
  const records = new Map(result.toolCalls.map((record) => [record.toolCallId, record]));
  let { messages } = ended;
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

function settled(part: Part, records: ReadonlyMap<string, RunResult["toolCalls"][number]>): Part {
  if (part.type !== "tool" || isDone(part)) return part;
  const record = records.get(part.toolCallId);
  if (record !== undefined) return recorded(part, record);
  return failed(part, { code: "not_run", message: "The run has ended.", hint: "", recoverable: true });
}

function isDone({ state }: ToolPart): boolean {
  return state.startsWith("output");
}

/** A late reader has the transcript so far in place of its events, and the text of the answer under way. */
function withSnapshot(view: View, { messages, text, usage }: Stamped<"snapshot">): View {
  let shown = shownMessages(messages);
  if (text !== "" && !endsWith(shown, text)) {
    const part: TextPart = { ...textPart(), text, stable: stableLength(text) };
    const last = shown.at(-1);
    shown =
      last?.role === "assistant"
        ? withAt(shown, shown.length - 1, { ...last, parts: [...last.parts, part] })
        : [...shown, { id: idAt(shown.length), role: "assistant", parts: [part] }];
  }
  return { ...withTranscript(view, shown), usage: usage ?? view.usage };
}

/** Between two answers the text of a snapshot is that of the last one, which the transcript has. */
function endsWith(shown: readonly UiMessage[], text: string): boolean {
  const texts = shown.at(-1)?.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])) ?? [];
  return texts.join("").endsWith(text);
}

/**
 * The view with the messages of a transcript behind the last one of the person. Those before it stay: a summary may
 * have taken their place in the transcript. Facts that only events tell stay with their calls.
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
  const known = view.messages.slice(before.length);
  const fresh = shown.slice(isWhole ? 0 : shownTail);
  const messages = [
    ...before,
    ...fresh.map((message, index) => shared(known[index], { ...message, id: idAt(before.length + index) })),
  ];
  return { ...view, messages, places: placesIn(messages) };
}

function lastOfPerson(messages: readonly UiMessage[]): number {
  return messages.map(({ role }) => role).lastIndexOf("user");
}

function isCompaction({ type }: Part): boolean {
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

function sharedCall(known: ToolPart | undefined, call: ToolPart): ToolPart {
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

/** The message itself if its parts are the same objects. */
function withSame(message: UiMessage, parts: readonly Part[]): UiMessage {
  const isSame =
    parts.length === message.parts.length && parts.every((part, index) => part === message.parts[index]);
  return isSame ? message : { ...message, parts };
}

function textPart(refusal?: boolean): TextPart {
  const part: TextPart = { type: "text", text: "", state: "streaming", stable: 0 };
  return refusal === true ? { ...part, isRefusal: true } : part;
}

/** A subagent begins to work on its call. */
function begin(view: View, event: Stamped<"agent-start">): View {
  const { agentPath, parentToolCallId = "", model } = event;
  if (agentPath === "root") return view;
  const at = callOf(view.places, agentPath, parentToolCallId);
  if (at === undefined) return view;
  const next = onPart(view, at, (call) => {
    if (call.type !== "tool") return call;
    const { parts = [] } = call.agent ?? {};
    return { ...call, agent: { agentPath, model, status: "running", parts } };
  });
  return withAgent(next, agentPath, { at, blocks: {} });
}

/** The call of the agent above. Its path is that of the subagent without the last word. */
function callOf({ calls }: Places, agentPath: string, toolCallId: string): Place | undefined {
  const parent = agentPath.slice(0, agentPath.lastIndexOf("/"));
  return calls[callKey(parent, toolCallId)];
}

function finishAgent(view: View, event: Stamped<"agent-finish">): View {
  const place = view.places.agents[event.agentPath];
  if (event.agentPath === "root" || place === undefined) return view;
  return onPart(view, place.at, (call) =>
    call.type !== "tool" || call.agent === undefined
      ? call
      : {
          ...call,
          agent: { ...call.agent, status: event.outcome.outcome, parts: closed(call.agent.parts) },
        },
  );
}

/** Appends a part to those of the event's agent. */
function add(view: View, event: RunEvent, part: Part, block?: number): View {
  const { agentPath } = event;
  let place = view.places.agents[agentPath];
  let { messages } = view;
  if (place === undefined) {
    // A subagent whose call is not known has no place.
    if (agentPath !== "root") return view;
    place = { at: [messages.length], blocks: {} };
    messages = [...messages, { id: idAt(messages.length), role: "assistant", parts: [] }];
  }
  const index = partsAt(messages, place.at).length;
  messages = withPartsAt(messages, place.at, (parts) => [...parts, part]);
  const blocks = block === undefined ? place.blocks : { ...place.blocks, [block]: index };
  return withAgent({ ...view, messages, notice: undefined }, agentPath, { at: place.at, blocks });
}

function withAgent(view: View, agentPath: string, change: Partial<AgentPlace>): View {
  const { agents, calls } = view.places;
  const place = agents[agentPath];
  if (place === undefined && change.at === undefined) return view;
  const next = { ...place!, ...change };
  return { ...view, places: { agents: { ...agents, [agentPath]: next }, calls } };
}

function onPart(view: View, at: Place, change: (part: Part) => Part): View {
  const index = at.at(-1)!;
  const messages = withPartsAt(view.messages, at.slice(0, -1) as unknown as Place, (parts) => {
    const part = parts[index];
    return part === undefined ? parts : withAt(parts, index, change(part));
  });
  return { ...view, messages };
}

/** The place of the block of a delta. A view that began with a snapshot has the blocks before it as one. */
function blockAt(view: View, { agentPath, block }: { agentPath: string; block: number }, type: Part["type"]) {
  const place = view.places.agents[agentPath];
  if (place === undefined) return undefined;
  const known = place.blocks[block];
  if (known !== undefined) return [...place.at, known] as const as Place;
  const parts = partsAt(view.messages, place.at);
  const last = parts.at(-1);
  const isOpen = last?.type === type && "state" in last && last.state === "streaming";
  return isOpen ? ([...place.at, parts.length - 1] as const as Place) : undefined;
}

function grow(view: View, event: Stamped<"text-delta" | "reasoning-delta">): View {
  const type = event.type === "text-delta" ? "text" : "reasoning";
  const at = blockAt(view, event, type);
  if (at === undefined) {
    const part = type === "text" ? textPart() : ({ type, text: "", state: "streaming" } as const);
    const begun = add(view, event, part, event.block);
    return begun === view ? view : grow(begun, event);
  }
  const next = onPart(view, at, (part) => {
    if (part.type !== "text" && part.type !== "reasoning") return part;
    const text = part.text + event.text;
    return part.type === "text"
      ? { ...part, text, stable: stableLength(text, part.stable) }
      : { ...part, text };
  });
  return next.notice === undefined ? next : { ...next, notice: undefined };
}

function endBlock(view: View, event: Stamped<"text-end" | "reasoning-end">): View {
  const at = blockAt(view, event, event.type === "text-end" ? "text" : "reasoning");
  return at === undefined ? view : onPart(view, at, close);
}

/** A piece that does not grow any more. */
function close(part: Part): Part {
  if (part.type === "text") return { ...part, state: "done", stable: part.text.length };
  if (part.type === "reasoning") return { ...part, state: "done" };
  return part;
}

function closed(parts: readonly Part[]): readonly Part[] {
  const isOpen = (part: Part): boolean => "state" in part && part.state === "streaming";
  return parts.some(isOpen) ? parts.map((part) => (isOpen(part) ? close(part) : part)) : parts;
}

type CallEvent = RunEvent & { readonly toolCallId: string; readonly toolName: string };

function addCall(
  view: View,
  event: CallEvent,
  more: Pick<ToolPart, "state" | "input" | "inputText">,
  block?: number,
): View {
  const { toolCallId, toolName, agentPath } = event;
  const next = add(view, event, { type: "tool", toolCallId, toolName, ...more }, block);
  const place = next.places.agents[agentPath];
  if (next === view || place === undefined) return view;
  const at: Place = [...place.at, partsAt(next.messages, place.at).length - 1] as const as Place;
  const { agents, calls } = next.places;
  return { ...next, places: { agents, calls: { ...calls, [callKey(agentPath, toolCallId)]: at } } };
}

function writeInput(view: View, event: Stamped<"tool-input-delta">): View {
  const at = blockAt(view, event, "tool");
  if (at === undefined) return view;
  return onPart(view, at, (call) =>
    call.type === "tool" ? { ...call, inputText: (call.inputText ?? "") + event.text } : call,
  );
}

function called(view: View, event: Stamped<"tool-call">): View {
  const { agentPath, toolCallId, input } = event;
  const at = view.places.calls[callKey(agentPath, toolCallId)];
  const known = at === undefined ? undefined : partsAt(view.messages, at.slice(0, -1) as never)[at.at(-1)!];
  // Vendors without ids of their own may give one twice.
  if (known?.type !== "tool" || isDone(known))
    return addCall(view, event, { state: "input-available", input });
  return onCall(view, event, ({ inputText: _, ...call }) => ({ ...call, state: "input-available", input }));
}

function onCall(
  view: View,
  { agentPath, toolCallId }: { agentPath: string; toolCallId: string },
  change: (call: ToolPart) => ToolPart,
): View {
  const at = view.places.calls[callKey(agentPath, toolCallId)];
  return at === undefined ? view : onPart(view, at, (part) => (part.type === "tool" ? change(part) : part));
}

function finished(view: View, event: Stamped<"tool-result" | "tool-error">): View {
  const { durationMs } = event;
  return onCall(view, event, ({ question: _, inputText: __, progress: ___, ...call }) => {
    const input: unknown = event.updatedInput ?? call.input;
    const done = { ...call, input, durationMs };
    if (event.type === "tool-error") return failed(done, event.error);
    return { ...done, state: "output-available", output: event.output };
  });
}

function questionOf({ questionId, question, data }: Stamped<"question">): OpenQuestion {
  const { agentPath = "root", ...facts } = data!;
  return { questionId, kind: question, agentPath, ...facts } as OpenQuestion;
}

/** A question that is asked again by another process takes the place of its own. */
function asked(view: View, question: OpenQuestion): View {
  const others = view.questions.filter(({ questionId }) => questionId !== question.questionId);
  const next = { ...view, questions: [...others, question] };
  const state = question.kind === "permission" ? { state: "approval-requested" as const } : {};
  return onCall(next, question, (call) => ({ ...call, ...state, question }));
}

function answered(view: View, id: number): View {
  const question = view.questions.find(({ questionId }) => questionId === id);
  const questions = view.questions.filter((one) => one !== question);
  const next = { ...view, questions, isWaiting: false };
  if (question === undefined) return next;
  return onCall(next, question, ({ question: _, ...call }) =>
    isDone(call as ToolPart) ? (call as ToolPart) : { ...call, state: "input-available" },
  );
}

/** The blocks of a failed attempt go. They are the last ones of their agent. */
function takeBack(view: View, { agentPath, blocks }: Stamped<"reset">): View {
  const place = view.places.agents[agentPath];
  const indexes = blocks.flatMap((block) => place?.blocks[block] ?? []);
  if (place === undefined || indexes.length === 0) return view;
  const first = Math.min(...indexes);
  const messages = withPartsAt(view.messages, place.at, (parts) => parts.slice(0, first));
  return withAgent({ ...view, messages }, agentPath, { blocks: {} });
}

function compactionOf({ trigger, preTokens }: Stamped<"compact-start" | "compact-boundary">) {
  return { trigger, preTokens };
}

function compacted(view: View, event: Stamped<"compact-boundary">): View {
  const done = {
    type: "compaction",
    state: "done",
    ...compactionOf(event),
    postTokens: event.postTokens,
  } as const;
  const place = view.places.agents[event.agentPath];
  const parts = place === undefined ? [] : partsAt(view.messages, place.at);
  const open = parts.findIndex((part) => part.type === "compaction" && part.state === "running");
  if (place === undefined || open < 0) return add(view, event, done);
  return onPart(view, [...place.at, open] as const as Place, () => done);
}

/** The run is over: nothing grows any more, and nobody waits for an answer. */
function end(view: View): View {
  const messages = view.messages.map((message) => {
    const parts = closed(message.parts).filter((part) => part.type !== "compaction" || part.state === "done");
    return withSame(message, parts);
  });
  return { ...view, messages, questions: [], notice: undefined, isWaiting: false };
}
