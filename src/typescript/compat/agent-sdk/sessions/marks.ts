/** Titles and tags of sessions, and their archive. Each is an entry of the session, and the last one counts. */
import { loaded, markOf, processStore, type SessionEntry, type SessionPlace } from "./sessions.js";

/**
 * Gives a session a title, in place of its first prompt.
 *
 * @throws TypeError for an empty title, and for a session that is not there
 */
export async function renameSession(
  sessionId: string,
  title: string,
  place: SessionPlace = {},
): Promise<void> {
  const text = String(title).trim();
  if (text === "") throw new TypeError("renameSession: the title is empty");
  await mark(sessionId, markOf("title", text), place);
}

/**
 * Gives a session a tag, or takes it away with `null`.
 *
 * @throws TypeError for a session that is not there
 */
export async function tagSession(
  sessionId: string,
  tag: string | null,
  place: SessionPlace = {},
): Promise<void> {
  await mark(sessionId, markOf("tag", tag === null ? "" : String(tag).trim()), place);
}

/**
 * Puts a session in the archive: `listSessions` returns it with `archived: true`. Another prompt takes it out.
 *
 * @throws TypeError for a session that is not there
 */
export async function archiveSession(sessionId: string, place: SessionPlace = {}): Promise<void> {
  await mark(sessionId, markOf("archived", "true"), place);
}

/**
 * Takes a session out of the archive.
 *
 * @throws TypeError for a session that is not there
 */
export async function unarchiveSession(sessionId: string, place: SessionPlace = {}): Promise<void> {
  await mark(sessionId, markOf("archived", ""), place);
}

async function mark(sessionId: string, entry: SessionEntry, place: SessionPlace): Promise<void> {
  const { sessionStore = processStore, dir = "/" } = place;
  const key = { projectKey: dir, sessionId };
  await loaded(sessionStore, key);
  await sessionStore.append(key, [entry]);
}
