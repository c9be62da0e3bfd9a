/**
 * Opens a chat that is kept in a store: a new one, or one that another process has begun. A run that was cut off goes
 * on at once.
 */
import type { AgentParts } from "../run/agent-parts.js";
import { LoopletError } from "../api/errors.js";
import type { JournalEntry, SavedChat, OpenChatOptions, ReadChatOptions } from "../api/index.js";
import { checkOptions, checkValue } from "../options/check.js";
import { OPEN_CHAT_TABLE } from "../options/options.js";
import { ChatJournal } from "../run/saving/chat-journal.js";
import { endOf } from "../run/saving/timed-store.js";
import { Conversation, type StartRun } from "./chat.js";
import { loaded } from "../run/temporary-run.js";
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
  if (typeof afterEvent !== "function" && afterEvent !== undefined)
    checkValue(afterEvent, "afterEvent", "whole");
  const { speakers, endSession } = parts;
  const { kept, entries } = await found(parts, load, key, "agent.openChat");
  const start = startIn(kept);
  if (entries.length === 0) return new Conversation(start, {}, endSession, kept);
  const { tail, messages, subagents, usage, profile } = kept.read(entries);
  const history = { messages, subagents, agent: speakers[profile] };
  const chat = new Conversation(start, { ...history, usage }, endSession, kept);
  if (tail.isOver) return chat;
  const run = { ...options, ...history, chatUsage: usage, id: tail.run ?? key };
  const after = typeof afterEvent === "function" ? afterEvent(stateOf(kept, entries, true)) : afterEvent;
  const resumed = { key, entries, takeOver, afterEvent: after };
  chat.startRun((onEnd) => start("", run, onEnd, undefined, resumed));
  return chat;
}

export async function readChat(
  parts: AgentParts,
  load: LoadEngine,
  key: string,
  { entries: given, transcripts: wantsAll = false }: ReadChatOptions,
): Promise<SavedChat | undefined> {
  const { kept, entries } = await found(parts, load, key, "agent.readChat", given);
  return entries.length === 0 ? undefined : stateOf(kept, entries, wantsAll);
}

function stateOf(kept: ChatJournal, entries: readonly JournalEntry[], wantsAll: boolean): SavedChat {
  const { tail, messages, subagents, usage } = kept.read(entries);
  const all = wantsAll
    ? {
        transcripts: kept.transcripts(entries),
        runStart: lengthOf(kept, entries.slice(0, lastBeginning(entries))),
      }
    : {};
  const { isOver, leftOut, run } = tail;
  const state = { isRunning: !isOver, isWhole: leftOut === 0, lastRun: run ?? kept.key };
  return { messages, subagents, usage, ...state, ...all };
}

/** The number of messages of the root's transcript. */
function lengthOf(kept: ChatJournal, entries: readonly JournalEntry[]): number {
  return entries.length === 0 ? 0 : (kept.transcripts(entries)[0]?.messages.length ?? 0);
}

/** The index of the entry with which the last run begins. A process that resumes the run writes another such entry. */
function lastBeginning(entries: readonly JournalEntry[]): number {
  let run: string | undefined;
  let first = 0;
  for (let at = entries.length - 1; at >= 0; at -= 1) {
    const { json } = entries[at]!;
    if (!json.slice(0, 60).includes('"fact":{"begun":')) continue;
    const id = /"run":("(?:[^"\\]|\\.)*")[^"]*,"crc":\d+\}\s*$/.exec(json.slice(-700))?.[1];
    if (run !== undefined && id !== run) return first;
    first = at;
    if (id === undefined) return first;
    run = id;
  }
  return first;
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
  const end = endOf(store, key);
  if (end !== undefined) await end;
  return { kept, entries: given ?? (await store.load(key)) ?? [] };
}
