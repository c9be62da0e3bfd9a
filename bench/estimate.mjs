// node bench/estimate.mjs: how far the engine's estimate of tokens (src/engine/policy/estimate.rs) is from what
// vendors counted, on recorded conversations (../shared/wire or LOOPLET_SHARED): for two consecutive model calls of
// one conversation, what was counted for the first (input and output) plus 3.5 bytes a token for what came since,
// against what was counted for the second. Calls with media are left out.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const BYTES_PER_TOKEN = 3.5;
const wire = join(process.env.LOOPLET_SHARED ?? join(import.meta.dirname, "../../shared"), "wire");
const read = (path) => JSON.parse(readFileSync(join(wire, path), "utf8"));
const inventory = new Map(
  readFileSync(join(wire, "INVENTORY.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))
    .map((row) => [row.body, row]),
);

/** Input and output tokens as the vendor counted them. */
function counted(protocol, bodyFile) {
  const row = inventory.get(bodyFile);
  const file = row && `${row.protocol}/${row.id}.expected.json`;
  const usage = file && existsSync(join(wire, file)) && read(file).assembled?.usage;
  if (!usage) return undefined;
  const sum = (...names) => names.reduce((total, name) => total + (usage[name] ?? 0), 0);
  switch (protocol) {
    case "anthropic-messages":
      return [
        sum("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"),
        sum("output_tokens"),
      ];
    case "openai-chat":
      return [sum("prompt_tokens"), sum("completion_tokens")];
    case "openai-responses":
      return [sum("input_tokens"), sum("output_tokens")];
    case "gemini":
      return [sum("promptTokenCount"), sum("candidatesTokenCount", "thoughtsTokenCount")];
    default:
      return [sum("inputTokens", "cacheReadInputTokens", "cacheWriteInputTokens"), sum("outputTokens")];
  }
}

const messagesOf = (body) => [body.messages ?? body.input ?? body.contents ?? []].flat();
const isAnswer = ({ role, type }) =>
  role === "assistant" ||
  role === "model" ||
  (role !== "user" && ["function_call", "reasoning", "message"].includes(type));

const pairs = [];
for (const protocol of readdirSync(wire, { withFileTypes: true }).filter((entry) => entry.isDirectory())) {
  for (const name of readdirSync(join(wire, protocol.name)).filter((file) =>
    file.endsWith(".conversation.json"),
  )) {
    const { steps, chains = [] } = read(`${protocol.name}/${name}`);
    const byIndex = new Map(steps.map((step) => [step.index, step]));
    for (const chain of chains) {
      const known = chain.steps.map((index) => byIndex.get(index));
      for (const [at, second] of known.entries()) {
        const first = known[at - 1];
        if (first === undefined || second === undefined) continue;
        const [before, after] = [first, second].map((step) =>
          counted(protocol.name, step.response.body_file),
        );
        if (!before?.[0] || !after?.[0]) continue;
        const fresh = messagesOf(read(second.request.body_file))
          .slice(messagesOf(read(first.request.body_file)).length)
          .filter((message) => !isAnswer(message));
        const text = JSON.stringify(fresh);
        if (/base64|inlineData|image/.test(text)) continue;
        const estimate = before[0] + before[1] + Buffer.byteLength(text) / BYTES_PER_TOKEN;
        pairs.push({ actual: after[0], ratio: estimate / after[0] });
      }
    }
  }
}

function tell(what, list) {
  const ratios = list.map(({ ratio }) => ratio).sort((a, b) => a - b);
  const at = (part) => ratios[Math.min(ratios.length - 1, Math.floor(ratios.length * part))]?.toFixed(2);
  console.log(
    `${what}: ${ratios.length} pairs, estimate / count: 5 % ${at(0.05)}, median ${at(0.5)}, 95 % ${at(0.95)}`,
  );
}

tell("all", pairs);
tell(
  "above 1,000 tokens",
  pairs.filter(({ actual }) => actual > 1000),
);
