/** What fills the window of a query: the vendor's count for the whole, and estimates for its parts. */
import type { Message, Tool } from "../../../core/api/index.js";
import { inputJsonSchema } from "../../../core/kit/tools.js";
import type { ApiUsage } from "../types.js";

/** Characters that count as a token. */
const TOKEN_CHARS = 3.5;

/** The share of the window at which the session is summarised. */
const THRESHOLD = 0.8;

export interface ContextUsageCategory {
  readonly name: string;
  readonly tokens: number;
  readonly color: string;
  readonly kind: "used" | "free" | "buffer" | "deferred";
  /** Not set. */
  readonly id?: string;
  /** Not set. */
  readonly isDeferred?: boolean;
}

interface Sized {
  readonly name: string;
  readonly tokens: number;
}

/** The answer of `getContextUsage`. Optional fields but `autoCompactThreshold` are not set. */
export interface SDKControlGetContextUsageResponse {
  readonly categories: ContextUsageCategory[];
  readonly totalTokens: number;
  /** The window of the model; 200,000 if it is not known. */
  readonly maxTokens: number;
  readonly rawMaxTokens: number;
  readonly percentage: number;
  /** Empty: it is for a terminal. */
  readonly gridRows: {
    color: string;
    isFilled: boolean;
    categoryName: string;
    tokens: number;
    percentage: number;
    squareFullness: number;
  }[][];
  readonly model: string;
  readonly memoryFiles: { readonly path: string; readonly type: string; readonly tokens: number }[];
  readonly mcpTools: (Sized & { readonly serverName: string; readonly isLoaded?: boolean })[];
  readonly agents: {
    readonly agentType: string;
    readonly source: string;
    readonly tokens: number;
    readonly pluginId?: string;
    readonly path?: string;
  }[];
  readonly isAutoCompactEnabled: boolean;
  readonly autoCompactThreshold?: number;
  readonly apiUsage: ApiUsage | null;
  readonly mcpInstructions?: { serverName: string; tokens: number }[];
  readonly deferredBuiltinTools?: (Sized & { readonly isLoaded: boolean })[];
  readonly systemTools?: Sized[];
  readonly systemPromptSections?: Sized[];
  readonly slashCommands?: { totalCommands: number; includedCommands: number; tokens: number };
  readonly skills?: {
    totalSkills: number;
    includedSkills: number;
    tokens: number;
    skillFrontmatter: (Sized & {
      readonly source: string;
      readonly pluginName?: string;
      readonly pluginId?: string;
      readonly path?: string;
    })[];
  };
  readonly messageBreakdown?: {
    toolCallTokens: number;
    toolResultTokens: number;
    attachmentTokens: number;
    assistantMessageTokens: number;
    userMessageTokens: number;
    redirectedContextTokens: number;
    unattributedTokens: number;
    toolCallsByType: { name: string; callTokens: number; resultTokens: number }[];
    attachmentsByType: Sized[];
  };
}

/** looplet's own name of {@link SDKControlGetContextUsageResponse}. */
export type ContextUsage = SDKControlGetContextUsageResponse;

export interface Filled {
  readonly model: string;
  readonly window: number | undefined;
  readonly compacts: boolean;
  readonly threshold: number | undefined;
  readonly system: string;
  /** The texts of CLAUDE.md files. */
  readonly instructions: readonly string[];
  readonly tools: { readonly [name: string]: Tool };
  readonly agents: readonly { readonly name: string; readonly description: string }[];
  readonly messages: readonly Message[];
  /** The count of the last request. */
  readonly counted: ApiUsage | undefined;
}

export function contextUsage(filled: Filled): ContextUsage {
  const {
    model,
    window = 200_000,
    compacts,
    system,
    instructions,
    tools,
    agents,
    messages,
    counted,
  } = filled;
  const sizes = Object.entries(tools).map(([name, tool]) => ({ name, tokens: tokens(definition(tool)) }));
  const mcpTools = sizes
    .filter(({ name }) => name.startsWith("mcp__"))
    .map((tool) => ({ ...tool, serverName: tool.name.split("__")[1] ?? "" }));
  const memoryFiles = instructions.map((text) => ({
    path: /^Contents of (.*):$/m.exec(text)?.[1] ?? "",
    type: "Project",
    tokens: tokens(text),
  }));
  const parts = [
    { name: "System prompt", tokens: tokens(system), color: "promptBorder" },
    { name: "System tools", tokens: sum(sizes) - sum(mcpTools), color: "inactive" },
    { name: "MCP tools", tokens: sum(mcpTools), color: "cyan" },
    { name: "Memory files", tokens: sum(memoryFiles), color: "claude" },
    { name: "Messages", tokens: tokens(JSON.stringify(messages)), color: "purple" },
  ].filter((part) => part.tokens > 0);
  const known =
    counted && counted.input_tokens + counted.cache_read_input_tokens + counted.cache_creation_input_tokens;
  const totalTokens = known ? known + counted.output_tokens : sum(parts);
  const free = Math.max(window - totalTokens, 0);
  return {
    categories: [
      ...parts.map((part) => ({ ...part, kind: "used" as const })),
      { name: "Free space", tokens: free, color: "promptBorder", kind: "free" },
    ],
    totalTokens,
    maxTokens: window,
    rawMaxTokens: window,
    percentage: Math.round((totalTokens / window) * 100),
    gridRows: [],
    model,
    memoryFiles,
    mcpTools,
    agents: agents.map(({ name, description }) => ({
      agentType: name,
      source: "options",
      tokens: tokens(description),
    })),
    isAutoCompactEnabled: compacts,
    ...(compacts ? { autoCompactThreshold: Math.floor(window * (filled.threshold ?? THRESHOLD)) } : {}),
    apiUsage: counted ?? null,
  };
}

function definition({ description = "", inputSchema }: Tool): string {
  return description + JSON.stringify(inputJsonSchema(inputSchema, "inputSchema"));
}

const tokens = (text: string): number => Math.ceil(text.length / TOKEN_CHARS);

const sum = (parts: readonly { readonly tokens: number }[]): number =>
  parts.reduce((all, part) => all + part.tokens, 0);
