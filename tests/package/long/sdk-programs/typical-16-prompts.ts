// System prompts: the preset with more text, and one of the program's own. Options of screens and sandboxes beside
// them.
import { query, type Options } from "@anthropic-ai/claude-agent-sdk";

export async function main(base: Options) {
  const results: string[] = [];
  const all: Options[] = [
    { ...base, systemPrompt: { type: "preset", preset: "claude_code", append: "Write docstrings." } },
    { ...base, systemPrompt: "You are a Python specialist.", title: "Python", promptSuggestions: true },
    {
      ...base,
      tools: { type: "preset", preset: "claude_code" },
      sandbox: { enabled: true },
      stderr: () => {},
    },
    { ...base, agentProgressSummaries: true, onUserDialog: async () => null, supportedDialogKinds: [] },
  ];
  for (const options of all)
    for await (const message of query({ prompt: "Write a function", options }))
      if (message.type === "result") results.push(message.subtype);
  return results;
}
