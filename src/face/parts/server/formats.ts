/** Other systems' forms of the events of a run, such as the UI messages of the AI SDK or AG-UI. */
import type { RunEvent } from "../../core/api/event.js";

/** The run whose events a format gets. */
export interface FormattedRun {
  readonly id: string;
  /** The id of the session. */
  readonly session: string;
}

/** A request of another system in the words of looplet. */
export interface ReadOrder {
  /** The text that begins or steers a run. Default: nothing begins, and the run under way is told. */
  readonly prompt?: string | undefined;
  readonly requestId?: string | undefined;
  /** Answers to questions of the run under way, which come before the prompt. */
  readonly answers?: readonly { readonly questionId: number; readonly answer: object }[] | undefined;
}

/**
 * A form in which a client may ask for the events of a run: by `?format=` and its name, or by a header `Accept` that
 * has its media type.
 */
export interface EventFormat {
  readonly name: string;
  /** The media type that asks for it, and that of the response, such as `text/vnd.example.events`. */
  readonly accept: string;
  /** Headers of the response. Default: its `content-type` alone. */
  readonly headers?: { readonly [name: string]: string } | undefined;
  /** Contract: reads the body of `POST …/run`. Default: that of looplet, `{ prompt, requestId? }`. */
  read?(body: object): ReadOrder;
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
