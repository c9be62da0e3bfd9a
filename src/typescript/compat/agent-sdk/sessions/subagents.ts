/** The conversations of a session's agents. Each is saved below its session, if the store can list them. */
import { messagesOf, processStore, type Page, type SessionMessage, type SessionPlace } from "./sessions.js";

const PREFIX = "subagents/agent-";

/** The place of an agent's conversation below its session. */
export const subpathOf = (agentId: string): string => PREFIX + agentId;

/** The ids of the agents of a session: those of the calls that have asked them. */
export async function listSubagents(sessionId: string, place: SessionPlace = {}): Promise<string[]> {
  const { sessionStore = processStore, dir = "/" } = place;
  const subpaths = (await sessionStore.listSubkeys?.({ projectKey: dir, sessionId })) ?? [];
  return subpaths.filter((path) => path.startsWith(PREFIX)).map((path) => path.slice(PREFIX.length));
}

/** The messages of an agent. Empty for an unknown agent. */
export async function getSubagentMessages(
  sessionId: string,
  agentId: string,
  options: SessionPlace & Page = {},
): Promise<SessionMessage[]> {
  const { sessionStore = processStore, dir = "/" } = options;
  const key = { projectKey: dir, sessionId, subpath: subpathOf(agentId) };
  const entries = sessionStore.listSubkeys === undefined ? null : await sessionStore.load(key);
  return messagesOf(entries ?? [], sessionId, options, agentId);
}
