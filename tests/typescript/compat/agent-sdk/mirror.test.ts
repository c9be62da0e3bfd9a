import { expect, it } from "vitest";
import { Mirror } from "../../../../src/typescript/compat/agent-sdk/sessions/mirror.js";
import type {
  SessionEntry,
  SessionStore,
} from "../../../../src/typescript/compat/agent-sdk/sessions/sessions.js";
import { settled, VirtualClock } from "../../support/virtual-clock.js";

const entry = (uuid: string): SessionEntry => ({ type: "user", uuid, timestamp: "", messages: [] });
const key = (sessionId: string): { projectKey: string; sessionId: string } => ({
  projectKey: "/",
  sessionId,
});

function mirrorOf(append: SessionStore["append"]): { clock: VirtualClock; mirror: Mirror; lost: unknown[] } {
  const clock = new VirtualClock();
  const lost: unknown[] = [];
  const store = { append, load: () => null };
  return { clock, lost, mirror: new Mirror(store, "batched", clock, (error) => lost.push(error)) };
}

it("writes the entries of a tenth of a second together, each session's apart", async () => {
  const kept: string[] = [];
  const { clock, mirror } = mirrorOf(({ sessionId }, entries) => {
    kept.push(`${sessionId}: ${entries.map(({ uuid }) => uuid).join(" ")}`);
  });
  mirror.keep(key("a"), [entry("1")]);
  await clock.pass(99);
  mirror.keep(key("a"), [entry("2")]);
  expect(kept).toEqual([]);
  await clock.pass(1);
  expect(kept).toEqual(["a: 1 2"]);
  mirror.keep(key("a"), [entry("3")]);
  mirror.keep(key("b"), [entry("4")]);
  await mirror.flush();
  expect(kept).toEqual(["a: 1 2", "a: 3", "b: 4"]);
});

it("tries an append that fails three times, and one that takes a minute once", async () => {
  let tries = 0;
  const failing = mirrorOf(() => {
    tries += 1;
    throw new Error("disk full");
  });
  failing.mirror.keep(key("a"), [entry("1")]);
  await failing.mirror.flush();
  expect([tries, failing.lost]).toEqual([3, [new Error("disk full")]]);
  let appends = 0;
  const slow = mirrorOf(() => {
    appends += 1;
    return new Promise(() => {});
  });
  slow.mirror.keep(key("a"), [entry("1")]);
  void slow.mirror.flush();
  await settled();
  await slow.clock.pass(59_999);
  expect(slow.lost).toEqual([]);
  await slow.clock.pass(1);
  expect([appends, String(slow.lost[0])]).toEqual([1, "TimeoutError: the store took longer than 60000 ms"]);
});
