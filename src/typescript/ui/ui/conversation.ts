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

/** A chat. One of several pages tells of the runs that other pages begin. */
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
   * The id of the chat in the agent's store. The conversation is that of the store, and a run that was cut off goes
   * on. Default: a chat of this page alone.
   */
  id?: string | undefined;
  /** The state with which a chat without an `id` begins, as for `agent.chat`. Default: none. */
  history?: ChatHistory | undefined;
  /**
   * Stores the versions of edited messages, the `queue`, and each message from the moment at which it is sent until
   * its run is saved; notes the chat in the list of `sessionsOf(store)` with its first message as its title. Best the
   * agent's own store. Default: the page has versions and queue as long as it is open, and there is no list.
   */
  store?: Store | undefined;
  /**
   * Contract: calls its argument once, later; all that has come by then is one update. Default: the page's frames.
   */
  frame?: Frame | undefined;
}

/** The options of `send`; `edit` takes `files`. */
export interface SendOptions {
  /** Files of the person, such as the `files` of an input. They stand before the text. */
  files?: Iterable<FileLike> | undefined;
  /**
   * Whether a run under way gets the message when the model has finished, as by `run.followUp`, and not before the
   * next model call. Default false.
   */
  followUp?: boolean | undefined;
}

/**
 * A conversation. `subscribe` and `getSnapshot` are what stores of UI frameworks ask for. No method needs its `this`.
 */
export interface Conversation {
  /**
   * Calls `listener` after each update, at most once a frame for events. The first subscription opens the chat. The
   * function that it returns ends that. A conversation without an `id` stops its run when nobody subscribes any more.
   */
  subscribe(listener: () => void): () => void;
  getSnapshot(): ConversationSnapshot;
  /**
   * The run under way, for what has no method here, such as `setModel`, `setPermissionMode` and `compact`. A listener
   * that is called when a run begins misses none of `current.events({ detached: true })`.
   */
  readonly current: Run<any, any> | undefined;
  /**
   * Sends a message of the person. While a run goes on, the model gets it before its next call, or with `followUp`
   * when it has finished. A blank text without files is left out; if undelivered messages are in the queue, it sends
   * these. Resolves when the message is on its way, or with false if it cannot be sent: a file without a media type,
   * or a chat that cannot be opened. `error` of the snapshot says why; so do the other verbs.
   */
  send(prompt: Prompt, options?: SendOptions): Promise<boolean>;
  /** Takes a queued message back; false if the model has it already. */
  withdraw(id: string): boolean;
  /** Ends the run at once; the text that has come stays. */
  stop(reason?: string): void;
  /** Answers an open question. False if it is closed. */
  answer<K extends keyof Answers>(question: OpenQuestion & { kind: K }, answer: Answers[K]): boolean;
  /** Asks the last message again. After an answer it begins a new version. */
  regenerate(): Promise<boolean>;
  /** `regenerate`, under the name that a button beside an error has. */
  retry(): Promise<boolean>;
  /**
   * Sends another text in place of a message of the person. What followed stays as a version. A run that goes on is
   * stopped first.
   *
   * False for a message that is not one of the person, or for which a summary stands.
   */
  edit(messageId: string, prompt: Prompt, options?: Pick<SendOptions, "files">): Promise<boolean>;
  /** Shows another version of an edited message; `number` counts from 1. */
  select(messageId: string, number: number): Promise<boolean>;
  /** Opens the chat again, after an error. `takeOver` takes a run that another process holds. */
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
 * The conversation with an agent. Two calls with the same agent and the same `id` give the same object.
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
 * @throws LoopletError `config_wrong_type` for an agent that is none
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
