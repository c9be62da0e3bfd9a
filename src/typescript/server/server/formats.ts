/** Other systems' forms of the events of a run, such as the UI messages of the AI SDK or AG-UI. */
import type { RunEvent } from "../../core/api/event.js";
import type { SavedChat, Message } from "../../core/api/message.js";
import type { Prompt } from "../../core/api/run.js";

/** The run whose events a format gets. */
export interface FormattedRun {
  readonly id: string;
  /** The id of the session. */
  readonly session: string;
  /** The body of the request; none for one that joins the run. */
  readonly body?: object | undefined;
  /**
   * The number of the last event that the client has, if its request goes on with a run that it has seen before.
   * `events` begin with the run all the same.
   */
  readonly seen?: number | undefined;
  /** The place behind which the client wants the rest: what its `Last-Event-ID` has behind the encoded id of the run and `:`. */
  readonly after?: string | undefined;
  /** Whether there are events behind the last one that `events` have given. */
  hasMore(): boolean;
  /** The structured output of the run, once its events are over; undefined if it has none. */
  output(): Promise<unknown>;
}

/** A request of another system in the words of looplet. */
export interface ReadOrder {
  /** The text or the blocks that begin or steer a run. Default: nothing begins, and the run under way is told. */
  readonly prompt?: Prompt | undefined;
  readonly requestId?: string | undefined;
  /** Answers to questions of the run under way, which come before the prompt. */
  readonly answers?: readonly { readonly questionId: number; readonly answer: object }[] | undefined;
  /** Whether the prompt ends the run under way. Default false: it steers it. */
  readonly isTurn?: boolean | undefined;
  /** The number of prompts of the person that stay before this one. Default: all. */
  readonly keep?: number | undefined;
  /** {@link FormattedRun.seen}. Default: the response begins where the order was taken, of a turn with its run. */
  readonly seen?: number | undefined;
}

/**
 * A form in which a client may ask for the events of a run: by its name as the first word of the path, by `?format=`
 * and its name, or by a header `Accept` that has its media type.
 */
export interface EventFormat {
  readonly name: string;
  /** The media type that asks for it, and that of the response, such as `text/vnd.example.events`. */
  readonly accept: string;
  /** Headers of the response. Default: its `content-type` alone. */
  readonly headers?: { readonly [name: string]: string } | undefined;
  /** Contract: returns the id of the session that a body asks, for a client that posts to the format's own path. */
  session?(body: object): unknown;
  /**
   * Contract: reads the body of `POST …/run`. `told` are the events of the run under way so far, none if nothing
   * runs. Default: that of looplet, `{ prompt, requestId? }`.
   */
  read?(body: object, told: readonly RunEvent[], run: string | undefined): ReadOrder;
  /**
   * Contract: returns the messages of a chat for `GET …/<id>`. `kept` has the transcripts of its subagents too; it is
   * undefined for a chat that does not exist yet. Default: those of looplet.
   */
  messages?(
    messages: readonly Message[],
    isRunning: boolean,
    kept: SavedChat | undefined,
  ): readonly unknown[];
  /**
   * Contract: returns the text of the response, a piece at a time. `events` are those of the run up to its `finish`:
   * from its beginning, or from the message on that the request has brought into it. A client that leaves ends the
   * iteration, and the run goes on.
   */
  stream(events: AsyncIterable<RunEvent>, run: FormattedRun): AsyncIterable<string>;
}

/** The format that a request asks for; undefined for looplet's own. */
export function formatOf(
  formats: readonly EventFormat[],
  accept: string,
  named: string | null,
): EventFormat | undefined {
  if (named !== null) return formats.find(({ name }) => name === named);
  const types = accept.split(",").map((type) => type.split(";")[0]!.trim().toLowerCase());
  return formats.find((format) => types.includes(format.accept.toLowerCase()));
}
