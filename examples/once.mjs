#!/usr/bin/env node
// @ts-check
// One run in the terminal, with the tools of the playground: text as it streams, each tool call with its arguments
// and its result, and a last line with what the run came to.
//
//   npm start -- --once "What is 17 * 23 + 4, and what time is it in Tokyo?"
//   node examples/once.mjs --model anthropic:claude-sonnet-4-6 "…"      with ANTHROPIC_API_KEY
//   node examples/once.mjs --model openai:gpt-5-mini "…"                with OPENAI_API_KEY
//   … --base-url http://localhost:11434/v1                              another server of that protocol
//
// Without --model the practice provider answers: no key, no network. Exit code: 0 completed, 1 anything else, 2 wrong
// usage. Ctrl-C stops the run and still prints the last line.
import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { LoopletError, anthropic, compatible, createAgent, openaiChat } from "looplet";
import { practice } from "looplet/practice";
import { Screen } from "./screen.mjs";
import { demoTools, system } from "./tools/index.mjs";

/** Wrong words on the command line. */
class UsageError extends Error {}

try {
  process.exitCode = await main();
} catch (error) {
  const isUsage = error instanceof UsageError || error instanceof LoopletError || isParseError(error);
  if (!isUsage || !(error instanceof Error)) throw error;
  console.error(error.message);
  process.exitCode = 2;
}

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { model: { type: "string" }, "base-url": { type: "string" } },
  });
  const prompt = positionals.join(" ").trim();
  if (prompt === "") throw new UsageError('Ask something: npm start -- --once "What is 17 * 23 + 4?"');

  const agent = createAgent({
    model: modelFrom(values.model, values["base-url"], process.stdout.isTTY ? 24 : 0),
    system,
    tools: demoTools({ storage: memoryStorage(), readDocument }),
    limits: { maxIterations: 12 },
    timeouts: { toolMs: 60_000 },
  });
  const run = agent.run(prompt);
  process.once("SIGINT", () => run.abort("interrupted"));

  const screen = new Screen();
  for await (const event of run) screen.show(event);
  const result = await run.result;
  screen.end(result);
  return result.outcome === "completed" ? 0 : 1;
}

/** @param {string | undefined} name @param {string | undefined} baseUrl @param {number} delayMs */
function modelFrom(name, baseUrl, delayMs) {
  if (name === undefined)
    return anthropic("practice-1", {
      fetch: practice({ delayMs }),
      maxOutputTokens: 4096,
      thinking: { budgetTokens: 1024 },
      price: { inputUsdPerMillion: 3, outputUsdPerMillion: 15 },
    });
  const [vendor, model = ""] = name.split(/:(.*)/s);
  if (vendor !== "anthropic" && vendor !== "openai")
    throw new UsageError(`--model needs anthropic:… or openai:…, got ${name}`);
  const apiKey = process.env[vendor === "anthropic" ? "ANTHROPIC_API_KEY" : "OPENAI_API_KEY"];
  const options = apiKey ? { apiKey } : {};
  if (baseUrl !== undefined)
    return compatible(model, {
      ...options,
      baseUrl,
      protocol: vendor === "anthropic" ? "anthropic" : "openai_chat",
    });
  return vendor === "anthropic" ? anthropic(model, options) : openaiChat(model, options);
}

/** @type {import("./tools/documents.mjs").ReadDocument} */
async function readDocument(name, signal) {
  return readFile(new URL(`../www/public/docs/${name}`, import.meta.url), { encoding: "utf8", signal });
}

/** Notes of a terminal run end with it. */
function memoryStorage() {
  /** @type {Map<string, string>} */
  const items = new Map();
  return {
    /** @param {string} key */
    getItem: (key) => items.get(key) ?? null,
    /** @param {string} key @param {string} value */
    setItem: (key, value) => void items.set(key, value),
  };
}

/** @param {unknown} error */
function isParseError(error) {
  return error instanceof TypeError && String(Object(error).code).startsWith("ERR_PARSE_ARGS");
}
