/**
 * Opens a chat that is kept in a store: a new one, or one that another process has begun. A run that was cut off goes on at
 * once.
 */
import type { AgentParts } from "../agents/agent.js";
import { LoopletError } from "../api/errors.js";
import type { OpenChatOptions } from "../api/index.js";
import { checkOptions, checkValue } from "../options/check.js";
import { RESUME_TABLE } from "../options/options.js";
import { message } from "../options/thrown.js";
import { ChatJournal } from "./chat-journal.js";
import { Conversation, type StartRun } from "./chat.js";
import type { LoadEngine, OpenRun } from "../run/engine.js";

/** Starts the runs of a chat, whose journal is `kept` if it has one. */
export type StartIn = (kept: ChatJournal) => StartRun;

const { id: _, ...LISTENERS_TABLE } = RESUME_TABLE;

export async function openChat(
  parts: AgentParts,
  load: LoadEngine,
  startIn: StartIn,
  key: string,
  given: OpenChatOptions,
): Promise<Conversation> {
  checkValue(key, "id", "text");
  if (key === "") throw new LoopletError("config_invalid_value", "id", "must not be empty");
  const { takeOver, ...options } = checkOptions(given, "", LISTENERS_TABLE);
  const { store, speakers, endSession } = parts;
  if (store === undefined) throw new LoopletError("config_missing", "store", "agent.openChat needs one");
  let open: OpenRun;
  try {
    open = await load();
  } catch (error) {
    throw new LoopletError(
      "config_wasm",
      "",
      `The WebAssembly could not be loaded: ${message(error)}`,
      error,
    );
  }
  const entries = (await store.load(key)) ?? [];
  const kept = new ChatJournal(key, parts, open);
  const start = startIn(kept);
  if (entries.length === 0) return new Conversation(start, {}, endSession, kept);
  const { tail, messages, subagents, profile } = kept.read(entries);
  const history = { messages, subagents, agent: speakers[profile] };
  const chat = new Conversation(start, history, endSession, kept);
  if (tail.isOver) return chat;
  const run = { ...options, ...history, id: tail.run ?? key };
  const resumed = { key, entries, isKept: true, takeOver };
  chat.goOn((onEnd) => start("", run, onEnd, undefined, resumed));
  return chat;
}
