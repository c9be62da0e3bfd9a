/** A conversation and its sessions. */
import type { Message } from "./message.js";
import type { SubagentMemory } from "./subagent.js";
import type { Prompt, Run, RunOptions } from "./index.js";

/**
 * How a session begins: without a history (`startup`), with one that it is given (`resume`), or after `chat.reset`
 * (`clear`).
 */
export type SessionSource = "startup" | "resume" | "clear";

/** A conversation: each run goes on from where the last one ended, however it ended. */
export interface Chat<Output = unknown> {
  /** The transcript so far; replaced when a run ends. */
  readonly messages: readonly Message[];
  /** What persistent subagents remember so far. */
  readonly subagents: readonly SubagentMemory[];
  /** The run that is going on. */
  readonly current: Run<Output> | undefined;
  /**
   * Starts a run on the transcript.
   *
   * @throws LoopletError `misuse_chat_busy` while another run of this chat goes on, `misuse_chat_closed` after `close`
   */
  run(prompt: Prompt, options?: Omit<RunOptions<Output>, "messages" | "subagents">): Run<Output>;
  /**
   * Forgets the transcript and what subagents remember, or replaces the former. `SessionEnd` hooks hear `"clear"`.
   *
   * @throws LoopletError `misuse_chat_busy` while a run goes on, `misuse_chat_closed`
   */
  reset(messages?: readonly Message[]): void;
  /**
   * Ends the conversation: `SessionEnd` hooks hear `"close"`, and no further run can start. Its messages stay. The second
   * call does nothing.
   *
   * @throws LoopletError `misuse_chat_busy` while a run goes on
   */
  close(): void;
}
