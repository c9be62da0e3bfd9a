// Secrets and the responses that could carry them away.
import { afterEach, describe, expect, it } from "vitest";
import type { FetchInit } from "../../../../src/typescript/core/api/index.js";
import { redact } from "../../../../src/typescript/core/host/secrets/redact.js";
import { answer, begin, duck, settle, streamOf, type Recorded } from "./kit.js";

const runs: Recorded[] = [];
const begun = async (...parameters: Parameters<typeof begin>): Promise<Recorded> => {
  const run = await begin(...parameters);
  runs.push(run);
  return run;
};
afterEach(() => runs.splice(0).forEach(({ driver }) => driver.free()));

const secret = "sk-secret/1234+x";
const authorize = ({ headers }: { headers: [string, string][] }): [string, string][] => [
  ...headers,
  ["x-api-key", secret],
  ["x-tier", "pro"],
];
const shown = (run: Recorded): string =>
  JSON.stringify([run.driver.outcome(), run.events, run.driver.result()]);

describe("a redirect", () => {
  it.each([
    [
      "a status",
      () => new Response(null, { status: 308, headers: { location: "https://evil.test/v1?k=1" } }),
    ],
    ["a relative target", () => duck({ status: 302, headers: { location: "/else" } }), "https://api.test. "],
    ["a hidden response", () => duck({ status: 0, type: "opaqueredirect" }), "another address. "],
    [
      "an answer from another address",
      () => duck({ redirected: true, url: "https://evil.test/x", body: answer("Hello").join("") }),
      "https://evil.test, and has sent the key there. ",
    ],
  ])(
    "that shows as %s is a failure that names the origin, and is not followed",
    async (_name, response, target = "https://evil.test. ") => {
      const seen: FetchInit[] = [];
      const run = await begun({
        config: { retry: { maxRetries: 3 } },
        fetch: async (_url, init) => (seen.push(init), response()),
      });
      await run.done;
      expect(seen.map(({ redirect }) => redirect)).toEqual(["manual"]);
      expect(run.driver.outcome()!.error).toMatchObject({ code: "redirected", retryable: false });
      expect(run.driver.outcome()!.error!.message).toMatch(/redirects? to /);
      expect(run.driver.outcome()!.error!.message).toContain(target);
      expect(run.text()).toBe("");
    },
  );

  it("has its body cancelled", async () => {
    let cancelled = 0;
    const body = streamOf(["x"], { isOpenEnded: true, onCancel: () => void cancelled++ });
    const run = await begun({ fetch: async () => new Response(body, { status: 307 }) });
    await run.done;
    await settle();
    expect(cancelled).toBe(1);
  });
});

describe("the key of a request", () => {
  const broken = {
    body: { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error(`lost ${secret}`)) }) },
  };
  const said = `{"error":{"message":"the product has no key ${secret}, ${secret}"}}`;
  it.each([
    ["an error of its body", () => duck(broken), "lost [redacted]"],
    ["a refusal", () => new Response(said, { status: 401 }), "no key [redacted], [redacted]"],
    ["a whole body with status 200", () => new Response(said), "no key [redacted], [redacted]"],
    [
      "an event of a stream",
      () => new Response(streamOf([answer("Hi")[0]!, `event: error\ndata: ${said}\n\n`])),
      "no key [redacted], [redacted]",
    ],
    ["a page with status 200", () => new Response(`<p>${secret}</p>`), "<p>[redacted]</p>"],
    ["a page cut within the key", () => new Response(`<p>${"x".repeat(488)}${secret}`), "xxx[redacted]"],
    [
      "the id of a request",
      () => new Response("{}", { status: 500, headers: { "request-id": `req ${secret}` } }),
      "req [redacted]",
    ],
    [
      "the vendor's own code",
      () =>
        new Response(`{"error":{"message":"no","details":{"error_code":"no ${secret}"}}}`, { status: 400 }),
      "no [redacted]",
    ],
  ])("does not come out of %s", async (_name, response, words) => {
    const run = await begun({ authorize, fetch: async () => response() });
    await run.done;
    expect(shown(run)).toContain(words);
    expect(shown(run)).not.toContain("sk-sec");
  });
});

