/** looplet read as an async iterator of events. */
import { settled, start } from "./looplet.mjs";

export const title = "looplet, for await";

export async function run(task, fetch, options) {
  const run = start(task, fetch, options);
  for await (const event of run) {
    if (event.type === "text-delta") options.onText(event.text);
  }
  return settled(run);
}
