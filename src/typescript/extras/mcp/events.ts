/** The events of a stream. <https://html.spec.whatwg.org/multipage/server-sent-events.html> */

/** An event as its lines say it. */
export interface StreamEvent {
  readonly id: string | undefined;
  readonly event: string | undefined;
  readonly data: string;
}

/** The position from which a stream can be resumed, as far as it is known. Events without data count. */
export interface StreamPlace {
  /** The id of the last event that is whole. */
  id?: string;
  /** The delay before the stream is requested again, in milliseconds. */
  retryMs?: number;
}

/** The data of each event. Updates `place`. */
export async function* eventsOf(
  chunks: AsyncIterable<Uint8Array>,
  place: StreamPlace,
): AsyncGenerator<string> {
  for await (const { data } of streamEvents(chunks, place)) yield data;
}

/**
 * The events that have data, each when it is complete. Each character is read once, however the bytes are split.
 * Updates `place`.
 */
export async function* streamEvents(
  chunks: AsyncIterable<Uint8Array>,
  place: StreamPlace = {},
): AsyncGenerator<StreamEvent> {
  const decoder = new TextDecoder();
  let line = "";
  // A carriage return at the end of a chunk may be half of a line break.
  let held = "";
  let data: string[] = [];
  let [id, event]: (string | undefined)[] = [];
  for await (const chunk of chunks) {
    let text = held + decoder.decode(chunk, { stream: true });
    held = text.endsWith("\r") ? "\r" : "";
    text = text.slice(0, text.length - held.length);
    const pieces = text.split(/\r\n|\n|\r/);
    const last = pieces.pop()!;
    for (const piece of pieces) {
      line += piece;
      if (line.startsWith("data:")) data.push(valueOf(line));
      else if (line.startsWith("id:")) id = valueOf(line);
      else if (line.startsWith("event:")) event = valueOf(line);
      else if (/^retry: ?\d+$/.test(line)) place.retryMs = Number(valueOf(line));
      else if (line === "") {
        // An id with NUL is invalid. A valid id is sent back as a header.
        if (id !== undefined && /^[\t -~]{1,4096}$/.test(id)) place.id = id;
        if (data.length > 0) yield { id, event, data: data.join("\n") };
        [id, event, data] = [undefined, undefined, []];
      }
      line = "";
    }
    line += last;
  }
}

function valueOf(line: string): string {
  const at = line.indexOf(":") + 1;
  return line.slice(line[at] === " " ? at + 1 : at);
}
