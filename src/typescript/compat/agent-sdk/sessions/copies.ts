/** What stores need in addition to the entries of a session: copies and summaries. */
import { subpathOf } from "./subagents.js";
import {
  loaded,
  processStore,
  type SessionEntry,
  type SessionKey,
  type SessionStore,
  type SessionSummaryEntry,
} from "./sessions.js";
import { listSubagents } from "./subagents.js";

/** Entries of one append. */
const BATCH = 500;

export interface ImportSessionToStoreOptions {
  /** The `cwd` of the queries. Default `"/"`. */
  readonly dir?: string | undefined;
  /** Whether the conversations of agents are copied, if the store has `listSubkeys`. Default true. */
  readonly includeSubagents?: boolean | undefined;
  /** The most entries of one append. Default 500. */
  readonly batchSize?: number | undefined;
}

/**
 * Copies a session of this process, of a query without a `sessionStore`, into a store.
 *
 * @throws TypeError for a session that is not there, and for a `batchSize` below 1
 */
export async function importSessionToStore(
  sessionId: string,
  store: SessionStore,
  { dir = "/", includeSubagents = true, batchSize = BATCH }: ImportSessionToStoreOptions = {},
): Promise<void> {
  if (!(batchSize >= 1)) throw new TypeError("importSessionToStore: batchSize needs a number from 1 on");
  const copy = async (key: SessionKey): Promise<void> => {
    const entries = await loaded(processStore, key);
    for (let at = 0; at < entries.length; at += Math.floor(batchSize))
      await store.append(key, entries.slice(at, at + Math.floor(batchSize)));
  };
  const key = { projectKey: dir, sessionId };
  await copy(key);
  if (!includeSubagents || store.listSubkeys === undefined) return;
  for (const id of await listSubagents(sessionId, { dir })) await copy({ ...key, subpath: subpathOf(id) });
}

/**
 * The summary of a session after more entries, for a store that saves summaries. Without `mtime` the time of the
 * previous summary stays.
 */
export function foldSessionSummary(
  previous: SessionSummaryEntry | undefined,
  { projectKey, sessionId }: SessionKey,
  entries: readonly SessionEntry[],
  { mtime = previous?.mtime ?? 0 }: { mtime?: number } = {},
): SessionSummaryEntry {
  const data: Record<string, unknown> = { cwd: projectKey, ...previous?.data };
  for (const { type, timestamp, messages, text } of entries) {
    data["createdAt"] ??= Date.parse(timestamp) || 0;
    const prompts = messages
      .filter(({ role }) => role === "user")
      .flatMap(({ content }) => content.flatMap((block) => (block.type === "text" ? [block.text] : [])));
    if (prompts.length > 0) {
      data["firstPrompt"] ??= prompts[0];
      data["lastPrompt"] = prompts.at(-1);
      delete data["archived"];
    }
    if (type === "title") data["customTitle"] = text;
    if (type === "tag") data["tag"] = text || undefined;
    if (type === "archived") data["archived"] = text === "true" || undefined;
  }
  return { sessionId, mtime, data };
}
