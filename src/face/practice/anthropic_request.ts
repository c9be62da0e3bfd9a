/** Decodes a checked Anthropic Messages request into a `Conversation`, and into the parts that its cache counts. */
import type { Conversation, PastCall, Said } from "./conversation.js";
import type { PromptPart } from "./tokens.js";

/** Decodes `body`, which `checkAnthropic` has accepted. */
export function decodeAnthropic(body: any): Conversation {
  const choice = body.tool_choice ?? { type: "auto" };
  return {
    system: textOf(body.system),
    said: body.messages.flatMap(decodeMessage),
    tools: (body.tools ?? [])
      .filter((tool: any) => tool.type === undefined || tool.type === "custom")
      .map((tool: any) => ({
        name: tool.name,
        description: tool.description ?? "",
        schema: tool.input_schema ?? {},
      })),
    choice: choice.type === "tool" ? { type: "tool", name: choice.name } : { type: choice.type },
    isParallel: choice.disable_parallel_tool_use !== true,
    maxOutputTokens: body.max_tokens,
    stopSequences: body.stop_sequences ?? [],
    thinking: thinkingOf(body.thinking),
  };
}

/** The prompt in cache order, marked where the request puts a cache marker. Markers themselves do not count. */
export function anthropicPromptParts(body: any): PromptPart[] {
  const parts: PromptPart[] = [];
  const add = (value: any) => {
    const { cache_control: marker, ...rest } =
      typeof value === "string" ? ({ text: value, type: "text" } as any) : value;
    parts.push({ text: JSON.stringify(rest), isBreakpoint: marker != null });
  };
  for (const tool of body.tools ?? []) add(tool);
  for (const block of blocksOf(body.system)) add(block);
  for (const message of body.messages) {
    parts.push({ text: message.role, isBreakpoint: false });
    for (const block of blocksOf(message.content)) add(block);
  }
  const last = parts.at(-1);
  if (last && body.cache_control != null) last.isBreakpoint = true;
  return parts;
}

function thinkingOf(thinking: any): Conversation["thinking"] {
  if (thinking?.type !== "enabled" && thinking?.type !== "adaptive") return "none";
  return thinking.display === "omitted" ? "hidden" : "shown";
}

function decodeMessage(message: any): Said[] {
  if (message.role === "system") return [];
  const blocks = blocksOf(message.content);
  if (message.role === "assistant") {
    const calls = blocks
      .filter((block) => block.type === "tool_use")
      .map((block): PastCall => ({ id: block.id, name: block.name, input: block.input }));
    return [{ role: "assistant", text: textOf(blocks), calls }];
  }
  const said: Said[] = blocks
    .filter((block) => block.type === "tool_result")
    .map((block) => ({
      role: "tool",
      callId: block.tool_use_id,
      text: textOf(block.content),
      isError: block.is_error === true,
    }));
  const text = textOf(blocks);
  if (text !== "") said.push({ role: "user", text });
  return said;
}

function blocksOf(content: any): any[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content : [];
}

function textOf(content: any): string {
  return blocksOf(content)
    .flatMap((block) => (block.type === "text" ? [block.text] : []))
    .join("\n");
}
