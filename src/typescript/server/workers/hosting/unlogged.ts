/**
 * Restores events that the journal of a run implies and the log of its session lacks. A journal and a log are two
 * writes, so a crash between them leaves events unwritten: the end of an answer, a call, its result, the answer to a
 * question. They are rebuilt from the journal, and readers treat them as events of the crashed process.
 *
 * The log is a prefix of what was emitted. So for each agent only the last logged iteration may be incomplete, and
 * later iterations are only in the journal. The progress of calls, retries and warnings are in no journal.
 */
import { isAsked } from "../../../extras/transcript/prompts.js";
import type {
  AgentTranscript,
  Block,
  ContentBlock,
  EventStamp,
  SavedChat,
  Message,
  Outcome,
  RunEvent,
  RunEventOf,
  ToolCallRecord,
  ToolFault,
} from "../../../core/api/index.js";

type Stamp = Omit<EventStamp, "seq">;
type Unnumbered = RunEvent extends infer E ? (E extends RunEvent ? Omit<E, "seq"> : never) : never;
type Progress = NonNullable<AgentTranscript["progress"]>;

/** An answer of an agent, and its completed calls. */
interface Answer {
  readonly iteration: number;
  readonly blocks: readonly Block[];
  readonly records: readonly ToolCallRecord[];
  /** What has joined the run after it. */
  readonly steer: readonly ContentBlock[];
}

/** A block as the log has it. */
interface LoggedBlock {
  readonly kind: "text" | "reasoning" | "call";
  /** The text; the id of a call. */
  text: string;
  isOver: boolean;
}

/** The events that the log of a run lacks. Their numbers follow that of the last event of the log. */
export function unloggedIn(kept: SavedChat, log: readonly RunEvent[]): RunEvent[] {
  const agents = (kept.transcripts ?? []).filter(({ progress }) => progress !== undefined);
  const [root] = agents;
  if (root === undefined || root.agentPath !== "root") return [];
  const events = [...answered(agents, log), ...ofAgent(root, agents, log)];
  const last = log.at(-1)?.seq ?? 0;
  return events.map((event, at) => ({ ...event, seq: last + at + 1 }) as RunEvent);
}

/** The answers to questions. A question that is open in the journal is asked again. */
function* answered(agents: readonly AgentTranscript[], log: readonly RunEvent[]): Generator<Unnumbered> {
  const open = new Map<number, RunEventOf<"question">>();
  for (const event of log) {
    if (event.type === "question" && event.data !== undefined) open.set(event.questionId, event);
    if (event.type === "answered") open.delete(event.questionId);
  }
  const asked = new Set(agents.flatMap(({ progress }) => progress!.questionIds));
  for (const { questionId, ...event } of open.values())
    if (!asked.has(questionId)) yield { ...stampOf(event), type: "answered", questionId };
}

function* ofAgent(
  agent: AgentTranscript,
  agents: readonly AgentTranscript[],
  log: readonly RunEvent[],
  result?: ToolCallRecord,
): Generator<Unnumbered> {
  const { agentPath, parentToolCallId } = agent;
  const own = log.filter((event) => isOf(event, agent));
  const lastLogged = own.reduce((most, { iteration }) => Math.max(most, iteration), 0);
  const progress = agent.progress!;
  const known = own.flatMap((event) => (event.type === "steer-delivered" ? event.ids : []));
  let delivered = progress.deliveredIds.filter((id) => !known.includes(id));
  for (const answer of answersOf(agent, progress, lastLogged)) {
    const { iteration } = answer;
    const logged = own.filter((event) => event.iteration === iteration);
    const attempt = logged.at(-1)?.attempt ?? 0;
    const stamp: Stamp = { agentPath, ...(parentToolCallId && { parentToolCallId }), iteration, attempt };
    yield* ofAnswer(answer, logged, stamp, (call, record) => {
      const below = agents.find(
        (one) => one.parentToolCallId === call && one.agentPath.startsWith(`${agentPath}/`),
      );
      return below === undefined ? [] : ofAgent(below, agents, log, record);
    });
    const isFinished = iteration < progress.iteration || progress.isFinished;
    if (isFinished && !has(logged, "iteration-finish")) yield finishOf(answer, progress, stamp);
    const content = [...answer.steer];
    if (content.length === 0 || has(logged, "steer-delivered")) continue;
    yield { ...stamp, type: "steer-delivered", ids: delivered, content };
    delivered = [];
  }
  // The process that resumes the run ends the root.
  if (agent.outcome === undefined || agentPath === "root" || has(own, "agent-finish")) return;
  const { iteration } = progress;
  const stamp = { agentPath, ...(parentToolCallId && { parentToolCallId }), iteration, attempt: 1 };
  yield { ...stamp, type: "agent-finish", outcome: outcomeOf(agent.outcome, result) };
}

