import { describe, expect, it } from "vitest";
import type { Fetch } from "looplet";
import { RawResponses } from "../../../../src/typescript/compat/production/raw-responses.js";

/** A server that sends the chunks, and the last one again and again. */
function endless(...chunks: Uint8Array[]) {
  const seen = { sent: 0, isCancelled: false };
  const body = new ReadableStream<Uint8Array>(
    {
      pull: (controller) => controller.enqueue(chunks[Math.min(seen.sent++, chunks.length - 1)]!),
      cancel: () => void (seen.isCancelled = true),
    },
    { highWaterMark: 0 },
  );
  const fetch: Fetch = async () => new Response(body, { status: 201, headers: { "x-a": "1" } });
  return { fetch, seen };
}

async function readerOf(raw: RawResponses, fetch: Fetch) {
  const init = { method: "POST", headers: {}, signal: new AbortController().signal };
  const response = (await raw.around(fetch)("https://api.test/", init as never)) as Response;
  expect([response.status, response.headers.get("x-a")]).toEqual([201, "1"]);
  return response.body!.getReader() as ReadableStreamDefaultReader<Uint8Array>;
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("the raw body of a response", () => {
  it("ends where the run leaves it, and so does the server's", async () => {
    const raw = new RawResponses();
    const { fetch, seen } = endless(bytes("event: message_stop\n\n"), bytes(": more\n\n"));
    const reader = await readerOf(raw, fetch);
    await reader.read();
    await reader.read();
    await reader.cancel();
    expect(await raw.last).toBe("event: message_stop\n\n: more\n\n");
    expect(seen).toEqual({ sent: 2, isCancelled: true });
  });

  it("is kept up to 64 MiB, and goes to the run whole", async () => {
    const raw = new RawResponses();
    const { fetch } = endless(new Uint8Array(1024 * 1024));
    const reader = await readerOf(raw, fetch);
    for (let at = 0; at < 65; at++) expect((await reader.read()).value).toHaveLength(1024 * 1024);
    await reader.cancel();
    expect(await raw.last).toBeUndefined();
  });

  it("that breaks off is none", async () => {
    const raw = new RawResponses();
    const body = new ReadableStream({ pull: () => Promise.reject(new Error("gone")) });
    const reader = await readerOf(
      raw,
      async () => new Response(body, { status: 201, headers: { "x-a": "1" } }),
    );
    await expect(reader.read()).rejects.toThrow("gone");
    expect(await raw.last).toBeUndefined();
  });
});
