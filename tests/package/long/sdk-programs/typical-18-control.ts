// A query that is watched, changed and stopped while it runs, and the sessions behind it.
import {
  AbortError,
  HOOK_EVENTS,
  getSessionInfo,
  getSubagentMessages,
  listSessions,
  listSubagents,
  query,
  renameSession,
  tagSession,
  type Options,
} from "@anthropic-ai/claude-agent-sdk";

export async function main(base: Options) {
  const abortController = new AbortController();
  const running = query({ prompt: "Go", options: { ...base, abortController, cwd: "/app" } });
  const seen: string[] = [];
  let session = "";
  try {
    for await (const message of running) {
      session = message.session_id ?? session;
      if (message.type === "system" && message.subtype === "init") {
        await running.setModel("opus");
        await running.setPermissionMode("acceptEdits");
        const { models, commands } = await running.initializationResult();
        seen.push(
          `${models.length > 0} ${commands.length > 0} ${(await running.supportedModels()).length > 0}`,
        );
      }
      if (message.type === "assistant") {
        const { totalTokens, maxTokens, percentage, categories } = await running.getContextUsage();
        seen.push(`${totalTokens > 0} ${maxTokens} ${percentage <= 100} ${categories.length > 1}`);
        const stopped = await running.interrupt();
        seen.push(`queued ${stopped?.still_queued.length ?? 0}`);
      }
      if (message.type === "result") seen.push(`${message.subtype} ${message.terminal_reason}`);
    }
  } catch (error) {
    if (!(error instanceof AbortError)) throw error;
  }
  const place = { dir: "/app" };
  await renameSession(session, "The first one", place);
  await tagSession(session, "kept", place);
  const info = await getSessionInfo(session, place);
  seen.push(`${info?.customTitle} ${info?.tag} ${(await listSessions(place)).length > 0}`);
  for (const agent of await listSubagents(session, place))
    seen.push(`${(await getSubagentMessages(session, agent, place)).length}`);
  seen.push(String(HOOK_EVENTS.includes("SubagentStop")));
  return seen;
}
