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
   * Contract: called with every event of the run. The events of AG-UI that it returns go out behind those that
   * looplet makes of it: a state of yours, or a `CUSTOM` event. Default: there are none.
   */
  add?: ((event: RunEvent) => AgUiOwn | readonly AgUiOwn[] | undefined) | undefined;
}

/** A run, or its events. */
export type AgUiSource = Run<any, any> | AsyncIterable<RunEvent<any>>;

/** The events of a run of looplet that goes through several runs of AG-UI, and what is known of it. */
export interface Going extends RunMemory {
  readonly events: AsyncIterator<RunEvent>;
  /** The ids of the user's messages that the run has got. A page repeats the last one with each answer. */
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
   * Answers a question that your code answers; false leaves it open. `isPast`: its call is of an answer that came
   * before the input at hand.
   */
  onAsked?: ((asked: Asked, isPast: boolean) => boolean) | undefined;
}

const GOING = new WeakMap<object, Going>();

/** The first call begins to listen, so it belongs into the task that begins the run. */
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

/** Lets another page follow a run from here on, in place of the one that is gone. It gets the open questions again. */
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
 * The events of AG-UI for a run that has just begun. They end where the run ends, or where only answers to questions
 * bring it on: `RUN_FINISHED` names the interrupts then, or the calls that the page runs. After `run.answer`, a call
 * with the same run and the next input tells the rest. The run goes on if nobody reads them.
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
    // Nothing may follow the end of a run of AG-UI.
    const end = translation.isOver ? told.pop() : undefined;
    yield* told;
    if (added !== undefined) yield* [added].flat() as AgUiOwn[];
    if (end !== undefined) yield end;
  }
}

/** Whether this page has added these messages. A run that resumes may not know their numbers any more. */
function isOwn(ids: readonly number[], { added }: Going): boolean {
  return ids.length > 0 && ids.every((id) => added.has(id));
}

/** The structured answer of a run; undefined if there is none. */
async function outputOf(source: AgUiSource): Promise<unknown> {
  if (!("result" in source)) return undefined;
  const result = await source.result.catch(() => undefined);
  return result?.output;
}

/**
 * The events of AG-UI for a run as a response of server-sent events. Each has its number as `id`. When the page goes
 * away, the run is aborted, because AG-UI has no other word for it. If the input is not one of AG-UI, the run is
 * aborted too, and the response says why with status 400.
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

/** `leave` is called when nobody reads any more. It must bring the events to their end. */
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
