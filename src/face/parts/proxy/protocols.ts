/**
 * The requests that a proxy lets through, by protocol: their path, the model and the bound of the answer in them, and
 * the fields by which a request would spend more than its tokens, or reach other models.
 */
import { isObject } from "../../core/options/check.js";

export interface Protocol {
  /** The path of the vendor's own server, where its base URL has none. */
  readonly basePath: string;
  /** The paths behind the base URL, without a model. */
  readonly path: string;
  /** The bound of the answer that a body asks for. */
  maxTokens(body: Body): unknown;
  /** The field of that bound. */
  readonly maxTokensField: string;
  /** Whether a tool runs at the vendor. */
  isServerTool(tool: Body): boolean;
  /** Fields that spend more than tokens, or that reach what others have left at the vendor. */
  readonly beside: readonly string[];
}

export interface Body {
  readonly [field: string]: unknown;
}

/** Fields by which gateways and vendors take another model than the one that is named. */
export const OTHER_MODELS = ["models", "route", "fallbacks", "fallback_models"];

const ofType =
  (...types: readonly string[]) =>
  ({ type }: Body): boolean =>
    typeof type === "string" && !types.includes(type);

export const PROTOCOLS: { readonly [name: string]: Protocol } = {
  anthropic: {
    basePath: "",
    path: "/v1/messages",
    maxTokens: ({ max_tokens }) => max_tokens,
    maxTokensField: "max_tokens",
    isServerTool: ofType("custom"),
    beside: ["mcp_servers", "container"],
  },
  openai_responses: {
    basePath: "/v1",
    path: "/responses",
    maxTokens: ({ max_output_tokens }) => max_output_tokens,
    maxTokensField: "max_output_tokens",
    isServerTool: ofType("function", "custom"),
    beside: ["background", "conversation", "previous_response_id", "prompt"],
  },
  openai_chat: {
    basePath: "/v1",
    path: "/chat/completions",
    maxTokens: ({ max_completion_tokens, max_tokens }) =>
      max_completion_tokens === undefined || max_tokens === undefined
        ? (max_completion_tokens ?? max_tokens)
        : Math.max(Number(max_completion_tokens), Number(max_tokens)),
    maxTokensField: "max_completion_tokens",
    isServerTool: ofType("function"),
    beside: ["web_search_options", "plugins"],
  },
  gemini: {
    basePath: "",
    path: "/v1beta/models/",
    maxTokens: ({ generationConfig }) => (Object(generationConfig) as Body)["maxOutputTokens"],
    maxTokensField: "generationConfig.maxOutputTokens",
    isServerTool: (tool) => Object.keys(tool).some((name) => name !== "functionDeclarations"),
    beside: ["cachedContent"],
  },
};

/** How many answers a body asks for at once. */
export function answersOf(body: Body): unknown {
  const { candidateCount } = Object(body["generationConfig"]) as Body;
  return body["n"] ?? candidateCount ?? 1;
}

export function serverToolIn({ isServerTool }: Protocol, { tools = [] }: Body): boolean {
  return !Array.isArray(tools) || tools.some((tool) => !isObject(tool) || isServerTool(tool as Body));
}

/** The method of Gemini in a path, with the name of the model: one segment, in any spelling. */
const GEMINI = /^\/v1beta\/models\/([^/]+):(streamGenerateContent|generateContent)$/;

/** The model that a path names, and the path that the vendor gets. */
export function geminiPath(path: string): { readonly model: string; readonly path: string } | undefined {
  const [, name, method] = GEMINI.exec(path) ?? [];
  if (name === undefined) return undefined;
  let model: string;
  try {
    model = decodeURIComponent(name);
  } catch {
    return undefined;
  }
  return { model, path: `/v1beta/models/${encodeURIComponent(model)}:${method}` };
}
