/**
 * Translates the events of a run to AG-UI 1.0. One translation is one AG-UI run. It ends when the looplet run ends,
 * or when only answers to questions can continue it. The next translation continues from there.
 *
 * An iteration is a step, and its answer is one message with text and calls. A subagent starts at its first event,
 * because a resumed run does not repeat the start of its subagents.
 */
import type { RunEvent, RunEventOf } from "../../core/api/index.js";
import { EventFold, type Facts, type FoldedEvent } from "../../extras/transcript/fold.js";
import { agentKey, seenOf, type SeenBlock } from "../../extras/transcript/seen.js";
import { pageCallOf } from "../../extras/tools/page-call.js";
import { Deciding } from "./deciding.js";
import { interruptOf, isAsked, isOfPage, type Asked } from "./interrupts.js";
import {
  messagesOf,
  outputOf,
  resultId,
  subagentId,
  withIdsOf,
  withSubagentsOf,
  type Owner,
} from "./messages.js";
import { callsOfPage, PageMessages } from "./page-messages.js";
import {
  PROTOCOL_VERSION,
  type AgUiInput,
  type AgUiMessage,
  type AgUiOutcome,
  type AgUiSent,
} from "./types.js";
import { UsageByModel, type AskedModel } from "./usage.js";

/** What the translations of one run share. */
export interface RunMemory {
  /** The id of the run, or of its first run of AG-UI. */
  readonly name: string;
  /** The model of each agent, by path. */
  readonly models: Map<string, AskedModel>;
  /** The open questions that your code answers. */
  readonly asked: Map<number, Asked>;
  /** The calls that pages run. */
  readonly pageCalls: Set<string>;
  readonly deciding: Deciding;
}

export function memoryOf(name: string, deciding = new Deciding()): RunMemory {
  return { name, models: new Map(), asked: new Map(), pageCalls: new Set(), deciding };
}

export class Translation {
  readonly #input: AgUiInput;
  readonly #memory: RunMemory;
  readonly #messages: PageMessages;
  readonly #usage = new UsageByModel();
  readonly #fold: EventFold;
  /** Open texts and reasonings, by message. */
  readonly #open = new Map<string, { readonly isText: boolean; readonly owner: Owner }>();
  readonly #steps = new Map<string, { readonly stepName: string; readonly owner: Owner }>();
  /** Open subagents, by path and call. */
  readonly #subagents = new Map<string, { readonly id: string; readonly path: string }>();
  /** The questions that the run waits for, if it waits for nothing else. */
  #waitsFor: readonly number[] = [];
  /** The run of AG-UI is over. */
  isOver = false;

  constructor(input: AgUiInput, memory: RunMemory) {
    this.#input = input;
    this.#memory = memory;
    this.#messages = new PageMessages(input.messages);
    this.#fold = new EventFold(seenOf(callsOfPage(input.messages, memory.name)));
  }

  begin(): AgUiSent {
    const { threadId, runId, parentRunId } = this.#input;
    return {
      type: "RUN_STARTED",
      threadId,
      runId,
      ...(parentRunId === undefined ? {} : { parentRunId }),
      protocolVersion: PROTOCOL_VERSION,
    };
  }

