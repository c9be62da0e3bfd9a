import { describe, expect, it, vi } from "vitest";
import type { Store } from "looplet";
import { memoryStore } from "looplet/stores";
import { RunLog } from "../../src/face/parts/workers/run-log.js";

const event = (seq: number): { event: object } => ({ event: { seq, type: "text-delta", text: `${seq}` } });

/** What a page hears of a log, as numbers of events. */
function follower(): { heard: number[]; hear: (cursor: string, entry: any) => void; cursors: string[] } {
  const heard: number[] = [];
  const cursors: string[] = [];
  return {
    heard,
    cursors,
    hear: (cursor, entry) => {
      heard.push(entry.event.seq);
      cursors.push(cursor);
    },
  };
}

const tasks = async (): Promise<void> => {
  for (let task = 0; task < 20; task++) await Promise.resolve();
};

describe("the log of a run", () => {
  it("tells a page exactly what it has missed, from any cursor and from any host", async () => {
    const store = memoryStore();
    const log = new RunLog(store, "a");
    await log.claim();
    const first = follower();
    await log.follow("page", undefined, first.hear);
    for (const seq of [1, 2, 3]) log.append(event(seq));
    await vi.waitUntil(() => first.heard.length === 3);
    const next = new RunLog(store, "a");
    await next.claim();
    for (const [at, cursor] of first.cursors.entries()) {
      const again = follower();
      expect(await next.follow("page", cursor, again.hear)).toBe(true);
      expect(again.heard).toEqual([1, 2, 3].slice(at + 1));
    }
    expect(await next.follow("page", "another.1", first.hear)).toBe(false);
  });

  it("tells nothing that the store does not have", async () => {
    const kept = memoryStore();
    let go = (): void => {};
    const slow: Store = {
      load: (key) => kept.load(key),
      append: async (...args) => {
        await new Promise<void>((resolve) => (go = resolve));
        await kept.append(...args);
      },
    };
    const log = new RunLog(slow, "a");
    const page = follower();
    await log.follow("page", undefined, page.hear);
    log.append(event(1));
    await tasks();
    expect([page.heard, (await kept.load("a")) ?? []]).toEqual([[], []]);
    go();
    await vi.waitUntil(() => page.heard.length === 1);
    expect(await kept.load("a")).toHaveLength(2);
  });

  it("takes nothing from a host whose successor has claimed it", async () => {
    const store = memoryStore();
    const [frozen, successor] = [new RunLog(store, "a"), new RunLog(store, "a")];
    await frozen.claim();
    const page = follower();
    await frozen.follow("page", undefined, page.hear);
    frozen.append(event(1));
    await vi.waitUntil(() => page.heard.length === 1);
    await successor.claim();
    // It wakes up before its successor has written anything.
    frozen.append(event(2));
    await tasks();
    successor.append(event(3));
    const other = follower();
    await successor.follow("page", undefined, other.hear);
    await vi.waitUntil(() => other.heard.length === 2);
    expect([page.heard, other.heard]).toEqual([[1], [1, 3]]);
  });

  it("goes on when the store fails, reports it, and gives the store later what it has missed", async () => {
    const reported = vi.spyOn(console, "error").mockImplementation(() => {});
    vi.useFakeTimers();
    const kept = memoryStore();
    let isFaulty = true;
    const faulty: Store = {
      load: (key) => kept.load(key),
      append: (...args) => {
        if (isFaulty) throw new Error("the disk is full");
        return kept.append(...args);
      },
    };
    const log = new RunLog(faulty, "a");
    const page = follower();
    await log.follow("page", undefined, page.hear);
    log.append(event(1));
    await vi.advanceTimersByTimeAsync(2000);
    log.append(event(2));
    await vi.advanceTimersByTimeAsync(1);
    expect(page.heard).toEqual([1, 2]);
    expect(reported).toHaveBeenCalledTimes(2);
    isFaulty = false;
    log.append(event(3));
    await vi.advanceTimersByTimeAsync(1);
    vi.useRealTimers();
    reported.mockRestore();
    const again = follower();
    await new RunLog(kept, "a").follow("page", undefined, again.hear);
    expect(again.heard).toEqual([1, 2, 3]);
  });

  it("stays its host's when a write that has failed reaches the store late, before the next one", async () => {
    const reported = vi.spyOn(console, "error").mockImplementation(() => {});
    vi.useFakeTimers();
    const kept = memoryStore();
    let late: Parameters<Store["append"]> | undefined;
    let isSlow = true;
    const slow: Store = {
      load: (key, after) => kept.load(key, after),
      append: (...args) => {
        if (!isSlow) return kept.append(...args);
        late = args;
        throw new Error("the connection was lost");
      },
    };
    const log = new RunLog(slow, "a");
    const page = follower();
    await log.follow("page", undefined, page.hear);
    log.append(event(1));
    await vi.advanceTimersByTimeAsync(2000);
    await kept.append(...late!);
    isSlow = false;
    for (const seq of [2, 3]) await log.append(event(seq));
    vi.useRealTimers();
    reported.mockRestore();
    expect(page.heard).toEqual([1, 2, 3]);
    const again = follower();
    await new RunLog(kept, "a").follow("page", undefined, again.hear);
    expect(again.heard).toEqual([1, 2, 3]);
  });
});
