import { afterEach, describe, expect, it } from "vitest";
import type { FetchInit } from "../../../../src/typescript/core/api/index.js";
import { bodyJson } from "../../support/bodies.js";
import { answer, begin, call, duck, settle, streamOf, weather, type Recorded } from "./kit.js";

const runs: Recorded[] = [];
const begun = async (...parameters: Parameters<typeof begin>): Promise<Recorded> => {
  const run = await begin(...parameters);
  runs.push(run);
  return run;
};
afterEach(() => runs.splice(0).forEach(({ driver }) => driver.free()));

const whole = answer("Hello").join("");
const bytes = new TextEncoder().encode(whole);

describe("a request", () => {
  it("has the headers that authorize returned, a body of its own and a signal", async () => {
    let url: unknown;
    let seen!: FetchInit;
    const signed: Uint8Array[] = [];
    const run = await begun({
      config: {
        model: { vendor: "anthropic", model: "m", baseUrl: "https://api.test", headers: [["x-a", "1"]] },
      },
      authorize: async ({ headers, auth, method, body }) => {
        expect(method).toBe("POST");
        signed.push(body);
        expect(bodyJson({ body })).toMatchObject({ model: "m" });
        return [...headers, [auth.header, `${auth.prefix}key`]];
      },
      fetch: async (...parameters) => {
        [url, seen] = parameters;
        return new Response(whole);
      },
    });
    await run.done;
    expect(url).toBe("https://api.test/v1/messages");
    expect(seen.method).toBe("POST");
    expect(bodyJson(seen)).toMatchObject({ model: "m" });
    expect(signed[0]).toBe(seen.body);
    expect(seen.signal).toBeInstanceOf(AbortSignal);
    const headers = new Headers(seen.headers);
    expect(headers.get("x-api-key")).toBe("key");
    expect(headers.get("x-a")).toBe("1");
    expect(headers.get("content-type")).toBe("application/json");
  });

  it("has headers that no other request has, and the results as the tools gave them", async () => {
    const seen: FetchInit[] = [];
    const value = "Grüße, 世界 😀 ";
    const results = [value, value.repeat(4_000)];
    const ids = ["toolu_é", "toolu_😀"];
    const names: string[] = [];
    const run = await begun({
      config: { tools: [weather] },
      fetch: async (_url, init) => {
        const isFirst = seen.push(init) < 3;
        const stream = isFirst ? call('{"city":"Zürich 😀"}') : answer("Done");
        const response = new Response(stream.join("").replace("toolu_1", ids[seen.length - 1]!));
        init.headers.set("x-mine", String(seen.length));
        return response;
      },
      callTool: ({ call: id, toolCallId, toolName, input }) => {
        names.push([toolCallId, toolName, JSON.stringify(input)].join(" "));
        run.driver.toolFinished(id, { value: JSON.stringify(results[names.length - 1]) });
      },
    });
    await run.done;
    expect(run.driver.outcome()).toMatchObject({ outcome: "completed" });
    expect(names).toEqual(ids.map((id) => `${id} weather {"city":"Zürich 😀"}`));
    expect(seen.map(({ headers }) => headers.get("x-mine"))).toEqual(["1", "2", "3"]);
    const sent = seen.map((init) => bodyJson(init).messages);
    expect(sent.map(({ length }) => length)).toEqual([1, 3, 5]);
    const messages: { content: { content?: string }[] }[] = sent[2];
    expect(JSON.stringify(messages[2]!.content)).toContain(results[0]);
    expect(JSON.stringify(messages[4]!.content)).toContain(results[1]);
  });

  it.each([
    ["a line break", "se\ncret"],
    ["a character beyond latin1", "se€cret"],
  ])("with %s in a header is not sent, and the value is not told", async (_name, secret) => {
    let fetched = 0;
    const run = await begun({
      authorize: ({ headers }) => [...headers, ["x-api-key", secret]],
      fetch: async () => {
        fetched++;
        return new Response(whole);
      },
    });
    await run.done;
    expect(fetched).toBe(0);
    const { error } = run.driver.outcome()!;
    expect(error).toMatchObject({ code: "config_invalid", retryable: false });
    expect(error!.message).toContain('"x-api-key"');
    expect(JSON.stringify([run.events, run.driver.result()])).not.toContain("cret");
  });

  it("keeps the key out of what a fetch says when it fails", async () => {
    const run = await begun({
      authorize: ({ headers }) => [...headers, ["authorization", "Bearer sk-secret"]],
      fetch: async (_url, init) => {
        throw new TypeError(`cannot send ${new Headers(init.headers).get("authorization")}`);
      },
    });
    await run.done;
    expect(run.driver.outcome()!.error!.message).toContain("cannot send [redacted]");
  });

  it.each([
    [
      "throws",
      () => {
        throw new Error("no token");
      },
    ],
    [
      "rejects",
      async () => {
        throw new Error("no token");
      },
    ],
    ["returns no headers", () => [["name"]] as never],
  ])("is not sent and not repeated when authorize %s", async (_name, authorize) => {
    let fetched = 0;
    const run = await begun({
      config: { retry: { maxRetries: 3 } },
      authorize,
      fetch: async () => {
        fetched++;
        return new Response(whole);
      },
    });
    await run.done;
    expect(fetched).toBe(0);
    expect(run.driver.outcome()).toMatchObject({ outcome: "failed", error: { code: "config_invalid" } });
  });

  it("whose fetch throws at once has failed as one that rejects: it is the network's fault", async () => {
    const thrown = await begun({
      config: { retry: { maxRetries: 0 } },
      fetch: () => {
        throw new TypeError("bad url");
      },
    });
    await thrown.done;
    expect(thrown.driver.outcome()!.error).toMatchObject({
      code: "network",
      message: expect.stringContaining("bad url"),
    });
    const rejected = await begun({
      config: { retry: { maxRetries: 0 } },
      fetch: async () => {
        throw new TypeError("fetch failed", { cause: new Error("ECONNREFUSED") });
      },
    });
    await rejected.done;
    expect(rejected.driver.outcome()!.error).toMatchObject({
      code: "network",
      message: expect.stringContaining("ECONNREFUSED"),
    });
  });
});

