/**
 * The chat of a session, and the run whose end the session's log does not have. A log and a journal are two writes,
 * so a crash between them leaves one without the other.
 */
import type { Agent, Chat, SavedChat, OpenChatOptions, Run, Store } from "../../../core/api/index.js";
import { randomName } from "../protocol.js";

/** The options with which a chat is opened, or a run resumes. */
export type Opening = Required<Pick<OpenChatOptions, "takeOver" | "onEvent">> & {
  /** Called before a run resumes with what the journal says. Returns the number of the last event before it. */
  readonly afterEvent: (kept: SavedChat) => number;
  /** The run whose end the log does not have. */
  readonly unfinished: string | undefined;
};

/** What the store has of a session. */
export interface OpenedIn {
  readonly chat?: Chat;
  /** The run that resumes, or the unfinished one if the journal has its end. */
  readonly run?: Run | undefined;
  /** Whether the journal never gets the end of the unfinished run: it is the end of another run, or has none at all. */
  readonly isLost?: boolean;
}

/** Opens a chat for its session, with the run that resumes or whose end only the journal has. */
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

/** The time in which the journal is read, in milliseconds. */
const LOOK_MS = 10_000;

async function lastRunOf(agent: Pick<Agent, "readChat">, id: string): Promise<string | undefined> {
  return (await agent.readChat(id))?.lastRun;
}
