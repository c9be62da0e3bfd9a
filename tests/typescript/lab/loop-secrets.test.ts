// Secrets in what a run has recorded, wherever a server or a person has put them.
import { expect, it, describe } from "vitest";
import { anthropic, createAgent, tool } from "looplet";
import { scripted } from "looplet/practice";
import { recorder, replay } from "looplet/replay";
import { memoryStore } from "looplet/stores";
import { traceSpans } from "looplet/trace";
import type { ExportOptions } from "looplet";

const KEY = "plain-key-of-a-user-42";

interface Recorded {
  readonly file: string;
  readonly text: string;
}

/** The record of a run whose answer comes in chunks of so many bytes. */
async function recorded(body: Uint8Array | object, bytes = 1e9, options?: ExportOptions): Promise<Recorded> {
  const answers = scripted([body instanceof Uint8Array ? { text: "" } : (body as { text: string })]);
  const fetch: typeof globalThis.fetch = async (url, init) => {
    const answer = (await answers(url as string, init as never)) as Response;
    const whole = body instanceof Uint8Array ? body : new Uint8Array(await answer.arrayBuffer());
    let at = 0;
    const pull = (stream: ReadableStreamDefaultController<Uint8Array>): void => {
      if (at >= whole.length) return stream.close();
      stream.enqueue(whole.slice(at, (at += bytes)));
    };
    return new Response(new ReadableStream({ pull }), { headers: { "content-type": "text/event-stream" } });
  };
  const model = anthropic("m", { apiKey: KEY, fetch });
  const run = createAgent({ model, record: recorder(), retry: { maxRetries: 0 } }).run("Hi");
  const { text } = await run.result;
  return { file: run.export(options), text };
}

/** The texts of an answer in events, as the vendor writes them: `escape` changes the JSON of each text. */
function events(texts: readonly string[], escape: (json: string) => string = (json) => json): Uint8Array {
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = {
    id: "m",
    type: "message",
    role: "assistant",
    model: "m",
    content: [],
    stop_reason: null,
    usage,
  };
  const lines = [
    { type: "message_start", message },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    ...texts.map((text) => ({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } })),
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 1 } },
    { type: "message_stop" },
  ];
  const written = lines.map((line) => `event: ${line.type}\ndata: ${escape(JSON.stringify(line))}\n\n`);
  return new TextEncoder().encode(written.join(""));
}

/** The text of the answer in a file, as its replay has it. */
async function textIn(file: string): Promise<string> {
  const played = await replay(file);
  return played.at(played.steps.length - 1).text;
}

/** Everything that a file holds: its text, with base64 as the bytes that it stands for. */
function shown(file: string): string {
  const bytes = [...file.matchAll(/"base64":"([^"]*)"/g)].map(([, coded]) => atob(coded!));
  return [file, ...bytes].join("\n");
}

const GHP = "ghp_abcdefghijklmnop1234";

