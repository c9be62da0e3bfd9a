/** A vendor behind the page's server: what `answers(practice, body)` makes of a request, a `fetch`. */
export const vendorThat = (answers) => async (request, response) => {
  const practice = await import("looplet/practice");
  const left = new AbortController();
  response.on("close", () => left.abort());
  const url = request.url.replace("/api/anthropic", "https://api.anthropic.com");
  try {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    const answer = await answers(practice, body)(url, {
      method: "POST",
      body,
      signal: left.signal,
      headers: { "x-api-key": "key", "anthropic-version": "2023-06-01" },
    });
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    for await (const bytes of answer.body) response.write(bytes);
  } catch (error) {
    // The page may leave before the answer begins, and in the middle of it.
    if (!left.signal.aborted) throw error;
  }
  response.end();
};

/** The practice provider of looplet. */
export const vendor = vendorThat(({ practice }) => practice({ delayMs: 20 }));
