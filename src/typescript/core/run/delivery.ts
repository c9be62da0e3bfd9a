/**
 * The events of a run on their way to its listeners: the callbacks of its options, its tracers, and its readers, the
 * loops over its events.
 *
 * The run hands in what the engine emits, and says when its readers and its tracers end. A listener that throws, or
 * whose promise rejects, is reported and never stops a run. Nothing here changes the run.
 */
import type { EventStamp, Outcome, RunEvent } from "../api/event.js";
import type { RunResult } from "../api/result.js";
import type { RunOptions } from "../api/run.js";
import type { Trace } from "../api/trace.js";
import type { HostCallbacks } from "../host/driver.js";
import { reportUncaught } from "../host/failures.js";
import { isThenable } from "../options/check.js";
import { message, stackOf } from "../options/thrown.js";
import { isToolError } from "../tools/tool-result.js";
import { partialOutput } from "../tools/structured-output.js";
import type { Driver } from "../host/engine.js";
import { EventBuffer } from "./events/event-buffer.js";
import { EventQueue } from "./events/event-queue.js";
import { ReceivedText } from "./events/received-text.js";
import { OpenEvents } from "./events/open-events.js";
import type { EndEvent } from "./run-end.js";

/**
 * The limits of a backlog: characters of deltas, and events. Only a model inside the process can send more within one
 * task. A reader that begins later starts with a snapshot.
 */
const MAX_BACKLOG_CHARS = 2_048;
const MAX_BACKLOG_EVENTS = 100;

/** How many different errors of listeners are remembered. */
const MAX_REPORTED = 100;

const DELTAS = ["text-delta", "reasoning-delta", "tool-input-delta"] as const;

export class Delivery {
  /** The stamp of the last event, changed in place. */
  readonly stamp: EventStamp = { seq: 0, agentPath: "root", iteration: 0, attempt: 0 };
  readonly received = new ReceivedText();
  readonly #open = new OpenEvents();
  readonly #options: RunOptions;
  readonly #running: () => Driver | undefined;
  readonly #traces: readonly Trace[];
  readonly #readers = new Set<EventQueue>();
  /** Every event of the run's first task, for readers that begin in it. */
  #backlog: EventBuffer | undefined = new EventBuffer();
  readonly #origins = new Map<number, Pick<EventStamp, "agentPath" | "parentToolCallId">>();
  /** The errors of listeners that were reported, by stack if they have one. */
  readonly #reported = new Set<unknown>();
  /** `all` is true as long as a listener sees every event. */
  readonly #seen = { all: true };
  readonly #hearText: ReturnType<Delivery["textListener"]>;

