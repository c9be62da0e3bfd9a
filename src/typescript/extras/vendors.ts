/**
 * Vendors that speak a protocol of another vendor: one row each, which a bundler drops if it is not imported. Besides
 * the URL, a row has facts from the vendor's documentation or a recorded answer. `docs/vendors.md` has the page and
 * the date of each, and a test compares the two. `vendors/` has the tools that vendors define.
 */
import { type NotOfModel, checkOptions, describeWord, joined } from "../core/kit/check.js";
import { HTTP_MODEL_TABLE } from "../core/kit/tables.js";
import { vendorModel } from "../core/kit/models.js";
import { LoopletError } from "../core/api/errors.js";
import type { HttpModelOptions, Model, Quirks, WireProtocol } from "../core/api/index.js";

export { anthropicTools } from "./vendors/anthropic-tools.js";
export type * from "./vendors/anthropic-tools.js";
export { geminiTools } from "./vendors/gemini-tools.js";
export type { MemoryOptions } from "./vendors/memory.js";
export { openaiTools } from "./vendors/openai-tools.js";
export type * from "./vendors/openai-tools.js";
export type { UserLocation } from "./vendors/entry.js";

/** Makes models of one vendor, by name. */
export type VendorModel = (model: string, options?: HttpModelOptions & NotOfModel) => Model;

/**
 * Creates a constructor of models for your own server that you use often. For a single model, `compatible()` is
 * enough.
 *
 * @throws LoopletError `config_…`, when it is called
 */
export function vendor(row: {
  /** The vendor's name in `result.error.vendor` and for prices. */
  name: string;
  /** The URL before the protocol's path. */
  baseUrl: string;
  /** The wire protocol. Default `"openai_chat"`. */
  protocol?: WireProtocol;
  /** The header of the key, and the text before the key. Default: `authorization`, `Bearer `. */
  auth?: { header: string; prefix: string };
  quirks?: Quirks;
  /** Whether the server is on the user's own machine and needs no key. Default false. */
  isLocal?: boolean;
}): VendorModel {
  const { name, protocol = "openai_chat", ...reach } = joined(row);
  return (model, options = {}) =>
    vendorModel(name, model, options, protocol, reach as Parameters<typeof vendorModel>[4]);
}

const OPENAI: Quirks = { maxOutputTokens: "max_completion_tokens", topK: false, thinking: false };

/** The quirk of servers whose JSON mode accepts no schema; put the schema into the prompt. */
const JSON_OBJECT = { response_format: { type: "json_object" } };

/** The quirk of servers that switch thinking by a boolean. */
const SWITCH = {
  "thinking.enabled": { enable_thinking: true },
  "thinking.disabled": { enable_thinking: false },
};

/** The quirk of servers that continue from a message that is marked as partial. */
const PARTIAL = { message: { partial: true } };

/** OpenRouter's fields for reasoning, which other vendors have adopted. */
const REASONING: Quirks = {
  effort: { reasoning: { effort: "$" } },
  budgetTokens: { reasoning: { max_tokens: "$" } },
  "thinking.enabled": { reasoning: { enabled: true } },
  "thinking.disabled": { reasoning: { enabled: false } },
};

/**
 * OpenRouter. `promptCaching: true` marks the prompt for Anthropic's models.
 *
 * @example
 * ```ts
 * import { createAgent } from "looplet";
 * import { openrouter } from "looplet/vendors";
 *
 * const model = openrouter("anthropic/claude-opus-5.5", { apiKey: process.env.OPENROUTER_API_KEY });
 * const agent = createAgent({ model });
 * ```
 */
export const openrouter = /* @__PURE__ */ vendor({
  name: "openrouter",
  baseUrl: "https://openrouter.ai/api/v1",
  quirks: { ...REASONING, promptCaching: { cache_control: { type: "ephemeral", ttl: "$" } } },
});

/** Groq. */
export const groq = /* @__PURE__ */ vendor({
  name: "groq",
  baseUrl: "https://api.groq.com/openai/v1",
  quirks: { maxOutputTokens: "max_completion_tokens", topK: false },
});

/** Mistral. */
export const mistral = /* @__PURE__ */ vendor({
  name: "mistral",
  baseUrl: "https://api.mistral.ai/v1",
  quirks: {
    seed: "random_seed",
    topK: false,
    thinking: false,
    callIdChars: 9,
    prefill: { message: { prefix: true } },
  },
});

