/** Decodes a checked Chat Completions request into a `Conversation`, and into the parts that its cache counts. */
import type { Conversation, Said, ToolChoice } from "./conversation.js";
import { parseJson } from "./json.js";
import type { PromptPart } from "./tokens.js";

/** Decodes `body`, which `checkOpenaiChat` has accepted. */
export function decodeOpenaiChat(body: any): Conversation {
  const messages: any[] = body.messages;
  return {
    system: messages
      .filter(({ role }) => role === "system" || role === "developer")
      .map(({ content }) => textOf(content))
      .join("\n"),
    said: messages.flatMap(decodeMessage),
    tools: (body.tools ?? [])
      .filter((tool: any) => tool.function)
      .map(({ function: tool }: any) => ({
        name: tool.name,
        description: tool.description ?? "",
        schema: tool.parameters ?? {},
      })),
    choice: decodeChoice(body.tool_choice),
    isParallel: body.parallel_tool_calls !== false,
    maxOutputTokens: body.max_completion_tokens ?? body.max_tokens ?? undefined,
    stopSequences: typeof body.stop === "string" ? [body.stop] : (body.stop ?? []),
    thinking: body.reasoning_effort == null || body.reasoning_effort === "none" ? "none" : "hidden",
  };
}

/** The prompt in cache order; the vendor caches every prefix without being asked. */
export function openaiChatPromptParts(body: any): PromptPart[] {
  return [...(body.tools ?? []), ...body.messages].map((value) => ({
    text: JSON.stringify(value),
    isBreakpoint: true,
  }));
}

function decodeChoice(choice: any): ToolChoice {
  if (choice === "none") return { type: "none" };
  if (choice === "required") return { type: "any" };
  return choice?.function ? { type: "tool", name: choice.function.name } : { type: "auto" };
}

function decodeMessage(message: any): Said[] {
  switch (message.role) {
    case "user":
      return [{ role: "user", text: textOf(message.content) }];
    case "assistant": {
      const calls = (message.tool_calls ?? []).map((call: any) => ({
        id: call.id,
        name: call.function?.name ?? "",
        input: parseJson(call.function?.arguments || "{}"),
      }));
      return [{ role: "assistant", text: textOf(message.content), calls }];
    }
    case "tool": {
      const text = textOf(message.content);
      // The protocol has no error flag: an error is told by what the result says.
      const value: any = parseJson(text);
      const isError = /^\s*error\b/i.test(text) || (typeof value === "object" && value?.error != null);
      return [{ role: "tool", callId: message.tool_call_id, text, isError }];
    }
    default:
      return [];
  }
}

function textOf(content: any): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.flatMap((part) => (part?.type === "text" ? [part.text] : [])).join("\n");
}
