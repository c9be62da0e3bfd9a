/**
 * Reduces events to a conversation: a pure function from a view and an event to the next view. It does not model the
 * run. Parts that an event does not change stay the same objects.
 */
import type { OutcomeKind, RunEvent, RunEventOf } from "../../core/api/index.js";
import {
  fold,
  type EventTable,
  type Facts,
  type FoldedEvent,
  type FoldedEventOf,
} from "../../extras/transcript/fold.js";
import { pageCallOf } from "../../extras/tools/page-call.js";
import { withMessages } from "./joined.js";
import { isDone, type OpenQuestion, type ToolUiPart, type UiPart } from "./message.js";
import { callKey, partsAt, withAt, withPartsAt, type AgentPlace, type Place } from "./places.js";
import { stableLength } from "./stable.js";
import { failed, idAt } from "./transcript.js";
import { close, end, ended, textPart, type Notice, type View } from "./view.js";

/** The view after an event of the run. */
export function reduce(view: View, event: RunEvent): View {
  const { seen, events } = fold(view.places.seen, event);
  let next = view;
  for (const folded of events)
    next = TABLE[folded.event.type]?.(next, folded.event as never, folded.facts) ?? next;
  return next.places.seen === seen ? next : { ...next, places: { ...next.places, seen } };
}

const TABLE: EventTable<View, View> = {
  "run-start": (view) => ({
    ...view,
    usage: null,
    notice: undefined,
    failure: undefined,
    isWaiting: false,
  }),
  snapshot: (view, event) => {
    const settled = withMessages(view, event.messages);
    return { ...settled, usage: event.usage ?? view.usage };
  },
  "agent-begin": begin,
  "agent-start": begin,
  "agent-finish": (view, event) => finishAgent(view, event, event.outcome.outcome),
  "agent-lost": (view, event) => finishAgent(view, event, "cancelled"),
  "iteration-start": undefined,
  "iteration-finish": (view, event) => withAgent(view, event.agentPath, { blocks: {} }),
  "attempt-start": undefined,
  "text-start": (view, event) => add(view, event, textPart(event.refusal), event.block),
  "text-delta": grow,
  "text-end": endBlock,
  "reasoning-start": (view, event) =>
    add(view, event, { type: "reasoning", text: "", state: "streaming" }, event.block),
  "reasoning-delta": grow,
  "reasoning-progress": undefined,
  "reasoning-end": endBlock,
  "tool-input-start": (view, event) =>
    addCall(view, event, { state: "input-streaming", inputText: "" }, event.block),
  "tool-input-delta": writeInput,
  "tool-input-end": undefined,
  "tool-call": called,
  "tool-progress": (view, event) => onCall(view, event, (call) => ({ ...call, progress: event.data })),
  "tool-result": finished,
  "tool-error": finished,
  question: (view, event) => (event.data === undefined || pageCallOf(event) ? view : asked(view, event)),
  answered,
  waiting: (view, event) => ({ ...view, isWaiting: isForPerson(view, event) }),
  reset: takeBack,
  "compact-start": (view, event) =>
    add(view, event, { type: "compaction", state: "running", ...compactionOf(event) }),
  "compact-boundary": (view, event) => compacted(view, event),
  usage: (view, event) => ({ ...view, usage: event.total }),
  retry: withNotice,
  "model-change": withNotice,
  handoff: withNotice,
  "answer-cut-off": withNotice,
  warning: withNotice,
  "not-saved": withNotice,
  error: (view, event) => ({ ...view, failure: event.error }),
  finish: (view) => end(view),
  // The conversation adds the user's messages, and a screen shows nothing for these.
  "steer-delivered": undefined,
  message: undefined,
  limits: undefined,
  abort: undefined,
};

function withNotice(view: View, notice: Notice): View {
  return { ...view, notice };
}

