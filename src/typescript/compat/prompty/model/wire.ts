/** The body of one request, for executors that send it themselves. The built-in executor leaves that to the engine. */
import { addressOf, contentOf, isAddress, isSystem, MEDIA_TYPES, systemText } from "./content.js";
import { InvokerError } from "../errors.js";
import { furtherFields } from "./further-fields.js";
import { objectSchema, toolSchema } from "./schema.js";
import type { ContentPart, Message, Prompty, PromptyHost, PromptyModelOptions, ToolCall } from "../types.js";

type Body = { [field: string]: unknown };
type Asked = Pick<Prompty, "model" | "tools" | "outputs">;

/**
 * The body of a request: Chat Completions, Responses (`apiType: "responses"`), or Anthropic's Messages API.
 *
 * @throws InvokerError for another provider or another `apiType`
 * @throws ValueError for a further field that `host.allowedProperties` would have to name
 */
export function toRequest(
  agent: Asked,
  messages: readonly Message[],
  host: Pick<PromptyHost, "allowedProperties"> = {},
): Body {
  return { ...furtherFields(agent.model, host), ...bodyOf(agent, messages) };
}

function bodyOf(agent: Asked, messages: readonly Message[]): Body {
  const { provider = "openai", apiType } = agent.model;
  if (provider === "anthropic" && apiType === "chat") return anthropic(agent, messages);
  if (provider !== "openai") throw new InvokerError("request form", provider);
  if (apiType === "responses") return responses(agent, messages);
  if (apiType !== "chat") throw new InvokerError("request form", `${provider} ${apiType}`);
  return chat(agent, messages);
}

type Names = { readonly [option in keyof PromptyModelOptions]?: string };

const CHAT: Names = {
  temperature: "temperature",
  maxOutputTokens: "max_completion_tokens",
  topP: "top_p",
  frequencyPenalty: "frequency_penalty",
  presencePenalty: "presence_penalty",
  seed: "seed",
  stopSequences: "stop",
  allowMultipleToolCalls: "parallel_tool_calls",
};
const RESPONSES: Names = {
  temperature: "temperature",
  maxOutputTokens: "max_output_tokens",
  topP: "top_p",
  allowMultipleToolCalls: "parallel_tool_calls",
};
const ANTHROPIC: Names = {
  temperature: "temperature",
  maxOutputTokens: "max_tokens",
  topP: "top_p",
  topK: "top_k",
  stopSequences: "stop_sequences",
};

