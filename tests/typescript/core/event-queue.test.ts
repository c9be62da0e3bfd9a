import { describe, expect, it } from "vitest";
import { EventQueue } from "../../../src/typescript/core/run/events/event-queue.js";
import type { RunEvent } from "../../../src/typescript/core/api/index.js";

const stamp = { agentPath: "root", iteration: 1, attempt: 1 };
const delta = (seq: number, block: number, text: string, attempt = 1): RunEvent => ({
  ...stamp,
  attempt,
  seq,
  type: "text-delta",
  block,
  text,
});
const end = (seq: number, block: number): RunEvent => ({ ...stamp, seq, type: "text-end", block });

/** Everything that waits in a queue which has got `events`. */
async function queued(...events: RunEvent[]): Promise<RunEvent[]> {
  const queue = new EventQueue([], () => {});
  for (const event of events) queue.push(event);
  queue.end();
  return collect(queue);
}

describe("a queue of events", () => {
  it("joins the waiting deltas of a block and keeps the last number", async () => {
    expect(await queued(delta(1, 0, "a"), delta(2, 0, "b"), delta(3, 0, "c"))).toEqual([delta(3, 0, "abc")]);
  });

  it("joins interleaved blocks apart from each other, with rising numbers", async () => {
    const events = await queued(delta(1, 0, "a"), delta(2, 1, "x"), delta(3, 0, "b"), delta(4, 1, "y"));
    expect(events).toEqual([delta(3, 0, "ab"), delta(4, 1, "xy")]);
    const rising = await queued(delta(1, 0, "a"), delta(2, 1, "x"), delta(3, 0, "b"));
    expect(rising).toEqual([delta(2, 1, "x"), delta(3, 0, "ab")]);
  });

  it("joins nothing across another event, another attempt or another kind", async () => {
    const reasoning: RunEvent = { ...stamp, seq: 5, type: "reasoning-delta", block: 0, text: "r" };
    const events = [delta(1, 0, "a"), end(2, 0), delta(3, 0, "b"), delta(4, 0, "c", 2), reasoning];
    expect(await queued(...events)).toEqual(events);
  });

  it("holds as many entries as blocks however many deltas wait", async () => {
    const many = Array.from({ length: 10_000 }, (_, index) => delta(index + 1, index % 3, "x"));
    expect(await queued(...many)).toHaveLength(3);
  });

  it("hands an event straight to a reader that waits, unjoined", async () => {
    const queue = new EventQueue([], () => {});
    const first = queue.next();
    queue.push(delta(1, 0, "a"));
    queue.push(delta(2, 0, "b"));
    expect(await first).toEqual({ done: false, value: delta(1, 0, "a") });
    expect(await queue.next()).toEqual({ done: false, value: delta(2, 0, "b") });
  });

  it("ends every waiting reader", async () => {
    const queue = new EventQueue([], () => {});
    const readers = [queue.next(), queue.next()];
    queue.end();
    expect(await Promise.all(readers)).toEqual([
      { done: true, value: undefined },
      { done: true, value: undefined },
    ]);
  });

  it("says that its reader has left, once, and not after the end", async () => {
    let left = 0;
    const queue = new EventQueue([end(1, 0)], () => left++);
    await queue.return();
    await queue.return();
    expect(left).toBe(1);
    const over = new EventQueue([], () => left++);
    over.end();
    await over.return();
    expect(left).toBe(1);
  });
});

async function collect(queue: EventQueue): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  for await (const event of queue) events.push(event);
  return events;
}
