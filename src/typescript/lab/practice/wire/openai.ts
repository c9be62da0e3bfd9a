/** Words of OpenAI that Chat Completions and Responses share. https://platform.openai.com/docs/guides/error-codes (seen 2026-11-20). */
import { isObject, listOf } from "../json.js";
import type { Rule } from "./check.js";
import type { Problem, WireFormat } from "./format.js";

const NO_KEY = `You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY), or as the password field (with blank username) if you're accessing the API from your browser and are prompted for a username and password. You can obtain an API key from https://platform.openai.com/account/api-keys.`;
const WRONG_KEY = `Incorrect API key provided. You can find your API key at https://platform.openai.com/account/api-keys.`;
const TOO_MANY = "Rate limit reached for requests. Please try again in 1s.";
const BROKEN = "The server had an error while processing your request. Sorry about that!";
const ILLEGAL = "invalid_request_error";

/** The fields of both rows. */
export const OPENAI = {
  deltaWords: 1,
  emptyArguments: "{}",
  error: ({ type, message, param, code }: Problem) => ({ error: { message, type, param, code } }),
  errorIndent: 2,
  headers: (requestId: string) => ({
    "x-request-id": requestId,
    "openai-organization": "practice",
    "openai-processing-ms": "12",
    "openai-version": "2020-10-01",
  }),
  errors: {
    400: [ILLEGAL, "Bad request"],
    401: [ILLEGAL, WRONG_KEY, "invalid_api_key"],
    403: [ILLEGAL, "Country, region, or territory not supported", "unsupported_country_region_territory"],
    404: [ILLEGAL, "Invalid URL"],
    405: [ILLEGAL, "Not allowed to use this method on this path."],
    429: ["requests", TOO_MANY, "rate_limit_exceeded"],
    500: ["server_error", BROKEN],
    503: ["server_error", "The engine is currently overloaded, please try again later"],
  },
  streamErrorStatus: 500,
  noKey: { status: 401, message: NO_KEY, code: null },
  wrongKey: { status: 401 },
} satisfies Partial<WireFormat>;

/** The words for a body that is not an object. */
export const NOT_JSON = {
  status: 400,
  message: `We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON.)`,
};

/**
 * The rules for tools. `place` is the prefix of a function's fields in the names of parameters; `functionOf` finds
 * them.
 */
export function toolRules(body: any, place: string, functionOf: (tool: any) => any): Rule[] {
  const { tools, tool_choice: choice } = body;
  const chosen = isObject(choice) ? functionOf(choice)?.name : undefined;
  const names = listOf(tools).map((tool) => (tool?.custom ?? functionOf(tool))?.name);
  const isSet = (field: string) => ![undefined, null, "none"].includes(body[field]);
  const needsTools = ["tool_choice", "parallel_tool_calls"].find(isSet);
  // prettier-ignore
  return [
    [tools == null && needsTools, `Invalid value for '${needsTools}': '${needsTools}' is only allowed when 'tools' are specified.`, needsTools],
    emptyRule(tools, "tools"),
    ...listOf(tools).flatMap((tool, at): Rule[] => {
      const param = `tools[${at}]${place}.name`;
      const { type } = functionOf(tool)?.parameters ?? { type: "object" };
      return [
        [["custom", "function"].includes(tool?.type ?? "function") && !/^[a-zA-Z0-9_-]{1,64}$/.test(names[at]), `Invalid '${param}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`, param, "invalid_value"],
        [type !== "object", `Invalid schema for function '${names[at]}': schema must be a JSON Schema of 'type: "object"', got 'type: "${type ?? "None"}"'.`, `tools[${at}]${place}.parameters`, "invalid_function_parameters"],
      ];
    }),
    [chosen !== undefined && !names.includes(chosen), `Tool choice '${chosen}' not found in 'tools' parameter.`, "tool_choice"],
  ];
}

/** The rule for the first of the fields that is a number below `least`. */
export function limitRule(body: any, fields: readonly string[], least: number): Rule {
  const field = fields.find((field) => body[field] < least);
  // prettier-ignore
  return [field, `Invalid '${field}': integer below minimum value. Expected a value >= ${least}, but got ${field && body[field]} instead.`, field, "integer_below_min_value"];
}

// prettier-ignore
export function emptyRule(list: unknown, param: string): Rule {
  return [Array.isArray(list) && list.length === 0, `Invalid '${param}': empty array. Expected an array with minimum length 1, but got an empty array instead.`, param, "empty_array"];
}

/** Whether a result is an error. The protocols have no flag for errors, so the text of the result decides. */
export const soundsLikeError = (text: string) => /^\s*error\b/i.test(text);

/** Prompt tokens, those read from a cache included. */
export const promptOf = ({ inputTokens, cacheReadTokens, cacheWriteTokens }: Record<string, number>) =>
  (inputTokens ?? 0) + (cacheReadTokens ?? 0) + (cacheWriteTokens ?? 0);

/** Whether the answer may, must or must not call a tool, as both protocols write it. */
export function choiceIn(
  choice: any,
  name: string | undefined,
): { type: "auto" | "any" | "none" | "tool"; name?: string } {
  if (name !== undefined) return { type: "tool", name };
  return { type: choice === "none" ? "none" : choice === "required" ? "any" : "auto" };
}
