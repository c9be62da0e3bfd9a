/**
 * `looplet/sessions`: the list of the chats in a store, with names and tags. The list is a separate journal in the
 * same store, and each change is appended to it. It needs no engine: your agents open the chats.
 */
import { randomUuid } from "../random-uuid.js";
import { LoopletError } from "../../core/api/errors.js";
import type {
  Agent,
  OpenChatOptions,
  Store,
  ToolTypes,
  TypedAgent,
  TypedChat,
} from "../../core/api/index.js";
import { logsBeside } from "../stores/logs/beside-chat.js";
import { SharedLog, type LogObject } from "../stores/logs/shared-log.js";
import { noteIn, type Change } from "./changes.js";
import { exported, imported } from "./transfer.js";

/** A chat in the list. */
export interface SessionInfo {
  /** The id for `agent.openChat`. */
  readonly id: string;
  readonly title: string | undefined;
  readonly tags: readonly string[];
  /** Milliseconds since the Unix epoch. */
  readonly createdMs: number;
  /** The time of its last change in the list: it was opened, named or tagged. */
  readonly updatedMs: number;
  /** The chat that it was forked from. */
  readonly forkedFrom: string | undefined;
}

export interface SessionsOptions {
  /** The key of the list in the store; a list for each user, for example. Default `"looplet.sessions"`. */
  key?: string | undefined;
  /** The time, in milliseconds since the Unix epoch. Default: `Date.now`. */
  now?: (() => number) | undefined;
  /** Makes the ids of new chats. Default: random UUIDs. */
  ids?: (() => string) | undefined;
}

export interface Sessions {
  /** The chats of the list, those first that were changed last. `tag`: only those that have it. */
  list(options?: { tag?: string | undefined }): Promise<SessionInfo[]>;
  get(id: string): Promise<SessionInfo | undefined>;
  /** The chat that was changed last, or undefined. */
  latest(): Promise<SessionInfo | undefined>;
  /**
   * Opens a chat and notes it in the list, by `agent.openChat`: a new one without an `id`. The agent must have the
   * store of the list.
   */
  open<C extends ToolTypes, Output>(
    agent: TypedAgent<C, Output>,
    id?: string,
    options?: OpenChatOptions<C, Output>,
  ): Promise<TypedChat<C, Output>>;
  /**
   * Creates a chat with the messages of another one. The other chat does not change, and a run of it may continue.
   * `at` is the number of messages to copy, all by default. After them, no call may be without its result. `as` is
   * the new id.
   *
   * @throws LoopletError `misuse_invalid_argument` if the list has no such chat, or the store has one with the new
   * id; `config_…` for invalid messages
   */
  fork<C extends ToolTypes, Output>(
    agent: TypedAgent<C, Output>,
    id: string,
    options?: { at?: number | undefined; as?: string | undefined },
  ): Promise<TypedChat<C, Output>>;
  /**
   * The whole chat as text, one journal entry per line, for `import` into another store. No run of it should be in
   * progress, because it would continue in both places. Undefined if the list has no such chat.
   */
  export(id: string): Promise<string | undefined>;
  /**
   * Imports the text of a chat, and adds it to the list. If the store already has the chat, only new entries are
   * added, so a chat can be moved back and forth. An older text changes nothing. The agent reads the chat before it
   * is stored.
   *
   * `trusted`: whether a run of the chat may resume, with everything that its text says was allowed. Default false.
   *
   * @throws LoopletError `misuse_invalid_argument` for a text that is not a chat, or for a chat that has continued
   * differently here. For an untrusted text, also if a run of it is unfinished or in progress here; `config_…` for
   * one that the agent cannot continue
   */
  import(agent: Agent, id: string, text: string, options?: { trusted?: boolean | undefined }): Promise<void>;
  /** Adds a chat that `agent.openChat` has opened to the list. `title` is used if it has none. */
  note(id: string, options?: { title?: string | undefined }): Promise<void>;
  /** @throws LoopletError `misuse_invalid_argument` if the list does not have it */
  rename(id: string, title: string): Promise<void>;
  /** Puts these tags in the place of those before. @throws LoopletError as `rename` */
  tag(id: string, tags: readonly string[]): Promise<void>;
  /** Takes it off the list, and removes its journal if the store can. Nothing happens if the list does not have it. */
  delete(id: string): Promise<void>;
}

