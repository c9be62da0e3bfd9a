/**
 * The events of a run in the words of AG-UI 1.0. One translation tells one run of AG-UI, which ends where the run of
 * looplet ends, or where only answers to questions bring it on; the next translation goes on from there.
 *
 * An iteration is a step, and its answer is one message with text and calls. A subagent opens when it is first heard
 * of, because a run that goes on does not begin its subagents again.
 */
import type { RunEvent, RunEventOf } from "../../core/api/index.js";
import { retold } from "../../core/run/events/retold.js";
import { pageCallOf } from "../tools/page-call.js";
import { Deciding } from "./deciding.js";
import { interruptOf, isAsked, isOfPage, type Asked } from "./interrupts.js";
import { messagesOf, outputOf, resultId, withIdsOf, withSubagentsOf } from "./messages.js";
import { ToldMessages } from "./told-messages.js";
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

/** The events that no event of AG-UI stands for. */
const RAW: readonly RunEvent["type"][] = [
  "compact-boundary",
  "compact-start",
  "handoff",
  "limits",
  "model-change",
  "not-saved",
  "retry",
  "steer-delivered",
  "warning",
];

export function memoryOf(name: string, deciding = new Deciding()): RunMemory {
  return { name, models: new Map(), asked: new Map(), pageCalls: new Set(), deciding };
}

export class Translation {
  readonly #input: AgUiInput;
  readonly #memory: RunMemory;
  readonly #messages: ToldMessages;
  readonly #usage = new UsageByModel();
  /** Open texts and reasonings, by message. */
  readonly #open = new Map<string, { readonly isText: boolean; readonly owner: Owner }>();
  /** Calls whose arguments are still coming, by agent and block. */
  readonly #calls = new Map<string, { readonly id: string; readonly owner: Owner }>();
  readonly #begun = new Set<string>();
  readonly #steps = new Map<string, { readonly stepName: string; readonly owner: Owner }>();
  /** Open subagents, by path and call. */
  readonly #subagents = new Map<string, { readonly id: string; readonly path: string }>();
  /** The questions for which alone the run waits. */
  #waitsFor: readonly number[] = [];
  /** The run of AG-UI is over. */
  isOver = false;

