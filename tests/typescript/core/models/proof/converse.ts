/** Bedrock's Converse in front of a server that speaks Anthropic's Messages. It takes no streams. */

type Json = any;

/** The request as Messages has it. */
export function toMessages(url: string, body: Json): Json {
  const { thinking, anthropic_beta } = body.additionalModelRequestFields ?? {};
  const { effort, textFormat } = body.outputConfig ?? {};
  const schema = textFormat && JSON.parse(textFormat.structure.jsonSchema.schema);
  const format = schema && { type: "json_schema", schema };
  const { tools = [], toolChoice } = body.toolConfig ?? {};
  const kind = toolChoice && Object.keys(toolChoice)[0];
  return {
    model: /claude-[a-z0-9-]*/.exec(decodeURIComponent(url))![0],
    max_tokens: body.inferenceConfig?.maxTokens,
    ...(body.system && { system: body.system.filter(({ text }: Json) => text).map(textOf) }),
    tools: tools
      .filter(({ toolSpec }: Json) => toolSpec)
      .map(({ toolSpec: { name, description, inputSchema } }: Json) => ({
        name,
        description,
        input_schema: inputSchema.json,
      })),
    ...(kind && { tool_choice: { type: kind, name: toolChoice[kind].name } }),
    ...(thinking && { thinking }),
    ...(anthropic_beta && { anthropic_beta }),
    ...((effort || format) && { output_config: { effort, format } }),
    messages: body.messages.map(({ role, content }: Json) => ({
      role,
      content: content.map(toBlock).filter((block: Json) => block !== undefined),
    })),
  };
}

const textOf = ({ text }: Json): Json => ({ type: "text", text });

function toBlock(block: Json): Json {
  const { text, toolUse, toolResult, reasoningContent } = block;
  if (text !== undefined) return textOf(block);
  if (toolUse) return { type: "tool_use", id: toolUse.toolUseId, name: toolUse.name, input: toolUse.input };
  if (toolResult)
    return {
      type: "tool_result",
      tool_use_id: toolResult.toolUseId,
      content: toolResult.content.map(textOf),
      is_error: toolResult.status === "error",
    };
  if (reasoningContent?.reasoningText)
    return {
      type: "thinking",
      thinking: reasoningContent.reasoningText.text ?? "",
      signature: reasoningContent.reasoningText.signature,
    };
  if (block.cachePoint) return undefined;
  throw new Error(`Converse has no block ${JSON.stringify(block)}`);
}

/** The answer as Converse has it. */
export async function toConverse(response: Response): Promise<Response> {
  const answer: Json = await response.json();
  const { status } = response;
  if (status !== 200) return Response.json({ message: answer.error.message }, { status });
  const content = answer.content.map((block: Json) => {
    if (block.type === "text") return { text: block.text };
    if (block.type === "tool_use")
      return { toolUse: { toolUseId: block.id, name: block.name, input: block.input } };
    return { reasoningContent: { reasoningText: { text: block.thinking, signature: block.signature } } };
  });
  const { input_tokens: inputTokens, output_tokens: outputTokens } = answer.usage;
  return Response.json({
    output: { message: { role: "assistant", content } },
    stopReason: answer.stop_reason,
    usage: { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens },
  });
}
