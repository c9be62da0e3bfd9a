/**
 * The floor: the smallest correct loop that one writes by hand. Body reader, incremental TextDecoder, split SSE
 * lines, `JSON.parse` each, a callback per delta, accumulated tool arguments, the whole body through
 * `JSON.stringify`.
 */
import { formats, runTools, streamTurn } from "./raw-js/turn.mjs";

export const title = "raw-js";

export async function run(task, fetch, { onText, tools, wire }) {
  const format = formats[wire];
  const body = { ...format.body(tools), messages: [{ role: "user", content: task.prompt }] };
  for (;;) {
    const turn = await streamTurn(fetch, format, JSON.stringify(body), onText);
    body.messages.push(format.assistant(turn));
    if (turn.calls.length === 0) return { text: turn.text };
    body.messages.push(...format.results(await runTools(turn.calls, tools)));
  }
}