/** The list of the chats in a store. */
export function sessionsOf(
  store: Store,
  { key = "looplet.sessions", now = Date.now, ids = () => randomUuid() }: SessionsOptions = {},
): Sessions {
  const log = new SharedLog(store, key, { twice: true });
  const note = (change: Omit<Change, "atMs">): Promise<void> => noteIn(log, change, now);
  const list: Sessions["list"] = async ({ tag } = {}) =>
    folded((await log.load()).filter(isChange))
      .filter(({ tags }) => tag === undefined || tags.includes(tag))
      .reverse();
  const get: Sessions["get"] = async (id) => (await list()).find((session) => session.id === id);
  const known = async (id: string): Promise<void> => {
    if ((await get(id)) === undefined)
      throw new LoopletError("misuse_invalid_argument", "id", `there is no session "${id}" in the list`);
  };
  const notTheList = (id: string): void => {
    if (id === key)
      throw new LoopletError("misuse_invalid_argument", "id", `"${id}" is the key of the list itself`);
  };
  return {
    list,
    get,
    latest: async () => (await list())[0],
    async open(agent, id = ids(), options) {
      notTheList(id);
      const chat = await agent.openChat(id, options);
      await note({ id });
      return chat;
    },
    async fork(agent, id, { at, as = ids() } = {}) {
      await known(id);
      notTheList(as);
      const before = await agent.readChat(id);
      if (before === undefined)
        throw new LoopletError("misuse_invalid_argument", "id", `the store has no chat "${id}"`);
      // A chat of another list may have this id, and its messages would be replaced.
      if (((await store.load(as)) ?? []).length > 0)
        throw new LoopletError(
          "misuse_invalid_argument",
          "as",
          `there is a chat "${as}" in the store already`,
        );
      const chat = await agent.openChat(as);
      // A chat that is listed and empty can be created again. One that is not listed would be lost.
      await note({ id: as, from: id });
      try {
        chat.reset(before.messages.slice(0, at));
        await chat.saved();
      } catch (error) {
        await note({ id: as, isGone: true }).catch(() => {});
        throw error;
      }
      return chat;
    },
    export: async (id) => ((await get(id)) === undefined ? undefined : exported(store, id)),
    async import(agent, id, text, options) {
      notTheList(id);
      await imported(store, id, text, (entries) => agent.readChat(id, { entries }), options);
      await note({ id });
    },
    async note(id, { title } = {}) {
      notTheList(id);
      const isNew = title !== undefined && (await get(id))?.title === undefined;
      await note(isNew ? { id, title } : { id });
    },
    async rename(id, title) {
      await known(id);
      await note({ id, title });
    },
    async tag(id, tags) {
      await known(id);
      await note({ id, tags });
    },
    async delete(id) {
      if ((await get(id)) === undefined) return;
      // A chat that is listed without its journal can be deleted again.
      for (const key of [id, ...Object.values(logsBeside(id))]) await store.delete?.(key);
      await note({ id, isGone: true });
    },
  };
}

/** A damaged entry is ignored. */
function isChange(change: LogObject): change is LogObject & Change {
  const { id, atMs, title = "", from = "", tags = [] }: { [field in keyof Change]?: unknown } = change;
  if (typeof id !== "string" || typeof atMs !== "number") return false;
  return [title, from, ...(Array.isArray(tags) ? (tags as unknown[]) : [0])].every(
    (text) => typeof text === "string",
  );
}

/** The sessions that the changes come to, those last that were changed last. */
function folded(changes: readonly Change[]): SessionInfo[] {
  const sessions = new Map<string, SessionInfo>();
  for (const { id, atMs, isGone, from, ...changed } of changes) {
    const before = sessions.get(id);
    sessions.delete(id);
    if (isGone) continue;
    const fresh = { id, title: undefined, tags: [], createdMs: atMs, forkedFrom: from };
    sessions.set(id, { ...(before ?? fresh), ...changed, updatedMs: atMs });
  }
  return [...sessions.values()];
}
