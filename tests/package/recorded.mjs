// Makes `.loop` files, and notes what the runs themselves told and asked for: runs on recorded answers of providers,
// and simulated runs.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { anthropic, compatible, createAgent, gemini, openai, openaiChat, tool } from "looplet";
import { recorder } from "looplet/replay";
import { memoryStore } from "looplet/stores";
import {
  cerebras,
  copilot,
  deepseek,
  groq,
  huggingface,
  llamaCpp,
  mistral,
  ollama,
  openrouter,
  perplexity,
  together,
  vercelGateway,
  xai,
  zai,
} from "looplet/vendors";
import { digests } from "./replayed.mjs";
import { simulated } from "./simulated.mjs";

const PROTOCOLS = {
  "anthropic-messages": "anthropic",
  "openai-chat": "openai_chat",
  "openai-responses": "openai_responses",
  gemini: "gemini",
  "bedrock-converse": "bedrock_converse",
};

/** The constructors of vendors, by their names in the recordings. Any other server is a compatible one. */
const VENDORS = {
  "anthropic-messages": { anthropic },
  "openai-responses": { openai },
  gemini: { google: gemini },
  "openai-chat": {
    openai: openaiChat,
    openrouter,
    mistral,
    deepseek,
    groq,
    xai,
    copilot,
    zai,
    huggingface,
    perplexity,
    together,
    cerebras,
    ollama,
    "vercel-gateway": vercelGateway,
    "llama.cpp": llamaCpp,
  },
};

/**
 * Runs an agent on each `every`-th recording of the folder `wire`: `{ file, own }`, where `own` are the digests of
 * the run itself; undefined for a file that the run has not written as it was.
 */
export async function recordedRuns(wire, every) {
  const read = (path) => readFileSync(join(wire, path));
  const rows = read("INVENTORY.jsonl").toString().trimEnd().split("\n");
  const runs = [];
  for (const row of rows.filter((_, at) => at % every === 0).map((line) => JSON.parse(line))) {
    const expected = `${row.protocol}/${row.id}.expected.json`;
    const { assembled } = existsSync(join(wire, expected)) ? JSON.parse(read(expected)) : {};
    const names = (assembled?.tool_calls ?? []).map(({ name }) => name);
    runs.push(await recordedRun(row, read(row.body), [...new Set(names)]));
  }
  return runs;
}

async function recordedRun({ id, protocol, vendor, streaming, http_status, response_headers }, body, names) {
  const own = { events: [], requests: [], calls: [], questions: [], entries: [] };
  const fetch = async (url, { method, body: sent }) => {
    own.requests.push({ method, url: String(url), body: new TextDecoder().decode(sent) });
    return new Response(pieces(body), { status: http_status, headers: response_headers });
  };
  const options = { apiKey: "k", stream: streaming, fetch };
  const made = VENDORS[protocol]?.[vendor];
  const others = { baseUrl: "https://recorded.example/v1", protocol: PROTOCOLS[protocol] };
  const model = made?.("recorded", options) ?? compatible("recorded", { ...options, ...others });
  const stand = (name, at) =>
    tool({
      name,
      description: "Stands in",
      inputSchema: { type: "object" },
      needsApproval: at % 2 === 0,
      execute(input, { toolCallId }) {
        own.calls.push({ agentPath: "root", toolCallId, toolName: name, input });
        return { done: [name, at, 0.1 + at] };
      },
    });
  const store = memoryStore();
  const agent = createAgent({
    model,
    tools: names.map(stand),
    record: recorder(),
    store: {
      ...store,
      append(key, entries, ...more) {
        own.entries.push(...entries);
        return store.append(key, entries, ...more);
      },
    },
    limits: { maxIterations: 2 },
    retry: { maxRetries: 0 },
    permissions: {
      canUseTool(toolName, input, { toolCallId, reason, suggestions }) {
        own.questions.push({
          point: "permission",
          data: { toolCallId, toolName, input, reason, suggestions },
        });
        return { behavior: "allow" };
      },
    },
    random: () => 0.5,
    ids: () => id,
  });
  const run = agent.run("Go.", { onEvent: (event) => void own.events.push(event) });
  await run.result;
  await run.saved();
  const file = run.export().replaceAll("\n", "");
  // Texts that look like keys are asterisks in the file, so it plays to them.
  const isRedacted = file.includes("********") && !body.includes("********");
  return { file, own: isRedacted ? undefined : await digests(own) };
}

/** Bytes in pieces of odd sizes, which end within characters too. */
function pieces(bytes) {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      const size = 1 + ((at * 31) % 997);
      controller.enqueue(bytes.slice(at, (at += size)));
    },
  });
}

/**
 * Simulates runs with each of three models, and makes a file of each of their processes. A run of several processes
 * and one that waits for ever have no line of their own: the world does not know how their processes ended.
 */
export async function simulatedRuns(seeds) {
  const runs = [];
  await simulated(seeds, ({ events, requests, outcome }, records) => {
    const isWhole = records.length === 1 && outcome !== "waiting";
    const sent = requests.map(({ request: { method, url, bodyText } }) => ({ method, url, body: bodyText }));
    for (const record of records) {
      const file = record.text("run", undefined).replaceAll("\n", "");
      // A process that finds its run held begins nothing.
      if (!file.includes('"processes":[]'))
        runs.push({ file, own: isWhole ? { events, requests: sent } : undefined });
    }
  });
  for (const run of runs) run.own &&= await digests(run.own);
  return runs;
}