/** DeepSeek. */
export const deepseek = /* @__PURE__ */ vendor({
  name: "deepseek",
  baseUrl: "https://api.deepseek.com",
  quirks: { responseFormat: JSON_OBJECT, requiredReasoning: "reasoning_content", topK: false },
});

/** xAI. */
export const xai = /* @__PURE__ */ vendor({
  name: "xai",
  baseUrl: "https://api.x.ai/v1",
  quirks: { maxOutputTokens: "max_completion_tokens", topK: false, thinking: false },
});

/** Together. */
export const together = /* @__PURE__ */ vendor({
  name: "together",
  baseUrl: "https://api.together.ai/v1",
  quirks: {
    "thinking.enabled": { reasoning: { enabled: true } },
    "thinking.disabled": { reasoning: { enabled: false } },
  },
});

/** Fireworks. */
export const fireworks = /* @__PURE__ */ vendor({
  name: "fireworks",
  baseUrl: "https://api.fireworks.ai/inference/v1",
});

/** Cerebras. */
export const cerebras = /* @__PURE__ */ vendor({
  name: "cerebras",
  baseUrl: "https://api.cerebras.ai/v1",
  quirks: { maxOutputTokens: "max_completion_tokens", topK: false },
});

/** Perplexity. */
export const perplexity = /* @__PURE__ */ vendor({
  name: "perplexity",
  baseUrl: "https://api.perplexity.ai",
});

/** Hugging Face's router. A model's name may end with its provider, as in `openai/gpt-oss-120b:cerebras`. */
export const huggingface = /* @__PURE__ */ vendor({
  name: "huggingface",
  baseUrl: "https://router.huggingface.co/v1",
});

/** GitHub Models. */
export const githubModels = /* @__PURE__ */ vendor({
  name: "github-models",
  baseUrl: "https://models.github.ai/inference",
});

/** GitHub Copilot; its key is a token that GitHub exchanges. */
export const copilot = /* @__PURE__ */ vendor({
  name: "copilot",
  baseUrl: "https://api.githubcopilot.com",
});

/** Moonshot (Kimi). */
export const moonshot = /* @__PURE__ */ vendor({
  name: "moonshot",
  baseUrl: "https://api.moonshot.ai/v1",
  quirks: { requiredReasoning: "reasoning_content", topK: false, prefill: PARTIAL },
});

/** Z.ai (GLM). */
export const zai = /* @__PURE__ */ vendor({
  name: "zai",
  baseUrl: "https://api.z.ai/api/paas/v4",
  quirks: { responseFormat: JSON_OBJECT, frequencyPenalty: false, presencePenalty: false },
});

/** Qwen on Alibaba Cloud (DashScope, international). */
export const qwen = /* @__PURE__ */ vendor({
  name: "qwen",
  baseUrl: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
  quirks: { ...SWITCH, budgetTokens: { enable_thinking: true, thinking_budget: "$" }, prefill: PARTIAL },
});

/** Vercel AI Gateway. */
export const vercelGateway = /* @__PURE__ */ vendor({
  name: "vercel-gateway",
  baseUrl: "https://ai-gateway.vercel.sh/v1",
  quirks: REASONING,
});

/**
 * A local Ollama. The size of its context comes from Ollama's own setting, not from the request.
 *
 * @example
 * ```ts
 * import { createAgent } from "looplet";
 * import { ollama } from "looplet/vendors";
 *
 * const agent = createAgent({ model: ollama("qwen3") });
 * ```
 */
export const ollama = /* @__PURE__ */ vendor({
  name: "ollama",
  baseUrl: "http://localhost:11434/v1",
  isLocal: true,
});

/** A local llama.cpp server. */
export const llamaCpp = /* @__PURE__ */ vendor({
  name: "llama.cpp",
  baseUrl: "http://localhost:8080/v1",
  quirks: {
    "thinking.enabled": { chat_template_kwargs: { enable_thinking: true } },
    "thinking.disabled": { chat_template_kwargs: { enable_thinking: false } },
    prefill: {},
  },
  isLocal: true,
});

/** A local vLLM server. */
export const vllm = /* @__PURE__ */ vendor({
  name: "vllm",
  baseUrl: "http://localhost:8000/v1",
  quirks: {
    "thinking.enabled": { chat_template_kwargs: { enable_thinking: true } },
    "thinking.disabled": { chat_template_kwargs: { enable_thinking: false } },
    prefill: { body: { continue_final_message: true, add_generation_prompt: false } },
  },
  isLocal: true,
});

