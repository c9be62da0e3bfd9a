// Files as they were before the agent changed them.
import { query, type Options } from "@anthropic-ai/claude-agent-sdk";

export async function main(base: Options) {
  const options: Options = {
    ...base,
    enableFileCheckpointing: true,
    permissionMode: "acceptEdits",
    extraArgs: { "replay-user-messages": null },
  };
  let checkpoint: string | undefined;
  let session: string | undefined;
  for await (const message of query({ prompt: "Rewrite /app/a.txt and add /app/b.txt", options })) {
    if (message.type === "user" && message.uuid && !checkpoint) checkpoint = message.uuid;
    if ("session_id" in message && message.session_id) session = message.session_id;
  }
  if (!checkpoint || !session) return undefined;
  const rewind = query({ prompt: "", options: { ...options, resume: session } });
  for await (const _message of rewind) {
    const dry = await rewind.rewindFiles(checkpoint, { dryRun: true });
    const done = await rewind.rewindFiles(checkpoint);
    return { dry: dry.filesChanged?.length, can: done.canRewind, changed: done.filesChanged };
  }
  return undefined;
}