function finishOf({ iteration, blocks }: Answer, progress: Progress, stamp: Stamp): Unnumbered {
  const hasCalls = blocks.some(({ type }) => type === "tool_call");
  const finishReason = iteration < progress.iteration && hasCalls ? "tool_calls" : progress.finishReason;
  const unknown = { rawFinishReason: null, usage: null, responseId: null, responseModel: null };
  return { ...stamp, type: "iteration-finish", finishReason, ...unknown };
}

/** The answers of an agent from this iteration on. A summary of its history is not an answer. */
function answersOf(agent: AgentTranscript, progress: Progress, from: number): Answer[] {
  // Vendors may reuse the ids of calls, so search from the end.
  const records = [...agent.toolCalls].reverse();
  const answers: Answer[] = [];
  let { iteration } = progress;
  let steer: ContentBlock[] = [];
  for (let at = agent.messages.length - 1; at >= 0 && iteration >= Math.max(from, 1); at -= 1) {
    const { role, content }: Message = agent.messages[at]!;
    if (role !== "assistant") {
      steer = [...content.filter(isAsked).filter((block) => !isOfLooplet(block)), ...steer];
      continue;
    }
    const own = [...content].reverse().flatMap((block) => {
      if (block.type !== "tool_call") return [];
      const found = records.findIndex(({ toolCallId }) => toolCallId === block.id);
      return found < 0 ? [] : records.splice(found, 1);
    });
    answers.unshift({ iteration, blocks: content, records: own, steer });
    steer = [];
    iteration -= 1;
  }
  return answers;
}

function* ofAnswer(
  { blocks, records, iteration }: Answer,
  logged: readonly RunEvent[],
  stamp: Stamp,
  below: (toolCallId: string, record: ToolCallRecord | undefined) => Iterable<Unnumbered>,
): Generator<Unnumbered> {
  const calls = blocks.flatMap((block) => (block.type === "tool_call" ? [block] : []));
  const isIn = (type: "tool-call" | "tool-result" | "tool-error", id: string): boolean =>
    logged.some((event) => event.type === type && event.toolCallId === id);
  const isBegun = logged.some(({ type }) => type !== "iteration-finish");
  if (!isBegun) yield { ...stamp, iteration, attempt: 0, type: "iteration-start" };
  let ofCalls = stamp;
  // A call is emitted when its answer is complete.
  if (!calls.some(({ id }) => isIn("tool-call", id)) && !has(logged, "iteration-finish")) {
    const texts = [...ofBlocks(blocks, logged, stamp)];
    yield* texts;
    ofCalls = { ...stamp, attempt: texts.at(-1)?.attempt ?? Math.max(stamp.attempt, 1) };
  }
  for (const call of calls) {
    const { id: toolCallId, name: toolName } = call;
    if (isIn("tool-call", toolCallId)) continue;
    const input: unknown = call.input ?? call.inputText;
    yield { ...ofCalls, type: "tool-call", toolCallId, toolName, input } as Unnumbered;
  }
  for (const { id } of calls) {
    const record = records.find(({ toolCallId }) => toolCallId === id);
    yield* below(id, record);
    if (record === undefined || isIn("tool-result", id) || isIn("tool-error", id)) continue;
    yield ended(record, ofCalls);
  }
}

