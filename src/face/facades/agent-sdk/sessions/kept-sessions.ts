/** Sessions in a store of looplet: IndexedDB, files, a Durable Object, or one of your own. */
import type { JournalEntry, Store } from "../../../core/api/index.js";
import type { SessionEntry, ListedSession, SessionKey, SessionStore } from "./sessions.js";

/** An entry of the journal that lists the sessions of a project, or the `subpath`s of a session. */
interface Listed {
  readonly sessionId: string;
  readonly isDeleted?: true;
}

/** What this process knows of a session's journal. */
interface Known {
  lastSeq: number;
  readonly uuids: Set<string>;
}

/** The key of a journal. A blank inside a part is escaped: the id `b c` in the project `/a` is not `c` in `/a b`. */
const keyOf = (...parts: readonly string[]): string =>
  parts.map((part) => part.replace(/[% ]/g, encodeURIComponent)).join(" ");

/**
 * Keeps sessions in a store. Each session is a journal, and each project has another one that lists them. Two
 * processes may write to one session: an append that finds entries of another process rejects with `StoreConflict`,
 * and the query tries it again behind them.
 */
export function sessionStoreOf(store: Store): SessionStore {
  const known = new Map<string, Known>();
  const journalOf = ({ projectKey, sessionId, subpath }: SessionKey): string =>
    subpath === undefined
      ? keyOf("session", projectKey, sessionId)
      : keyOf("session", projectKey, sessionId, subpath);
  const belowOf = ({ projectKey, sessionId }: SessionKey): string =>
    keyOf("subagents", projectKey, sessionId);
  const listOf = (projectKey: string): string => keyOf("sessions", projectKey);
  const read = async <T>(key: string): Promise<T[]> =>
    ((await store.load(key)) ?? []).map(({ json }) => {
      const { seq: _, ...value } = JSON.parse(json);
      return value as T;
    });

  const add = async (key: string, values: readonly object[], lastSeq: number): Promise<void> => {
    // A store may look for the number in the text, as in the facts of a run.
    const entries = values.map((value, at): JournalEntry => {
      const seq = lastSeq + 1 + at;
      return { seq, json: JSON.stringify({ seq, ...value }) };
    });
    await store.append(key, entries, lastSeq);
  };
  const list = async (key: string, entry: Listed): Promise<void> => {
    const listed = await read<Listed>(key);
    await add(key, [entry], listed.length);
  };
  const subkeysOf = async (sessionKey: SessionKey): Promise<string[]> =>
    (await read<Listed>(belowOf(sessionKey))).map(({ sessionId }) => sessionId);
  const knownOf = async (key: string): Promise<Known> => {
    const found = known.get(key);
    if (found !== undefined) return found;
    const entries = await read<SessionEntry>(key);
    const made = { lastSeq: entries.length, uuids: new Set(entries.map(({ uuid }) => uuid)) };
    known.set(key, made);
    return made;
  };

  return {
    async append(sessionKey, entries) {
      const key = journalOf(sessionKey);
      const journal = await knownOf(key);
      const added = entries.filter(({ uuid }) => !journal.uuids.has(uuid));
      if (added.length === 0) return;
      try {
        // A session that is listed and empty does no harm; one that is not listed would be lost.
        const { projectKey, sessionId, subpath } = sessionKey;
        if (journal.lastSeq === 0 && subpath === undefined) await list(listOf(projectKey), { sessionId });
        if (journal.lastSeq === 0 && subpath !== undefined)
          await list(belowOf(sessionKey), { sessionId: subpath });
        await add(key, added, journal.lastSeq);
      } catch (error) {
        known.delete(key);
        throw error;
      }
      journal.lastSeq += added.length;
      for (const { uuid } of added) journal.uuids.add(uuid);
    },

    async load(sessionKey) {
      const entries = await read<SessionEntry>(journalOf(sessionKey));
      return entries.length === 0 ? null : entries;
    },

    async listSessions(projectKey) {
      const ids = new Set<string>();
      for (const { sessionId, isDeleted } of await read<Listed>(listOf(projectKey)))
        if (isDeleted === true) ids.delete(sessionId);
        else ids.add(sessionId);
      const infos = [...ids].map(async (sessionId): Promise<ListedSession[]> => {
        const last = (await read<SessionEntry>(journalOf({ projectKey, sessionId }))).at(-1);
        return last === undefined ? [] : [{ sessionId, mtime: Date.parse(last.timestamp) || 0 }];
      });
      // Sessions of the same moment stand with the one that began later first.
      return (await Promise.all(infos))
        .flat()
        .reverse()
        .sort((one, other) => other.mtime - one.mtime);
    },

    async delete(sessionKey) {
      if (store.delete === undefined) throw new TypeError("deleteSession: the store has no delete");
      const key = journalOf(sessionKey);
      await store.delete(key);
      known.delete(key);
      for (const subpath of await subkeysOf(sessionKey)) {
        await store.delete(journalOf({ ...sessionKey, subpath }));
        known.delete(journalOf({ ...sessionKey, subpath }));
      }
      await store.delete(belowOf(sessionKey));
      await list(listOf(sessionKey.projectKey), { sessionId: sessionKey.sessionId, isDeleted: true });
    },

    listSubkeys: subkeysOf,
  };
}