describe("a response", () => {
  it.each([
    ["a stream of bytes", () => duck({ body: streamOf([bytes]) })],
    [
      "a stream of strings",
      () => duck({ body: new ReadableStream({ start: (c) => (c.enqueue(whole), c.close()) }) }),
    ],
    [
      "a stream of other views",
      () =>
        duck({
          body: new ReadableStream({
            start: (c) => (c.enqueue(new DataView(bytes.slice().buffer)), c.close()),
          }),
        }),
    ],
    [
      "an async iterable",
      () =>
        duck({
          body: (async function* () {
            yield bytes.slice(0, 50);
            yield bytes.slice(50);
          })(),
        }),
    ],
    ["an ArrayBuffer", () => duck({ body: bytes.slice().buffer })],
    ["a string", () => duck({ body: whole })],
    ["a Blob", () => duck({ body: new Blob([whole]) })],
    ["no body but arrayBuffer()", () => duck({ arrayBuffer: async () => bytes.slice().buffer })],
    ["no body but text()", () => duck({ text: async () => whole })],
    ["no headers at all", () => ({ status: 200, body: streamOf([bytes]) })],
  ])("may be %s", async (_name, response) => {
    const run = await begun({ fetch: async () => response() });
    await run.done;
    expect(run.driver.outcome()).toEqual({ outcome: "completed" });
    expect(run.text()).toBe("Hello");
  });

  it.each([
    ["Headers", new Headers({ "retry-after": "7" })],
    ["a Map", new Map([["Retry-After", "7"]])],
    ["pairs", [["Retry-After", "7"]]],
    ["a plain object", { "Retry-After": "7" }],
    ["a thing with entries()", { entries: () => [["retry-after", "7"]].values() }],
    [
      "a thing with forEach()",
      { forEach: (tell: (value: string, name: string) => void) => tell("7", "retry-after") },
    ],
  ])("may have its headers as %s", async (_name, headers) => {
    const run = await begun({ fetch: async () => duck({ status: 429, headers, body: "{}" }) });
    await run.done;
    expect(run.driver.outcome()!.error).toMatchObject({ status: 429, retryAfterMs: 7000 });
  });

  it.each([
    ["no response", async () => undefined as never],
    ["a response without status", async () => ({ body: whole }) as never],
    ["a body that is nothing readable", async () => duck({ body: 7 as never })],
    [
      "a chunk that is no bytes",
      async () => duck({ body: new ReadableStream({ start: (c) => c.enqueue(7) }) }),
    ],
    [
      "a locked body",
      async () => {
        const body = streamOf([bytes]);
        body.getReader();
        return new Response(body);
      },
    ],
    [
      "a body that breaks off",
      async () => new Response(new ReadableStream({ start: (c) => c.error(new Error("reset")) })),
    ],
  ])("that is %s fails as the network's fault", async (_name, fetch) => {
    const run = await begun({ fetch });
    await run.done;
    expect(run.driver.outcome()!.error).toMatchObject({ code: "network" });
  });

  it("with status 200 and no body is an answer that was cut off", async () => {
    const run = await begun({ fetch: async () => new Response(null) });
    await run.done;
    expect(run.driver.outcome()!.error).toMatchObject({ code: "malformed_stream" });
  });

  it("is read to its end and its lock released", async () => {
    const response = new Response(streamOf([bytes]));
    const run = await begun({ fetch: async () => response });
    await run.done;
    await settle();
    expect(response.body!.locked).toBe(false);
  });
});
