/** A run as a stream of AG-UI: as events, and as server-sent events in a response. */
import type { Run, RunEvent } from "../../core/api/index.js";
import type { HostResponse } from "../../core/api/platform.js";
import { message } from "../../core/kit/check.js";
import { json, respond } from "../../server/server/http.js";
import { KEEP_ALIVE, KeepAlive } from "../../extras/keep-alive.js";
import type { Deciding } from "./deciding.js";
import { checkedInput } from "./input.js";
import { isAsked, type Asked } from "./interrupts.js";
import { forClient } from "./older.js";
import { memoryOf, Translation, type RunMemory } from "./translation.js";
import type { AgUiEvent, AgUiInput, AgUiMessage, AgUiOwn } from "./types.js";

export interface AgUiOptions {
  /**
   * Contract: called with every event of the run. The AG-UI events that it returns are sent after looplet's own
   * events for it: your state, or a `CUSTOM` event. Default: none.
   */
  add?: ((event: RunEvent) => AgUiOwn | readonly AgUiOwn[] | undefined) | undefined;
}

/** A run, or its events. */
export type AgUiSource = Run<any, any> | AsyncIterable<RunEvent<any>>;

/** The event stream of a looplet run that spans several AG-UI runs, and what is known about it. */
export interface Going extends RunMemory {
  readonly events: AsyncIterator<RunEvent>;
  /** The ids of the user messages that the run has received. A page repeats the last one with each answer. */
  readonly taken: Set<string>;
  /** The numbers of those that this page has added to the run. */
  readonly added: Set<number>;
  /** The messages that the last page of the run has. */
  shown?: () => AgUiMessage[];
  /** Reads the chat. The result makes the messages of a page out of those that it knows. Only with a store. */
  stored?: () => Promise<(known: readonly AgUiMessage[]) => readonly AgUiMessage[]>;
  /** The event that comes. */
  next?: Promise<IteratorResult<RunEvent>> | undefined;
  /**
   * Answers a question that your code answers. Returns false to leave it open. `isPast`: its call belongs to an
   * answer that came before the current input.
   */
  onAsked?: ((asked: Asked, isPast: boolean) => boolean) | undefined;
}

const GOING = new WeakMap<object, Going>();

/** The first call starts to receive events, so make it in the task that starts the run. */
export function goingOf(source: AgUiSource, name = "", deciding?: Deciding): Going {
  const known = GOING.get(source);
  if (known !== undefined) return known;
  const isRun = "events" in source;
  const events = isRun ? source.events({ detached: true }) : source[Symbol.asyncIterator]();
  const going: Going = {
    ...memoryOf(isRun ? source.id : name, deciding),
    events,
    taken: new Set(),
    added: new Set(),
  };
  GOING.set(source, going);
  return going;
}

/**
 * Lets another page follow a run from here on, after the first page disconnected. The open questions are sent again.
 */
export function followAgain(run: Run): Going {
  const before = goingOf(run);
  void before.events.return?.();
  const { name, models, pageCalls, deciding, taken } = before;
  const memory = { ...memoryOf(name, deciding), models, pageCalls, taken, added: new Set<number>() };
  const going: Going = { ...memory, events: run.events({ detached: true }) };
  GOING.set(run, going);
  return going;
}

/**
 * The AG-UI events of a run that has just started. They end when the run ends, or when only answers to questions can
 * continue it: then `RUN_FINISHED` lists the interrupts, or the calls that the page runs. After `run.answer`, call
 * this again with the same run and the next input to get the remaining events. The run continues if no one reads the
 * events.
 */
export async function* toAgUi(
  source: AgUiSource,
  input: AgUiInput,
  options: AgUiOptions = {},
): AsyncGenerator<AgUiEvent, void, undefined> {
  for await (const event of translated(source, input, options)) yield forClient(input, event);
}

async function* translated(
  source: AgUiSource,
  input: AgUiInput,
  options: AgUiOptions,
): AsyncGenerator<AgUiEvent, void, undefined> {
  const going = goingOf(source, input.runId);
  const translation = new Translation(input, going);
  going.shown = () => translation.messages;
  yield translation.begin();
  let isPast = true;
  while (!translation.isOver) {
    going.next ??= going.events.next();
    const changed = translation.isUndecided ? [going.deciding.changed] : [];
    const came = await Promise.race([going.next, ...changed]);
    if (came === undefined) {
      yield* translation.wait();
      continue;
    }
    going.next = undefined;
    if (came.done) return yield* translation.breakOff();
    const event = came.value;
    const result = event.type === "finish" ? await outputOf(source) : undefined;
    const told = [...translation.take(event, result)];
    // Another page has added the message, or an earlier one before it was loaded again.
    const isForeign = event.type === "steer-delivered" && !isOwn(event.ids, going);
    const stored = isForeign ? await going.stored?.() : undefined;
    if (stored !== undefined) told.push(translation.replace(stored(translation.messages)));
    if (event.type === "attempt-start") isPast = false;
    if (event.type === "question" && isAsked(event) && going.onAsked?.(event, isPast))
      going.asked.delete(event.questionId);
    const added = options.add?.(event);
    // No event may follow the end of an AG-UI run.
    const end = translation.isOver ? told.pop() : undefined;
    yield* told;
    if (added !== undefined) yield* [added].flat() as AgUiOwn[];
    if (end !== undefined) yield end;
  }
}

/** Whether this page added these messages. A resumed run might not know their numbers any more. */
function isOwn(ids: readonly number[], { added }: Going): boolean {
  return ids.length > 0 && ids.every((id) => added.has(id));
}

/** The structured output of a run, or undefined. */
async function outputOf(source: AgUiSource): Promise<unknown> {
  if (!("result" in source)) return undefined;
  const result = await source.result.catch(() => undefined);
  return result?.output;
}

/**
 * The AG-UI events of a run as a response of server-sent events. The `id` of each is its number. If the page
 * disconnects, the run is aborted, because AG-UI has no other way to stop a run. If the input is not valid AG-UI, the
 * run is aborted too, and the response has status 400 with the reason.
 */
export function agUiResponse(run: Run<any, any>, given: AgUiInput, options?: AgUiOptions): HostResponse {
  let input: AgUiInput;
  try {
    input = checkedInput(given);
  } catch (error) {
    run.abort("the input of the page is not one of AG-UI");
    return refusal(400, message(error));
  }
  return eventResponse(toAgUi(run, input, options), () => run.abort(GONE));
}

export function refusal(status: number, error: string): HostResponse {
  return json({ error }, status);
}

export const GONE = "the page went away";

/** `leave` is called when the reader disconnects. It must end `events`. */
export function eventResponse(events: AsyncGenerator<AgUiEvent>, leave: () => void): HostResponse {
  const encoder = new TextEncoder();
  let number = 0;
  const quiet = new KeepAlive<IteratorResult<AgUiEvent>>();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const read = await quiet.next(() => events.next());
      if (read === undefined) return controller.enqueue(encoder.encode(KEEP_ALIVE));
      const { done, value } = read;
      if (done) return controller.close();
      number += 1;
      controller.enqueue(encoder.encode(`id: ${number}\ndata: ${JSON.stringify(value)}\n\n`));
    },
    cancel() {
      quiet.stop();
      leave();
    },
  });
  return respond(body, { headers: HEADERS });
}

export const HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-store, no-transform",
  "x-accel-buffering": "no",
};
