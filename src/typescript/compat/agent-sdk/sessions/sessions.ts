/** Sessions: a row of entries each, in a store of the program's. */
import { randomUuid } from "../../../extras/random-uuid.js";
import type { Message } from "../../../core/api/index.js";
import { toApi, type ApiBlock } from "../../anthropic.js";

/** The key of a session. `projectKey` parts the sessions of a store. */
export interface SessionKey {
  readonly projectKey: string;
  readonly sessionId: string;
  /** A conversation below the session, of an agent that it has asked. */
  readonly subpath?: string | undefined;
}

/**
 * An entry of a session: a message; with `compacted`, all messages that replace those before; or a title, a tag or an
 * archive mark without messages.
 */
export interface SessionEntry {
  readonly type: "user" | "assistant" | "compacted" | "title" | "tag" | "archived";
  /** An entry with the `uuid` of another one is that one. */
  readonly uuid: string;
  /** Its time, as ISO 8601. */
  readonly timestamp: string;
  /** looplet's own messages, with the blocks of every vendor. */
  readonly messages: readonly Message[];
  /** The title or tag; of a mark of the archive `"true"`, or `""`. */
  readonly text?: string | undefined;
}

/** The SDK's name of {@link SessionEntry}. */
export type SessionStoreEntry = SessionEntry;

/** What a store may save of a session in addition to its entries: see {@link foldSessionSummary}. */
export interface SessionSummaryEntry {
  sessionId: string;
  /** The time of the last append, in milliseconds since the Unix epoch. */
  mtime: number;
  data: Record<string, unknown>;
}

/** Stores sessions. */
export interface SessionStore {
  /** Contract: appends the entries in order. An entry with an existing `uuid` changes nothing. */
  append(key: SessionKey, entries: readonly SessionEntry[]): Promise<void> | void;
  /** The entries in their order; `null` if there is no such session. */
  load(key: SessionKey): Promise<readonly SessionEntry[] | null> | readonly SessionEntry[] | null;
  /** The sessions, the latest first. Needed for `continue` and {@link listSessions}. */
  listSessions?(projectKey: string): Promise<readonly ListedSession[]> | readonly ListedSession[];
  /** looplet does not call it: it reads a session to know what it is about. */
  listSessionSummaries?(
    projectKey: string,
  ): Promise<readonly SessionSummaryEntry[]> | readonly SessionSummaryEntry[];
  delete?(key: SessionKey): Promise<void> | void;
  /**
   * The `subpath`s of a session. The conversations of agents are only saved, below their session, if this method
   * exists.
   */
  listSubkeys?(key: SessionKey): Promise<readonly string[]> | readonly string[];
}

export interface ListedSession {
  readonly sessionId: string;
  /** The time of its last entry, in milliseconds since the Unix epoch. */
  readonly mtime: number;
}

/** Stores sessions in the memory of the process. */
export class InMemorySessionStore implements SessionStore {
  /** By project, the sessions in the order of their last entries. */
  readonly #projects = new Map<string, Map<string, SessionEntry[]>>();
  /** By session, the conversations of its agents. */
  readonly #below = new Map<string, Map<string, SessionEntry[]>>();

  append({ projectKey, sessionId, subpath }: SessionKey, entries: readonly SessionEntry[]): void {
    if (subpath !== undefined) {
      const below = this.#below.get(keyOf(projectKey, sessionId)) ?? new Map<string, SessionEntry[]>();
      below.set(subpath, [...(below.get(subpath) ?? []), ...entries]);
      this.#below.set(keyOf(projectKey, sessionId), below);
      return;
    }
    const sessions = this.#projects.get(projectKey) ?? new Map<string, SessionEntry[]>();
    const before = sessions.get(sessionId) ?? [];
    const isNew = ({ uuid }: SessionEntry): boolean => !before.some((entry) => entry.uuid === uuid);
    sessions.delete(sessionId);
    sessions.set(sessionId, [...before, ...entries.filter(isNew)]);
    this.#projects.set(projectKey, sessions);
  }

  load({ projectKey, sessionId, subpath }: SessionKey): readonly SessionEntry[] | null {
    if (subpath !== undefined) return this.#below.get(keyOf(projectKey, sessionId))?.get(subpath) ?? null;
    return this.#projects.get(projectKey)?.get(sessionId) ?? null;
  }

