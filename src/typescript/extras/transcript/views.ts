/** The formats: how each writes messages, calls and results, and which pieces its provider refuses. */
import type { TranscriptProtocol } from "./index.js";
import type { Part, View } from "./walk.js";

type Fields = Record<string, unknown>;
type Fault = NonNullable<Part["fault"]>;

const notRun = "The tool was not run: its result is missing from the history.";
const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isText = (value: unknown): value is string => typeof value === "string" && value !== "";
const misplaced = (message: string): Fault => ({ code: "misplaced_block", message });
const withContent = (message: unknown, parts: Part[]) => ({
  ...(message as Fields),
  content: parts.map((part) => part.raw),
});

/** A part made by the repair. */
const made = (raw: unknown, id: string): Part => ({ kind: "result", raw, at: "", id });

/** The faults of a call's id and name, which no format allows to be empty. */
function callFault(id: unknown, name: unknown): Fault | undefined {
  if (!isText(id)) return { code: "invalid_call", message: "a tool call needs an id" };
  return isText(name) ? undefined : { code: "invalid_call", message: "a tool call needs a name" };
}

function part(kind: Part["kind"], raw: unknown, index: number, id?: unknown, fault?: Fault): Part {
  return {
    kind,
    raw,
    at: `.content[${index}]`,
    id: typeof id === "string" ? id : "",
    ...(fault && { fault }),
  };
}

const unknownBlock: Fault = { code: "unknown_block", message: "this is not a block with a known type" };

/**
 * The rules of the engine. It completes a round automatically, joins adjacent messages of the same role and drops
 * empty text.
 */
const looplet: View = {
  results: "user",
  keepsOpen: [],
  allowsEmpty: true,
  read(message) {
    if (!isObject(message) || !Array.isArray(message["content"])) return undefined;
    const { role, content } = message;
    if (role !== "user" && role !== "assistant") return undefined;
    return { role, parts: content.map((block, index) => readLooplet(role, block, index)) };
  },
  write: withContent,
};

const loopletTypes = "text thinking redacted_thinking refusal tool_call tool_result media raw".split(" ");

function readLooplet(role: string, block: unknown, index: number): Part {
  if (!isObject(block) || !loopletTypes.includes(block["type"] as string)) {
    return part("other", block, index, "", unknownBlock);
  }
  const { type, id, name, input, inputText, callId } = block;
  if (type === "tool_call") {
    const fault = callFault(id, name);
    if (role === "user") {
      return part("call", block, index, id, misplaced("a tool call belongs in an assistant message"));
    }
    if (fault || typeof inputText === "string" || isObject(input))
      return part("call", block, index, id, fault);
    const mended = { ...block, input: {} };
    return part("call", block, index, id, inputFault(mended));
  }
  if (type === "tool_result") {
    const fault = misplaced("a tool result belongs in the user message after its call");
    return part("result", block, index, callId, role === "user" ? undefined : fault);
  }
  const isModels = type === "thinking" || type === "redacted_thinking" || type === "refusal";
  const fault = misplaced("only an assistant message can hold thinking or a refusal");
  return part("other", block, index, "", isModels && role === "user" ? fault : undefined);
}

const inputFault = (mended: unknown): Fault => ({
  code: "invalid_call",
  message: "the input of a tool call must be a JSON object",
  mended,
});

/** https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls. */
const anthropic: View = {
  results: "user",
  keepsOpen: [],
  resultsFirst: true,
  read(message) {
    if (!isObject(message)) return undefined;
    const { role, content } = message;
    if (role !== "user" && role !== "assistant") return undefined;
    if (typeof content === "string") {
      const parts = [part("other", { type: "text", text: content }, 0)];
      return { role, parts: content === "" ? [] : parts };
    }
    if (!Array.isArray(content)) return undefined;
    return { role, parts: content.map((block, index) => readAnthropic(role, block, index)) };
  },
  write: withContent,
  answer(calls) {
    const blocks = calls.map(({ id }) => ({
      type: "tool_result",
      tool_use_id: id,
      content: notRun,
      is_error: true,
    }));
    const parts = blocks.map((block) => made(block, block.tool_use_id));
    return { messages: [{ role: "user", content: blocks }], parts };
  },
  rename(part, id) {
    const field = part.kind === "call" ? "id" : "tool_use_id";
    return { ...part, id, raw: { ...(part.raw as Fields), [field]: id } };
  },
};

function readAnthropic(role: string, block: unknown, index: number): Part {
  if (!isObject(block) || !isText(block["type"])) return part("other", block, index, "", unknownBlock);
  const { type, id, name, input, text, tool_use_id } = block;
  if (type === "tool_use") {
    if (role === "user") {
      return part("call", block, index, id, misplaced("a tool_use block belongs in an assistant message"));
    }
    const fault = callFault(id, name) ?? (isObject(input) ? undefined : inputFault({ ...block, input: {} }));
    return part("call", block, index, id, fault);
  }
  if (type === "tool_result") {
    const fault = misplaced("a tool_result block belongs in the user message after its call");
    return part("result", block, index, tool_use_id, role === "user" ? undefined : fault);
  }
  const isEmpty = type === "text" && (typeof text !== "string" || text.trim() === "");
  const fault: Fault = { code: "empty_text", message: "a text block needs text" };
  return part("other", block, index, "", isEmpty ? fault : undefined);
}

