// Sessions: the functions beside a query, and a store.
import {
  InMemorySessionStore,
  deleteSession,
  forkSession,
  getSessionInfo,
  getSessionMessages,
  listSessions,
  type SessionKey,
  type SessionStore,
} from "@anthropic-ai/claude-agent-sdk";

export async function main(sessionStore: SessionStore = new InMemorySessionStore()) {
  const place = { dir: "/work", sessionStore };
  const said: string[] = [];
  for (const { sessionId, summary, lastModified, firstPrompt } of await listSessions({
    ...place,
    limit: 10,
    offset: 0,
  })) {
    said.push(`${sessionId} ${summary} ${new Date(lastModified).toISOString()} ${firstPrompt ?? ""}`);
    for (const { type, uuid, message } of await getSessionMessages(sessionId, { ...place, limit: 5 }))
      said.push(`${type} ${uuid} ${JSON.stringify(message)}`);
    const { sessionId: copy } = await forkSession(sessionId, { ...place, upToMessageId: "uuid" });
    said.push((await getSessionInfo(copy, place))?.summary ?? "gone");
    await deleteSession(copy, place);
  }
  return said;
}

type Entry = Parameters<SessionStore["append"]>[1][number];

export class OwnStore implements SessionStore {
  #entries = new Map<string, Entry[]>();
  async append({ projectKey, sessionId }: SessionKey, entries: Entry[]) {
    const key = `${projectKey}/${sessionId}`;
    this.#entries.set(key, [...(this.#entries.get(key) ?? []), ...entries]);
  }
  async load({ projectKey, sessionId }: SessionKey) {
    return this.#entries.get(`${projectKey}/${sessionId}`) ?? null;
  }
}
