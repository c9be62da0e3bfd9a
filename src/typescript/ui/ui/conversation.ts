/** A conversation for a screen: a store that one subscribes to, and the verbs of a chat. */
import type { Agent, Chat, ChatHistory, Prompt, Run, RunBound, Store } from "../../core/api/index.js";
import { ChatConversation } from "./chat-conversation.js";
import { checkAgent, checkNames } from "./input/checks.js";
import type { FileLike } from "./input/files.js";
import type { Frame } from "./frame.js";
import type { Answers, OpenQuestion } from "./message.js";
import type { ConversationSnapshot } from "./snapshot.js";

/** An agent in the page, or one that `connectAgent` or `shareAgent` gives. */
export type ConversationAgent = Pick<Agent<any, any>, "bound" | "readChat"> & {
  chat(history?: ChatHistory): Chat<any, any>;
  openChat(id: string, options?: { takeOver?: boolean | undefined }): Promise<OpenedChat>;
  attach?(id: string): Run<any, any>;
  onReconnecting?(listener: (isReconnecting: boolean) => void): () => void;
};

/** A chat. If several pages share it, it reports the runs that other pages start. */
export type OpenedChat = Omit<Chat<any, any>, "hasTaken" | "id" | "run" | "current" | "compact"> & {
  readonly current: Run<any, any> | undefined;
  run(prompt: Prompt, options?: { id?: string | undefined }): Run<any, any>;
  taken?(requestIds: readonly string[]): Promise<string[]>;
  onRun?(listener: (run: Run<any, any>) => void): () => void;
  onReset?(listener: () => void): () => void;
};

/** The options of `conversation`. */
export interface ConversationOptions {
  /**
   * The id of the chat in the agent's store. The conversation is loaded from the store, and a run that was cut off
   * continues. Default: a chat that only this page has.
   */
  id?: string | undefined;
  /** The initial state of a chat without an `id`, as for `agent.chat`. Default: none. */
  history?: ChatHistory | undefined;
  /**
   * Stores the versions of edited messages, the `queue`, and each sent message until its run is saved. Also adds the
   * chat to the list of `sessionsOf(store)`, with its first message as the title. Usually the agent's own store.
   * Default: versions and queue last as long as the page is open, and there is no list.
   */
  store?: Store | undefined;
  /**
   * Contract: calls its argument once, later. Everything received by then is one update. Default: animation frames.
   */
  frame?: Frame | undefined;
}

/** The options of `send`; `edit` takes `files`. */
export interface SendOptions {
  /** Files of the user, such as the `files` of an input. They come before the text. */
  files?: Iterable<FileLike> | undefined;
  /**
   * Whether a run in progress gets the message when the model has finished, as with `run.followUp`. Otherwise it gets
   * the message before the next model call. Default false.
   */
  followUp?: boolean | undefined;
}

/**
 * A conversation. `subscribe` and `getSnapshot` are what stores of UI frameworks need. No method needs its `this`.
 */
export interface Conversation {
  /**
   * Calls `listener` after each update, at most once a frame for events. The first subscription opens the chat.
   * Returns a function that unsubscribes. A conversation without an `id` stops its run when the last subscriber is
   * gone.
   */
  subscribe(listener: () => void): () => void;
  getSnapshot(): ConversationSnapshot;
  /**
   * The current run, for what has no method here, such as `setModel`, `setPermissionMode` and `compact`. A listener
   * that is called when a run starts receives every event of `current.events({ detached: true })`.
   */
  readonly current: Run<any, any> | undefined;
  /**
   * Sends a message of the user. If a run is in progress, the model gets it before its next call, or with `followUp`
   * when it has finished. A blank text without files is ignored, but if the queue has undelivered messages, they are
   * sent. Resolves with true when the message is on its way. Resolves with false if it cannot be sent: a file without
   * a media type, or a chat that cannot be opened. The snapshot's `error` has the reason, as for the other methods.
   */
  send(prompt: Prompt, options?: SendOptions): Promise<boolean>;
  /** Takes a queued message back; false if the model has it already. */
  withdraw(id: string): boolean;
  /** Ends the run immediately. The received text stays. */
  stop(reason?: string): void;
  /** Answers an open question. Returns false if it is closed. */
  answer<K extends keyof Answers>(question: OpenQuestion & { kind: K }, answer: Answers[K]): boolean;
  /** Sends the last message again. If it has an answer, this creates a new version. */
  regenerate(): Promise<boolean>;
  /** The same as `regenerate`, under the usual name of a button next to an error. */
  retry(): Promise<boolean>;
  /**
   * Replaces the text of a message of the user. What followed stays as a version. A run in progress is stopped first.
   *
   * Resolves with false if the message is not the user's, or if a summary has replaced it.
   */
  edit(messageId: string, prompt: Prompt, options?: Pick<SendOptions, "files">): Promise<boolean>;
  /** Shows another version of an edited message; `number` counts from 1. */
  select(messageId: string, number: number): Promise<boolean>;
  /** Opens the chat again after an error. With `takeOver`, acquires a run that another process performs. */
  resume(options?: { takeOver?: boolean | undefined }): Promise<boolean>;
  /** The most that a run with this message may use and cost, as `agent.bound`. */
  bound(prompt: Prompt): Promise<RunBound>;
  /**
   * Takes another agent with the same store from the next run on, for example one with another model. A run under way
   * continues with its own agent.
   *
   * @throws LoopletError `config_wrong_type` for a value that is not an agent
   */
  setAgent(agent: ConversationAgent): void;
}

const kept = new WeakMap<ConversationAgent, Map<string, Conversation>>();

/**
 * The conversation with an agent. Calls with the same agent and the same `id` return the same object.
 *
 * @example
 * ```ts
 * import { createAgent, custom } from "looplet";
 * import { conversation } from "looplet/ui";
 *
 * const chat = conversation(createAgent({ model: custom(() => Promise.resolve("Hello.")) }));
 * chat.subscribe(() => console.log(chat.getSnapshot().status));
 * chat.send("Hi");
 * ```
 *
 * @throws LoopletError `config_wrong_type` for a value that is not an agent
 */
export function conversation(agent: ConversationAgent, options: ConversationOptions = {}): Conversation {
  checkAgent(agent);
  checkNames(options, ["id", "history", "store", "frame"]);
  const { id } = options;
  if (id === undefined) return new ChatConversation(agent, options);
  const ofAgent = kept.get(agent) ?? new Map<string, Conversation>();
  kept.set(agent, ofAgent);
  const known = ofAgent.get(id) ?? new ChatConversation(agent, options);
  ofAgent.set(id, known);
  return known;
}
