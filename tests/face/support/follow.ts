import type { RunLog } from "../../../src/face/parts/workers/hosting/run-log.js";

/** A page that follows a log: the numbers of the events that it hears, and the cursors behind them. */
export interface Follower {
  /** Whether the log knows the cursor. */
  readonly isKnown: boolean;
  readonly heard: number[];
  readonly cursors: string[];
}

export async function follow(log: RunLog, cursor?: string): Promise<Follower> {
  const [heard, cursors]: [number[], string[]] = [[], []];
  const place = await log.placeOf(cursor);
  const read = async (place: number): Promise<void> => {
    for await (const { entries } of log.feed.read(place, new AbortController().signal))
      for (const { cursor, entry } of entries) {
        heard.push((entry as { event: { seq: number } }).event.seq);
        cursors.push(cursor);
      }
  };
  if (place !== undefined) void read(place);
  return { isKnown: place !== undefined, heard, cursors };
}
