import type { RunEvent } from "../../../src/face/core/api/index.js";
import type { Replay } from "../../../src/face/parts/replay/index.js";

/** What a replay tells and asks for, as the engine has it: the face adds the call of a subagent to its events. */
export function toldBy({ steps, requests }: Replay) {
  const bare = ({ parentToolCallId: _, ...event }: RunEvent): object => event;
  return {
    requests,
    events: steps.flatMap(({ events }) => events.map(bare)),
    // The checksum belongs to the text in a store, of which native tests know nothing.
    entries: steps.flatMap(({ entries }) =>
      entries.map(({ json }): unknown => ({ ...(JSON.parse(json) as object), crc: undefined })),
    ),
  };
}