describe("a secret in an answer", () => {
  it.each([1, 3, 7, 11])(
    "is found in chunks of %i bytes, with letters of other languages around it",
    async (bytes) => {
      const { file, text } = await recorded(events([`Ключ — ${GHP}, и ${KEY} 🦀`]), bytes);
      expect(text).toContain(GHP);
      expect(shown(file)).not.toContain("base64");
      expect(await textIn(file)).toBe(`Ключ — ${"*".repeat(GHP.length)}, и ${"*".repeat(KEY.length)} 🦀`);
    },
  );

  it("is found across text deltas", async () => {
    const { file, text } = await recorded(
      events(["Take ghp_abcd", "efghijklm", "nop1234 and plain-key-of", "-a-user-42."]),
    );
    expect(text).toContain(GHP);
    expect(await textIn(file)).toBe(`Take ${"*".repeat(24)} and ${"*".repeat(22)}.`);
    expect(file).not.toMatch(/abcd|efghijklm|nop1234|plain-key/);
  });

  it("is found behind escapes of JSON", async () => {
    const escape = (json: string): string => json.replaceAll("-", "\\u002d").replaceAll("_a", "\\u005fa");
    const { file, text } = await recorded(events([`It is sk-ant-abcdefgh12345678 or ${GHP}`], escape));
    expect(text).toContain("sk-ant-abcdefgh12345678");
    expect(await textIn(file)).toBe(`It is ${"*".repeat(23)} or ${"*".repeat(24)}`);
  });

  it("is found behind escapes of JSON inside a text", async () => {
    const { file } = await recorded(events(['{"key":"sk\\u002dant\\u002dabcdefgh12345678"}']));
    expect(await textIn(file)).toMatch(/^\{"key":"\*+"\}$/);
  });

  it("is found beside bytes that are no text", async () => {
    const whole = events([`Take ${GHP}`]);
    const broken = new Uint8Array([0xff, 0xfe, 0x0a, ...whole]);
    const { file } = await recorded(broken, 9);
    expect(file).toContain("base64");
    for (const secret of [GHP, "ghp_abcd", "mnop1234"]) expect(shown(file)).not.toContain(secret);
  });

  it("is found in a chunk at the end of a stream that breaks off inside a letter", async () => {
    const whole = events([`Take ${GHP} 🦀`]);
    const cut = whole.slice(0, whole.indexOf(0xf0) + 2);
    const { file } = await recorded(cut);
    expect(shown(file)).not.toContain(GHP);
    expect((await replay(file)).steps.length).toBeGreaterThan(2);
  });
});

describe("redact", () => {
  const redact = (text: string): string => text.replaceAll("+49 555 1234", "*".repeat(12));

  it.each([1, 5, 1000])("sees texts whole, in chunks of %i bytes", async (bytes) => {
    const { file } = await recorded(events(["Grüße an +49 5", "55 12", "34 — ä"]), bytes, { redact });
    expect(await textIn(file)).toBe(`Grüße an ${"*".repeat(12)} — ä`);
  });

  it("may make a text shorter or longer", async () => {
    for (const name of ["X", "Somebody with a long name"]) {
      const { file } = await recorded(events(["I met An", "na Schmidt", " today"]), 20, {
        redact: (text) => text.replaceAll("Anna Schmidt", name),
      });
      expect(await textIn(file)).toBe(`I met ${name} today`);
    }
  });
});