it("a key of many thousand characters keeps no failure from its code", async () => {
  const key = "eyJ" + "abcdefgh01".repeat(500);
  const run = await begun({
    authorize: ({ headers }) => [...headers, ["authorization", `Bearer ${key}`]],
    fetch: async () => new Response(`{"error":{"message":"no ${key}"}}`, { status: 401 }),
  });
  await run.done;
  expect(run.driver.outcome()!.error).toMatchObject({ code: "auth", status: 401 });
  expect(run.driver.outcome()!.error!.message).toContain("no [redacted]");
});

describe("redact", () => {
  const base64 = (before: string): string => btoa(`${before}${secret}!`);
  it.each([
    ["as it is", secret],
    ["with escaped slashes", secret.replace("/", "\\/")],
    ["within JSON within JSON", secret.replace("/", "\\\\\\/")],
    ["with code points", secret.replace("/", "\\u002F").replace("-", "\\u002d")],
    ["percent-encoded", encodeURIComponent(secret)],
    ["percent-encoded twice", encodeURIComponent(encodeURIComponent(secret))],
    ["in capitals", secret.toUpperCase()],
    ["in base64", base64("")],
    ["in base64 behind a user", base64("u:")],
    ["in base64 behind another user", base64("u")],
    ["in base64 of a URL", base64("").replaceAll("+", "-").replaceAll("/", "_")],
  ])("finds a secret %s", (_name, text) => {
    const clean = redact(`before ${text} after`, [secret]);
    expect(clean).toMatch(/^before .{0,4}\[redacted\].{0,4} after$/);
  });

  it("leaves no character that has bits of a secret in base64", () => {
    for (const key of ["key-of-a-test", "key-of-a-test1", "key-of-a-test12"]) {
      for (const [before, after] of [
        ["", ""],
        ["u", ""],
        ["u:", ""],
        ["", "!"],
        ["u", "!"],
        ["u:", "!!"],
      ]) {
        const clean = redact(`<${btoa(`${before}${key}${after}`)}>`, [key]);
        const bytes = before!.length + key.length;
        const shared = Math.ceil((bytes * 8) / 6);
        const all = Math.ceil(((bytes + after!.length) * 8) / 6);
        const [start, end] = clean.slice(1, -1).split("[redacted]") as [string, string];
        expect(start.length, clean).toBeLessThanOrEqual(Math.floor((before!.length * 8) / 6));
        expect(end.replaceAll("=", "").length, clean).toBeLessThanOrEqual(all - shared);
      }
    }
  });

  it("takes the beginning of a secret in base64 from a text that was cut off", () => {
    const cut = btoa(`u:${secret}`).slice(0, -4);
    expect(redact(`before ${cut}`, [secret])).toMatch(/^before .{0,3}\[redacted\]$/);
  });

  it("finds a secret behind characters that could be the beginning of an escape", () => {
    for (const key of ["abcdef0123456789", "0061feed0061feed", "25ab25ab25ab"])
      for (const before of ["%", "%4", "\\", "\\u", "\\u00", "%25", "\\u00%"])
        for (const text of [key, JSON.stringify(key).slice(1, -1), encodeURIComponent(key)])
          expect(redact(`${before}${text}.`, [key]), before + text).toMatch(/^[^]{0,5}\[redacted\]\.$/);
  });

  it("finds a secret of any length, and makes one of places that overlap", () => {
    const long = Array.from({ length: 20_000 }, (_, at) => (at * at).toString(36))
      .join("")
      .slice(0, 20_000);
    expect(redact(`a ${long} b ${long.slice(0, -1)}`, [long])).toBe("a [redacted] b [redacted]");
    expect(redact("my-key-is-open-sesame!", ["my-key-is-open", "is-open-sesame"])).toBe("[redacted]!");
  });

  it("takes linear time for a secret that a server has chosen", () => {
    const chosen = "a".repeat(999) + "b";
    expect(redact(`${"a".repeat(300_000)}.`, [chosen])).toHaveLength(300_001);
  });

  it("takes linear time for hostile texts", () => {
    for (const text of ["\\".repeat(65_536), "%25".repeat(21_845), secret.slice(0, -1).repeat(4_000)])
      expect(redact(`${text}.`, [secret])).toHaveLength(text.length + 1);
  });
});
