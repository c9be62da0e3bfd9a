/** How often an agent behind an address sends a call to a server that cannot be reached. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { connectAgent, type AddressOptions, type RemoteAgent } from "looplet/workers";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A page whose server is down for so many requests. */
function page(failures: number, options: AddressOptions = {}) {
  const sent: string[] = [];
  const fetch = (async (url: string, { method = "GET" }: RequestInit = {}) => {
    if (method === "GET") return new Response(null, { status: 204 });
    sent.push(url);
    if (sent.length <= failures) throw new TypeError("fetch failed");
    return Response.json({ value: { messages: [], subagents: [], usage: null, run: null } });
  }) as never;
  return { sent, agent: connectAgent("http://x.test/api", { ...options, fetch }) };
}

async function opened(agent: RemoteAgent, hours = 1): Promise<unknown> {
  let end: unknown;
  agent.openChat("c").then(
    (chat) => (end = chat.messages),
    (error: unknown) => (end = error),
  );
  await vi.advanceTimersByTimeAsync(hours * 3_600_000);
  return end;
}

it.each([
  [{}, 8],
  [{ maxAttempts: undefined }, 8],
  [{ maxAttempts: 1 }, 1],
  [{ maxAttempts: 20 }, 20],
] as const)("with %j fails a call after its attempts", async (options, attempts) => {
  const down = page(Infinity, options);
  expect(await opened(down.agent)).toBeInstanceOf(Error);
  expect(down.sent).toHaveLength(attempts);
  const late = page(attempts - 1, options);
  expect(await opened(late.agent)).toEqual([]);
});

it("without a limit waits until the server is back, or until the page disconnects", async () => {
  const late = page(300, { maxAttempts: null });
  expect(await opened(late.agent)).toEqual([]);
  expect(late.sent).toHaveLength(301);
  const down = page(Infinity, { maxAttempts: null });
  const end = opened(down.agent, 2);
  await vi.advanceTimersByTimeAsync(3_600_000);
  down.agent.disconnect();
  expect(await end).toMatchObject({ code: "misuse_agent_closed" });
});

it("takes a positive integer or null", () => {
  for (const maxAttempts of [0, -1, 1.5, NaN, "3"])
    expect(() => page(0, { maxAttempts: maxAttempts as never })).toThrow("maxAttempts");
});

it("says what to write for a method of another library's agent or chat", async () => {
  const { agent } = page(0);
  const chat = await agent.openChat("c");
  expect(() => (agent as never as { generate(): void }).generate()).toThrow("agent.run(prompt)");
  for (const name of ["sendMessage", "send"])
    expect(() => (chat as never as { [name: string]: () => void })[name]!()).toThrow("chat.run(prompt)");
});