/** A subagent starts to work on its call, or reports its model. */
function begin(view: View, event: FoldedEventOf<"agent-begin" | "agent-start">): View {
  const { agentPath } = event;
  const at = callOf(view, event);
  if (at === undefined) return view;
  const next = onPart(view, at, (call) => {
    if (call.type !== "tool") return call;
    const { model = call.agent?.model, parts = [] } = { ...call.agent, ...("model" in event && event) };
    return { ...call, agent: { agentPath, ...(model !== undefined && { model }), status: "running", parts } };
  });
  const isThere = view.places.agents[agentPath]?.at.join() === at.join();
  return isThere ? next : withAgent(next, agentPath, { at, blocks: {} });
}

/** The call that a subagent answers. Undefined for the run's own agent. */
function callOf({ places }: View, { agentPath, parentToolCallId }: FoldedEvent): Place | undefined {
  if (agentPath === "root") return undefined;
  const parent = agentPath.slice(0, agentPath.lastIndexOf("/"));
  return places.calls[callKey(parent, parentToolCallId ?? "")];
}

function finishAgent(view: View, event: FoldedEvent, status: OutcomeKind): View {
  const place = view.places.agents[event.agentPath];
  if (event.agentPath === "root" || place === undefined) return view;
  return onPart(view, place.at, (call) =>
    call.type !== "tool" || call.agent === undefined
      ? call
      : {
          ...call,
          agent: { ...call.agent, status, parts: ended(call.agent.parts) },
        },
  );
}

/** Appends a part to those of the event's agent. */
function add(known: View, event: FoldedEvent, part: UiPart, block?: number): View {
  const { agentPath } = event;
  const view = agentPath === "root" ? withAnswer(known) : known;
  const place = view.places.agents[agentPath];
  // A subagent with an unknown call has no place.
  if (place === undefined) return known;
  const index = partsAt(view.messages, place.at).length;
  const messages = withPartsAt(view.messages, place.at, (parts) => [...parts, part]);
  const blocks = block === undefined ? place.blocks : { ...place.blocks, [block]: index };
  return withAgent({ ...view, messages, notice: undefined }, agentPath, { blocks });
}

/** Adds a message for the root's next output. */
function withAnswer(view: View): View {
  if (view.places.agents["root"] !== undefined) return view;
  const at = view.messages.length;
  const messages: View["messages"] = [...view.messages, { id: idAt(at), role: "assistant", parts: [] }];
  return withAgent({ ...view, messages }, "root", { at: [at], blocks: {} });
}

function withAgent(view: View, agentPath: string, change: Partial<AgentPlace>): View {
  const { agents } = view.places;
  const place = agents[agentPath];
  if (place === undefined && change.at === undefined) return view;
  const next = { ...place!, ...change };
  return { ...view, places: { ...view.places, agents: { ...agents, [agentPath]: next } } };
}

function onPart(view: View, at: Place, change: (part: UiPart) => UiPart): View {
  const index = at.at(-1)!;
  const messages = withPartsAt(view.messages, at.slice(0, -1) as unknown as Place, (parts) => {
    const part = parts[index];
    return part === undefined ? parts : withAt(parts, index, change(part));
  });
  return { ...view, messages };
}

/** The place of the block of a delta. */
function blockAt(view: View, { agentPath, block }: { agentPath: string; block: number }): Place | undefined {
  const place = view.places.agents[agentPath];
  const known = place?.blocks[block];
  return known === undefined ? undefined : ([...place!.at, known] as const as Place);
}

