/** Sessions in a store of looplet: IndexedDB, files, a Durable Object, or one of your own. */
import type { JournalEntry, Store } from "../../../core/api/index.js";
import { behindOthers, SharedLog, type LogObject } from "../../../extras/stores/logs/shared-log.js";
import type { SessionEntry, ListedSession, SessionKey, SessionStore } from "./sessions.js";

/** What this process knows of a session's journal. */
interface Known {
  lastSeq: number;
  readonly uuids: Set<string>;
}

/** The key of a journal. A blank inside a part is escaped: the id `b c` in the project `/a` is not `c` in `/a b`. */
const keyOf = (...parts: readonly string[]): string =>
  parts.map((part) => part.replace(/[% ]/g, encodeURIComponent)).join(" ");

/**
 * Saves sessions in a store. Each session is a journal, and each project has another journal that lists them. Two
 * processes may write to one session: later entries are appended after the others.
 */
export function sessionStoreOf(store: Store): SessionStore {
  const known = new Map<string, Known>();
  const journalOf = ({ projectKey, sessionId, subpath }: SessionKey): string =>
    subpath === undefined
      ? keyOf("session", projectKey, sessionId)
      : keyOf("session", projectKey, sessionId, subpath);
  /** The list of the sessions of a project. */
  const listOf = (projectKey: string): SharedLog =>
    new SharedLog(store, keyOf("sessions", projectKey), { twice: true });
  const belowKeyOf = ({ projectKey, sessionId }: SessionKey): string =>
    keyOf("subagents", projectKey, sessionId);
  /** The list of the `subpath`s of a session. */
  const belowOf = (sessionKey: SessionKey): SharedLog =>
    new SharedLog(store, belowKeyOf(sessionKey), { twice: true });
  const read = async (key: string): Promise<SessionEntry[]> =>
    ((await store.load(key)) ?? []).map(({ json }) => entryIn(json));
  const subkeysOf = async (sessionKey: SessionKey): Promise<string[]> =>
    listedIn(await belowOf(sessionKey).load());
  const knownOf = async (key: string): Promise<Known> => {
    const found = known.get(key);
    if (found !== undefined) return found;
    const kept = (await store.load(key)) ?? [];
    const uuids = new Set(kept.map(({ json }) => entryIn(json).uuid));
    const made = { lastSeq: kept.at(-1)?.seq ?? 0, uuids };
    known.set(key, made);
    return made;
  };

  const append = async (sessionKey: SessionKey, entries: readonly SessionEntry[]): Promise<void> => {
    const key = journalOf(sessionKey);
    const journal = await knownOf(key);
    const added = entries.filter(({ uuid }) => !journal.uuids.has(uuid));
    if (added.length === 0) return;
    try {
      // A session that is listed and empty does no harm. One that is not listed would be lost.
      const { projectKey, sessionId, subpath } = sessionKey;
      const list = subpath === undefined ? listOf(projectKey) : belowOf(sessionKey);
      if (journal.lastSeq === 0) await list.add({ sessionId: subpath ?? sessionId });
      const { lastSeq } = journal;
      const numbered = added.map((entry, at): JournalEntry => {
        // A store may look for the number in the text, as in the facts of a run.
        const seq = lastSeq + 1 + at;
        return { seq, json: JSON.stringify({ seq, ...entry }) };
      });
      await store.append(key, numbered, lastSeq);
    } catch (error) {
      known.delete(key);
      throw error;
    }
    journal.lastSeq += added.length;
    for (const { uuid } of added) journal.uuids.add(uuid);
  };

  return {
    append: (sessionKey, entries) => behindOthers(() => append(sessionKey, entries)),

    async load(sessionKey) {
      const entries = await read(journalOf(sessionKey));
      return entries.length === 0 ? null : entries;
    },

    async listSessions(projectKey) {
      const ids = listedIn(await listOf(projectKey).load());
      const infos = ids.map(async (sessionId): Promise<ListedSession[]> => {
        const last = (await read(journalOf({ projectKey, sessionId }))).at(-1);
        return last === undefined ? [] : [{ sessionId, mtime: Date.parse(last.timestamp) || 0 }];
      });
      // Sessions with equal times are sorted by start, latest first.
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
      await store.delete(belowKeyOf(sessionKey));
      await listOf(sessionKey.projectKey).add({ sessionId: sessionKey.sessionId, isDeleted: true });
    },

    listSubkeys: subkeysOf,
  };
}

function entryIn(json: string): SessionEntry {
  const { seq: _, ...entry } = JSON.parse(json);
  return entry as SessionEntry;
}

/** The ids that a list comes to. */
function listedIn(list: readonly LogObject[]): string[] {
  const ids = new Set<string>();
  for (const { sessionId, isDeleted } of list) {
    if (typeof sessionId !== "string") continue;
    if (isDeleted === true) ids.delete(sessionId);
    else ids.add(sessionId);
  }
  return [...ids];
}