/** https://platform.openai.com/docs/api-reference/chat/create. */
const openaiChat: View = {
  results: "tool",
  keepsOpen: ["tool"],
  read(message) {
    if (!isObject(message)) return undefined;
    const { role, content, tool_calls, tool_call_id, refusal } = message;
    if (role === "tool") {
      return { role, parts: [{ kind: "result", raw: message, at: "", id: String(tool_call_id ?? "") }] };
    }
    if (!["developer", "system", "user", "assistant", "function"].includes(role as string)) return undefined;
    const whole: Part[] = [{ kind: "other", raw: content, at: ".content", id: "" }];
    if (role !== "assistant") return { role: role as string, parts: whole };
    const hasWords = isText(content) || (Array.isArray(content) && content.length > 0);
    const hasMore =
      hasWords || isText(refusal) || ["audio", "function_call"].some((name) => message[name] != null);
    const calls = Array.isArray(tool_calls) ? tool_calls.map(readChatCall) : [];
    return { role, parts: hasMore || (content === "" && calls.length === 0) ? [...whole, ...calls] : calls };
  },
  write(message, parts) {
    const { tool_calls: _, ...rest } = message as Fields;
    const calls = parts.filter(({ kind }) => kind === "call").map(({ raw }) => raw);
    return calls.length > 0 ? { ...rest, tool_calls: calls } : rest;
  },
  answer(calls) {
    const messages = calls.map(({ id }) => ({ role: "tool", tool_call_id: id, content: notRun }));
    return { messages, parts: messages.map((message) => made(message, message.tool_call_id)) };
  },
};

function readChatCall(call: unknown, index: number): Part {
  const fields = isObject(call) ? call : {};
  const custom = isObject(fields["custom"]) ? fields["custom"] : undefined;
  const named = isObject(fields["function"]) ? fields["function"] : (custom ?? {});
  const isWritten = typeof named["arguments"] === "string" || custom !== undefined;
  const mended = { ...fields, function: { ...named, arguments: JSON.stringify(named["arguments"] ?? {}) } };
  const badArguments: Fault = {
    code: "invalid_call",
    message: "the arguments of a tool call must be a string of JSON",
    mended,
  };
  const fault = callFault(fields["id"], named["name"]) ?? (isWritten ? undefined : badArguments);
  return { ...part("call", call, index, fields["id"], fault), at: `.tool_calls[${index}]` };
}

/** https://ai-sdk.dev/docs/troubleshooting/missing-tool-results-error. */
const aiSdk: View = {
  results: "tool",
  keepsOpen: ["tool", "assistant"],
  allowsEmpty: true,
  read(message) {
    if (!isObject(message)) return undefined;
    const { role, content } = message;
    if (!["system", "user", "assistant", "tool"].includes(role as string)) return undefined;
    if (typeof content === "string") {
      return role === "tool" ? undefined : { role: role as string, parts: [part("other", content, 0)] };
    }
    if (!Array.isArray(content) || role === "system") return undefined;
    const waiting = content.filter(isObject).filter(({ type }) => type === "tool-approval-request");
    const ids = new Set(waiting.map(({ toolCallId }) => toolCallId));
    return {
      role: role as string,
      parts: content.map((block, index) => readAiSdk(role as string, block, index, ids)),
    };
  },
  write: withContent,
  answer(calls) {
    const blocks = calls.map(({ id, raw }) => ({
      type: "tool-result",
      toolCallId: id,
      toolName: (raw as Fields)["toolName"],
      output: { type: "error-text", value: notRun },
    }));
    return {
      messages: [{ role: "tool", content: blocks }],
      parts: blocks.map((block) => made(block, block.toolCallId)),
    };
  },
};

function readAiSdk(role: string, block: unknown, index: number, waiting: ReadonlySet<unknown>): Part {
  if (!isObject(block) || !isText(block["type"])) return part("other", block, index, "", unknownBlock);
  const { type, toolCallId, toolName, providerExecuted } = block;
  if (type === "tool-call") {
    const fault =
      role === "assistant"
        ? callFault(toolCallId, toolName)
        : misplaced("a tool-call part belongs in an assistant message");
    const isSettled = providerExecuted === true || waiting.has(toolCallId);
    return { ...part("call", block, index, toolCallId, fault), isSettled };
  }
  if (type === "tool-result") {
    const fault = misplaced("a tool-result part belongs in a tool message");
    return part("result", block, index, toolCallId, role === "user" ? fault : undefined);
  }
  return part("other", block, index);
}

