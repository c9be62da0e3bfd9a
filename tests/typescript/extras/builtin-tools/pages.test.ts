import { expect, it, vi } from "vitest";
import { builtinTools, fetchPages, type PageOptions } from "looplet/tools";

/** What WebFetch tells of an address, whose server answers so, and the addresses that were asked for. */
async function fetched(url: string, answers: { [url: string]: () => Response }, options: PageOptions = {}) {
  const asked: string[] = [];
  const fetch: PageOptions["fetch"] = async (url, { redirect }) => {
    expect(redirect).toBe("manual");
    asked.push(url);
    return answers[url]!();
  };
  const { WebFetch } = builtinTools({ webFetch: fetchPages({ fetch, ...options }) });
  const context = { signal: new AbortController().signal };
  const execute = WebFetch!.execute as (input: object, context: object) => unknown;
  try {
    return { told: await execute({ url, prompt: "?" }, context), asked };
  } catch (error) {
    return { told: (error as { code: string }).code, asked };
  }
}

const away = (location: string) => () => new Response(null, { status: 302, headers: { location } });
const page = "https://a.test/x";

it("follows a redirect on the same host, and tells the model of one to another", async () => {
  const moved = { [page]: away("/y"), "https://a.test/y": () => new Response("Here.") };
  expect(await fetched(page, moved)).toEqual({ told: "Here.", asked: [page, "https://a.test/y"] });
  for (const location of ["https://evil.test/z", "//evil.test/z", "http://a.test/z"]) {
    const { told, asked } = await fetched(page, { [page]: away(location) });
    expect(told).toContain("redirects to another host");
    expect(asked).toEqual([page]);
  }
  const { told, asked } = await fetched(page, { [page]: away("/x") });
  expect([told, asked.length]).toEqual(["redirected", 6]);
});

it.each([
  "http://localhost/",
  "http://localhost./",
  "http://127.0.0.1:8080/",
  "http://0x7f.1/",
  "http://2130706433/",
  "http://10.1.2.3/",
  "http://169.254.169.254/latest/meta-data/",
  "http://192.168.1.1/",
  "http://[::1]/",
  "http://[::ffff:127.0.0.1]/",
  "http://[fd00::1]/",
  "http://metadata.google.internal/",
  "http://router/",
])("asks no address of your own network: %s", async (url) => {
  expect(await fetched(url, {})).toEqual({ told: "refused_url", asked: [] });
});

it("takes no name and password, no redirect out of the web, and no bytes", async () => {
  expect((await fetched("https://me:secret@a.test/", {})).told).toBe("invalid_url");
  expect((await fetched(page, { [page]: away("javascript:alert(1)") })).told).toBe("invalid_url");
  const image = () => new Response("x", { headers: { "content-type": "image/png" } });
  expect((await fetched(page, { [page]: image })).told).toBe("http");
});

it("takes no more of a page than it may", async () => {
  let taken = 0;
  const pull = (stream: ReadableStreamDefaultController<Uint8Array>): void => {
    taken += 1000;
    stream.enqueue(new Uint8Array(1000).fill(97));
  };
  const endless = () => new Response(new ReadableStream({ pull }));
  expect((await fetched(page, { [page]: endless }, { maxBytes: 5000 })).told).toBe("too_large");
  expect(taken).toBeLessThan(9000);
  const { told } = await fetched(page, { [page]: () => new Response("abc") }, { maxChars: 2 });
  expect(told).toBe("ab\n[The page is longer.]");
});

it("asks about each address of a redirect, and about none that was refused", async () => {
  const allows = vi.fn((url: string) => !url.endsWith("/secret"));
  const moved = { [page]: away("/y"), "https://a.test/y": away("/secret") };
  expect(await fetched(page, moved, { allows })).toEqual({
    told: "refused_url",
    asked: [page, "https://a.test/y"],
  });
  expect(allows.mock.calls.flat()).toEqual([page, "https://a.test/y", "https://a.test/secret"]);
});

it.each([
  ["never answers", () => new Promise<Response>(() => {})],
  ["never ends its answer", async () => new Response(new ReadableStream())],
])("waits no longer than it may for a server that %s", async (_, answer) => {
  vi.useFakeTimers();
  try {
    let outcome: unknown;
    void fetched(page, { [page]: answer as never }, { timeoutMs: 5_000 }).then(
      ({ told }) => (outcome = told),
    );
    await vi.advanceTimersByTimeAsync(4_990);
    expect(outcome).toBeUndefined();
    await vi.advanceTimersByTimeAsync(20);
    expect(outcome).toBe("timeout");
  } finally {
    vi.useRealTimers();
  }
});
