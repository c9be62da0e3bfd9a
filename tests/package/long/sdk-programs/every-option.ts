// A program that gives every option of the published type, and every field of an agent.
import {
  createSdkMcpServer,
  getSessionMessages,
  query,
  tool,
  type AgentDefinition,
  type Options,
} from "@anthropic-ai/claude-agent-sdk";
import { z } from "zod";

const reviewer: { [field in keyof Required<AgentDefinition>]: AgentDefinition[field] } = {
  description: "Reviews code",
  prompt: "You review.",
  tools: ["Read", "Agent"],
  disallowedTools: ["Bash"],
  model: "haiku",
  mcpServers: ["files"],
  criticalSystemReminder_EXPERIMENTAL: "Change nothing.",
  skills: ["pdf"],
  initialPrompt: "Read README first.",
  maxTurns: 5,
  autoCompactWindow: 100_000,
  background: false,
  omitClaudeMd: true,
  memory: "project",
  effort: "low",
  permissionMode: "default",
  observer: "reviewer",
  observerMessage: "Look.",
};

const files = createSdkMcpServer({
  name: "files",
  tools: [tool("find", "Finds files", { name: z.string() }, async () => ({ content: [] }))],
});

const env: { [name: string]: string | undefined } = { CI: "1", HOME: undefined };

const every = {
  abortController: new AbortController(),
  additionalDirectories: ["/docs"],
  projectConfigRoot: "/trusted",
  agent: "reviewer",
  agents: { reviewer },
  allowedTools: ["Read"],
  canUseTool: async (_name, input) => ({ behavior: "allow", updatedInput: input }),
  continue: false,
  cwd: "/every",
  disallowedTools: ["WebSearch"],
  toolAliases: { Bash: "mcp__files__find" },
  tools: ["Read", "Agent"],
  env,
  executable: "node",
  executableArgs: ["--no-warnings"],
  extraArgs: { "replay-user-messages": null, verbose: null },
  fallbackModel: "sonnet, haiku",
  enableFileCheckpointing: true,
  toolConfig: { askUserQuestion: { previewFormat: "html" } },
  forkSession: false,
  betas: ["context-1m-2025-08-07"],
  hooks: { Stop: [{ hooks: [async () => ({ continue: true })] }] },
  onElicitation: async () => ({ action: "decline" }),
  onUserDialog: async () => ({ behavior: "cancelled" }),
  supportedDialogKinds: [],
  perTaskStopAffordance: false,
  persistSession: true,
  sessionStore: undefined,
  sessionStoreFlush: "batched",
  loadTimeoutMs: 1000,
  includeHookEvents: true,
  includePartialMessages: true,
  forwardSubagentText: true,
  verbatimPrompts: true,
  thinking: { type: "adaptive" },
  effort: "high",
  maxThinkingTokens: 2048,
  maxTurns: 30,
  maxBudgetUsd: 1,
  taskBudget: { total: 100_000 },
  mcpServers: { files },
  mcpServersDelivery: "initialize",
  model: "opus",
  outputFormat: undefined,
  pathToClaudeCodeExecutable: "/bin/claude",
  permissionMode: "acceptEdits",
  planModeInstructions: "Plan in three steps.",
  allowDangerouslySkipPermissions: false,
  permissionPromptToolName: "mcp__files__find",
  permissionPrompts: "host",
  plugins: [{ type: "local", path: "./plugin" }],
  pluginDelivery: "initialize",
  promptSuggestions: true,
  agentProgressSummaries: true,
  resume: undefined,
  sessionId: undefined,
  resumeSessionAt: undefined,
  resumeDropsTurn: undefined,
  sandbox: { enabled: false },
  settings: { model: "haiku", permissions: { deny: ["Bash(rm *)"] } },
  managedSettings: { permissions: { deny: ["WebFetch"] } },
  settingSources: ["project"],
  skills: "all",
  debug: false,
  debugFile: "/tmp/debug",
  stderr: () => {},
  strictMcpConfig: true,
  systemPrompt: { type: "preset", preset: "claude_code", append: "Be brief.", snapshot: true },
  title: "Every option",
  spawnClaudeCodeProcess: () => {
    throw new Error("never called");
  },
} satisfies Options;

/** Fails to compile for an option that the program leaves out. */
export const complete: { [name in keyof Required<Options>]: unknown } = every; // looplet: it has options of its own

async function ask(prompt: string, options: Options) {
  const told: string[] = [];
  let id = "";
  for await (const message of query({ prompt, options })) {
    id = message.session_id ?? id;
    if (message.type === "result")
      told.push(message.subtype === "success" ? message.result : message.errors[0]!);
  }
  return { id, told };
}

export async function main(base: Options) {
  const options: Options = { ...every, ...base };
  const { id } = await ask("/compact is a text.", options);
  await ask("Twice.", { ...options, resume: id });
  const messages = await getSessionMessages(id, { dir: "/every" });
  const [first, second] = messages.filter(({ type }) => type === "user").map(({ uuid }) => uuid);
  const answer = messages.find(({ type }) => type === "assistant")!.uuid;
  const cut: Options = { ...options, resume: id, resumeSessionAt: answer, forkSession: true };
  const refused = await ask("Again.", { ...cut, resumeDropsTurn: first! });
  const dropped = await ask("Again.", { ...cut, resumeDropsTurn: second! });
  return { refused: refused.told, dropped: dropped.told };
}
