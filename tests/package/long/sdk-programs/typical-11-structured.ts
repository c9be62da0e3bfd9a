// An answer in the form of a schema.
import { query, type Options } from "@anthropic-ai/claude-agent-sdk";
import { z } from "zod";

const Plan = z.object({
  feature: z.string(),
  steps: z.array(z.object({ step: z.number(), text: z.string() })),
});

export async function main(base: Options) {
  const schema = z.toJSONSchema(Plan) as Record<string, unknown>;
  for await (const message of query({
    prompt: "Plan dark mode",
    options: { ...base, outputFormat: { type: "json_schema", schema } },
  })) {
    if (message.type !== "result") continue;
    if (message.subtype === "success" && message.structured_output)
      return Plan.parse(message.structured_output).steps.length;
    if (message.subtype === "error_max_structured_output_retries") return "no fitting answer";
  }
  return undefined;
}
