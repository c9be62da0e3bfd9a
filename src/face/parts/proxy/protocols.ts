/**
 * The requests that a proxy lets through, by protocol: their path, the model and the bound of the answer in them, and
 * the fields by which a request would spend more than its tokens, or reach other models.
 */
import { isObject } from "../../core/options/check.js";

export interface Protocol {
  /** The path of the vendor's own server, where its base URL has none. */
  readonly basePath: string;
  /** The end of a base URL that the path of a request has, too. */
  readonly path: string;
  /** What a path behind the vendor asks for; undefined for a path that the protocol does not have. */
  read(path: string): PathAsked | undefined;
  /** The tools that a body offers. Default: those in `tools`. */
  tools?(body: Body): unknown;
  /** The bound of the answer that a body asks for. */
  maxTokens(body: Body): unknown;
  /** The field of that bound. */
  readonly maxTokensField: string;
  /** Whether a tool runs at the vendor. */
  isServerTool(tool: Body): boolean;
  /** Fields that spend more than tokens, or that reach what others have left at the vendor. */
  readonly beside: readonly string[];
}

export interface PathAsked {
  /** The path that the vendor gets, in one spelling. */
  readonly path: string;
  /** The query that belongs to it. */
  readonly query: string;
  /** The model, if the path names it. */
  readonly model?: string;
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

const exactly =
  (own: string) =>
  (path: string): PathAsked | undefined =>
    path === own ? { path, query: "" } : undefined;

/** A path with the name of a model as one segment, in any spelling, between a beginning and a method. */
function named(
  path: string,
  begin: string,
  methods: RegExp,
): { readonly model: string; readonly method: string } | undefined {
  const method = methods.exec(path)?.[0];
  if (method === undefined || !path.startsWith(begin)) return undefined;
  const name = path.slice(begin.length, -method.length);
  if (name === "" || name.includes("/")) return undefined;
  try {
    return { model: decodeURIComponent(name), method };
  } catch {
    return undefined;
  }
}

/** Gemini's path of a model behind `begin`. */
const geminiPath =
  (begin: string) =>
  (path: string): PathAsked | undefined => {
    const asked = named(path, begin, /:(streamGenerateContent|generateContent)$/);
    if (asked === undefined) return undefined;
    const { model, method } = asked;
    const query = method === ":streamGenerateContent" ? "?alt=sse" : "";
    return { model, path: `${begin}${encodeURIComponent(model)}${method}`, query };
  };

function bedrockPath(path: string): PathAsked | undefined {
  const asked = named(path, "/model/", /\/converse(-stream)?$/);
  if (asked === undefined) return undefined;
  return { model: asked.model, path: `/model/${encodeURIComponent(asked.model)}${asked.method}`, query: "" };
}

/** The names that models of Bedrock have for the bound of an answer in their own requests. */
const OWN_BOUNDS = ["max_tokens", "max_new_tokens", "max_gen_len", "maxTokens", "max_completion_tokens"];

const gemini = {
  maxTokens: ({ generationConfig }: Body): unknown => (Object(generationConfig) as Body)["maxOutputTokens"],
  maxTokensField: "generationConfig.maxOutputTokens",
  isServerTool: (tool: Body): boolean => Object.keys(tool).some((name) => name !== "functionDeclarations"),
  beside: ["cachedContent"],
};

export const PROTOCOLS: { readonly [name: string]: Protocol } = {
  anthropic: {
    basePath: "",
    path: "/v1/messages",
    read: exactly("/v1/messages"),
    maxTokens: ({ max_tokens }) => max_tokens,
    maxTokensField: "max_tokens",
    isServerTool: ofType("custom"),
    beside: ["mcp_servers", "container"],
  },
  openai_responses: {
    basePath: "/v1",
    path: "/responses",
    read: exactly("/responses"),
    maxTokens: ({ max_output_tokens }) => max_output_tokens,
    maxTokensField: "max_output_tokens",
    isServerTool: ofType("function", "custom"),
    beside: ["background", "conversation", "previous_response_id", "prompt"],
  },
  openai_chat: {
    basePath: "/v1",
    path: "/chat/completions",
    read: exactly("/chat/completions"),
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
    read: geminiPath("/v1beta/models/"),
    ...gemini,
  },
  // https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html (2026-11-26)
  bedrock_converse: {
    basePath: "",
    path: "/model/",
    read: bedrockPath,
    tools: ({ toolConfig }) => (Object(toolConfig) as Body)["tools"],
    maxTokens({ inferenceConfig, additionalModelRequestFields: more }) {
      const { maxTokens } = Object(inferenceConfig) as Body;
      const own = OWN_BOUNDS.map((name) => (Object(more) as Body)[name]).filter((most) => most !== undefined);
      return own.length === 0 || maxTokens === undefined
        ? maxTokens
        : Math.max(...[maxTokens, ...own].map(Number));
    },
    maxTokensField: "inferenceConfig.maxTokens",
    isServerTool: (tool) => Object.keys(tool).some((name) => !["toolSpec", "cachePoint"].includes(name)),
    beside: ["guardrailConfig", "performanceConfig", "promptVariables", "serviceTier"],
  },
};

/** Gemini on Vertex AI, whose paths have the project and the publisher: `base` is that part of them. */
export function vertexProtocol(base: string): Protocol {
  return { basePath: "", path: "", read: geminiPath(`${base}/models/`), ...gemini };
}

/** How many answers a body asks for at once. */
export function answersOf(body: Body): unknown {
  const { candidateCount } = Object(body["generationConfig"]) as Body;
  return body["n"] ?? candidateCount ?? 1;
}

export function serverToolIn({ isServerTool, tools: toolsOf }: Protocol, body: Body): boolean {
  const tools = (toolsOf === undefined ? body["tools"] : toolsOf(body)) ?? [];
  return !Array.isArray(tools) || tools.some((tool) => !isObject(tool) || isServerTool(tool as Body));
}