function grow(view: View, event: RunEventOf<"text-delta" | "reasoning-delta">): View {
  const type = event.type === "text-delta" ? "text" : "reasoning";
  const at = blockAt(view, event);
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

function endBlock(view: View, event: RunEventOf<"text-end" | "reasoning-end">): View {
  const at = blockAt(view, event);
  return at === undefined ? view : onPart(view, at, close);
}

type CallEvent = FoldedEvent & { readonly toolCallId: string; readonly toolName: string };

function addCall(
  view: View,
  event: CallEvent,
  more: Pick<ToolUiPart, "state" | "input" | "inputText">,
  block?: number,
): View {
  const { toolCallId, toolName, agentPath } = event;
  const next = add(view, event, { type: "tool", toolCallId, toolName, ...more }, block);
  const place = next.places.agents[agentPath];
  if (next === view || place === undefined) return view;
  const at: Place = [...place.at, partsAt(next.messages, place.at).length - 1] as const as Place;
  const calls = { ...next.places.calls, [callKey(agentPath, toolCallId)]: at };
  return { ...next, places: { ...next.places, calls } };
}

function writeInput(view: View, event: RunEventOf<"tool-input-delta">): View {
  const at = blockAt(view, event);
  if (at === undefined) return view;
  return onPart(view, at, (call) =>
    call.type === "tool" ? { ...call, inputText: (call.inputText ?? "") + event.text } : call,
  );
}

function called(view: View, event: RunEventOf<"tool-call">, { call: known }: Facts): View {
  const { agentPath, toolCallId, toolName, input } = event;
  if (known === undefined || view.places.calls[callKey(agentPath, toolCallId)] === undefined)
    return addCall(view, event, { state: "input-available", input });
  return onCall(view, event, ({ inputText: _, ...call }) =>
    isDone(call) ? { ...unsettled(call), input } : { ...call, toolName, state: "input-available", input },
  );
}

function unsettled({ output: _, error: __, durationMs: ___, ...call }: ToolUiPart): ToolUiPart {
  return { ...call, state: "input-available" };
}

function onCall(
  view: View,
  { agentPath, toolCallId }: { agentPath: string; toolCallId: string },
  change: (call: ToolUiPart) => ToolUiPart,
): View {
  const at = view.places.calls[callKey(agentPath, toolCallId)];
  return at === undefined ? view : onPart(view, at, (part) => (part.type === "tool" ? change(part) : part));
}

function finished(view: View, event: RunEventOf<"tool-result" | "tool-error">): View {
  return onCall(view, event, ({ question: _, inputText: __, progress: ___, ...call }) => {
    const input: unknown = event.updatedInput ?? call.input;
    const done = { ...call, input, durationMs: event.durationMs };
    if (event.type === "tool-error") return failed(done, event.error);
    return { ...done, state: "output-available", output: event.output };
  });
}

/** Whether the run waits for the user, and not only for the page's code. */
function isForPerson({ questions }: View, { questionIds }: RunEventOf<"waiting">): boolean {
  return questions.some(({ questionId }) => questionIds.includes(questionId));
}

function questionOf({ questionId, question, data, agentPath }: RunEventOf<"question">): OpenQuestion {
  return { ...data!, questionId, kind: question, agentPath } as OpenQuestion;
}

/** A question that another process asks again replaces the earlier one. */
function asked(view: View, event: RunEventOf<"question">): View {
  const question = questionOf(event);
  const others = view.questions.filter(({ questionId }) => questionId !== question.questionId);
  const next = { ...view, questions: [...others, question] };
  const { kind } = question;
  return onCall(next, question, (call) => {
    if (kind === "permission") return { ...call, state: "approval-requested", question };
    return { ...call, ...(kind === "reconcile" && { state: "reconcile-requested" }), question };
  });
}

function answered(view: View, event: RunEventOf<"answered">): View {
  const question = view.questions.find(({ questionId }) => questionId === event.questionId);
  const questions = view.questions.filter((one) => one !== question);
  const next = { ...view, questions, isWaiting: false };
  if (question === undefined) return next;
  return onCall(next, question, ({ question: _, ...call }) =>
    isDone(call as ToolUiPart) ? (call as ToolUiPart) : { ...call, state: "input-available" },
  );
}

/** The blocks of an attempt go. They are the last parts of their agent. */
function takeBack(view: View, { agentPath }: RunEvent, { blocks = [] }: Facts): View {
  const place = view.places.agents[agentPath];
  const indexes = blocks.flatMap(({ block }) => place?.blocks[block] ?? []);
  if (place === undefined || indexes.length === 0) return view;
  const first = Math.min(...indexes);
  const messages = withPartsAt(view.messages, place.at, (parts) => parts.slice(0, first));
  return withAgent({ ...view, messages }, agentPath, { blocks: {} });
}

function compactionOf({ trigger, preTokens }: RunEventOf<"compact-start" | "compact-boundary">) {
  return { trigger, preTokens };
}

function compacted(view: View, event: RunEventOf<"compact-boundary">): View {
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