  constructor(input: AgUiInput, memory: RunMemory) {
    this.#input = input;
    this.#memory = memory;
    this.#messages = new ToldMessages(input.messages);
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

  /** The events for one event of the run. `result` is that of the run, at its end. */
  *take(event: RunEvent, result?: unknown): Generator<AgUiSent> {
    if (event.type === "agent-finish") return yield* this.#agentFinish(event);
    const owner = yield* this.#ownerOf(event);
    const message = messageOf(this.#memory.name, event);
    switch (event.type) {
      case "agent-start":
        this.#memory.models.set(event.agentPath, event);
        break;
      case "model-change":
        this.#memory.models.set(event.agentPath, event);
        break;
      case "iteration-start":
        yield* this.#step(message, event, owner);
        break;
      case "iteration-finish":
        yield* this.#closeOf(message);
        yield* this.#stepFinish(message);
        break;
      case "answer-cut-off":
        if (this.#messages.remove(message)) yield this.#snapshot();
        break;
      case "text-start":
        yield* this.#openText(message, owner);
        break;
      case "text-delta":
        yield* this.#openText(message, owner);
        this.#messages.text(message, "assistant", event.text, owner);
        yield { type: "TEXT_MESSAGE_CONTENT", messageId: message, delta: event.text, ...owner };
        break;
      case "text-end":
        yield* this.#close(message);
        break;
      case "reasoning-start":
        yield* this.#openReasoning(reasoningOf(message, event.block), owner);
        break;
      case "reasoning-delta": {
        const id = reasoningOf(message, event.block);
        yield* this.#openReasoning(id, owner);
        this.#messages.text(id, "reasoning", event.text, owner);
        yield { type: "REASONING_MESSAGE_CONTENT", messageId: id, delta: event.text, ...owner };
        break;
      }
      case "reasoning-end":
        yield* this.#close(reasoningOf(message, event.block));
        break;
      case "tool-input-start":
        this.#calls.set(callOf(message, event.block), { id: event.toolCallId, owner });
        yield this.#callStart(message, event, owner);
        break;
      case "tool-input-delta": {
        const call = this.#calls.get(callOf(message, event.block));
        if (call !== undefined) yield this.#callArguments(call.id, event.text, owner);
        break;
      }
      case "tool-input-end":
        yield* this.#callEnd(callOf(message, event.block));
        break;
      case "tool-call":
        // It was told as it came, or by a process before this one.
        if (this.#begun.delete(event.toolCallId) || this.#messages.hasCall(message, event.toolCallId)) break;
        if (this.#messages.hasOpenCall(event.toolCallId)) break;
        yield this.#callStart(message, event, owner);
        this.#begun.delete(event.toolCallId);
        yield this.#callArguments(event.toolCallId, JSON.stringify(event.input), owner);
        yield { type: "TOOL_CALL_END", toolCallId: event.toolCallId, ...owner };
        break;
      case "tool-progress": {
        const { toolCallId, toolName, data } = event;
        const content = { toolCallId, toolName, data };
        const messageId = `${toolCallId}.progress`;
        yield { type: "ACTIVITY_SNAPSHOT", messageId, activityType: "looplet.progress", content, ...owner };
        break;
      }
      case "tool-result":
        yield* this.#result(event, outputOf(event.output), owner);
        break;
      case "tool-error":
        yield* this.#result(event, JSON.stringify(event.error), owner);
        break;
      case "question":
        if (isAsked(event)) this.#ask(event);
        break;
      case "answered":
        this.#memory.asked.delete(event.questionId);
        this.#waitsFor = [];
        break;
      case "waiting":
        this.#waitsFor = event.questionIds;
        yield* this.wait();
        break;
      case "reset":
        yield* this.#reset(message, event.blocks);
        break;
      case "snapshot": {
        const known = this.#messages.all();
        const root = withIdsOf(messagesOf(event.messages, this.#memory.name), known);
        this.#messages.replace(withSubagentsOf(root, known));
        this.#messages.addResults(known);
        yield this.#snapshot();
        for (const told of retold(event)) yield* this.take(told);
        if (this.#messages.addResults(known)) yield this.#snapshot();
        break;
      }
      case "usage":
        this.#usage.add(this.#memory.models.get(event.agentPath), event.usage, event.total);
        break;
      case "finish":
        yield* this.#finish(event, result);
        break;
      default:
        if (RAW.includes(event.type)) yield { type: "RAW", source: "looplet", event, ...owner };
    }
  }

  /** The conversation as it stands, when no run goes on. */
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

  /** The events of the run have ended before its end. */
  *breakOff(): Generator<AgUiSent> {
    yield* this.fail("The events of the run have broken off.", "cut_off");
  }

  *fail(message: string, code: string): Generator<AgUiSent> {
    this.isOver = true;
    const usage = this.#usage.all();
    yield { type: "RUN_ERROR", message, code, ...(usage && { usage }) };
  }

  *#ownerOf(event: RunEvent): Generator<AgUiSent, Owner> {
    const { agentPath, parentToolCallId } = event;
    // The run's own agent, or one that a handoff has given the conversation.
    if (parentToolCallId === undefined) return {};
    const key = keyOf(event);
    const known = this.#subagents.get(key);
    if (known !== undefined) return { subagentRunId: known.id };
    const id = `${this.#memory.name}:${key}`;
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
    return { subagentRunId: id };
  }

  *#agentFinish(event: RunEventOf<"agent-finish">): Generator<AgUiSent> {
    const key = keyOf(event);
    const subagent = this.#subagents.get(key);
    if (subagent === undefined) return;
    this.#subagents.delete(key);
    const own = ({ owner }: { owner: Owner }): boolean => owner.subagentRunId === subagent.id;
    yield* this.#closeAll(own);
    const { id: subagentRunId } = subagent;
    const { outcome } = event;
    if (outcome.outcome === "completed" || outcome.outcome === "stopped")
      yield { type: "SUBAGENT_FINISHED", subagentRunId, outcome: { type: "success" } };
    else {
      const { message, code } = outcome.error ?? { message: outcome.abortReason!, code: "cancelled" };
      yield { type: "SUBAGENT_ERROR", subagentRunId, message, code };
    }
  }

  *#step(key: string, { iteration }: RunEvent, owner: Owner): Generator<AgUiSent> {
    // A process that resumes the run begins its open iteration again.
    const stepName = `iteration ${iteration}`;
    if (this.#steps.get(key)?.stepName === stepName) return;
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

  /** Closes what an answer has left open that was cut off. */
  *#closeOf(message: string): Generator<AgUiSent> {
    for (const id of [...this.#open.keys()])
      if (id === message || id.startsWith(`${message}.`)) yield* this.#close(id);
    for (const key of [...this.#calls.keys()]) if (key.startsWith(`${message}.`)) yield* this.#callEnd(key);
  }

  *#closeAll(isIt: (open: { owner: Owner }) => boolean): Generator<AgUiSent> {
    for (const [id, open] of [...this.#open]) if (isIt(open)) yield* this.#close(id);
    for (const [key, call] of [...this.#calls]) if (isIt(call)) yield* this.#callEnd(key);
    for (const [key, step] of [...this.#steps]) if (isIt(step)) yield* this.#stepFinish(key);
  }

  #callStart(message: string, { toolCallId, toolName }: NewCall, owner: Owner): AgUiSent {
    this.#begun.add(toolCallId);
    this.#messages.call(message, toolCallId, toolName, owner);
    const parentMessageId = message;
    return { type: "TOOL_CALL_START", toolCallId, toolCallName: toolName, parentMessageId, ...owner };
  }

  #callArguments(toolCallId: string, delta: string, owner: Owner): AgUiSent {
    this.#messages.arguments(toolCallId, delta);
    return { type: "TOOL_CALL_ARGS", toolCallId, delta, ...owner };
  }

  *#callEnd(key: string): Generator<AgUiSent> {
    const call = this.#calls.get(key);
    if (!this.#calls.delete(key)) return;
    yield { type: "TOOL_CALL_END", toolCallId: call!.id, ...call!.owner };
  }

  *#result(
    event: RunEventOf<"tool-result" | "tool-error">,
    content: unknown,
    owner: Owner,
  ): Generator<AgUiSent> {
    const { toolCallId } = event;
    // The page has brought it itself.
    if (this.#memory.pageCalls.delete(toolCallId) && this.#messages.hasResult(toolCallId)) return;
    if (this.#messages.isTold(toolCallId, content, owner)) return;
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
  *#reset(message: string, blocks: readonly number[]): Generator<AgUiSent> {
    yield* this.#closeOf(message);
    for (const id of [message, ...blocks.map((block) => reasoningOf(message, block))])
      this.#messages.remove(id);
    this.#begun.clear();
    yield this.#snapshot();
  }

  #snapshot(): AgUiSent {
    return { type: "MESSAGES_SNAPSHOT", messages: this.#messages.all() };
  }

  /** Whether functions of the agent decide whether the run goes on. */
  get isUndecided(): boolean {
    return this.#waitsFor.length > 0;
  }

  /** Ends the run of AG-UI if only the page can bring the run on. */
  *wait(): Generator<AgUiSent> {
    const { asked: open, deciding } = this.#memory;
    if (!this.#waitsFor.every((id) => open.has(id) && !deciding.has(id))) return;
    const asked = [...open.values()];
    // A page that was loaded again has not seen the subagents that ask begin.
    for (const one of asked) yield* this.#ownerOf(one);
    const interrupts = asked
      .filter((one) => !isOfPage(one))
      .map((one) => {
        const id = interruptId(this.#memory.name, one.questionId);
        return interruptOf(one, id, this.#subagents.get(keyOf(one))?.id);
      });
    yield* this.#closeAll(() => true);
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
    yield* this.#closeAll(() => true);
    for (const [key, { id }] of [...this.#subagents].reverse()) {
      this.#subagents.delete(key);
      yield { type: "SUBAGENT_ERROR", subagentRunId: id, message: "The run has ended.", code: "cancelled" };
    }
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

type Owner = { subagentRunId?: string };

interface NewCall {
  readonly toolCallId: string;
  readonly toolName: string;
}

/** The id of the interrupt for a question, which a later run cannot mistake for its own. */
export function interruptId(run: string, questionId: number): string {
  return `${run}:${questionId}`;
}

/** A call of an agent. The path counts the calls of a subagent, and a persistent one has the same path again. */
function keyOf({ agentPath, parentToolCallId = "" }: RunEvent): string {
  return `${agentPath}:${parentToolCallId}`;
}

/** The id of the message with the answer of an iteration. */
function messageOf(run: string, event: RunEvent): string {
  return `${run}.${keyOf(event)}.${event.iteration}`;
}

function callOf(message: string, block: number): string {
  return `${message}.c${block}`;
}

function reasoningOf(message: string, block: number): string {
  return `${message}.r${block}`;
}