  listSessions(projectKey: string): readonly ListedSession[] {
    const sessions = [...(this.#projects.get(projectKey) ?? [])].reverse();
    const time = (entries: SessionEntry[]): number => Date.parse(entries.at(-1)?.timestamp ?? "") || 0;
    return sessions.map(([sessionId, entries]) => ({ sessionId, mtime: time(entries) }));
  }

  delete({ projectKey, sessionId }: SessionKey): void {
    this.#projects.get(projectKey)?.delete(sessionId);
    this.#below.delete(keyOf(projectKey, sessionId));
  }

  listSubkeys({ projectKey, sessionId }: SessionKey): readonly string[] {
    return [...(this.#below.get(keyOf(projectKey, sessionId))?.keys() ?? [])];
  }

  /** The entries of a session, for tests. Empty for an unknown session. */
  getEntries(key: SessionKey): readonly SessionEntry[] {
    return this.load(key) ?? [];
  }

  /** The number of sessions, without the conversations of agents. */
  get size(): number {
    return [...this.#projects.values()].reduce((sum, sessions) => sum + sessions.size, 0);
  }

  clear(): void {
    this.#projects.clear();
    this.#below.clear();
  }
}

const keyOf = (...parts: readonly string[]): string => JSON.stringify(parts);

/** The store of queries that name none. */
export const processStore = new InMemorySessionStore();

/** Where a helper looks. `dir` is the project: the `cwd` of {@link query}. */
export interface SessionPlace {
  /** Default: the memory of this process. */
  readonly sessionStore?: SessionStore | undefined;
  /** Default `"/"`. */
  readonly dir?: string | undefined;
}

/** A part of a list: at most `limit` of its items (default: all), without the first `offset` ones (default 0). */
export interface Page {
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
}

/** A session, for people who choose one. */
export interface SDKSessionInfo {
  readonly sessionId: string;
  /** What it is about: its title, or the beginning of its first prompt. */
  readonly summary: string;
  /** The time of its last entry, in milliseconds since the Unix epoch. */
  readonly lastModified: number;
  readonly firstPrompt?: string;
  readonly customTitle?: string;
  readonly tag?: string;
  /** The time of its first entry. */
  readonly createdAt: number;
  readonly cwd: string;
  readonly archived?: boolean;
  /** Not set. */
  readonly fileSize?: number;
  /** Not set. */
  readonly gitBranch?: string;
}

/** Where a helper of sessions looks. */
export type SessionMutationOptions = SessionPlace;
export type GetSessionInfoOptions = SessionPlace;
export type ListSubagentsOptions = SessionPlace;
export type GetSubagentMessagesOptions = SessionPlace & Page;

/** Which sessions {@link listSessions} returns. */
export interface ListSessionsOptions extends SessionPlace, Page {
  /** Does nothing: there are no worktrees. */
  readonly includeWorktrees?: boolean | undefined;
  /** Does nothing: every session is one of a program. */
  readonly includeProgrammatic?: boolean | undefined;
}

/** Which messages {@link getSessionMessages} returns. */
export interface GetSessionMessagesOptions extends SessionPlace, Page {
  /** Has no effect: a session stores no message of the type `system`. */
  readonly includeSystemMessages?: boolean | undefined;
}

/** How {@link forkSession} copies. */
export interface ForkSessionOptions extends SessionPlace {
  /** The `uuid` of the last entry that is copied. Default: all are. */
  readonly upToMessageId?: string | undefined;
  /** The title of the copy. Default: that of the original. */
  readonly title?: string | undefined;
  /** The id of the copy. Default: a random UUID. */
  readonly newSessionId?: string | undefined;
}

export interface ForkSessionResult {
  readonly sessionId: string;
}

/** Characters of a `summary`. */
const SUMMARY = 200;

/** The sessions of a project, the latest first. */
export async function listSessions(options: ListSessionsOptions = {}): Promise<SDKSessionInfo[]> {
  const { sessionStore = processStore, dir = "/" } = options;
  if (sessionStore.listSessions === undefined)
    throw new TypeError("listSessions: the sessionStore has no listSessions");
  const listed = paged(await sessionStore.listSessions(dir), options);
  const infos = await Promise.all(listed.map(({ sessionId }) => getSessionInfo(sessionId, options)));
  return infos.flatMap((info) => info ?? []);
}

/** What a session is about; `undefined` for one that is not there. */
export async function getSessionInfo(
  sessionId: string,
  { sessionStore = processStore, dir = "/" }: SessionPlace = {},
): Promise<SDKSessionInfo | undefined> {
  const entries = (await sessionStore.load({ projectKey: dir, sessionId })) ?? [];
  const [first, last] = [entries[0], entries.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const mark = (type: SessionEntry["type"]): string | undefined =>
    entries.filter((entry) => entry.type === type).at(-1)?.text || undefined;
  const [customTitle, tag] = [mark("title"), mark("tag")];
  const isArchived = isArchivedBy(entries);
  const firstPrompt = entries
    .flatMap(({ messages }) => messages)
    .filter(({ role }) => role === "user")
    .flatMap(({ content }) => content.flatMap((block) => (block.type === "text" ? [block.text] : [])))[0];
  return {
    sessionId,
    summary: (customTitle ?? firstPrompt)?.slice(0, SUMMARY) ?? sessionId,
    lastModified: Date.parse(last.timestamp) || 0,
    createdAt: Date.parse(first.timestamp) || 0,
    ...(firstPrompt === undefined ? {} : { firstPrompt }),
    ...(customTitle === undefined ? {} : { customTitle }),
    ...(tag === undefined ? {} : { tag }),
    ...(isArchived ? { archived: true } : {}),
    cwd: dir,
  };
}

/** Whether the last mark archives the session. A prompt after it takes the session out of the archive. */
function isArchivedBy(entries: readonly SessionEntry[]): boolean {
  const last = entries.filter(({ type }) => type === "archived" || type === "user").at(-1);
  return last?.type === "archived" && last.text === "true";
}

/** A message of a session, in the shape in which `query` yields it. */
export interface SessionMessage {
  /** `system` does not occur. */
  readonly type: "user" | "assistant" | "system";
  readonly uuid: string;
  readonly session_id: string;
  readonly message: { readonly role: "user" | "assistant"; readonly content: ApiBlock[] };
  /** `null`, but for messages of agents: the call that asks the agent. */
  readonly parent_tool_use_id: string | null;
  /** Always `null`: an agent asks no other one. */
  readonly parent_agent_id: string | null;
}

/** The messages of a session. Empty for an unknown session. */
export async function getSessionMessages(
  sessionId: string,
  options: GetSessionMessagesOptions = {},
): Promise<SessionMessage[]> {
  const { sessionStore = processStore, dir = "/" } = options;
  const entries = (await sessionStore.load({ projectKey: dir, sessionId })) ?? [];
  return messagesOf(entries, sessionId, options, null);
}

/** The messages of these entries, which are those of an agent if its id is given. */
export function messagesOf(
  entries: readonly SessionEntry[],
  sessionId: string,
  page: Page,
  agentId: string | null,
): SessionMessage[] {
  const told = ({ type, uuid, messages }: SessionEntry): SessionMessage[] =>
    type === "compacted"
      ? []
      : messages.map(({ role, content }) => ({
          type: role,
          uuid,
          session_id: sessionId,
          message: { role, content: content.flatMap(toApi) },
          parent_tool_use_id: agentId,
          parent_agent_id: null,
        }));
  return paged(entries.flatMap(told), page);
}

function paged<T>(items: readonly T[], { limit = Infinity, offset = 0 }: Page): T[] {
  return items.slice(offset, offset + limit);
}

/**
 * Copies a session, up to the entry with the uuid `upToMessageId` if that is given. The original stays as it is.
 *
 * @throws TypeError for a session or a message that is not there
 */
export async function forkSession(
  sessionId: string,
  options: ForkSessionOptions = {},
): Promise<ForkSessionResult> {
  const { sessionStore = processStore, dir = "/", upToMessageId, newSessionId = randomUuid() } = options;
  const entries = await loaded(sessionStore, { projectKey: dir, sessionId }, upToMessageId);
  const title = options.title?.trim();
  const titled = title ? [...entries, markOf("title", title)] : entries;
  await sessionStore.append({ projectKey: dir, sessionId: newSessionId }, titled);
  return { sessionId: newSessionId };
}

export async function deleteSession(sessionId: string, place: SessionPlace = {}): Promise<void> {
  const { sessionStore = processStore, dir = "/" } = place;
  if (sessionStore.delete === undefined) throw new TypeError("deleteSession: the sessionStore has no delete");
  await sessionStore.delete({ projectKey: dir, sessionId });
}

/**
 * The entries of a session, up to the one with the uuid `upTo`.
 *
 * @throws TypeError for a session or a message that is not there
 */
export async function loaded(store: SessionStore, key: SessionKey, upTo?: string): Promise<SessionEntry[]> {
  const entries = await store.load(key);
  if (entries === null || entries === undefined)
    throw new TypeError(`There is no session "${key.sessionId}" in the sessionStore.`);
  if (upTo === undefined) return [...entries];
  const at = entries.findIndex(({ uuid }) => uuid === upTo);
  if (at < 0) throw new TypeError(`The session "${key.sessionId}" has no message with the uuid "${upTo}".`);
  return entries.slice(0, at + 1);
}

/** The entry of a title, a tag or the archive. An empty text takes it away. */
export function markOf(
  type: "title" | "tag" | "archived",
  text: string,
  uuid: string = randomUuid(),
  now = Date.now(),
): SessionEntry {
  return { type, uuid, timestamp: new Date(now).toISOString(), messages: [], text };
}

/** The history that entries make. */
export function historyOf(entries: readonly SessionEntry[]): Message[] {
  const from = entries.map(({ type }) => type).lastIndexOf("compacted");
  return entries.slice(Math.max(from, 0)).flatMap(({ messages }) => messages);
}
