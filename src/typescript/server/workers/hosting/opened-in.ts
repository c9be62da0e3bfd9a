/**
 * The chat of a session, and the run that has no end in the session's log. A log and a journal are two writes, so
 * after a crash between them one lacks what the other has.
 */
import type { Agent, Chat, SavedChat, OpenChatOptions, Run, Store } from "../../../core/api/index.js";
import { randomName } from "../protocol.js";

/** The options with which a chat is opened, or a run resumes. */
export type Opening = Required<Pick<OpenChatOptions, "takeOver" | "onEvent">> & {
  /**
   * Called before a run resumes, with the contents of the journal. Returns the number of the last event before it.
   */
  readonly afterEvent: (kept: SavedChat) => number;
  /** The run that has no end in the log. */
  readonly unfinished: string | undefined;
};

/** What the store has of a session. */
export interface OpenedIn {
  readonly chat?: Chat;
  /** The run that resumes, or the unfinished one if the journal has its end. */
  readonly run?: Run | undefined;
  /** Whether the journal never gets the end of the unfinished run: it has the end of another run, or none. */
  readonly isLost?: boolean;
}

/** Opens a chat for its session, with the run that resumes or that only the journal has the end of. */
export async function openedIn(
  agent: Pick<Agent, "openChat" | "readChat"> & Partial<Pick<Agent, "resume">>,
  store: Store | undefined,
  id: string,
  { unfinished, ...options }: Opening,
): Promise<OpenedIn> {
  const chat = await agent.openChat(id, options);
  const run = chat.current;
  if (unfinished === undefined || agent.resume === undefined || run?.id === unfinished) return { chat, run };
  if (run !== undefined) return { chat, run, isLost: true };
  const resumed = async (): Promise<OpenedIn> => {
    const kept = await agent.readChat(id, { transcripts: true });
    const afterEvent = options.afterEvent(kept!);
    return { chat, run: agent.resume?.(id, { ...options, afterEvent, id: unfinished }) };
  };
  if ((await lastRunOf(agent, id)) === unfinished) return resumed();
  // A run has its lease before it emits its first event. Without the lease, another process may be about to save it.
  const { takeOver } = options;
  const lease = await store?.lease?.(id, { holder: randomName(), ttlMs: LOOK_MS, takeOver });
  if (lease === undefined && store?.lease !== undefined) return { chat };
  const isSaved = (await lastRunOf(agent, id)) === unfinished;
  await lease?.release(false);
  return isSaved ? resumed() : { chat, isLost: true };
}

/** The time to read the journal, in milliseconds. */
const LOOK_MS = 10_000;

async function lastRunOf(agent: Pick<Agent, "readChat">, id: string): Promise<string | undefined> {
  return (await agent.readChat(id))?.lastRun;
}
