/** Formats of other systems for the events of a run, such as the UI messages of the AI SDK or AG-UI. */
import type { RunEvent } from "../../core/api/event.js";
import type { SavedChat, Message } from "../../core/api/message.js";
import type { Prompt } from "../../core/api/run.js";

/** The run with the events that a format receives. */
export interface FormattedRun {
  readonly id: string;
  /** The id of the session. */
  readonly session: string;
  /** The body of the request. None for a request that joins the run. */
  readonly body?: object | undefined;
  /**
   * The number of the last event that the client has, if its request continues a run that it has seen before.
   * `events` still start at the beginning of the run.
   */
  readonly seen?: number | undefined;
  /**
   * The position after which the client wants events: the part of its `Last-Event-ID` after the encoded run id and
   * `:`.
   */
  readonly after?: string | undefined;
  /** Whether there are events after the last one of `events`. */
  hasMore(): boolean;
  /** The structured output of the run, after its events. Undefined if it has none. */
  output(): Promise<unknown>;
}

/** A request of another system in the words of looplet. */
export interface ReadOrder {
  /** The text or the blocks that start or steer a run. Default: no run starts, and the current run is streamed. */
  readonly prompt?: Prompt | undefined;
  readonly requestId?: string | undefined;
  /** Answers to questions of the current run. They are applied before the prompt. */
  readonly answers?: readonly { readonly questionId: number; readonly answer: object }[] | undefined;
  /** Whether the prompt ends the current run. Default false: it steers the run. */
  readonly isTurn?: boolean | undefined;
  /** The number of user prompts to retain before this one. Default: all. */
  readonly keep?: number | undefined;
  /**
   * See {@link FormattedRun.seen}. Default: the response starts where the order was received; for a turn, with its
   * run.
   */
  readonly seen?: number | undefined;
}

/**
 * A format for the events of a run. A client selects it by its name as the first path segment, by `?format=` with its
 * name, or by its media type in the `Accept` header.
 */
export interface EventFormat {
  readonly name: string;
  /** The media type that selects it. It is also the type of the response, such as `text/vnd.example.events`. */
  readonly accept: string;
  /** Headers of the response. Default: only its `content-type`. */
  readonly headers?: { readonly [name: string]: string } | undefined;
  /** Contract: returns the id of the session in a body, for a client that posts to the format's own path. */
  session?(body: object): unknown;
  /**
   * Contract: reads the body of `POST …/run`. `events` are the events of the current run so far, empty without a run.
   * Default: looplet's own, `{ prompt, requestId? }`.
   */
  read?(body: object, events: readonly RunEvent[], run: string | undefined): ReadOrder;
  /**
   * Contract: returns the messages of a chat for `GET …/<id>`. `kept` also has the transcripts of its subagents. It
   * is undefined for a chat that does not exist yet. Default: looplet's own.
   */
  messages?(
    messages: readonly Message[],
    isRunning: boolean,
    kept: SavedChat | undefined,
  ): readonly unknown[];
  /**
   * Contract: yields the text of the response in pieces. `events` are those of the run up to its `finish`: from its
   * start, or from the message that the request added to it. If the client disconnects, the iteration ends and the
   * run continues.
   */
  stream(events: AsyncIterable<RunEvent>, run: FormattedRun): AsyncIterable<string>;
}

/** The format that a request selects. Undefined for looplet's own. */
export function formatOf(
  formats: readonly EventFormat[],
  accept: string,
  named: string | null,
): EventFormat | undefined {
  if (named !== null) return formats.find(({ name }) => name === named);
  const types = accept.split(",").map((type) => type.split(";")[0]!.trim().toLowerCase());
  return formats.find((format) => types.includes(format.accept.toLowerCase()));
}
