/** Which model answers, and how it is reached. Lives in memory only: nothing here is ever stored. */
import { anthropic, compatible, openaiChat, type Model, type Price } from "looplet";
import { practice } from "looplet/practice";

export type Connection =
  | { kind: "practice"; wire: "anthropic" | "openai_chat"; delayMs: number }
  | {
      kind: "anthropic" | "openai_chat";
      model: string;
      apiKey: string;
      /** Empty: the vendor's own. */
      baseUrl: string;
      isBrowserKeyAllowed: boolean;
      price: Price | undefined;
    };

/** Where everybody begins: no key, and a pace at which a reader can watch. */
export const practiceConnection: Connection = { kind: "practice", wire: "anthropic", delayMs: 24 };

/** A price like that of a middle-sized model, so that the practice runs have a cost to show. */
const practicePrice: Price = { inputUsdPerMillion: 3, outputUsdPerMillion: 15, cacheReadUsdPerMillion: 0.3 };

/**
 * The model of a connection.
 *
 * @throws LoopletError `config_…`, for example without a model's name, or `config_browser_key`
 */
export function modelOf(connection: Connection): Model {
  if (connection.kind === "practice") {
    const fetch = practice({ delayMs: connection.delayMs });
    return connection.wire === "anthropic"
      ? anthropic("practice-1", {
          fetch,
          price: practicePrice,
          maxOutputTokens: 4096,
          thinking: { budgetTokens: 1024 },
        })
      : openaiChat("practice-1", { fetch, price: practicePrice });
  }
  const { kind, model, apiKey, baseUrl, isBrowserKeyAllowed, price } = connection;
  const options = {
    ...(apiKey === "" ? {} : { apiKey }),
    ...(price === undefined ? {} : { price }),
    dangerouslyAllowBrowser: isBrowserKeyAllowed,
  };
  if (baseUrl !== "") return compatible({ ...options, model, baseUrl, protocol: kind });
  return kind === "anthropic" ? anthropic(model, options) : openaiChat(model, options);
}

/** The connection in a few words. */
export function nameOf(connection: Connection): string {
  if (connection.kind !== "practice") return connection.model;
  return connection.wire === "anthropic" ? "Practice provider" : "Practice provider, OpenAI format";
}