describe("a text that is a secret by its form", () => {
  it.each([
    ["aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "wJalrXUtnFEMI"],
    ["it is wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEK1Y.", "wJalrXUtnFEMI"],
    ["Authorization: Basic dXNlcjpwYXNzd29yZA==", "dXNlcjpw"],
    ["postgres://admin:hunter2@db.test/x", "hunter2"],
    ["https://user:p%40ss!word@host/", "p%40ss!word"],
    ["ya29.a0AfH6SMBx1234567890abcd", "a0AfH6SM"],
    ["https://a.test/x?sv=1&sig=abcdefgh%2B12345", "abcdefgh"],
    ["https://a.test/x?access_token=abcdefgh12345", "abcdefgh"],
    ["xai-abcdefghijklmnop1234", "abcdefghijkl"],
    ["pplx-abcdefghijklmnop1234", "abcdefghijkl"],
    ["dop_v1_abcdefghijklmnop1234", "abcdefghijkl"],
    ["SG.abcdefghijklmnop.qrstuvwxyz123456", "qrstuvwxyz"],
    ["OPENAI_API_KEY=abcdefgh1234", "abcdefgh"],
    ["12345678:AAabcdefghijklmnopqrstuvwxyz1234567", "AAabcdef"],
    ["sk%2Dant%2Dabcdefgh12345678", "abcdefgh"],
    // Cloudflare: tokens of accounts and users, a key for origins, a global key, the token of a tunnel.
    ["cfat_Abcdefgh1234567890abcdefghijklmnop", "Abcdefgh"],
    ["cfut_Abcdefgh1234567890abcdefghijklmnop", "Abcdefgh"],
    ["cfk_Abcdefgh1234567890abcdefghijklmnop", "Abcdefgh"],
    ["token: a1B2c3D4e5F6g7H8_9J0k1L2m3N4o5P6q7R8s9T0", "a1B2c3D4"],
    [`v1.0-${"0a".repeat(12)}-${"1b".repeat(73)}`, "1b1b1b1b"],
    [`the key ${"0123456789abcdef".repeat(3).slice(0, 37)} is global`, "456789ab"],
    [`cloudflared --token eyJhIjoi${"MDEyMzQ1Njc4OWFi".repeat(8)}`, "MDEyMzQ1"],
    // Telegram: by itself, in an address, escaped.
    ["987654321:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw7", "AAHdqTcv"],
    ["https://api.telegram.org/bot987654321:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw/getMe", "AAHdqTcv"],
    ["https://api.telegram.org/bot987654321%3AAAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw/getMe", "AAHdqTcv"],
    ["bot token 1234567890:BBHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw7", "BBHdqTcv"],
  ])("becomes asterisks: %s", async (words, secret) => {
    const run = createAgent({
      model: anthropic("m", { apiKey: KEY, fetch: scripted([{ text: "Hi" }]) }),
      record: recorder(),
    }).run(words);
    await run.result;
    const file = run.export();
    expect(file).not.toContain(secret);
    expect((await replay(file)).requests[0]!.body).toContain("***");
  });

  it.each([
    "Basic understanding of the matter is enough for basic authentication.",
    "commit 0123456789abcdef0123456789abcdef01234567",
    "md5 0123456789abcdef0123456789abcdef, at 12:30:45, ratio 1234567:1000000",
    "see https://a.test/x?page=12345678&sort=alphabetical and http://a.test:8080/@me",
    "the reasoning has the format xai-responses-v1",
    "const token = 1; the key is under the mat; MONKEY = 5",
  ])("stays if it is none: %s", async (words) => {
    const run = createAgent({
      model: anthropic("m", { apiKey: KEY, fetch: scripted([{ text: "Hi" }]) }),
      record: recorder(),
    }).run(words);
    await run.result;
    expect(run.export()).toContain(words);
  });

  it("is searched for in linear time", async () => {
    const { starredShapes } = await import("../../../src/typescript/lab/replay/secret-shapes.js");
    const parts = [
      "a",
      "a.",
      "a://",
      "a://b:",
      "sk-",
      "eyJ",
      "eyJa.",
      "-----BEGIN ",
      "?key",
      "A_",
      "A".repeat(40),
      "basic ",
      "\\",
      "%2",
      "\\u00",
      "sk%2Dabcdefghijklmnopq ",
      "1:",
      "/",
      "'",
    ];
    for (const part of parts)
      for (const end of ["", "!"])
        expect(starredShapes(part.repeat(60_000 / part.length) + end)).not.toBe("");
  });
});

it("no key and no header of a model is in the journal, the events, the trace, the file or the error of a run", async () => {
  const [key, token] = ["sk-planted-0123456789abcdef", "bearer-planted-9876543210"];
  const answers = [
    { status: 500, body: `{"error":{"message":"bad ${key} ${token}"}}`, headers: { "request-id": key } },
    { toolCalls: [{ name: "look", input: {} }] },
    { status: 401, body: `{"error":{"type":"x","message":"no such key ${key}, ${token}"}}` },
  ];
  const told: unknown[] = [];
  const store = memoryStore();
  const agent = createAgent({
    model: anthropic("m", {
      apiKey: key,
      headers: { authorization: `Bearer ${token}` },
      fetch: scripted(answers),
    }),
    tools: { look: tool({ description: "Looks", inputSchema: { type: "object" }, execute: () => "seen" }) },
    retry: { baseMs: 1, jitterMs: 0 },
    trace: [traceSpans((record) => void told.push(record), { content: true })],
    record: recorder(),
    store,
  });
  const run = agent.run("Go.", { id: "r", onEvent: (event) => void told.push(event) });
  const result = await run.result;
  await run.saved();
  expect(result.error?.code).toBe("auth");
  const journal = JSON.stringify(await store.load("r"));
  expect(journal).toContain("seen");
  for (const text of [journal, JSON.stringify(told), run.export(), JSON.stringify(result)])
    expect(text).not.toContain("planted");
});
