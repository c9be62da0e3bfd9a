/**
 * Says with which effort and in which format a vendor answers a request, by the vendors' rules. It shares no code
 * with looplet.
 */

export interface Settings {
  readonly effort: string;
  /** The JSON Schema; `null` for text. */
  readonly format: unknown;
}

const BETA = "mid-conversation-output-config-2026-07-01";

/** The effort of a request to Claude that names none. */
const usual = (model: string): string => (/opus-5-5|haiku-5-5/.test(model) ? "medium" : "high");

const hasInput = ({ content }: any): boolean =>
  typeof content === "string" || content.some(({ type }: any) => type !== "tool_result");

/**
 * A message with an effort counts for the answer to the message before it if that has more than results of tools,
 * else from the next such message on. https://platform.claude.com/docs/en/build-with-claude/effort-per-message
 * (2026-11-29)
 *
 * @throws the error of a vendor that refuses the request
 */
function ofClaude(body: any, headers: Headers): Settings {
  let effort = body.output_config?.effort ?? usual(body.model);
  let next = effort;
  let isInput = false;
  for (const [index, message] of body.messages.entries()) {
    if (message.role === "user") {
      isInput = hasInput(message);
      if (isInput) effort = next;
    } else if (message.role === "assistant") isInput = false;
    const named = message.output_config?.effort;
    if (named === undefined) continue;
    if (headers.get("anthropic-beta")?.includes(BETA) !== true)
      throw new Error(`messages.${index}.output_config: Extra inputs are not permitted`);
    if (/fable-5$|mythos-5$|opus-4|sonnet-5$|haiku-4/.test(body.model))
      throw new Error(`messages.${index}.output_config: not supported by ${body.model}`);
    if (body.thinking?.type === "between_tools")
      throw new Error("between_tools takes no change of the effort");
    next = named;
    if (isInput) effort = named;
  }
  return { effort, format: body.output_config?.format?.schema ?? null };
}

/** https://developers.openai.com/api/docs/guides/keep-prefix-unchanged (2026-11-28) */
function ofGpt(body: any): Settings {
  let effort = body.reasoning?.effort ?? "";
  let format = body.text?.format?.schema ?? null;
  for (const item of body.input) {
    if (item.type !== "configuration_update") continue;
    if (!/gpt-(6|[7-9])/.test(body.model))
      throw new Error(`The 'configuration_update' item type is not supported with ${body.model}`);
    effort = item.reasoning?.effort ?? effort;
    if (item.text !== undefined) format = item.text.format.schema ?? null;
  }
  return { effort, format };
}

export const settingsOf = (body: any, headers: HeadersInit | undefined): Settings =>
  body.messages === undefined ? ofGpt(body) : ofClaude(body, new Headers(headers));

/** What a model with these options has to answer with. */
export const wanted = (model: string, effort: string | undefined, schema: unknown): Settings => ({
  effort: effort ?? (model.startsWith("claude") ? usual(model) : ""),
  format: schema ?? null,
});
