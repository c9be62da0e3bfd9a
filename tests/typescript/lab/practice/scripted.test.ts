import { expect, it } from "vitest";
import { practice, raw, scripted } from "../../../../src/typescript/lab/practice/index.js";
import { ANTHROPIC_URL, anthropicRequest } from "./kit.js";

const init = anthropicRequest({ stream: true, messages: [{ role: "user", content: "Hi" }] });

async function readAll(response: Response) {
  const reader = response.body!.getReader();
  const chunks: Uint8Array[] = [];
  let error: unknown;
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) chunks.push(next.value);
  } catch (thrown) {
    error = thrown;
  }
  const bytes = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  return { chunks, bytes, error, text: chunks.map((chunk) => new TextDecoder().decode(chunk)).join("") };
}

it.each([
  ["a string", init.body],
  ["bytes", new TextEncoder().encode(init.body)],
  ["a Blob", new Blob([init.body])],
])("reads a body that is %s", async (_, body) => {
  const fetch = scripted([{ text: "a" }]);
  await fetch(ANTHROPIC_URL, { ...init, body });
  expect(fetch.requests[0]).toMatchObject({ isStreaming: true, bodyText: init.body });
});

it("records every request and says how many turns there were after the last", async () => {
  const fetch = scripted([{ text: "a" }]);
  await fetch(new Request(ANTHROPIC_URL, init));
  expect(fetch.requests).toMatchObject([
    {
      url: ANTHROPIC_URL,
      method: "POST",
      protocol: "anthropic-messages",
      isStreaming: true,
      body: { stream: true },
      bodyText: init.body,
    },
  ]);
  expect(fetch.requests[0]?.headers["anthropic-version"]).toBe("2023-06-01");
  expect(fetch.remaining).toBe(0);
  await expect(fetch(ANTHROPIC_URL, init)).rejects.toThrow(
    "The script has 1 turn, and request number 2 came.",
  );
  expect(fetch.requests).toHaveLength(2);
});

it("computes a turn from the request", async () => {
  const fetch = scripted([(request, index) => ({ text: `${index}:${request.body.messages[0].content}` })]);
  expect((await readAll(await fetch(ANTHROPIC_URL, init))).text).toContain('"text":"0:Hi"');
});

it("cuts the stream by bytes", async () => {
  const { chunks } = await readAll(await scripted([{ text: "é", chunks: 10 }])(ANTHROPIC_URL, init));
  expect(new Set(chunks.slice(0, -1).map(({ length }) => length))).toEqual(new Set([10]));
});

it("drops the connection after exactly so many bytes or events", async () => {
  const bytes = await readAll(await scripted([{ text: "abc", dropAfterBytes: 100 }])(ANTHROPIC_URL, init));
  expect(bytes).toMatchObject({ bytes: 100, error: expect.any(TypeError) });
  const events = await readAll(await scripted([{ text: "abc", dropAfterEvents: 2 }])(ANTHROPIC_URL, init));
  expect(events.chunks).toHaveLength(2);
  expect(events.error).toBeInstanceOf(TypeError);
});

it("ends without terminal events when truncated", async () => {
  const { text, error } = await readAll(
    await scripted([{ text: "abc", truncate: true }])(ANTHROPIC_URL, init),
  );
  expect(error).toBeUndefined();
  expect(text).toContain("content_block_stop");
  expect(text).not.toContain("message_delta");
});

it("stalls until the caller aborts", async () => {
  const controller = new AbortController();
  const response = await scripted([{ text: "abc", stall: 3 }])(ANTHROPIC_URL, {
    ...init,
    signal: controller.signal,
  });
  const reader = response.body!.getReader();
  for (let i = 0; i < 3; i += 1) expect((await reader.read()).done).toBe(false);
  const stalled = reader.read();
  controller.abort("enough");
  await expect(stalled).rejects.toBe("enough");
});

it("hangs before the head, or rejects like a network", async () => {
  const controller = new AbortController();
  const fetch = scripted([{ hang: true }, { reject: "Failed to fetch" }]);
  const hanging = fetch(ANTHROPIC_URL, { ...init, signal: controller.signal });
  setTimeout(() => controller.abort("enough"));
  await expect(hanging).rejects.toBe("enough");
  await expect(fetch(ANTHROPIC_URL, init)).rejects.toThrow(new TypeError("Failed to fetch"));
});

it("answers with statuses, headers and raw bodies", async () => {
  const fetch = scripted([
    { status: 429, headers: { "retry-after": "2" } },
    { body: "<html>no</html>", headers: { "content-type": "text/html" } },
    { status: 500, body: { error: "x" } },
    raw(["data: a", "\n\n"]),
  ]);
  const limited = await fetch(ANTHROPIC_URL, init);
  expect([limited.status, limited.headers.get("retry-after")]).toEqual([429, "2"]);
  expect(((await limited.json()) as any).error.type).toBe("rate_limit_error");
  const html = await fetch(ANTHROPIC_URL, init);
  expect([html.status, html.headers.get("content-type"), await html.text()]).toEqual([
    200,
    "text/html",
    "<html>no</html>",
  ]);
  const broken = await fetch(ANTHROPIC_URL, init);
  expect([broken.status, await broken.json()]).toEqual([500, { error: "x" }]);
  expect((await readAll(await fetch(ANTHROPIC_URL, init))).text).toBe("data: a\n\n");
});

it("refuses illegal requests without using up a turn when told to validate", async () => {
  const fetch = scripted([{ text: "a" }], { validate: true });
  const illegal = await fetch(ANTHROPIC_URL, anthropicRequest({ messages: [] }));
  expect([illegal.status, fetch.remaining]).toEqual([400, 1]);
});

it.each<[string, () => unknown, string]>([
  [
    "a misspelt field",
    () => scripted([{ text: "a" }, { toolCall: [] } as never]),
    'Turn 2 of the script: no field "toolCall"; there are text, ',
  ],
  [
    "a misspelt field of a call",
    () => scripted([{ toolCalls: [{ name: "t", arguments: {} } as never] }]),
    'Turn 1 of the script, toolCalls[0]: no field "arguments"; there are id, name, input, argumentsText',
  ],
  [
    "a text as thinking",
    () => scripted([{ thinking: "Hm." } as never]),
    "Turn 1 of the script, thinking: needs an object, got a string",
  ],
  ["a text as a turn", () => scripted(["a" as never]), "Turn 1 of the script: needs an object, got a string"],
  [
    "one turn without its array",
    () => scripted({ text: "a" } as never),
    "scripted() needs an array of turns.",
  ],
  ["an unknown option", () => scripted([], { delay: 5 } as never), 'Options of scripted(): no field "delay"'],
  [
    "an unknown option of practice()",
    () => practice({ delay: 5 } as never),
    'Options of practice(): no field "delay"',
  ],
])("refuses %s at once", (_, make, message) => {
  expect(make).toThrow(TypeError);
  expect(make).toThrow(message);
});

it("refuses a misspelt field of a computed turn", async () => {
  const fetch = scripted([() => ({ txt: "a" }) as never]);
  await expect(fetch(ANTHROPIC_URL, init)).rejects.toThrow('Turn 1 of the script: no field "txt"');
});
