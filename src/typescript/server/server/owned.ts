/** The part of a store and an agent that belongs to one owner: the keys and chats with the owner's prefix. */
import type { Store } from "../../core/api/index.js";
import type { ChatAgent } from "./chat-session.js";

/** The key prefix of an owner. No other owner's keys have it, because the name contains no slash. */
export function prefixOf(owner: unknown): string {
  if (typeof owner !== "string" || /\p{Surrogate}/u.test(owner))
    throw new TypeError("authorize needs to return the owner, a text of whole letters.");
  return `${encodeURIComponent(owner)}/`;
}

/** The part of the store with keys that begin with `prefix`. */
export function ownedStore(store: Store, prefix: string): Store {
  const { lease, delete: remove } = store;
  return {
    append: (key, ...rest) => store.append(prefix + key, ...rest),
    load: (key, after) => store.load(prefix + key, after),
    ...(lease && { lease: (key, options) => lease.call(store, prefix + key, options) }),
    ...(remove && { delete: (key) => remove.call(store, prefix + key) }),
  };
}

/** The chats of the agent with ids that begin with `prefix`. */
export function ownedAgent(agent: ChatAgent, prefix: string): ChatAgent {
  const { resume } = agent;
  return {
    ...(resume && {
      resume: (run: Parameters<typeof resume>[0], options) =>
        resume.call(agent, typeof run === "string" ? prefix + run : run, options),
    }),
    openChat: (id, options) => agent.openChat(prefix + id, options),
    readChat: (id, options) => agent.readChat(prefix + id, options),
  };
}
