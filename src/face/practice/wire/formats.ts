/** The wire formats that the practice provider speaks. */
import type { Protocol } from "../types.js";
import { anthropic } from "./anthropic.js";
import type { WireFormat } from "./format.js";
import { openaiChat } from "./openai-chat.js";

const formats: Record<Protocol, WireFormat> = { "anthropic-messages": anthropic, "openai-chat": openaiChat };

/** The format of a protocol; that of OpenAI Chat for a request of none. */
export function formatOf(protocol: Protocol | undefined): WireFormat {
  return formats[protocol ?? "openai-chat"];
}

/** The protocol that the path of `url` tells. */
export function protocolOf(url: string): Protocol | undefined {
  const path = (url.split(/[?#]/, 1)[0] ?? "").replace(/\/+$/, "");
  return Object.values(formats).find((format) => format.path.test(path))?.protocol;
}
