/**
 * Opens a chat that is kept in a store: a new one, or one that another process has begun. A run that was cut off goes
 * on at once.
 */
import type { AgentParts } from "../run/agent-parts.js";
import { LoopletError } from "../api/errors.js";
import type { JournalEntry, KeptChat, OpenChatOptions, ReadChatOptions } from "../api/index.js";
import { checkOptions, checkValue } from "../options/check.js";
import { OPEN_CHAT_TABLE } from "../options/options.js";
import { ChatJournal } from "../run/saving/chat-journal.js";
import { Conversation, type StartRun } from "./chat.js";
import { loaded } from "../run/brief.js";
import type { LoadEngine } from "../host/engine.js";

/** Starts the runs of a chat, whose journal is `kept` if it has one. */
export type StartIn = (kept: ChatJournal) => StartRun;

export async function openChat(
  parts: AgentParts,
  load: LoadEngine,
  startIn: StartIn,
  key: string,
  given: OpenChatOptions,
): Promise<Conversation> {
  const { takeOver, afterEvent, ...options } = checkOptions(given, "", OPEN_CHAT_TABLE);
  const { speakers, endSession } = parts;
  const { kept, entries } = await found(parts, load, key, "agent.openChat");
  const start = startIn(kept);
  if (entries.length === 0) return new Conversation(start, {}, endSession, kept);
  const { tail, messages, subagents, usage, profile } = kept.read(entries);
  const history = { messages, subagents, agent: speakers[profile] };
  const chat = new Conversation(start, { ...history, usage }, endSession, kept);
  if (tail.isOver) return chat;
  const run = { ...options, ...history, chatUsage: usage, id: tail.run ?? key };
  const resumed = { key, entries, takeOver, afterEvent };
  chat.goOn((onEnd) => start("", run, onEnd, undefined, resumed));
  return chat;
}

export async function readChat(
  parts: AgentParts,
  load: LoadEngine,
  key: string,
  { entries: given, transcripts: wantsAll = false }: ReadChatOptions,
): Promise<KeptChat | undefined> {
  const { kept, entries } = await found(parts, load, key, "agent.readChat", given);
  if (entries.length === 0) return undefined;
  const { tail, messages, subagents, usage } = kept.read(entries);
  const all = wantsAll ? { transcripts: kept.transcripts(entries) } : {};
  const { isOver, leftOut, run } = tail;
  const state = { isRunning: !isOver, isWhole: leftOut === 0, lastRun: run ?? key };
  return { messages, subagents, usage, ...state, ...all };
}

/** The journal of a chat, with the entries of the store or those that are given in their place. */
async function found(
  parts: AgentParts,
  load: LoadEngine,
  key: string,
  method: string,
  given?: readonly JournalEntry[],
): Promise<{ kept: ChatJournal; entries: readonly JournalEntry[] }> {
  checkValue(key, "id", "id");
  const { store } = parts;
  if (store === undefined) throw new LoopletError("config_missing", "store", `${method} needs one`);
  const kept = new ChatJournal(key, parts, await loaded(load));
  return { kept, entries: given ?? (await store.load(key)) ?? [] };
}
