// The model asks the user, and the program answers.
import { query, type Options } from "@anthropic-ai/claude-agent-sdk";

interface Question {
  question: string;
  options: { label: string; description: string }[];
  multiSelect?: boolean;
}

export async function main(base: Options) {
  for await (const message of query({
    prompt: "Help me choose a database",
    options: {
      ...base,
      canUseTool: async (toolName, input) => {
        if (toolName !== "AskUserQuestion") return { behavior: "allow", updatedInput: input };
        const questions = input["questions"] as Question[];
        const answers: Record<string, string> = {};
        for (const { question, options } of questions) answers[question] = options[0]?.label ?? "";
        return { behavior: "allow", updatedInput: { questions, answers } };
      },
    },
  })) {
    if (message.type === "result" && message.subtype === "success") return message.result;
  }
  return undefined;
}
