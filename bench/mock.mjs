/**
 * A `fetch` inside the process: no network, no timer. It returns prepared chunks as fast as the reader asks. It reads
 * every request body like a real `fetch`: it encodes a string, and it copies bytes.
 */
import { seeded } from "./random.mjs";

const encoder = new TextEncoder();
const KIB = 1024;

/** Cuts the events of one response into the chunks that the body stream delivers. */
export function cut(events, how) {
  if (how === "event") return events.map((event) => encoder.encode(event));
  const bytes = encoder.encode(events.join(""));
  const random = seeded(7);
  const chunks = [];
  for (let from = 0; from < bytes.length;) {
    const to = Math.min(bytes.length, from + (how === "split" ? random.between(1, 120) : 16 * KIB));
    chunks.push(bytes.slice(from, to));
    from = to;
  }
  return chunks;
}

/** `responses`: one array of chunks for each request, in order. `seen.lastBody` is the last request's. */
export function mockFetch(responses) {
  const seen = { requests: 0, lastBody: undefined };
  const fetch = async (_url, init) => {
    const chunks = responses[seen.requests];
    if (chunks === undefined) throw new Error(`request ${seen.requests + 1} of ${responses.length} expected`);
    seen.requests += 1;
    seen.lastBody = read(init.body);
    return new Response(streamOf(chunks), {
      status: 200,
      headers: { "content-type": "text/event-stream; charset=utf-8" },
    });
  };
  return { fetch, seen };
}

/** The bytes of a body as a copy. Undefined for a request without a body. */
function read(body) {
  return typeof body === "string" ? encoder.encode(body) : body?.slice();
}

function streamOf(chunks) {
  let next = 0;
  return new ReadableStream({
    pull(controller) {
      if (next < chunks.length) controller.enqueue(chunks[next++]);
      else controller.close();
    },
  });
}
