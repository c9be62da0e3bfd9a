// The options that a program sets.
import { query, type AgentDefinition, type Options } from "@anthropic-ai/claude-agent-sdk";

const reviewer: AgentDefinition = {
  description: "Reviews code",
  prompt: "You find defects.",
  tools: ["Read", "Grep"],
  disallowedTools: ["Write"],
  model: "haiku",
  maxTurns: 5,
  effort: "low",
};

export const options: Options = {
  abortController: new AbortController(),
  additionalDirectories: ["/docs"],
  agents: { reviewer },
  allowDangerouslySkipPermissions: false,
  allowedTools: ["Read", "Bash(npm test:*)"],
  betas: ["context-1m-2025-08-07"],
  canUseTool: async (toolName, input, { signal, suggestions, toolUseID }) => {
    if (signal.aborted) return { behavior: "deny", message: "Too late.", interrupt: true };
    if (toolName === "Bash")
      return { behavior: "deny", message: `Not ${String(input["command"])} ${toolUseID}` };
    return { behavior: "allow", updatedInput: input, updatedPermissions: suggestions };
  },
  continue: true,
  cwd: "/work",
  disallowedTools: ["WebSearch"],
  effort: "high",
  env: { CI: "1" },
  fallbackModel: "claude-haiku-4-5",
  forkSession: false,
  forwardSubagentText: true,
  includeHookEvents: true,
  includePartialMessages: true,
  maxBudgetUsd: 1,
  maxThinkingTokens: 2048,
  maxTurns: 30,
  model: "claude-sonnet-4-6",
  outputFormat: { type: "json_schema", schema: { type: "object" } },
  permissionMode: "acceptEdits",
  persistSession: true,
  planModeInstructions: "Plan in three steps.",
  resume: "id",
  resumeSessionAt: "uuid",
  sessionId: "00000000-0000-0000-0000-000000000000",
  settingSources: ["project", "local"],
  skills: ["pdf"],
  systemPrompt: "You mend bugs.",
  tools: ["Read", "Edit"],
};

export const prompts: Options[] = [
  { model: "m", systemPrompt: ["One.", "Two."] },
  { model: "m", systemPrompt: { type: "custom", prompt: "One." } },
  { model: "m", systemPrompt: { type: "preset", preset: "claude_code", append: "Be brief." } },
  { model: "m", tools: { type: "preset", preset: "claude_code" } },
  { model: "m", skills: "all" },
  { model: "m", thinking: { type: "adaptive" } },
  { model: "m", thinking: { type: "enabled", budgetTokens: 1024 } },
  { model: "m", thinking: { type: "disabled" } },
  { model: "m", mcpServers: { files: { type: "http", url: "https://files.test/mcp", headers: { a: "b" } } } },
  { model: "m", mcpServers: { old: { type: "sse", url: "https://old.test/sse" } } },
  { model: "m", mcpServers: { local: { command: "node", args: ["server.js"] } } },
  { model: "m", onElicitation: async ({ message }) => ({ action: "accept", content: { said: message } }) },
  { model: "m", title: "Mend" },
  { model: "m", host: { apiKey: "k" } }, // sdk: looplet takes nothing from a process
];

export const started = query({ prompt: "Go.", options });
