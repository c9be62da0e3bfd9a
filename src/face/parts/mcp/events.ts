/** The events of a stream. <https://html.spec.whatwg.org/multipage/server-sent-events.html> */

/** An event as its lines say it. */
export interface StreamEvent {
  readonly id: string | undefined;
  readonly event: string | undefined;
  readonly data: string;
}

/** The data of each event. */
export async function* eventsOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  for await (const { data } of streamEvents(chunks)) yield data;
}

/** The events that have data, each when it is whole. Each character is looked at once, however the bytes are cut. */
export async function* streamEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<StreamEvent> {
  const decoder = new TextDecoder();
  let line = "";
  // A carriage return at the end of a chunk may be half of a line's end.
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
      else if (line === "") {
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
