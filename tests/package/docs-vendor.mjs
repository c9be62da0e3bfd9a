/** A vendor behind the page's server: the practice provider of looplet. */
export const vendor = async (request, response) => {
  const { practice } = await import("looplet/practice");
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const left = new AbortController();
  response.on("close", () => left.abort());
  const init = { method: "POST", body: Buffer.concat(chunks).toString(), signal: left.signal };
  const url = request.url.replace("/api/anthropic", "https://api.anthropic.com");
  const answer = await practice({ delayMs: 20 })(url, {
    ...init,
    headers: { "x-api-key": "key", "anthropic-version": "2023-06-01" },
  });
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  try {
    for await (const bytes of answer.body) response.write(bytes);
  } catch {
    // The page has left.
  }
  response.end();
};
