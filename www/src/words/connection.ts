/** Which model answers, and how it is reached. Lives in memory only: nothing here is ever stored. */
import {
  anthropic,
  bedrock,
  compatible,
  gemini,
  openai,
  openaiChat,
  type HttpModelOptions,
  type Model,
  type Price,
} from "looplet";
import { practice } from "looplet/practice";

/** The wire formats that the practice provider can show: a name, a word for it, and a model that speaks it. */
export const wires = {
  anthropic: {
    name: "Anthropic Messages",
    word: "",
    make: (model: string, options: HttpModelOptions) =>
      anthropic(model, { ...options, thinking: { budgetTokens: 1024 } }),
  },
  openai_chat: { name: "OpenAI Chat Completions", word: ", OpenAI format", make: openaiChat },
  openai_responses: { name: "OpenAI Responses", word: ", Responses format", make: openai },
  gemini: { name: "Google Gemini", word: ", Gemini format", make: gemini },
  bedrock_converse: {
    name: "Amazon Bedrock Converse",
    word: ", Bedrock format",
    make: (model: string, options: HttpModelOptions) => bedrock(model, { ...options, region: "us-east-1" }),
  },
} as const;
export type Wire = keyof typeof wires;

export type Connection =
  | { kind: "practice"; model: string; wire: Wire; delayMs: number }
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
export const practiceConnection: Connection = {
  kind: "practice",
  model: "practice-1",
  wire: "anthropic",
  delayMs: 24,
};

/** Prices like those of a middle-sized and of a small model, so that the practice runs have a cost to show. */
const practicePrices: Record<string, Price> = {
  "practice-1": { inputUsdPerMillion: 3, outputUsdPerMillion: 15, cacheReadUsdPerMillion: 0.3 },
  "practice-mini": { inputUsdPerMillion: 1, outputUsdPerMillion: 5, cacheReadUsdPerMillion: 0.1 },
};

/** Tokens of an answer, and of all that the practice provider reads. */
const practiceAnswer = 4096;
const practiceWindow = 64_000;

/** Tokens that the model of a connection can read, if that is known. */
export const windowOf = ({ kind }: Connection): number | undefined =>
  kind === "practice" ? practiceWindow : undefined;

/** Models of the vendors that the user can select without typing. */
const known = {
  anthropic: ["claude-sonnet-5-5", "claude-haiku-5-5"],
  openai_chat: ["gpt-6-sol", "gpt-6-luna"],
} as const;

/**
 * The model of a connection.
 *
 * @throws LoopletError `config_…`, for example without a model's name, or `config_browser_key`
 */
export function modelOf(connection: Connection): Model {
  if (connection.kind === "practice") {
    const price = practicePrices[connection.model];
    const options = {
      fetch: practice({ delayMs: connection.delayMs }),
      maxOutputTokens: practiceAnswer,
      ...(price && { price }),
    };
    return wires[connection.wire].make(connection.model, options);
  }
  const { kind, model, apiKey, baseUrl, isBrowserKeyAllowed, price } = connection;
  const options = {
    ...(apiKey === "" ? {} : { apiKey }),
    ...(price === undefined ? {} : { price }),
    dangerouslyAllowBrowser: isBrowserKeyAllowed,
  };
  if (baseUrl !== "") return compatible(model, { ...options, baseUrl, protocol: kind });
  return kind === "anthropic" ? anthropic(model, options) : openaiChat(model, options);
}

/** The connection in a few words. */
export function nameOf(connection: Connection): string {
  if (connection.kind !== "practice") return connection.model;
  return `Practice provider${wires[connection.wire].word}`;
}

/** The model in a few words. */
export function modelNameOf(connection: Connection): string {
  return connection.model + (connection.kind === "practice" ? wires[connection.wire].word : "");
}

/** This connection and those that differ from it in nothing but the model. */
export function choicesOf(connection: Connection): Connection[] {
  if (connection.kind === "practice")
    return [...new Set<Wire>(["anthropic", "openai_chat", connection.wire])].flatMap((wire) =>
      Object.keys(practicePrices).map((model) => ({ ...connection, wire, model })),
    );
  // A server at a custom address has its own models, and a price applies to one model.
  const others = connection.baseUrl === "" && !connection.price ? known[connection.kind] : [];
  const names = new Set([connection.model, ...others]);
  return [...names].map((model) => ({ ...connection, model }));
}