  /** `running` returns the driver until the run has an outcome. `trace` begins the traces, and takes errors of tracers. */
  constructor(
    options: RunOptions,
    running: () => Driver | undefined,
    trace: (report: (error: unknown) => void) => readonly Trace[] = () => [],
  ) {
    this.#options = options;
    this.#running = running;
    this.#traces = trace(this.report);
    this.#hearText = this.textListener();
    // A real macrotask, not one of the run's clock: the backlog must not grow while that clock does not advance.
    setTimeout(() => this.#dropBacklog(), 0);
  }

  /**
   * Delivers an event. `agent` is the engine's number of an agent, 0 for the root. The engine's own deltas go through
   * {@link deltas}.
   */
  deliver(emitted: RunEvent, agent = 0): void {
    const event = agent === 0 ? emitted : { ...emitted, ...this.#originOf(agent) };
    const { seq, agentPath, iteration, attempt } = event;
    Object.assign(this.stamp, agentPath === "root" ? { seq, iteration, attempt } : { seq });
    if (agentPath === "root" && (event.type === "text-delta" || event.type === "reasoning-delta")) {
      const kind = event.type === "text-delta" ? 0 : 1;
      this.#hearText(kind, event.text, event.block, iteration, attempt);
      this.#pass(event);
      return;
    }
    this.#open.hear(event);
    const { onToolCall, onToolResult } = this.#options;
    if (event.type === "tool-call") this.#tell(() => onToolCall?.(event));
    else if (event.type === "tool-result" || event.type === "tool-error")
      this.#tell(() => onToolResult?.(event));
    this.#trace((trace) => trace.onEvent(event));
    this.#pass(event);
  }

  /** Whether a reader that begins now gets every event. */
  get hasBacklog(): boolean {
    return this.#backlog !== undefined;
  }

  /** The number of blocks of the root's latest attempt that listeners have received. */
  get shownBlocks(): number {
    const { last } = this.received;
    const isLatest = last?.attempt === this.stamp.attempt && last.iteration === this.stamp.iteration;
    return isLatest ? last.block + 1 : 0;
  }

  /** Forgets the agents of a lost instance: those that are in no journal get new numbers. */
  forgetAgents(): void {
    this.#origins.clear();
  }

  /** Delivers an event that the engine did not emit. */
  deliverNext(event: EndEvent | { type: "finish"; outcome: Outcome }): void {
    this.deliver({ ...this.stamp, seq: this.stamp.seq + 1, ...event });
  }

  /** Returns the function that calls the listeners of the answer's text. `kind` is that of `onDelta`. */
  // The closures of deltas read no field of this object: V8 drops the code for fields when a garbage collection finds
  // no run.
  private textListener() {
    const { onText, onThinking, onPartialOutput } = this.#options;
    const onPartial = partialOutput(onPartialOutput);
    const received = this.received;
    return (kind: number, text: string, block: number, iteration: number, attempt: number): void => {
      try {
        if (kind === 0) {
          received.add(iteration, attempt, text);
          const returned: unknown = onText?.(text);
          if (returned !== undefined) this.#watch(returned);
          if (onPartial !== undefined) this.#watch(onPartial(iteration, attempt, block, text));
        } else if (kind === 1) {
          const returned: unknown = onThinking?.(text);
          if (returned !== undefined) this.#watch(returned);
        }
      } catch (error) {
        this.#reportOnce(error);
      }
      const { last } = received;
      if (last?.block !== block || last.attempt !== attempt || last.iteration !== iteration)
        received.last = { iteration, attempt, block };
    };
  }

  /** Returns the function that delivers the engine's deltas. */
  deltas(): HostCallbacks["onDelta"] {
    const hearText = this.#hearText;
    const stamp = this.stamp;
    const seen = this.#seen;
    return (kind, text, block, seq, agent, iteration, attempt) => {
      // Text of a subagent is not part of the answer. Events carry it.
      if (agent === 0) hearText(kind, text, block, iteration, attempt);
      stamp.seq = seq;
      if (agent === 0) {
        stamp.iteration = iteration;
        stamp.attempt = attempt;
      }
      if (!seen.all) return;
      const type = DELTAS[kind];
      if (agent === 0) this.#pass({ type, seq, agentPath: "root", iteration, attempt, block, text });
      else this.#pass({ type, seq, ...this.#originOf(agent), iteration, attempt, block, text });
    };
  }

  /**
   * Returns a reader. It starts with the backlog, or with `begin()` and what is open if that is gone. `onLeave` is
   * called if it goes before the end. `outcome` is set if the run has ended.
   */
  reader(begin: () => RunEvent[], onLeave?: () => void, outcome?: Outcome): EventQueue {
    const { seq } = this.stamp;
    const late = (): RunEvent[] => [...begin(), ...this.#open.events().map((event) => ({ ...event, seq }))];
    const queue: EventQueue = new EventQueue(this.#backlog?.copy() ?? late(), () => {
      this.#readers.delete(queue);
      if (onLeave === undefined) this.want();
      else onLeave();
    });
    if (outcome === undefined) {
      this.#readers.add(queue);
      this.want();
    } else {
      if (this.#backlog === undefined) queue.push({ ...this.stamp, type: "finish", outcome });
      queue.end();
    }
    return queue;
  }

  /** Sets which events have a listener; the driver does not pass the others across the boundary. */
  want(): void {
    const driver = this.#running();
    if (driver === undefined) return;
    const { onText, onThinking, onPartialOutput, onToolCall, onToolResult, onEvent } = this.#options;
    const all = onEvent !== undefined || this.#readers.size > 0 || this.#backlog !== undefined;
    this.#seen.all = all;
    driver.want({
      text: all || onText !== undefined || onPartialOutput !== undefined,
      reasoning: all || onThinking !== undefined,
      toolInput: all,
      events: all || this.#traces.length > 0 || onToolCall !== undefined || onToolResult !== undefined,
    });
  }

  /** Reports what a tool has thrown to tracers and, unless it is a `ToolError`, to `onError`. */
  readonly onToolThrow = (toolCallId: string, thrown: unknown): void => {
    this.#trace((trace) => trace.onToolThrow?.(toolCallId, thrown));
    this.#tell(() => {
      if (!isToolError(thrown)) this.#reportTool(thrown);
    });
  };

  /** Ends all readers. The promise resolves when they have taken what still waits for them. */
  async endReaders(): Promise<void> {
    const readers = [...this.#readers];
    this.#readers.clear();
    for (const reader of readers) reader.end();
    await Promise.all(readers.map(({ drained }) => drained));
  }

  endTraces(result: RunResult, endRecord: () => unknown): void {
    this.#trace((trace) => trace.onEnd?.(result));
    this.#tell(endRecord);
  }

  /** Hands an error of a tool to `onError` or the console, not to `reportError`: the model can continue after it. */
  #reportTool(error: unknown): void {
    if (this.#options.onError === undefined) console.error(error);
    else this.report(error);
  }

  /** Hands an error of your code to `onError`, or to `reportUncaught`. */
  readonly report = (error: unknown): void => {
    try {
      const { onError } = this.#options;
      if (onError === undefined) return reportUncaught(error);
      const returned: unknown = onError(error);
      if (isThenable(returned)) Promise.resolve(returned).catch(reportUncaught);
    } catch (second) {
      console.error(second);
    }
  };

  /** The path of an agent, and the call that it answers. */
  #originOf(agent: number): Pick<EventStamp, "agentPath" | "parentToolCallId"> {
    let origin = this.#origins.get(agent);
    if (origin === undefined) {
      const [agentPath, parentToolCallId] = this.#running()?.agent(agent) ?? ["", ""];
      origin = { agentPath, parentToolCallId };
      this.#origins.set(agent, origin);
    }
    return origin;
  }

  #trace(tell: (trace: Trace) => unknown): void {
    for (const trace of this.#traces) this.#tell(() => tell(trace));
  }

  #pass(event: RunEvent): void {
    this.#tell(() => this.#options.onEvent?.(event));
    this.#remember(event);
    for (const queue of this.#readers) queue.push(event);
  }

  #tell(listener: () => unknown): void {
    try {
      const returned = listener();
      if (returned !== undefined) this.#watch(returned);
    } catch (error) {
      this.#reportOnce(error);
    }
  }

  /** Watches the promise of an async listener: a rejection counts as an error that the listener throws. */
  #watch(returned: unknown): void {
    if (isThenable(returned)) Promise.resolve(returned).catch(this.#reportOnce);
  }

  /** Reports an error of a listener, unless the same one has been reported: a listener may throw at each delta. */
  readonly #reportOnce = (error: unknown): void => {
    // The way to the listener differs from event to event, so only the frame that threw counts. Only V8 writes the
    // message into the stack.
    const stack = stackOf(error);
    const frame = stack?.split("\n").find((line) => /^\s+at |@/.test(line)) ?? stack;
    const key = stack === undefined ? error : `${message(error)}\n${frame}`;
    if (this.#reported.has(key)) return;
    if (this.#reported.size < MAX_REPORTED) this.#reported.add(key);
    this.report(error);
  };

  #remember(event: RunEvent): void {
    const backlog = this.#backlog;
    if (backlog === undefined) return;
    backlog.add(event);
    if (backlog.chars > MAX_BACKLOG_CHARS || backlog.size > MAX_BACKLOG_EVENTS) this.#dropBacklog();
  }

  #dropBacklog(): void {
    if (this.#backlog === undefined) return;
    this.#backlog = undefined;
    this.want();
  }
}
