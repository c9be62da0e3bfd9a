// Runs of the native build, played in WebAssembly, and recordings of providers, run in WebAssembly for the native
// build. The folder LOOPLET_LOOPS has a file a line: `schedules.ndjson` and `recordings.ndjson` of tests/run and
// tests/wire, and `wasm.ndjson`, which tests/run/loop_files.rs plays.
import { appendFileSync, createReadStream, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { isDeepStrictEqual } from "node:util";
import { expect, it } from "vitest";
import { compatible, createAgent } from "looplet";
import { recorder, replay } from "looplet/replay";
import { toldBy } from "../support/told-by.js";

const folder = process.env["LOOPLET_LOOPS"]!;
const wire = join(process.env["LOOPLET_SHARED"] ?? "../shared", "wire");
const TIMEOUT = { timeout: 1_800_000 };

it.each(["schedules.ndjson", "recordings.ndjson"])(
  "I-07 replays %s of the native build",
  TIMEOUT,
  async (name) => {
    let played = 0;
    for await (const line of createInterface(createReadStream(join(folder, name)))) {
      const { told } = JSON.parse(line) as { told: object };
      const own: unknown = JSON.parse(JSON.stringify(toldBy(await replay(line))));
      // The comparison of a test is slow, and tells what differs.
      if (!isDeepStrictEqual(own, told)) expect(own, `line ${played}: ${line.slice(0, 500)}`).toEqual(told);
      played += 1;
    }
    console.log(`${played} runs of ${name}`);
    expect(played).toBeGreaterThan(100);
  },
);

const PROTOCOLS = {
  "anthropic-messages": "anthropic",
  "openai-chat": "openai_chat",
  "openai-responses": "openai_responses",
  gemini: "gemini",
  "bedrock-converse": "bedrock_converse",
} as const;

interface Row {
  id: string;
  protocol: keyof typeof PROTOCOLS;
  streaming: boolean;
  http_status: number;
  response_headers: { [name: string]: string };
  body: string;
}

it("I-07 leaves runs on the recordings of providers for the native build", TIMEOUT, async () => {
  expect(existsSync(wire), `recordings in ${wire}`).toBe(true);
  const rows = readFileSync(join(wire, "INVENTORY.jsonl"), "utf8").trimEnd().split("\n");
  for (const row of rows.map((line) => JSON.parse(line) as Row)) {
    const body = readFileSync(join(wire, row.body));
    const fetch = async (): Promise<Response> =>
      new Response(pieces(body), { status: row.http_status, headers: row.response_headers });
    const model = compatible("recorded", {
      baseUrl: "https://recorded.example/v1",
      apiKey: "k",
      protocol: PROTOCOLS[row.protocol],
      stream: row.streaming,
      fetch,
    });
    const options = {
      limits: { maxIterations: 2 },
      retry: { maxRetries: 0 },
      random: () => 0.5,
      ids: () => row.id,
    };
    const run = createAgent({ model, record: recorder(), ...options }).run("Go.");
    await run.result;
    const file = run.export();
    const told = JSON.stringify(toldBy(await replay(file)));
    const line = `${file.trimEnd().slice(0, -1)},"told":${told}}`.replaceAll("\n", "");
    appendFileSync(join(folder, "wasm.ndjson"), `${line}\n`);
  }
  console.log(`${rows.length} recordings run in WebAssembly`);
});

/** Bytes in pieces of odd sizes, which end within characters too. */
function pieces(bytes: Uint8Array): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      const size = 1 + ((at * 31) % 997);
      controller.enqueue(bytes.slice(at, (at += size)));
    },
  });
}
