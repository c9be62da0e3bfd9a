import type { RunEvent } from "../../../src/typescript/core/api/index.js";
import type { Replay } from "../../../src/typescript/lab/replay/index.js";

/**
 * What a replay tells and asks for, as native tests have it: the TypeScript adds the call of a subagent to events,
 * and its number to a request.
 */
export function toldBy({ steps, requests }: Replay) {
  const bare = ({ parentToolCallId: _, ...event }: RunEvent): object => event;
  return {
    requests: requests.map(({ number: _, ...sent }) => sent),
    events: steps.flatMap(({ events }) => events.map(bare)),
    // The checksum belongs to the text in a store, of which native tests know nothing.
    entries: steps.flatMap(({ entries }) =>
      entries.map(({ json }): unknown => ({ ...(JSON.parse(json) as object), crc: undefined })),
    ),
  };
}
