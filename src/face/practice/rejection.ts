/**
 * The vendors' error bodies and headers, in their own words.
 * https://platform.claude.com/docs/en/api/errors, https://platform.openai.com/docs/guides/error-codes (seen 2026-11-20).
 */
import type { Failure, Protocol } from "./types.js";

/** A request that is refused before any answer. `param` and `code` exist in OpenAI's bodies only. */
export interface Rejection {
  status: number;
  type?: string;
  message: string;
  param?: string | null;
  code?: string | null;
}

/** An illegal request: status 400, `invalid_request_error`. */
export function illegal(message: string, param: string | null = null, code: string | null = null): Rejection {
  return { status: 400, type: "invalid_request_error", message, param, code };
}

/** The error body of `protocol`, as JSON text. */
export function errorBody(protocol: Protocol, rejection: Rejection, requestId: string): string {
  const type = rejection.type ?? defaultWords(protocol, rejection.status).type;
  const { message, param = null, code = null } = rejection;
  if (protocol === "anthropic-messages") {
    return JSON.stringify({ type: "error", error: { type, message }, request_id: requestId });
  }
  return JSON.stringify({ error: { message, type, param, code } }, null, 2);
}

/** Fills what `failure` leaves open with the vendor's own words for its status. */
export function rejectionOf(protocol: Protocol, failure: Failure): Rejection {
  const words = defaultWords(protocol, failure.status);
  return {
    status: failure.status,
    type: failure.type ?? words.type,
    message: failure.message ?? words.message,
    code: failure.code === undefined ? words.code : failure.code,
  };
}

/** Response headers of `protocol` beside the content type. */
export function vendorHeaders(protocol: Protocol, requestId: string, status: number): Record<string, string> {
  if (protocol === "anthropic-messages") {
    const isFinal = status >= 400 && status < 500 && status !== 408 && status !== 409 && status !== 429;
    return {
      "request-id": requestId,
      "anthropic-organization-id": "00000000-0000-4000-8000-000000000000",
      ...(status >= 400 ? { "x-should-retry": isFinal ? "false" : "true" } : {}),
    };
  }
  return {
    "x-request-id": requestId,
    "openai-organization": "practice",
    "openai-processing-ms": "12",
    "openai-version": "2020-10-01",
  };
}

interface Words {
  type: string;
  message: string;
  code: string | null;
}

function defaultWords(protocol: Protocol, status: number): Words {
  const table = protocol === "anthropic-messages" ? ANTHROPIC : OPENAI;
  return (
    table[status] ??
    (status >= 500 ? table[500] : table[400]) ?? { type: "api_error", message: "Error", code: null }
  );
}

const ANTHROPIC: Record<number, Words> = {
  400: { type: "invalid_request_error", message: "Error", code: null },
  401: { type: "authentication_error", message: "invalid x-api-key", code: null },
  403: {
    type: "permission_error",
    message: "Your API key does not have permission to use the specified resource.",
    code: null,
  },
  404: { type: "not_found_error", message: "Not found", code: null },
  405: { type: "invalid_request_error", message: "Method Not Allowed", code: null },
  413: { type: "request_too_large", message: "Request exceeds the maximum size", code: null },
  429: {
    type: "rate_limit_error",
    message: "This request would exceed your organization's rate limit. Please try again later.",
    code: null,
  },
  500: { type: "api_error", message: "Internal server error", code: null },
  529: { type: "overloaded_error", message: "Overloaded", code: null },
};

const OPENAI: Record<number, Words> = {
  400: { type: "invalid_request_error", message: "Bad request", code: null },
  401: {
    type: "invalid_request_error",
    message:
      "Incorrect API key provided. You can find your API key at https://platform.openai.com/account/api-keys.",
    code: "invalid_api_key",
  },
  403: {
    type: "invalid_request_error",
    message: "Country, region, or territory not supported",
    code: "unsupported_country_region_territory",
  },
  404: { type: "invalid_request_error", message: "Invalid URL", code: null },
  405: { type: "invalid_request_error", message: "Not allowed to use this method on this path.", code: null },
  429: {
    type: "requests",
    message: "Rate limit reached for requests. Please try again in 1s.",
    code: "rate_limit_exceeded",
  },
  500: {
    type: "server_error",
    message: "The server had an error while processing your request. Sorry about that!",
    code: null,
  },
  503: {
    type: "server_error",
    message: "The engine is currently overloaded, please try again later",
    code: null,
  },
};
