import { describe, expect, it, vi } from "vitest";
import type { RunEvent, Store } from "looplet";
import { memoryStore } from "looplet/stores";
import { StoreLog } from "../../../src/typescript/server/workers/hosting/store-log.js";
import type { SessionEntry } from "../../../src/typescript/server/workers/hosting/session-log.js";
import { follow } from "../support/follow.js";
import { settled } from "../support/virtual-clock.js";

const event = (seq: number): SessionEntry => ({
  run: "a",
  event: { seq, type: "text-delta", text: `${seq}` } as RunEvent,
});

describe("the log of a session", () => {
  it("tells a page exactly what it has missed, from any cursor and from any host", async () => {
    const store = memoryStore();
    const log = new StoreLog(store, "a");
    await log.claim();
    const first = await follow(log);
    for (const seq of [1, 2, 3]) log.append(event(seq));
    await vi.waitUntil(() => first.heard.length === 3);
    const next = new StoreLog(store, "a");
    await next.claim();
    for (const [at, cursor] of first.cursors.entries()) {
      const again = await follow(next, cursor);
      await settled();
      expect([again.isKnown, again.heard]).toEqual([true, [1, 2, 3].slice(at + 1)]);
    }
    expect(await follow(next, "another.1")).toMatchObject({ isKnown: false });
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
    const log = new StoreLog(slow, "a");
    const page = await follow(log);
    log.append(event(1));
    await settled();
    expect([page.heard, (await kept.load("a")) ?? []]).toEqual([[], []]);
    go();
    await vi.waitUntil(() => page.heard.length === 1);
    expect(await kept.load("a")).toHaveLength(2);
  });

  it("takes nothing from a host whose successor has claimed it", async () => {
    const store = memoryStore();
    const [frozen, successor] = [new StoreLog(store, "a"), new StoreLog(store, "a")];
    await frozen.claim();
    const page = await follow(frozen);
    frozen.append(event(1));
    await vi.waitUntil(() => page.heard.length === 1);
    await successor.claim();
    // It wakes up before its successor has written anything.
    frozen.append(event(2));
    await settled();
    successor.append(event(3));
    const other = await follow(successor);
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
    const log = new StoreLog(faulty, "a");
    const page = await follow(log);
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
    const again = await follow(new StoreLog(kept, "a"));
    await settled();
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
    const log = new StoreLog(slow, "a");
    const page = await follow(log);
    log.append(event(1));
    await vi.advanceTimersByTimeAsync(2000);
    await kept.append(...late!);
    isSlow = false;
    for (const seq of [2, 3]) {
      log.append(event(seq));
      await log.written();
    }
    vi.useRealTimers();
    reported.mockRestore();
    await settled();
    expect(page.heard).toEqual([1, 2, 3]);
    const again = await follow(new StoreLog(kept, "a"));
    await settled();
    expect(again.heard).toEqual([1, 2, 3]);
  });

  it("lets its oldest entries go, and the others keep their cursors, in another process too", async () => {
    const store = memoryStore();
    const log = new StoreLog(store, "a", (told) => Math.max(told.length - 2, 0));
    await log.claim();
    const page = await follow(log);
    for (const seq of [1, 2, 3, 4]) log.append(event(seq));
    await log.written();
    log.prune();
    log.append(event(5));
    await log.written();
    await settled();
    expect(page.heard).toEqual([1, 2, 3, 4, 5]);
    for (const next of [log, new StoreLog(store, "a")]) {
      for (const [at, cursor] of page.cursors.entries()) {
        const again = await follow(next, cursor);
        await settled();
        expect([again.hasGap, again.heard], cursor).toEqual([
          at < 1,
          [3, 4, 5].filter((seq) => seq > at + 1),
        ]);
      }
      const all = await follow(next);
      await settled();
      expect([all.hasGap, all.heard]).toEqual([false, [3, 4, 5]]);
    }
    expect((await store.load("a"))!.map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
  });

  it("begins anew when another process has deleted it, and tells what comes", async () => {
    const store = memoryStore();
    const log = new StoreLog(store, "a");
    await log.claim();
    const page = await follow(log);
    log.append(event(1));
    await log.written();
    await store.delete("a");
    for (const seq of [2, 3]) {
      log.append(event(seq));
      await log.written();
    }
    await settled();
    expect([page.heard, page.hasGap]).toEqual([[1, 2, 3], true]);
    const again = await follow(new StoreLog(store, "a"));
    await settled();
    expect(again.heard).toEqual([2, 3]);
  });

  it("has written all that came so far, also while more comes and the store is slow", async () => {
    const kept = memoryStore();
    const log = new StoreLog(
      {
        load: (key) => kept.load(key),
        append: async (...args) => {
          // Another event comes during each write.
          if (log.last < 50) log.append(event(100));
          await kept.append(...args);
        },
      },
      "a",
    );
    log.append(event(1));
    await log.written();
    expect(log.last).toBeGreaterThanOrEqual(1);
    expect(log.last).toBeLessThan(5);
  });
});
