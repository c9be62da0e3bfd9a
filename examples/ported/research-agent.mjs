// @ts-check
// A long-running research agent, ported from a loop around a vendor's client with its state in a file of messages. A
// lead delegates questions to searchers that run in parallel, its history is summarised when it grows, and money and
// time have limits. After a crash the next process resumes the run: no search is paid twice.
//
//   node examples/ported/research-agent.mjs "How do whales sleep?" .research
//
// Started again with the same folder, it resumes, or prints the report again.
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { createAgent, subagent, tool } from "looplet";
import { fileStore } from "looplet/stores/node";
import { claude, isMain } from "./model.mjs";

/**
 * @param {string} topic
 * @param {string} folder Of the journal and of the log of searches.
 * @param {(query: string) => Promise<string>} search
 */
export async function research(topic, folder, search) {
  const find = tool({
    description: "Searches the library",
    inputSchema: { type: "object", properties: { query: { type: "string" } }, required: ["query"] },
    readOnly: true,
    execute: async ({ query }) => {
      const found = await search(query);
      await appendFile(join(folder, "searches.log"), `${query}\n`);
      return found;
    },
  });
  const agent = createAgent({
    model: claude(Array(20).fill(standIn)),
    system: "You plan the research, give its questions to searchers, and write the report.",
    tools: {
      searcher: subagent({
        description: "Answers one question from the library",
        system: "You search, and answer in two sentences.",
        tools: { find },
        readOnly: true, // so that searchers run in parallel
      }),
    },
    store: fileStore(folder),
    context: { maxChars: 100_000 }, // beyond them a few lines take the place of old messages
    limits: { maxIterations: 100, maxUsd: 5 },
    timeouts: { totalMs: 3_600_000 },
  });
  // The id is the identity of the research: in another process it is the same run.
  const result = await agent.run(topic, { id: "research" }).result;
  return { outcome: result.outcome, report: result.text, toolCalls: result.toolCalls.length };
}

/**
 * The model's answer when there is no key. It depends only on the conversation, so every process gives the same.
 *
 * @param {{ body: any }} request
 */
function standIn({ body: { messages, tools } }) {
  const hasSearched = messages.length > 1;
  if (tools[0].name === "find") {
    const [{ text: question }] = messages[0].content;
    if (hasSearched) return { text: `About ${question}: ${messages.at(-1).content[0].content}` };
    return { toolCalls: [{ name: "find", input: { query: question } }] };
  }
  if (hasSearched) return { text: "Whales sleep with half of their brain, so that they can breathe." };
  const questions = ["breathing", "sleep", "brains"];
  return { toolCalls: questions.map((prompt) => ({ name: "searcher", input: { prompt } })) };
}

if (isMain(import.meta.url)) {
  const [topic = "How do whales sleep?", folder = ".research"] = process.argv.slice(2);
  console.log(await research(topic, folder, async (query) => `The library has three books about ${query}.`));
}
