/**
 * Google Gemini, on the Gemini API and Vertex AI: reads and checks its requests, and writes its answers.
 * https://ai.google.dev/api/generate-content (seen 2026-11-21).
 */
import { ANY_JSON, fieldsBeyond, othersIn, saidByUser, textOf, toolsIn } from "../conversation.js";
import type { Conversation, PastCall, PastMessage } from "../conversation.js";
import { isObject, listOf, parseJson } from "../json.js";
import type { ReceivedRequest, ReplyStopReason } from "../types.js";
import { firstBroken, walk, type Rule } from "./check.js";
import { EVENT_STREAM, sse, type Refusal, type WireEvent, type WireFormat } from "./format.js";
import { promptOf } from "./openai.js";
import type { Reply, WireBlock } from "./reply.js";

const NO_KEY =
  "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API.";
const WRONG_KEY = "API key not valid. Please pass a valid API key.";

export const gemini: WireFormat = {
  path: /\/(?:models|tunedModels)\/(?<model>[^/:]+):(?<method>streamGenerateContent|generateContent)$/,
  ids: { request: ["", 22], reply: ["", 23], call: ["", 8] },
  deltaWords: 12,
  emptyArguments: "{}",
  check,
  read,
  stream,
  whole: (reply) => chunkOf(reply, partsOf(reply, true), finishReason(reply)),
  error: ({ status: code, type: status, message }) => ({ error: { code, message, status } }),
  errorIndent: 2,
  frame: sse,
  streamType: EVENT_STREAM,
  headers: () => ({}),
  errors: {
    400: ["INVALID_ARGUMENT", "Request contains an invalid argument."],
    401: ["UNAUTHENTICATED", "Request had invalid authentication credentials."],
    403: ["PERMISSION_DENIED", "The caller does not have permission"],
    404: ["NOT_FOUND", "Requested entity was not found."],
    405: ["INVALID_ARGUMENT", "Method Not Allowed"],
    429: ["RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."],
    500: [
      "INTERNAL",
      "An internal error has occurred. Please retry or report in https://developers.generativeai.google/guide/troubleshooting",
    ],
    503: ["UNAVAILABLE", "The model is overloaded. Please try again later."],
    504: ["DEADLINE_EXCEEDED", "Deadline expired before operation could complete."],
  },
  streamErrorStatus: 503,
  noKey: { status: 403, message: NO_KEY },
  wrongKey: { status: 400, message: WRONG_KEY },
  unknownModel: (model) => ({
    status: 404,
    message: `models/${model} is not found for API version v1beta, or is not supported for generateContent. Call ListModels to see the list of available models and their supported methods.`,
  }),
};

const EQUAL =
  "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.";
const AFTER =
  "Please ensure that function call turn comes immediately after a user turn or after a function response turn.";

function check({ body }: ReceivedRequest): Refusal | undefined {
  if (!isObject(body)) return { status: 400, message: "Invalid JSON payload received." };
  const { places } = walk(
    body["contents"],
    (content) => partsIn(content, "functionCall").map((_, at) => String(at)),
    (content) => partsIn(content, "functionResponse").map((_, at) => String(at)),
  );
  // prettier-ignore
  return firstBroken([
    [places.length === 0, "* GenerateContentRequest.contents: contents is not specified\n"],
    ...declared(body).map(({ name }, at): Rule => [!/^[a-zA-Z_][\w.:-]{0,127}$/.test(name), `* GenerateContentRequest.tools[0].function_declarations[${at}].name: Invalid function name. Must start with a letter or an underscore. Must be alphameric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 128.\n`]),
    ...places.flatMap(({ message, at, previous, asked, open }): Rule[] => [
      [!["user", "model", "function", undefined].includes(message?.role), "Please use a valid role: user, model."],
      [listOf(message?.parts).length === 0, `* GenerateContentRequest.contents[${at}].parts: contents.parts must not be empty.\n`],
      [open.length > 0 || partsIn(message, "functionResponse").length > asked.length, EQUAL],
      [partsIn(message, "functionCall").length > 0 && (previous?.role ?? "model") === "model", AFTER],
    ]),
  ]);
}

const partsIn = (content: any, kind: string) => listOf(content?.parts).flatMap((part) => part?.[kind] ?? []);
const declared = (body: any): any[] =>
  listOf(body.tools).flatMap((tool) => listOf(tool?.functionDeclarations));

/** Fields that are read, or that change nothing in the answers of a practice model. */
const FIELDS = "contents systemInstruction tools toolConfig generationConfig labels safetySettings model";
const SETTINGS =
  "temperature topP topK maxOutputTokens stopSequences responseMimeType responseSchema responseJsonSchema thinkingConfig seed presencePenalty frequencyPenalty";

