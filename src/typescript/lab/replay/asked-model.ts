/** The model that a request of a recorded run asks. */
import { isObject } from "../../core/kit/check.js";
import type { SentRequest } from "./playback.js";

/** Protocols that name the model in the address: Gemini, Bedrock, Vertex AI and deployments of Azure. */
const IN_URL = /\/(?:models?|deployments)\/([^/:?]+)/;

/** The model's name, from the body or the address; undefined if neither has it, as in a `custom` model. */
export function askedModel({ url, body }: SentRequest): string | undefined {
  const named = namedIn(body);
  if (named !== undefined) return named;
  const [, encoded] = IN_URL.exec(url) ?? [];
  try {
    return encoded === undefined ? undefined : decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}

function namedIn(body: string): string | undefined {
  try {
    const json: unknown = JSON.parse(body);
    const model = isObject(json) ? json["model"] : undefined;
    return typeof model === "string" ? model : undefined;
  } catch {
    return undefined;
  }
}
