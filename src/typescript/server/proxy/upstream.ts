/** The upstream models of a proxy, each with its address and key. */
import { LoopletError } from "../../core/api/errors.js";
import type { Fetch, Model } from "../../core/api/index.js";
import { nanoPrice, modelParts, type ModelParts } from "../../core/kit/models.js";
import { PROTOCOLS, vertexProtocol, type Protocol } from "./protocols.js";

/** The price of a model in billionths of a dollar, as the engine reads it. */
export type NanoPrice = ReturnType<typeof nanoPrice>;

export interface Upstream {
  readonly parts: ModelParts;
  readonly protocolName: string;
  readonly protocol: Protocol;
  /** The address before the path of the protocol. */
  readonly base: string;
  readonly auth: { readonly header: string; readonly prefix: string };
  readonly price: NanoPrice | undefined;
}

/** The vendors that the engine knows (`VENDORS` in `src/engine/protocol/mod.rs`); others say how they are reached. */
const KNOWN: {
  readonly [vendor: string]: { readonly base: string; readonly protocol: string; readonly header: string };
} = {
  anthropic: { base: "https://api.anthropic.com", protocol: "anthropic", header: "x-api-key" },
  openai: { base: "https://api.openai.com/v1", protocol: "openai_chat", header: "authorization" },
  google: { base: "https://generativelanguage.googleapis.com", protocol: "gemini", header: "x-goog-api-key" },
};

/** @throws LoopletError `config_…` */
export function upstreamOf(model: Model, field: string, fetch: Fetch | undefined): Upstream {
  const wrong = (problem: string): LoopletError => new LoopletError("config_invalid_value", field, problem);
  const parts = modelParts(model);
  if (parts === undefined)
    throw new LoopletError("config_wrong_type", field, 'needs a model, as anthropic("…")');
  const { config, apiKey, authorize, prices } = parts;
  const known = KNOWN[config.vendor];
  const protocolName = config.protocol ?? known?.protocol ?? "";
  const protocol = Object.hasOwn(PROTOCOLS, protocolName) ? PROTOCOLS[protocolName] : undefined;
  if (protocol === undefined)
    throw wrong(
      "speaks a protocol that the proxy does not know; use Anthropic, OpenAI, Gemini, Bedrock, or a vendor like them",
    );
  if (
    apiKey === undefined &&
    authorize === undefined &&
    parts.fetch === undefined &&
    parts.isDirect &&
    !fetch
  )
    throw new LoopletError("config_missing_key", field, "needs apiKey or authorize");
  const url = URL.canParse(config.baseUrl ?? known?.base ?? "")
    ? new URL(config.baseUrl ?? known!.base)
    : undefined;
  if (url === undefined) throw wrong("needs an absolute baseUrl");
  const path = url.pathname.replace(/\/+$/, "");
  const isVertex = config.vendor === "vertex" && protocolName === "gemini";
  const price = config.price ?? (prices && nanoPriceOf(prices(config.vendor, config.model)));
  return {
    parts,
    protocolName,
    protocol: isVertex ? vertexProtocol(path) : protocol,
    base: url.origin + (isVertex ? "" : baseOf(path, protocol, known?.base)),
    auth: parts.auth ?? {
      header: known?.header ?? "authorization",
      prefix: known === undefined || known.header === "authorization" ? "Bearer " : "",
    },
    price,
  };
}

function nanoPriceOf(price: ReturnType<NonNullable<ModelParts["prices"]>>): NanoPrice | undefined {
  return price === undefined ? undefined : nanoPrice(price);
}

function pathOf(base: string | undefined): string | undefined {
  return base === undefined ? undefined : new URL(base).pathname.replace(/\/$/, "");
}

/** The path before that of the protocol. */
function baseOf(path: string, protocol: Protocol, known: string | undefined): string {
  return path === "" ? (pathOf(known) ?? protocol.basePath) : withoutEnd(path, protocol.path);
}

function withoutEnd(path: string, end: string): string {
  return path.endsWith(end) ? path.slice(0, -end.length) : path;
}
