/** raw-js with the body grown as bytes: a message is encoded once and appended, a request is one copy. */
import { formats, runTools, streamTurn } from "./raw-js/turn.mjs";

export const title = "raw-js, body grown as bytes";

const encoder = new TextEncoder();

export async function run(task, fetch, { onText, tools, wire }) {
  const format = formats[wire];
  const body = growingBody(format.body(tools));
  body.append({ role: "user", content: task.prompt });
  for (;;) {
    const turn = await streamTurn(fetch, format, body.close(), onText);
    body.append(format.assistant(turn));
    if (turn.calls.length === 0) return { text: turn.text };
    for (const message of format.results(await runTools(turn.calls, tools))) body.append(message);
  }
}

function growingBody(fields) {
  let bytes = new Uint8Array(64 * 1024);
  let length = 0;
  let isFirst = true;
  const write = (text) => {
    while (bytes.length - length < text.length * 3) {
      const larger = new Uint8Array(bytes.length * 2);
      larger.set(bytes);
      bytes = larger;
    }
    length += encoder.encodeInto(text, bytes.subarray(length)).written;
  };
  write(`${JSON.stringify(fields).slice(0, -1)},"messages":[`);
  return {
    append(message) {
      write((isFirst ? "" : ",") + JSON.stringify(message));
      isFirst = false;
    },
    close() {
      const end = length;
      write("]}");
      const whole = bytes.slice(0, length);
      length = end;
      return whole;
    },
  };
}