/** A local LM Studio. */
export const lmStudio = /* @__PURE__ */ vendor({
  name: "lmstudio",
  baseUrl: "http://localhost:1234/v1",
  isLocal: true,
});

/** Options that name an account. */
interface Named<K extends string> {
  options: HttpModelOptions & { [name in K]: string } & NotOfModel;
}

/**
 * Azure OpenAI (v1 API) over Responses, or over Chat Completions with `api: "chat"`. The model is the deployment's
 * name; `resource` is the part of the URL before `.openai.azure.com`. For a token of Entra ID, use `authorize`.
 *
 * @example
 * ```ts
 * import { createAgent } from "looplet";
 * import { azure } from "looplet/vendors";
 *
 * const model = azure("my-deployment", { resource: "my-company", apiKey: process.env.AZURE_API_KEY });
 * const agent = createAgent({ model });
 * ```
 *
 * @throws LoopletError `config_…`
 */
export function azure(
  deployment: string,
  options: Named<"resource">["options"] & { api?: "responses" | "chat" | undefined },
): Model {
  const { api = "responses", ...rest } = taken(options, { resource: "text!", api: "any" });
  if (api !== "responses" && api !== "chat") {
    throw new LoopletError(
      "config_invalid_value",
      "model.api",
      `needs "responses" or "chat", got ${describeWord(api)}`,
    );
  }
  const { resource, ...http } = rest;
  return vendorModel("azure", deployment, http, api === "chat" ? "openai_chat" : "openai_responses", {
    baseUrl: `https://${slug(resource, "resource")}.openai.azure.com/openai/v1`,
    auth: { header: "api-key", prefix: "" },
    quirks: OPENAI,
  });
}

/**
 * Google's models on Vertex AI; `apiKey` is an access token, best a function that fetches a fresh one.
 *
 * @throws LoopletError `config_…`
 */
export function vertex(model: string, options: Named<"project" | "location">["options"]): Model {
  const { project, location, ...http } = taken(options, { project: "text!", location: "text!" });
  return vendorModel("vertex", model, http, "gemini", {
    baseUrl: `${vertexBase(project, location)}/publishers/google`,
  });
}

/**
 * Cloudflare Workers AI over its REST interface. Inside a Worker, use `workersAi()` with the binding.
 *
 * @throws LoopletError `config_…`
 */
export function cloudflareWorkersAi(model: string, options: Named<"accountId">["options"]): Model {
  const { accountId, ...http } = taken(options, { accountId: "text!" });
  return vendorModel("cloudflare-workers-ai", model, http, "openai_chat", {
    baseUrl: `https://api.cloudflare.com/client/v4/accounts/${slug(accountId, "accountId")}/ai/v1`,
  });
}

/**
 * Cloudflare AI Gateway, at its endpoint for all vendors. A model's name is `vendor/model`. `apiKey` is the vendor's.
 * If the gateway requires its own token, add `headers: { "cf-aig-authorization": … }`.
 *
 * @throws LoopletError `config_…`
 */
export function cloudflareGateway(model: string, options: Named<"accountId" | "gateway">["options"]): Model {
  const { accountId, gateway, ...http } = taken(options, { accountId: "text!", gateway: "text!" });
  return vendorModel("cloudflare-gateway", model, http, "openai_chat", {
    baseUrl: `https://gateway.ai.cloudflare.com/v1/${slug(accountId, "accountId")}/${slug(gateway, "gateway")}/compat`,
  });
}

function vertexBase(project: string, location: string): string {
  const host = location === "global" ? "aiplatform" : `${slug(location, "location")}-aiplatform`;
  return `https://${host}.googleapis.com/v1/projects/${slug(project, "project")}/locations/${location}`;
}

function taken<T extends object>(options: T, own: { readonly [name: string]: "text!" | "any" }): T {
  return checkOptions(options, "model", { ...HTTP_MODEL_TABLE, ...own });
}

/** Checks a part of a URL, so that it cannot change another part. */
function slug(part: string, name: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._:-]*$/.test(part)) return part;
  throw new LoopletError("config_invalid_value", `model.${name}`, `needs a name, got ${describeWord(part)}`);
}
