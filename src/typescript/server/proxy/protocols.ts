/**
 * The requests that a proxy accepts, by protocol: their path, their model, their output limit, and the fields that
 * could spend more than tokens or reach other models.
 */
import { isObject } from "../../core/kit/check.js";
import { folded } from "./fields.js";

export interface Protocol {
  /** The path of the vendor's own server, for a base URL without one. */
  readonly basePath: string;
  /** The end of a base URL that the path of a request also contains. */
  readonly path: string;
  /** What a path after the vendor's name requests. Undefined for a path that the protocol does not have. */
  read(path: string): PathAsked | undefined;
  /** The tools that a body offers. Default: those in `tools`. The names of `body` are folded, here and below. */
  tools?(body: Body): unknown;
  /** All output limits in a body. The largest may apply. */
  maxTokens(body: Body): readonly unknown[];
  /** The values of the fields that request reasoning. */
  reasoning(body: Body): readonly unknown[];
  /** The fields that are checked, as the vendor spells them. Another spelling of one is refused. */
  readonly spellings: readonly string[];
  /** Whether the vendor reads protobuf JSON, which has two spellings of each name. */
  readonly isProtobuf?: boolean;
  /** The field of that bound. */
  readonly maxTokensField: string;
  /** Whether the vendor runs the tool. */
  isServerTool(tool: Body): boolean;
  /** Fields that spend more than tokens, or that can access what others stored at the vendor. */
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

/** The fields that all protocols check. */
const COMMON = ["model", "models", "route", "fallbacks", "fallback_models", "n", "stream", "tools"];

/** Fields by which gateways and vendors take another model than the one that is named. */
export const OTHER_MODELS = ["models", "route", "fallbacks", "fallback_models", "preset"];

/** Fields of all protocols by which a request spends more than its tokens. */
export const BESIDE = [
  "mcp_servers",
  "data_sources",
  "enable_search",
  "search_options",
  "search_parameters",
].concat("web_search_options", "plugins", "search_settings", "compound_custom", "enable_code_interpreter");

/**
 * The values that cost at most the listed price, for fields that select a faster tier or another region. Any other
 * value is refused: vendors add expensive tiers under new names, and protobuf JSON accepts numbers for names.
 */
const PLAIN: { readonly [folded: string]: readonly string[] } = {
  servicetier: ["auto", "default", "standard", "standardonly", "ondemand", "flex", "unspecified"],
  speed: ["auto", "default", "standard", "flex"],
  inferencegeo: ["global"],
};

/** A field with a value that costs more, in one of the places of a body. */
export function dearField(places: readonly Body[]): string | undefined {
  return Object.keys(PLAIN).find((field) =>
    places.some((place) => {
      const value = place[field] ?? null;
      // Gemini's names begin with the field's name: `SERVICE_TIER_PRIORITY`.
      const name = typeof value === "string" ? folded(value).replace(field, "") : "";
      return value !== null && !PLAIN[field]!.includes(name);
    }),
  );
}

/** The body, and the objects in it that checks look into. All names are folded. */
export function placesIn(body: Body): readonly Body[] {
  const inner = ["generationconfig", "inferenceconfig", "additionalmodelrequestfields"];
  return [body, ...inner.map((name) => Object(body[name]) as Body)];
}

const ofType =
  (...types: readonly string[]) =>
  (tool: Body): boolean =>
    Object.entries(tool).some(
      ([name, type]) =>
        folded(name) === "type" && type !== null && (name !== "type" || !types.includes(type as string)),
    );

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

/** Gemini's path of a model after `begin`. */
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

/** The names of the output limit in models and gateways. */
const OWN_BOUNDS = new Set(
  ["max_tokens", "max_new_tokens", "max_gen_len", "max_completion_tokens", "max_output_tokens"]
    .concat(["max_length", "max_token_count", "max_tokens_to_sample"])
    .map(folded),
);

/** All output limits at the top level of a body, also those that the protocol does not have. */
export function boundsIn(body: Body): readonly unknown[] {
  return [...OWN_BOUNDS].flatMap((name) => set(body[name]));
}

const gemini = {
  maxTokens: ({ generationconfig }: Body): readonly unknown[] =>
    set((Object(generationconfig) as Body)["maxoutputtokens"]),
  reasoning: ({ generationconfig }: Body): readonly unknown[] =>
    set((Object(generationconfig) as Body)["thinkingconfig"]),
  maxTokensField: "generationConfig.maxOutputTokens",
  isServerTool: (tool: Body): boolean =>
    Object.keys(tool).some((name) => !["functionDeclarations", "function_declarations"].includes(name)),
  spellings: [
    "generationConfig",
    "maxOutputTokens",
    "candidateCount",
    "cachedContent",
    "toolConfig",
    ...COMMON,
  ],
  isProtobuf: true,
  beside: ["cachedContent"],
};

/** The values that are set. */
function set(...values: readonly unknown[]): readonly unknown[] {
  return values.filter((value) => value !== undefined && value !== null);
}

export const PROTOCOLS: { readonly [name: string]: Protocol } = {
  anthropic: {
    basePath: "",
    path: "/v1/messages",
    read: exactly("/v1/messages"),
    maxTokens: ({ maxtokens }) => set(maxtokens),
    reasoning: ({ thinking }) => set(thinking),
    spellings: ["max_tokens", "mcp_servers", "container", "thread", ...COMMON],
    maxTokensField: "max_tokens",
    isServerTool: ofType("custom"),
    beside: ["container", "thread"],
  },
  openai_responses: {
    basePath: "/v1",
    path: "/responses",
    read: exactly("/responses"),
    maxTokens: ({ maxoutputtokens }) => set(maxoutputtokens),
    reasoning: ({ reasoning }) => set(reasoning),
    spellings: [
      "max_output_tokens",
      "background",
      "conversation",
      "previous_response_id",
      "prompt",
      ...COMMON,
    ],
    maxTokensField: "max_output_tokens",
    isServerTool: ofType("function", "custom"),
    beside: ["background", "conversation", "previous_response_id", "prompt"],
  },
  openai_chat: {
    basePath: "/v1",
    path: "/chat/completions",
    read: exactly("/chat/completions"),
    maxTokens: ({ maxcompletiontokens, maxtokens }) => set(maxcompletiontokens, maxtokens),
    reasoning({ reasoningeffort, reasoning, reasoningformat, includereasoning }) {
      // Groq and OpenRouter show the reasoning, unless one of these fields hides it.
      const isHidden = reasoningformat === "hidden" || includereasoning === false;
      return set(reasoningeffort, reasoning, isHidden || undefined);
    },
    spellings: ["max_completion_tokens", "max_tokens", "web_search_options", "plugins", ...COMMON],
    maxTokensField: "max_completion_tokens",
    isServerTool: ofType("function"),
    beside: ["deferred", "previous_response_id"],
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
    tools({ toolconfig, additionalmodelrequestfields: more }) {
      // A model's own tools are not those of Converse.
      const own = (Object(more) as Body)["tools"];
      return own === undefined || own === null ? (Object(toolconfig) as Body)["tools"] : [own];
    },
    maxTokens({ inferenceconfig, additionalmodelrequestfields: more }) {
      const [bound] = set((Object(inferenceconfig) as Body)["maxtokens"]);
      const own = [...OWN_BOUNDS].flatMap((name) => set((Object(more) as Body)[name]));
      // This model may ignore another model's limit, so such a limit does not replace Converse's.
      return bound === undefined ? [] : [bound, ...own];
    },
    reasoning({ additionalmodelrequestfields: more }) {
      const { thinking, reasoningconfig, reasoningeffort } = Object(more) as Body;
      return set(thinking, reasoningconfig, reasoningeffort);
    },
    spellings: ["inferenceConfig", "maxTokens", "toolConfig", "additionalModelRequestFields"],
    maxTokensField: "inferenceConfig.maxTokens",
    isServerTool: (tool) => Object.keys(tool).some((name) => !["toolSpec", "cachePoint"].includes(name)),
    beside: ["guardrailConfig", "performanceConfig", "promptVariables", "serviceTier"],
  },
};

/** Gemini on Vertex AI. Its paths contain the project and the publisher: `base` is that part. */
export function vertexProtocol(base: string): Protocol {
  return { basePath: "", path: "", read: geminiPath(`${base}/models/`), ...gemini };
}

/** Whether a body requests only one answer, according to every field that could request more. */
export function asksForOne(body: Body): boolean {
  const counts = placesIn(body).flatMap((place) => ANSWERS.map((name) => place[name]));
  return counts.every((count) => count === undefined || count === null || count === 1);
}

/** Folded names of fields that ask for several answers. */
const ANSWERS = ["n", "candidatecount", "bestof", "numgenerations", "numresults", "numreturnsequences"];

export function serverToolIn({ isServerTool, tools: toolsOf }: Protocol, body: Body): boolean {
  const tools = (toolsOf === undefined ? body["tools"] : toolsOf(body)) ?? [];
  return !Array.isArray(tools) || tools.some((tool) => !isObject(tool) || isServerTool(tool as Body));
}
