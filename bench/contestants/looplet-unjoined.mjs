/** looplet with the vendor's own deltas, one callback each. */
import { settled, start } from "./looplet.mjs";

export const title = "looplet, unjoined deltas";

export async function run(task, fetch, options) {
  const run = start(task, fetch, options, { onText: options.onText }, { events: { joinDeltas: false } });
  return settled(run);
}