function optionsOf({ options = {} }: Prompty["model"], names: Names): Body {
  const named = Object.entries(names).flatMap(([option, name]) => {
    const value = options[option as keyof PromptyModelOptions];
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(named);
}

/** A list under its name, or nothing if it is empty. */
function listed(name: string, list: readonly unknown[]): Body {
  return list.length === 0 ? {} : { [name]: list };
}

function chat({ model, tools, outputs }: Asked, messages: readonly Message[]): Body {
  const functions = tools.map((tool) => ({
    type: "function",
    function: {
      ...described(tool),
      ...(tool.strict === true ? { strict: true } : {}),
      parameters: toolSchema(tool),
    },
  }));
  const format = {
    type: "json_schema",
    json_schema: { name: "structured_output", strict: true, schema: objectSchema(outputs, true) },
  };
  return {
    model: model.id,
    messages: messages.map(chatMessage),
    ...listed("tools", functions),
    ...(outputs.length === 0 ? {} : { response_format: format }),
    ...optionsOf(model, CHAT),
  };
}

function described({ name, description }: Prompty["tools"][number]): Body {
  return description === undefined ? { name } : { name, description };
}

function chatMessage(message: Message): Body {
  const { role, metadata = {} } = message;
  const content = contentOf(message.content, chatPart);
  const { tool_calls: calls, tool_call_id: id, name } = metadata;
  if (role === "assistant" && Array.isArray(calls))
    return { role, ...(content === "" ? {} : { content }), tool_calls: calls };
  if (role === "tool") return { role, content, tool_call_id: id };
  return { role, content, ...(typeof name === "string" ? { name } : {}) };
}

function chatPart(part: ContentPart): Body {
  if (part.kind === "text") return { type: "text", text: part.value };
  if (part.kind === "image") return { type: "image_url", image_url: { url: addressOf(part) } };
  if (part.kind === "file") return { type: "file", file: { file_data: addressOf(part) } };
  const format = /mp3|mpeg/.test(part.mediaType ?? "") ? "mp3" : "wav";
  return { type: "input_audio", input_audio: { data: part.value, format } };
}

function responses({ model, tools, outputs }: Asked, messages: readonly Message[]): Body {
  const system = systemText(messages);
  const functions = tools.map((tool) => ({
    type: "function",
    ...described(tool),
    ...(tool.strict === true ? { strict: true } : {}),
    parameters: toolSchema(tool),
  }));
  const format = {
    type: "json_schema",
    name: "structured_output",
    strict: true,
    schema: objectSchema(outputs, true),
  };
  return {
    model: model.id,
    ...(system === "" ? {} : { instructions: system }),
    input: messages.filter((message) => !isSystem(message)).flatMap(responsesItems),
    ...listed("tools", functions),
    ...(outputs.length === 0 ? {} : { text: { format } }),
    ...optionsOf(model, RESPONSES),
  };
}

function responsesItems(message: Message): Body[] {
  const { role, metadata = {} } = message;
  const items = metadata["items"];
  if (Array.isArray(items)) return items as Body[];
  if (role === "tool") {
    const output = contentOf(message.content, askedPart);
    return [{ type: "function_call_output", call_id: metadata["tool_call_id"], output }];
  }
  return [{ role, content: contentOf(message.content, role === "assistant" ? writtenPart : askedPart) }];
}

function writtenPart({ value }: ContentPart): Body {
  return { type: "output_text", text: value };
}

function askedPart(part: ContentPart): Body {
  if (part.kind === "text") return { type: "input_text", text: part.value };
  if (part.kind === "image") return { type: "input_image", image_url: addressOf(part) };
  return { type: "input_file", file_data: addressOf(part) };
}

function anthropic({ model, tools, outputs }: Asked, messages: readonly Message[]): Body {
  const system = systemText(messages);
  const functions = tools.map((tool) => ({ ...described(tool), input_schema: toolSchema(tool) }));
  const format = { type: "json_schema", schema: objectSchema(outputs, true) };
  return {
    model: model.id,
    max_tokens: 4096,
    ...(system === "" ? {} : { system }),
    messages: messages.filter((message) => !isSystem(message)).map(anthropicMessage),
    ...listed("tools", functions),
    ...(outputs.length === 0 ? {} : { output_config: { format } }),
    ...optionsOf(model, ANTHROPIC),
  };
}

function anthropicMessage({ role, content, metadata = {} }: Message): Body {
  const { content: blocks, tool_results: results, tool_calls: calls, tool_call_id: id } = metadata;
  if (Array.isArray(blocks)) return { role: "assistant", content: blocks };
  if (Array.isArray(results)) return { role: "user", content: results };
  const parts = content.map(anthropicPart);
  if (role === "tool")
    return { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: parts }] };
  if (role !== "assistant") return { role: "user", content: parts };
  if (!Array.isArray(calls)) return { role, content: parts };
  const uses = (calls as ReturnType<typeof chatCall>[]).map(({ id, function: called }) =>
    toolUse({ id, ...called }),
  );
  // The API refuses empty texts.
  return { role, content: [...parts.filter(({ text }) => text !== ""), ...uses] };
}

/** A call in the form of the Messages API. */
export function toolUse({ id, name, arguments: text }: ToolCall): Body {
  let input: unknown = {};
  try {
    input = JSON.parse(text);
  } catch {
    // The API accepts only an object. The result says that the arguments could not be read.
  }
  return { type: "tool_use", id, name, input };
}

/** A part as a block of the Messages API. */
export function anthropicPart(part: ContentPart): Body {
  if (part.kind === "text") return { type: "text", text: part.value };
  const source = isAddress(part)
    ? { type: "url", url: part.value }
    : { type: "base64", media_type: part.mediaType ?? MEDIA_TYPES[part.kind], data: part.value };
  return { type: part.kind === "image" ? "image" : "document", source };
}

/** A call in the form of Chat Completions. */
export function chatCall({ id, name, arguments: text }: ToolCall) {
  return { id, type: "function", function: { name, arguments: text } };
}