function read(body: any): Conversation {
  const { mode, allowedFunctionNames: allowed } = body.toolConfig?.functionCallingConfig ?? {};
  const settings = body.generationConfig ?? {};
  const { responseSchema, responseJsonSchema, responseMimeType, thinkingConfig } = settings;
  const isThinking = thinkingConfig !== undefined && thinkingConfig.thinkingBudget !== 0;
  const [name] = mode === "ANY" ? listOf(allowed) : [];
  const schema = responseJsonSchema ?? (responseSchema && lowerTypes(responseSchema));
  const tools = declared(body).map(({ parametersJsonSchema, parameters, ...tool }) => {
    return { ...tool, schema: parametersJsonSchema ?? (parameters && lowerTypes(parameters)) };
  });
  return {
    said: saidIn(body.contents),
    tools: toolsIn(tools, "schema"),
    choice: name ? { type: "tool", name } : { type: CHOICES[mode] ?? "auto" },
    isParallel: true,
    outputSchema: schema ?? (responseMimeType === "application/json" ? ANY_JSON : undefined),
    maxOutputTokens: settings.maxOutputTokens,
    stopSequences: listOf(settings.stopSequences),
    thinking: !isThinking ? "none" : thinkingConfig.includeThoughts === true ? "shown" : "hidden",
    others: [
      ...fieldsBeyond(FIELDS, body),
      ...fieldsBeyond(SETTINGS, settings),
      ...othersIn(body.tools, /^functionDeclarations$/),
    ],
  };
}

const CHOICES: { [mode: string]: "any" | "none" } = { ANY: "any", NONE: "none" };

/** Converts a schema in OpenAPI's dialect, with upper-case types, to JSON Schema. */
const lowerTypes = (schema: object) =>
  JSON.parse(JSON.stringify(schema), (key, value) =>
    key === "type" && typeof value === "string" ? value.toLowerCase() : value,
  );

const TEXTS = /^(?:text|functionResponse)$/;

/** Results name their call by its id, if it has one, else by its name and their order. */
function saidIn(contents: readonly any[]): PastMessage[] {
  let open: PastCall[] = [];
  return contents.flatMap((content, at): PastMessage[] => {
    if (content.role === "model") {
      open = partsIn(content, "functionCall").map(({ id, name, args: input = {} }, index) => {
        return { id: id ?? `${at}.${index}`, name, input };
      });
      return [{ role: "assistant", text: textOf(content.parts), calls: open }];
    }
    const results = partsIn(content, "functionResponse").map(({ id, name, response, parts }): PastMessage => {
      const call = open.find((call) => (id === undefined ? call.name === name : call.id === id));
      open = open.filter((one) => one !== call);
      const { output = response?.result, error } = Object(response);
      const said = error ?? output ?? response;
      const text = typeof said === "string" ? said : JSON.stringify(said);
      const others = othersIn(parts, TEXTS);
      return { role: "tool", callId: call?.id ?? name, text, isError: error !== undefined, others };
    });
    return saidByUser(results, content.parts, TEXTS);
  });
}

function stream(reply: Reply): { events: WireEvent[]; ending: WireEvent[] } {
  const parts = partsOf(reply, false);
  // The last chunk has the end of the answer, and a signature for which no call was there.
  const last = parts.at(-1)?.text === "" ? parts.splice(-1) : [{ text: "" }];
  return {
    events: parts.map((part) => chunkOf(reply, [part])),
    ending: [chunkOf(reply, last, finishReason(reply))],
  };
}

/**
 * The parts of the answer. If it is chunked, a part for each delta. The signature is on the first call after the
 * thoughts.
 */
function partsOf({ blocks }: Reply, isWhole: boolean): any[] {
  let thoughtSignature: string | undefined;
  const parts = blocks.flatMap(({ type, pieces, id, name, signature, value }: WireBlock): any[] => {
    if (type === "redacted-thinking") return [];
    if (type === "raw") return [value];
    if (type === "tool-call") {
      const text = pieces.join("");
      // Arguments that are not valid JSON are sent as text.
      const part = { functionCall: { name, args: parseJson(text || "{}") ?? text, id }, thoughtSignature };
      thoughtSignature = undefined;
      return [part];
    }
    thoughtSignature = signature || thoughtSignature;
    const texts = isWhole ? [pieces.join("")] : pieces;
    return texts.map((text) => (type === "thinking" ? { text, thought: true } : { text }));
  });
  return thoughtSignature === undefined ? parts : [...parts, { text: "", thoughtSignature }];
}

function chunkOf({ id, model, usage }: Reply, parts: readonly object[], finishReason?: string): object {
  const prompt = promptOf(usage);
  const used = {
    promptTokenCount: prompt,
    candidatesTokenCount: usage.outputTokens - usage.reasoningTokens,
    totalTokenCount: prompt + usage.outputTokens,
    cachedContentTokenCount: usage.cacheReadTokens || undefined,
    thoughtsTokenCount: usage.reasoningTokens || undefined,
  };
  return {
    candidates: [{ content: { parts, role: "model" }, finishReason, index: 0 }],
    usageMetadata: finishReason === undefined ? { promptTokenCount: prompt, totalTokenCount: prompt } : used,
    modelVersion: model,
    responseId: id,
  };
}

const finishReason = ({ stopReason }: Reply) => FINISH_REASONS[stopReason] ?? stopReason;
const FINISH_REASONS: Record<ReplyStopReason, string> = {
  end: "STOP",
  "tool-calls": "STOP",
  length: "MAX_TOKENS",
  "stop-sequence": "STOP",
  refusal: "SAFETY",
  pause: "STOP",
};
