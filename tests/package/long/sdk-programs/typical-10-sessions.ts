// A conversation that goes on later, and in a copy.
import { query, type Options } from "@anthropic-ai/claude-agent-sdk";

async function ask(prompt: string, options: Options) {
  let id = "";
  let text = "";
  for await (const message of query({ prompt, options })) {
    if (message.type === "system" && message.subtype === "init") id = message.session_id;
    if ("result" in message) text = message.result;
  }
  return { id, text };
}

export async function main(base: Options) {
  const first = await ask("My name is Ada.", base);
  const again = await ask("Who am I?", { ...base, resume: first.id });
  const copy = await ask("And in another language?", { ...base, resume: first.id, forkSession: true });
  const latest = await ask("Go on.", { ...base, continue: true });
  return {
    same: again.id === first.id,
    forked: copy.id !== first.id,
    latest: latest.id === copy.id,
    text: again.text,
  };
}
