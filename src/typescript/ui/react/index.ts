/** `looplet/react`: hooks for the conversations of `looplet/ui`. The peer is React 18 or 19. */
import { useCallback, useEffect, useState, useSyncExternalStore } from "react";
import type { Store } from "../../core/api/index.js";
import { sessionsOf, type SessionInfo, type Sessions } from "../../extras/sessions/index.js";
import {
  conversation,
  type Answers,
  type Conversation,
  type ConversationAgent,
  type ConversationOptions,
  type ConversationSnapshot,
  type OpenQuestion,
} from "../ui/index.js";
import { UNOPENED } from "../ui/snapshot.js";
import { agentAt } from "./at-address.js";

/** What {@link useAgent} returns: the snapshot and the verbs of its conversation. */
export type UseAgent = ConversationSnapshot &
  Omit<Conversation, "subscribe" | "getSnapshot" | "current"> & {
    /** For `useSelect`, `useQuestion`, `useUsage` and components below this one. */
    readonly conversation: Conversation;
  };

/**
 * The conversation with an agent, or with the agent at an address such as `"/api/agent"` of `looplet/server`. An
 * address needs an `id`. To send headers, pass the agent of `connectAgent(address, { headers })`.
 *
 * The component re-renders at each update, at most once a frame. On a server it renders the snapshot of an unopened
 * chat.
 *
 * Without an `id`, each component has its own conversation, and its run stops when the component unmounts. Components
 * with the same agent and the same `id` share one conversation.
 *
 * @example
 * ```tsx
 * import { useAgent } from "looplet/react";
 *
 * export function Chat() {
 *   const { messages, send } = useAgent("/api/agent", { id: "order-7" });
 *   return (
 *     <form action={(data) => void send(String(data.get("text")))}>
 *       {messages.map(({ id, parts }) => (
 *         <p key={id}>{parts.map((part) => (part.type === "text" ? part.text : ""))}</p>
 *       ))}
 *       <input name="text" />
 *     </form>
 *   );
 * }
 * ```
 */
export function useAgent(agent: ConversationAgent | string, options: ConversationOptions = {}): UseAgent {
  const conversation = useConversation(agent, options);
  const { subscribe, getSnapshot, current: _, ...verbs } = conversation;
  const snapshot = useSyncExternalStore(subscribe, getSnapshot, unopened);
  return { ...snapshot, ...verbs, conversation };
}

const unopened = (): ConversationSnapshot => UNOPENED;

/** The conversation with an agent, for `useSelect`: the component is not rendered again when it changes. */
export function useConversation(
  agentOrAddress: ConversationAgent | string,
  options: ConversationOptions = {},
): Conversation {
  const { id } = options;
  const agent = typeof agentOrAddress === "string" ? agentAt(agentOrAddress) : agentOrAddress;
  const [held, hold] = useState(() => ({ agent, id, conversation: conversation(agent, options) }));
  if (held.agent === agent && held.id === id) return held.conversation;
  const next = { agent, id, conversation: conversation(agent, options) };
  hold(next);
  return next.conversation;
}

/**
 * A part of the snapshot: the component is rendered again when it is another object. `select` must return a piece of
 * the snapshot or a plain value, and nothing that it makes.
 *
 * @example
 * ```tsx
 * import { createAgent, custom } from "looplet";
 * import { useConversation, useSelect } from "looplet/react";
 *
 * const agent = createAgent({ model: custom(() => Promise.resolve("Hello.")) });
 *
 * export function Status() {
 *   const chat = useConversation(agent, { id: "order-7" });
 *   return <p>{useSelect(chat, ({ status }) => status)}</p>;
 * }
 * ```
 */
export function useSelect<T>(conversation: Conversation, select: (snapshot: ConversationSnapshot) => T): T {
  const { subscribe, getSnapshot } = conversation;
  return useSyncExternalStore(
    subscribe,
    () => select(getSnapshot()),
    () => select(UNOPENED),
  );
}

/** An open question with the function that answers it. */
export type AskedQuestion = {
  [K in keyof Answers]: OpenQuestion & { kind: K } & { answer(answer: Answers[K]): boolean };
}[keyof Answers];

/** The oldest open question for the user, or undefined. */
export function useQuestion(conversation: Conversation): AskedQuestion | undefined {
  const question = useSelect(conversation, ({ questions }) => questions[0]);
  const { answer } = conversation;
  const answerIt = (given: Answers[keyof Answers]): boolean => answer(question!, given as never);
  return question && ({ ...question, answer: answerIt } as AskedQuestion);
}

/** The token usage and cost of the conversation so far. `null` before the first report. */
export function useUsage(conversation: Conversation): ConversationSnapshot["usage"] {
  return useSelect(conversation, ({ usage }) => usage);
}

/** What {@link useSessions} returns. */
export type UseSessions = Pick<Sessions, "rename" | "delete"> & {
  /** The conversations, the latest first. Empty until the list is read. */
  readonly sessions: readonly SessionInfo[];
  /** Why the list could not be read; undefined if it was. The sessions are those of the last time. */
  readonly error: unknown;
};

/**
 * The list of the conversations in a store. It is read again when `version` is another value: give it something that
 * changes with the list, as the `status` of the open conversation.
 */
export function useSessions(store: Store, version?: unknown): UseSessions {
  const [sessions, setSessions] = useState<readonly SessionInfo[]>([]);
  const [error, setError] = useState<unknown>();
  const read = useCallback(async () => {
    try {
      setSessions(await sessionsOf(store).list());
      setError(undefined);
    } catch (problem) {
      // `undefined` means that the list was read.
      setError(problem ?? new Error("The list of sessions could not be read."));
    }
  }, [store]);
  useEffect(() => {
    void read();
  }, [read, version]);
  const change = async (work: Promise<void>): Promise<void> => {
    await work;
    await read();
  };
  return {
    sessions,
    error,
    rename: (id, title) => change(sessionsOf(store).rename(id, title)),
    delete: (id) => change(sessionsOf(store).delete(id)),
  };
}
