/**
 * The servers of VENDORS.md with two rules of the vendors' own summaries that they do not play: the messages that
 * Claude sums up may end with an answer, and OpenAI's `/responses/compact` takes no tools, but knows the conversation
 * that its items are of.
 */
type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** The fields of `ResponseCompactParams` of the npm package `openai` 7.55.0. */
const FIELDS = [
  "model",
  "input",
  "instructions",
  "previous_response_id",
  "prompt_cache_key",
  "prompt_cache_options",
  "prompt_cache_retention",
  "service_tier",
];

export function compacting(server: {
  fetch: Fetch;
  options: { refuseOptions: boolean };
  last?: object;
}): Fetch {
  return async (url, init) => {
    const body = JSON.parse(await new Response(init.body ?? "{}").text()) as Record<string, unknown>;
    if (/\/responses\/compact$/.test(url)) {
      const unknown = Object.keys(body).find((name) => !FIELDS.includes(name));
      if (unknown !== undefined) {
        const message = `Unknown parameter: '${unknown}'.`;
        return Response.json({ error: { message, type: "invalid_request_error" } }, { status: 400 });
      }
      return server.fetch(url, { ...init, body: JSON.stringify({ ...server.last, ...body, stream: false }) });
    }
    const { refuseOptions } = server.options;
    try {
      if (body["compaction"] !== undefined) server.options.refuseOptions = false;
      else server.last = body;
      return await server.fetch(url, { ...init, body: JSON.stringify(body) });
    } finally {
      server.options.refuseOptions = refuseOptions;
    }
  };
}