  /** The AG-UI events for one event of the run. `result` is the run's result, passed with its last event. */
  *take(given: RunEvent, result?: unknown): Generator<AgUiSent> {
    const known = given.type === "snapshot" ? this.#messages.all() : [];
    for (const { event, facts } of this.#fold.take(given)) yield* this.#tell(event, facts, result);
    // The calls of the current answer are known now.
    if (this.#messages.addResults(known)) yield this.#snapshot();
  }

  *#tell(
    event: FoldedEvent,
    { block, blocks = [], call, isCutOff }: Facts,
    result?: unknown,
  ): Generator<AgUiSent> {
    const owner = this.#ownerOf(event);
    const message = messageOf(this.#memory.name, event);
    switch (event.type) {
      case "agent-begin":
        return yield* this.#begin(event);
      case "agent-start":
        this.#memory.models.set(event.agentPath, event);
        return;
      case "model-change":
        this.#memory.models.set(event.agentPath, event);
        return yield this.#raw(event, owner);
      case "agent-finish":
        return yield* this.#agentFinish(event);
      case "agent-lost":
        return yield* this.#endSubagent(event, "The run has ended.", "cancelled");
      case "iteration-start":
        return yield* this.#step(message, event, owner);
      case "iteration-finish":
        return yield* this.#stepFinish(message);
      case "answer-cut-off":
        if (this.#messages.remove(message)) yield this.#snapshot();
        return;
      case "text-start":
        return yield* this.#openText(message, owner);
      case "text-delta":
        yield* this.#openText(message, owner);
        this.#messages.text(message, "assistant", event.text, owner);
        return yield { type: "TEXT_MESSAGE_CONTENT", messageId: message, delta: event.text, ...owner };
      case "text-end":
        return yield* this.#close(message);
      case "reasoning-start":
        return yield* this.#openReasoning(reasoningOf(message, event.block), owner);
      case "reasoning-delta": {
        const id = reasoningOf(message, event.block);
        this.#messages.text(id, "reasoning", event.text, owner);
        return yield { type: "REASONING_MESSAGE_CONTENT", messageId: id, delta: event.text, ...owner };
      }
      case "reasoning-end":
        return yield* this.#close(reasoningOf(message, event.block));
      case "tool-input-start":
        return yield this.#callStart(message, event, owner);
      case "tool-input-delta":
        return yield this.#callArguments(block!.toolCallId!, event.text, owner);
      case "tool-input-end":
        return yield* this.#callEnd(block!.toolCallId!, owner);
      case "tool-call":
        // It was emitted as it arrived, or by an earlier process.
        if (isCutOff) return yield* this.#replaceArguments(event);
        // Its result was not saved, so the call runs again.
        if (call?.state === "done" && this.#messages.remove(resultId(event.toolCallId)))
          return yield this.#snapshot();
        if (call !== undefined) return;
        yield this.#callStart(message, event, owner);
        yield this.#callArguments(event.toolCallId, JSON.stringify(event.input), owner);
        return yield { type: "TOOL_CALL_END", toolCallId: event.toolCallId, ...owner };
      case "tool-progress": {
        const { toolCallId, toolName, data } = event;
        const content = { toolCallId, toolName, data };
        const messageId = `${toolCallId}.progress`;
        return yield {
          type: "ACTIVITY_SNAPSHOT",
          messageId,
          activityType: "looplet.progress",
          content,
          ...owner,
        };
      }
      case "tool-result":
        return yield* this.#result(event, outputOf(event.output), owner);
      case "tool-error":
        return yield* this.#result(event, JSON.stringify({ error: true, ...event.error }), owner);
      case "question":
        if (isAsked(event)) this.#ask(event);
        return;
      case "answered":
        this.#memory.asked.delete(event.questionId);
        this.#waitsFor = [];
        return;
      case "waiting":
        this.#waitsFor = event.questionIds;
        return yield* this.wait();
      case "reset":
        return yield* this.#reset(message, blocks, owner);
      case "snapshot":
        return yield* this.#join(event);
      case "usage":
        this.#usage.add(this.#memory.models.get(event.agentPath), event.usage, event.total);
        return;
      case "finish":
        return yield* this.#finish(event, result);
      // AG-UI has no equivalent event.
      case "compact-boundary":
      case "compact-start":
      case "handoff":
      case "limits":
      case "not-saved":
      case "retry":
      case "steer-delivered":
      case "warning":
        return yield this.#raw(event, owner);
      default:
        // A new event does not compile until it is emitted above, or is in this list of events that AG-UI omits.
        event.type satisfies
          "run-start" | "attempt-start" | "reasoning-progress" | "message" | "abort" | "error";
    }
  }

  #raw(event: RunEvent, owner: Owner): AgUiSent {
    return { type: "RAW", source: "looplet", event, ...owner };
  }

  *#join({ messages }: RunEventOf<"snapshot">): Generator<AgUiSent> {
    const known = this.#messages.all();
    const root = withIdsOf(messagesOf(messages, this.#memory.name), known);
    this.#messages.replace(withSubagentsOf(root, known));
    this.#messages.addResults(known);
    yield this.#snapshot();
  }

  /** The current conversation, when no run is in progress. */
  *stand(): Generator<AgUiSent> {
    yield this.#snapshot();
    yield* this.#end({ type: "success" });
  }

  /** The messages that the page has. */
  get messages(): AgUiMessage[] {
    return this.#messages.all();
  }

  replace(messages: readonly AgUiMessage[]): AgUiSent {
    this.#messages.replace(messages);
    return this.#snapshot();
  }

  /** The stream of events ended before the run did. */
  *breakOff(): Generator<AgUiSent> {
    yield* this.fail("The events of the run have broken off.", "cut_off");
  }

  *fail(message: string, code: string): Generator<AgUiSent> {
    this.isOver = true;
    const usage = this.#usage.all();
    yield { type: "RUN_ERROR", message, code, ...(usage && { usage }) };
  }

  /**
   * The subagent that an event belongs to. The run's own agent, and an agent that received the conversation by a
   * handoff, have no id.
   */
  #ownerOf(event: FoldedEvent): Owner {
    if (event.parentToolCallId === undefined) return {};
    return { subagentRunId: subagentId(this.#memory.name, event) };
  }

  /** Starts a subagent. Each AG-UI run starts it again. */
  *#begin(event: FoldedEvent): Generator<AgUiSent> {
    const { agentPath, parentToolCallId } = event;
    const key = agentKey(event);
    if (parentToolCallId === undefined || this.#subagents.has(key)) return;
    const id = subagentId(this.#memory.name, event);
    const parent = [...this.#subagents.values()]
      .reverse()
      .find(({ path }) => agentPath.startsWith(`${path}/`));
    this.#subagents.set(key, { id, path: agentPath });
    yield {
      type: "SUBAGENT_STARTED",
      subagentRunId: id,
      name: agentPath.split("/").at(-1)!.replace(/#\d+$/, ""),
      ...(parent === undefined ? {} : { parentSubagentRunId: parent.id }),
      parentToolCallId,
    };
  }

  *#agentFinish(event: RunEventOf<"agent-finish">): Generator<AgUiSent> {
    const { outcome } = event;
    if (outcome.outcome === "completed" || outcome.outcome === "stopped")
      return yield* this.#endSubagent(event);
    const { message, code } = outcome.error ?? { message: outcome.abortReason!, code: "cancelled" };
    yield* this.#endSubagent(event, message, code);
  }

  *#endSubagent(event: FoldedEvent, message?: string, code = ""): Generator<AgUiSent> {
    const key = agentKey(event);
    const subagent = this.#subagents.get(key);
    if (subagent === undefined) return;
    this.#subagents.delete(key);
    const { id: subagentRunId } = subagent;
    for (const [step, { owner }] of [...this.#steps])
      if (owner.subagentRunId === subagentRunId) yield* this.#stepFinish(step);
    if (message === undefined)
      yield { type: "SUBAGENT_FINISHED", subagentRunId, outcome: { type: "success" } };
    else yield { type: "SUBAGENT_ERROR", subagentRunId, message, code };
  }

  *#step(key: string, { iteration }: RunEvent, owner: Owner): Generator<AgUiSent> {
    const stepName = `iteration ${iteration}`;
    this.#steps.set(key, { stepName, owner });
    yield { type: "STEP_STARTED", stepName, ...owner };
  }

  *#stepFinish(key: string): Generator<AgUiSent> {
    const step = this.#steps.get(key);
    if (!this.#steps.delete(key)) return;
    yield { type: "STEP_FINISHED", stepName: step!.stepName, ...step!.owner };
  }

  *#openText(messageId: string, owner: Owner): Generator<AgUiSent> {
    if (this.#open.has(messageId)) return;
    this.#open.set(messageId, { isText: true, owner });
    this.#messages.text(messageId, "assistant", "", owner);
    yield { type: "TEXT_MESSAGE_START", messageId, role: "assistant", ...owner };
  }

  *#openReasoning(messageId: string, owner: Owner): Generator<AgUiSent> {
    if (this.#open.has(messageId)) return;
    this.#open.set(messageId, { isText: false, owner });
    this.#messages.text(messageId, "reasoning", "", owner);
    yield { type: "REASONING_START", messageId, ...owner };
    yield { type: "REASONING_MESSAGE_START", messageId, role: "reasoning", ...owner };
  }

  *#close(messageId: string): Generator<AgUiSent> {
    const open = this.#open.get(messageId);
    if (!this.#open.delete(messageId)) return;
    const { isText, owner } = open!;
    if (isText) return yield { type: "TEXT_MESSAGE_END", messageId, ...owner };
    yield { type: "REASONING_MESSAGE_END", messageId, ...owner };
    yield { type: "REASONING_END", messageId, ...owner };
  }

  *#closeAll(): Generator<AgUiSent> {
    for (const id of [...this.#open.keys()]) yield* this.#close(id);
    for (const key of [...this.#steps.keys()]) yield* this.#stepFinish(key);
  }

  #callStart(message: string, { toolCallId, toolName }: NewCall, owner: Owner): AgUiSent {
    this.#messages.call(message, toolCallId, toolName, owner);
    const parentMessageId = message;
    return { type: "TOOL_CALL_START", toolCallId, toolCallName: toolName, parentMessageId, ...owner };
  }

  #callArguments(toolCallId: string, delta: string, owner: Owner): AgUiSent {
    this.#messages.arguments(toolCallId, delta);
    return { type: "TOOL_CALL_ARGS", toolCallId, delta, ...owner };
  }

  *#callEnd(toolCallId: string, owner: Owner): Generator<AgUiSent> {
    // A model may write nothing for a call without arguments.
    if (this.#messages.argumentsOf(toolCallId) === "") yield this.#callArguments(toolCallId, "{}", owner);
    yield { type: "TOOL_CALL_END", toolCallId, ...owner };
  }

  /** The page has a part of the arguments, and no event of AG-UI takes it back. */
  *#replaceArguments({ toolCallId, input }: RunEventOf<"tool-call">): Generator<AgUiSent> {
    this.#messages.replaceArguments(toolCallId, JSON.stringify(input));
    yield this.#snapshot();
  }

  *#result(
    event: RunEventOf<"tool-result" | "tool-error">,
    content: unknown,
    owner: Owner,
  ): Generator<AgUiSent> {
    const { toolCallId } = event;
    // The page has brought it itself.
    if (this.#memory.pageCalls.delete(toolCallId) && this.#messages.hasResult(toolCallId)) return;
    if (this.#messages.hasSameResult(toolCallId, content, owner)) return;
    // A page that missed how the call ran again still has the result that was not saved.
    if (this.#messages.removeVoidResult(toolCallId, owner)) yield this.#snapshot();
    this.#messages.result(toolCallId, content, owner);
    const messageId = resultId(toolCallId);
    yield { type: "TOOL_CALL_RESULT", messageId, toolCallId, content, role: "tool", ...owner };
  }

  #ask(asked: Asked): void {
    // Another page runs a call that it has claimed.
    if (pageCallOf(asked)?.page !== undefined) return;
    this.#memory.asked.set(asked.questionId, asked);
    if (isOfPage(asked)) this.#memory.pageCalls.add(asked.data.toolCallId);
  }

  /** The text and the calls of an attempt are void. */
  *#reset(message: string, blocks: readonly SeenBlock[], owner: Owner): Generator<AgUiSent> {
    for (const { type, block, toolCallId, isOver } of blocks) {
      const id = type === "reasoning" ? reasoningOf(message, block) : message;
      if (toolCallId === undefined) yield* this.#close(id);
      else if (!isOver) yield { type: "TOOL_CALL_END", toolCallId, ...owner };
      this.#messages.remove(id);
    }
    yield this.#snapshot();
  }

  #snapshot(): AgUiSent {
    return { type: "MESSAGES_SNAPSHOT", messages: this.#messages.all() };
  }

  /** Whether functions of the agent decide if the run continues. */
  get isUndecided(): boolean {
    return this.#waitsFor.length > 0;
  }

  /** Ends the AG-UI run if only the page can continue the run. */
  *wait(): Generator<AgUiSent> {
    const { asked: open, deciding } = this.#memory;
    if (!this.#waitsFor.every((id) => open.has(id) && !deciding.has(id))) return;
    const asked = [...open.values()];
    // A reloaded page has not seen the start of the subagents that ask.
    for (const one of asked) yield* this.#begin(one);
    const interrupts = asked
      .filter((one) => !isOfPage(one))
      .map((one) => {
        const id = interruptId(this.#memory.name, one.questionId);
        return interruptOf(one, id, this.#subagents.get(agentKey(one))?.id);
      });
    yield* this.#closeAll();
    const suspended = [...this.#subagents.values()].reverse();
    this.#subagents.clear();
    for (const { id } of suspended) {
      const own = interrupts.filter(({ subagentRunId }) => subagentRunId === id);
      const interruptIds = own.map((interrupt) => interrupt.id);
      yield { type: "SUBAGENT_FINISHED", subagentRunId: id, outcome: { type: "suspended", interruptIds } };
    }
    // The page has all messages before it decides.
    yield this.#snapshot();
    yield* this.#end(
      interrupts.length > 0
        ? { type: "interrupt", interrupts }
        : { type: "success", pendingToolCallIds: asked.map(({ data }) => data.toolCallId) },
    );
  }

  *#finish({ outcome }: RunEventOf<"finish">, result: unknown): Generator<AgUiSent> {
    if (outcome.outcome === "failed") return yield* this.fail(outcome.error.message, outcome.error.code);
    yield* this.#closeAll();
    const { stoppedBy } = outcome;
    if (outcome.outcome === "completed" || stoppedBy === "condition")
      yield* this.#end({ type: "success" }, result);
    else yield* this.#end({ type: "cancelled" }, stoppedBy && { stoppedBy });
  }

  *#end(outcome: AgUiOutcome, result?: unknown): Generator<AgUiSent> {
    this.isOver = true;
    const { threadId, runId } = this.#input;
    const usage = this.#usage.all();
    yield {
      type: "RUN_FINISHED",
      threadId,
      runId,
      outcome,
      ...(result !== undefined && { result }),
      ...(usage && { usage }),
    };
  }
}

interface NewCall {
  readonly toolCallId: string;
  readonly toolName: string;
}

/** The id of the interrupt for a question, which a later run cannot mistake for its own. */
export function interruptId(run: string, questionId: number): string {
  return `${run}:${questionId}`;
}

/** The id of the message with the answer of an iteration. */
function messageOf(run: string, { agentPath, parentToolCallId = "", iteration }: FoldedEvent): string {
  return `${run}.${agentPath}:${parentToolCallId}.${iteration}`;
}

function reasoningOf(message: string, block: number): string {
  return `${message}.r${block}`;
}
