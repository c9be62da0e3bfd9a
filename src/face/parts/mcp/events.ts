/** The events of a stream. <https://html.spec.whatwg.org/multipage/server-sent-events.html> */

/** The data of each event. Each character is looked at once, however the bytes are cut. */
export async function* eventsOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let line = "";
  // A carriage return at the end of a chunk may be half of a line's end.
  let held = "";
  let data: string[] = [];
  for await (const chunk of chunks) {
    let text = held + decoder.decode(chunk, { stream: true });
    held = text.endsWith("\r") ? "\r" : "";
    text = text.slice(0, text.length - held.length);
    const pieces = text.split(/\r\n|\n|\r/);
    const last = pieces.pop()!;
    for (const piece of pieces) {
      line += piece;
      if (line.startsWith("data:")) data.push(line.slice(line[5] === " " ? 6 : 5));
      else if (line === "" && data.length > 0) {
        yield data.join("\n");
        data = [];
      }
      line = "";
    }
    line += last;
  }
}
