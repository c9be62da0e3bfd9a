/**
 * The conversation as its events make it: a pure function from a view and an event to the next view. It keeps no
 * model of a run. Pieces that an event does not touch stay the same objects.
 */
import type { RunEvent, RunEventOf } from "../../core/api/index.js";
import { retold } from "../transcript/retold.js";
import { pageCallOf } from "../tools/page-call.js";
import { withMessages } from "./joined.js";
import type { OpenQuestion, ToolUiPart, UiPart } from "./message.js";
import { callKey, partsAt, withAt, withPartsAt, type AgentPlace, type Place, type Places } from "./places.js";
import { stableLength } from "./stable.js";
import { failed, idAt } from "./transcript.js";
import { close, end, ended, isDone, textPart, type View } from "./view.js";

type Stamped<K extends RunEvent["type"]> = RunEventOf<K>;

/** The view after an event of the run. */
export function reduce(known: View, event: RunEvent): View {
  const view = withAgentOf(known, event);
  switch (event.type) {
    case "run-start":
      return { ...view, usage: null, notice: undefined, failure: undefined, isWaiting: false };
    case "snapshot":
      return joined(view, event);
    case "agent-start":
      return begin(view, event);
    case "attempt-start":
      // A process that has ended could not take its part of an answer back.
      return takeBack(view, event.agentPath);
    case "iteration-finish":
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
      return event.data === undefined || pageCallOf(event) ? view : asked(view, event);
    case "answered":
      return answered(view, event.questionId);
    case "waiting":
      return { ...view, isWaiting: isForPerson(view, event) };
    case "reset":
      return takeBack(view, event.agentPath, event.blocks);
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

/** A late reader has the transcript so far in place of its events, and the blocks of the answer under way. */
function joined(view: View, event: Stamped<"snapshot">): View {
  const settled = withMessages(view, event.messages);
  // A view that keeps more than the transcript has the beginning of the answer already.
  const before = settled === view && event.blocks.length > 0 ? takeBack(view, "root") : settled;
  const told = [...retold(event)].reduce(reduce, before);
  return { ...told, usage: event.usage ?? view.usage };
}

/** The view with the subagent of an event. A run that resumes does not start its subagents again. */
function withAgentOf(view: View, event: RunEvent): View {
  const { agentPath, parentToolCallId, type } = event;
  if (agentPath === "root" || type === "agent-start" || type === "agent-finish") return view;
  const at = callOf(view.places, agentPath, parentToolCallId ?? "");
  if (at === undefined || view.places.agents[agentPath]?.at.join() === at.join()) return view;
  return begin(view, event);
}

/** A subagent begins to work on its call. */
function begin(view: View, event: RunEvent & { readonly model?: string }): View {
  const { agentPath, parentToolCallId = "", model } = event;
  if (agentPath === "root") return view;
  const at = callOf(view.places, agentPath, parentToolCallId);
  if (at === undefined) return view;
  const next = onPart(view, at, (call) => {
    if (call.type !== "tool") return call;
    const { parts = [] } = call.agent ?? {};
    return { ...call, agent: { agentPath, ...(model !== undefined && { model }), status: "running", parts } };
  });
  const known = view.places.agents[agentPath];
  const iterations = known?.at.join() === at.join() ? known.iterations : undefined;
  return withAgent(next, agentPath, { at, blocks: {}, iterations });
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
          agent: { ...call.agent, status: event.outcome.outcome, parts: ended(call.agent.parts) },
        },
  );
}

