import type { StoreLog } from "../../../src/typescript/server/workers/hosting/store-log.js";

/** A page that follows a log: the numbers of the events that it hears, and the cursors behind them. */
export interface Follower {
  /** Whether the log knows the cursor. */
  readonly isKnown: boolean;
  /** Whether entries are gone that the page has not heard. */
  readonly hasGap: boolean;
  readonly heard: number[];
  readonly cursors: string[];
}

export async function follow(log: StoreLog, cursor?: string): Promise<Follower> {
  await log.load();
  const place = log.placeOf(cursor);
  const heard: number[] = [];
  const follower = { isKnown: place !== undefined, hasGap: false, heard, cursors: [] as string[] };
  const read = async (place: number): Promise<void> => {
    for await (const { hasGap, entries } of log.feed.read(place, new AbortController().signal)) {
      follower.hasGap ||= hasGap;
      for (const { cursor, entry } of entries) {
        heard.push(entry.event!.seq);
        follower.cursors.push(cursor);
      }
    }
  };
  if (place !== undefined) void read(place);
  return follower;
}