/**
 * The items of `input`. A call needs an output with its `call_id` somewhere after it, and a reasoning item the item
 * that it led to: https://platform.openai.com/docs/guides/reasoning. Calls that OpenAI runs are not looked at.
 */
const openaiResponses: View = {
  results: "result",
  keepsOpen: ["result", "assistant", "reasoning", "user"],
  answersInPlace: true,
  leads: "reasoning",
  read(item) {
    if (!isObject(item)) return undefined;
    const { type = "message", role, content } = item;
    if (type === "message") {
      if (!["user", "system", "developer", "assistant"].includes(role as string)) return undefined;
      if (typeof content !== "string" && !Array.isArray(content)) return undefined;
      const parts: Part[] = [{ kind: "other", raw: item, at: ".content", id: "" }];
      return { role: role === "assistant" ? "assistant" : "user", parts };
    }
    if (!isText(type)) return undefined;
    const read = readItem(type, item);
    if (read.kind === "result") return { role: "result", parts: [read] };
    return { role: type === "reasoning" ? "reasoning" : "assistant", parts: [read] };
  },
  write: (_, [only]) => only!.raw,
  answer(calls) {
    const messages = calls.map(({ id, raw }) => ({
      type: `${(raw as Fields)["type"] as string}_output`,
      call_id: id,
      output: notRun,
    }));
    return { messages, parts: messages.map((message) => made(message, message.call_id)) };
  },
};

function readItem(type: string, item: Fields): Part {
  const { call_id, name } = item;
  const read = (kind: Part["kind"], fault?: Fault): Part => ({
    ...part(kind, item, 0, call_id, fault),
    at: "",
  });
  if (type === "item_reference") return read("reference");
  if (type === "function_call_output" || type === "custom_tool_call_output") return read("result");
  if (type !== "function_call" && type !== "custom_tool_call") return read("other");
  const input = type === "function_call" ? "arguments" : "input";
  if (typeof item[input] === "string") return read("call", callFault(call_id, name));
  const mended = { ...item, [input]: JSON.stringify(item[input] ?? {}) };
  return read(
    "call",
    callFault(call_id, name) ?? badInput(`the ${input} of a tool call must be a string`, mended),
  );
}

const badInput = (message: string, mended: unknown): Fault => ({ code: "invalid_call", message, mended });

/**
 * A tool part of the AI SDK's UI messages is a call together with its result. `convertToModelMessages` skips a call
 * with input that still streams, and the user must still answer `approval-requested`:
 * https://ai-sdk.dev/docs/reference/ai-sdk-core/ui-message.
 */
const aiSdkUi: View = {
  results: "assistant",
  keepsOpen: ["assistant"],
  read(message) {
    if (!isObject(message) || !Array.isArray(message["parts"])) return undefined;
    const { role, parts } = message;
    if (!["system", "user", "assistant"].includes(role as string)) return undefined;
    return {
      role: role as string,
      parts: parts.map((part, index) => ({
        ...readUi(role as string, part, index),
        at: `.parts[${index}]`,
      })),
    };
  },
  write: (message, parts) => ({ ...(message as Fields), parts: parts.map(({ raw }) => raw) }),
};

const uiStates =
  "input-streaming input-available approval-requested approval-responded output-available output-error output-denied";

function readUi(role: string, block: unknown, index: number): Part {
  if (!isObject(block) || !isText(block["type"])) return part("other", block, index, "", unknownBlock);
  const { type, toolCallId, toolName, state, errorText, providerExecuted } = block;
  const isTool = type === "dynamic-tool" || type.startsWith("tool-");
  // Parts of tools in other messages are never sent.
  if (!isTool || role !== "assistant") return part("other", block, index);
  const call = (fault?: Fault): Part => part("call", block, index, toolCallId, fault);
  const fault = callFault(toolCallId, type === "dynamic-tool" ? toolName : type.slice("tool-".length));
  if (fault) return call(fault);
  if (!uiStates.split(" ").includes(state as string)) {
    return call({ code: "invalid_call", message: "a tool part needs one of the states of the AI SDK" });
  }
  const failed = { ...block, state: "output-error", errorText: notRun };
  if (state === "input-available" && providerExecuted !== true) {
    const message = `the call ${JSON.stringify(toolCallId)} needs a result in its part`;
    const change = "The part is an error that says that the call was not run.";
    return call({ code: "missing_result", message, mended: failed, change });
  }
  const isUnsaid = state === "output-error" && typeof errorText !== "string";
  return call(isUnsaid ? badInput("a failed tool part needs its errorText", failed) : undefined);
}

export const views: Record<TranscriptProtocol, View> = {
  looplet,
  anthropic,
  "openai-chat": openaiChat,
  "openai-responses": openaiResponses,
  "ai-sdk": aiSdk,
  "ai-sdk-ui": aiSdkUi,
};