/** Appends a part to those of the event's agent. */
function add(view: View, event: RunEvent, part: UiPart, block?: number): View {
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

function grow(view: View, event: Stamped<"text-delta" | "reasoning-delta">): View {
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

function endBlock(view: View, event: Stamped<"text-end" | "reasoning-end">): View {
  const at = blockAt(view, event);
  return at === undefined ? view : onPart(view, at, close);
}

type CallEvent = RunEvent & { readonly toolCallId: string; readonly toolName: string };

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
  const iterations = { ...place.iterations, [toolCallId]: event.iteration };
  const agents = { ...next.places.agents, [agentPath]: { ...place, iterations } };
  const calls = { ...next.places.calls, [callKey(agentPath, toolCallId)]: at };
  return { ...next, places: { agents, calls } };
}

function writeInput(view: View, event: Stamped<"tool-input-delta">): View {
  const at = blockAt(view, event);
  if (at === undefined) return view;
  return onPart(view, at, (call) =>
    call.type === "tool" ? { ...call, inputText: (call.inputText ?? "") + event.text } : call,
  );
}

function called(view: View, event: Stamped<"tool-call">): View {
  const { agentPath, toolCallId, toolName, input } = event;
  const at = view.places.calls[callKey(agentPath, toolCallId)];
  const known = at === undefined ? undefined : partsAt(view.messages, at.slice(0, -1) as never)[at.at(-1)!];
  // Vendors without ids of their own may give one twice. A process that resumes the run repeats a call whose result
  // was not saved.
  if (known?.type !== "tool" || (isDone(known) && !isRepeated(view, event, at!)))
    return addCall(view, event, { state: "input-available", input });
  if (isDone(known)) return onCall(view, event, (call) => ({ ...unsettled(call), input }));
  return onCall(view, event, ({ inputText: _, ...call }) => ({
    ...call,
    toolName,
    state: "input-available",
    input,
  }));
}

/** Whether a call that is done is repeated, and not another one with its id. */
function isRepeated({ messages, places }: View, event: Stamped<"tool-call">, at: Place): boolean {
  const place = places.agents[event.agentPath];
  const container = at.slice(0, -1) as unknown as Place;
  if (place === undefined || place.at.join() !== container.join()) return false;
  const iteration = place.iterations?.[event.toolCallId];
  if (iteration !== undefined) return iteration === event.iteration;
  // Of a transcript: only the calls of the last answer are repeated, and nothing follows them.
  return partsAt(messages, container)
    .slice(at.at(-1))
    .every(({ type }) => type === "tool");
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

function finished(view: View, event: Stamped<"tool-result" | "tool-error">): View {
  return onCall(view, event, ({ question: _, inputText: __, progress: ___, ...call }) => {
    const input: unknown = event.updatedInput ?? call.input;
    const done = { ...call, input, durationMs: event.durationMs };
    if (event.type === "tool-error") return failed(done, event.error);
    return { ...done, state: "output-available", output: event.output };
  });
}

/** Whether the run waits for a person, and not for the code of a page alone. */
function isForPerson({ questions }: View, { questionIds }: Stamped<"waiting">): boolean {
  return questions.some(({ questionId }) => questionIds.includes(questionId));
}

function questionOf({ questionId, question, data }: Stamped<"question">): OpenQuestion {
  const { agentPath = "root", ...facts } = data!;
  return { questionId, kind: question, agentPath, ...facts } as OpenQuestion;
}

/** A question that is asked again by another process takes the place of its own. */
function asked(view: View, event: Stamped<"question">): View {
  const question = questionOf(event);
  const others = view.questions.filter(({ questionId }) => questionId !== question.questionId);
  const next = withCallOf({ ...view, questions: [...others, question] }, event);
  const { kind } = question;
  return onCall(next, question, (call) => {
    if (kind === "permission") return { ...call, state: "approval-requested", question };
    return { ...call, ...(kind === "reconcile" && { state: "reconcile-requested" }), question };
  });
}

/** The view with the call that a question is about, which a late reader may not know of a subagent. */
function withCallOf(view: View, event: Stamped<"question">): View {
  const { toolCallId, toolName, input } = event.data as Partial<CallFacts>;
  if (toolCallId === undefined || toolName === undefined) return view;
  if (view.places.calls[callKey(event.agentPath, toolCallId)] !== undefined) return view;
  return addCall(view, { ...event, toolCallId, toolName }, { state: "input-available", input });
}

interface CallFacts {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
}

function answered(view: View, id: number): View {
  const question = view.questions.find(({ questionId }) => questionId === id);
  const questions = view.questions.filter((one) => one !== question);
  const next = { ...view, questions, isWaiting: false };
  if (question === undefined) return next;
  return onCall(next, question, ({ question: _, ...call }) =>
    isDone(call as ToolUiPart) ? (call as ToolUiPart) : { ...call, state: "input-available" },
  );
}

/** The blocks of an attempt go, all of them by default. They are the last parts of their agent. */
function takeBack(view: View, agentPath: string, blocks?: readonly number[]): View {
  const place = view.places.agents[agentPath];
  if (place === undefined) return view;
  const indexes = blocks?.flatMap((block) => place.blocks[block] ?? []) ?? Object.values(place.blocks);
  if (indexes.length === 0) return view;
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