/** The text and the reasoning of an answer that the log lacks. */
function* ofBlocks(
  blocks: readonly Block[],
  logged: readonly RunEvent[],
  stamp: Stamp,
): Generator<Unnumbered> {
  const said = blocks.flatMap((block) => {
    const kind = kindOf(block);
    return kind === undefined ? [] : [{ kind, block }];
  });
  const known = [...lastAttempt(logged)].filter(([, { kind, text }]) => kind === "call" || text !== "");
  const isBeginning = known.every(([, { kind, text, isOver }], at) => {
    const own = said[at];
    if (own?.kind !== kind) return false;
    const all = textOf(own.block);
    return isOver || kind === "call" ? all === text : all.startsWith(text);
  });
  const isContinued = known.length > 0 && isBeginning;
  const attempt = isContinued ? stamp.attempt : stamp.attempt + 1;
  const own: Stamp = { ...stamp, attempt };
  // Readers remove what they have of the answer that was replaced.
  if (!isContinued) yield { ...own, type: "attempt-start" };
  let next = isContinued ? Math.max(...known.map(([number]) => number)) + 1 : 0;
  for (const [at, { kind, block }] of said.entries()) {
    if (kind === "call") continue;
    const begun = isContinued ? known[at] : undefined;
    if (begun?.[1].isOver === true) continue;
    const number = begun === undefined ? next++ : begun[0];
    const text = textOf(block).slice(begun?.[1].text.length ?? 0);
    const isRefusal = block.type === "refusal" && { refusal: true };
    if (begun === undefined)
      yield { ...own, type: `${kind}-start`, block: number, ...isRefusal } as Unnumbered;
    if (text !== "") yield { ...own, type: `${kind}-delta`, block: number, text };
    yield { ...own, type: `${kind}-end`, block: number };
  }
}

/** The blocks of the attempt under way in a log, by their numbers. */
function lastAttempt(logged: readonly RunEvent[]): Map<number, LoggedBlock> {
  const blocks = new Map<number, LoggedBlock>();
  for (const event of logged) {
    switch (event.type) {
      case "attempt-start":
        blocks.clear();
        break;
      case "reset":
        for (const number of event.blocks) blocks.delete(number);
        break;
      case "text-delta":
      case "reasoning-delta": {
        const kind = event.type === "text-delta" ? "text" : "reasoning";
        const before = blocks.get(event.block)?.text ?? "";
        blocks.set(event.block, { kind, text: before + event.text, isOver: false });
        break;
      }
      case "text-end":
      case "reasoning-end": {
        const block = blocks.get(event.block);
        if (block !== undefined) block.isOver = true;
        break;
      }
      case "tool-input-start":
        blocks.set(event.block, { kind: "call", text: event.toolCallId, isOver: true });
    }
  }
  return blocks;
}

function kindOf({ type }: Block): LoggedBlock["kind"] | undefined {
  if (type === "text" || type === "refusal") return "text";
  if (type === "thinking") return "reasoning";
  return type === "tool_call" ? "call" : undefined;
}

function textOf(block: Block): string {
  return block.type === "tool_call" ? block.id : "text" in block ? block.text : "";
}

function ended(record: ToolCallRecord, stamp: Stamp): Unnumbered {
  const { toolCallId, toolName, output, isError, durationMs, updatedInput } = record;
  const facts = {
    ...stamp,
    toolCallId,
    toolName,
    durationMs,
    ...(updatedInput !== undefined && { updatedInput }),
  };
  if (!isError) return { ...facts, type: "tool-result", output } as Unnumbered;
  const { error: _, ...error } = output as ToolFault & { readonly error: true };
  return { ...facts, type: "tool-error", error } as Unnumbered;
}

/** The end of a subagent. The journal has its kind, and the result of its call has the reason. */
function outcomeOf(outcome: NonNullable<AgentTranscript["outcome"]>, result?: ToolCallRecord): Outcome {
  const { code, message } = Object(result?.output) as Partial<ToolFault>;
  const error = { code, message, retryable: false };
  const isFailed = outcome === "failed" && { error };
  return { outcome, ...isFailed, ...(outcome === "cancelled" && { abortReason: message ?? "" }) } as Outcome;
}

/** Whether looplet wrote a text, such as a summary. */
function isOfLooplet(block: Block): boolean {
  return block.type === "text" && block.purpose !== undefined;
}

function isOf(event: RunEvent, { agentPath, parentToolCallId }: AgentTranscript): boolean {
  return event.agentPath === agentPath && event.parentToolCallId === parentToolCallId;
}

function has(events: readonly RunEvent[], type: RunEvent["type"]): boolean {
  return events.some((event) => event.type === type);
}

function stampOf({ agentPath, parentToolCallId, iteration, attempt }: Stamp): Stamp {
  return { agentPath, ...(parentToolCallId !== undefined && { parentToolCallId }), iteration, attempt };
}
