/**
 * What this tab has after a reload: the id of its chat, with messages in IndexedDB, and what no message contains. It
 * never contains a connection or a key.
 */
import type { RunEvent } from "looplet";
import { sessionsOf } from "looplet/sessions";
import { indexedDbStore } from "looplet/stores";
import type { Limits } from "../words/budget.js";
import type { Connection } from "../words/connection.js";
import type { Mode } from "../words/permission.js";
import type { Happened, ShownRun } from "./shown-run.js";
import { Tally } from "./tally.js";

/** A run as JSON. */
export type KeptRun = Omit<ShownRun, "tally"> & { readonly tally: object };

export interface Kept {
  chat: string;
  runs: readonly KeptRun[];
  /** The run under way, which is the last one. */
  open: OpenRun | undefined;
}

/** What a fork has otherwise than the page. */
export interface Changes {
  system?: string;
  /** Tools that the model does not get. */
  without?: readonly string[];
  /** The tools' descriptions for the model, by name. */
  descriptions?: { readonly [toolName: string]: string };
}

/** What a run needs to resume, in addition to its journal. */
export interface OpenRun extends Changes {
  /** The practice provider. A connection with a key is lost with the page, and only its model's name is saved. */
  connection: Extract<Connection, { kind: "practice" }> | { kind: "gone"; model: string };
  limits: Limits;
  mode: Mode;
  /** Tools that the user has allowed permanently. */
  allowed: readonly string[];
}

/** The chats of this browser's tabs. */
export const store = indexedDbStore({ name: "looplet-playground" });

/** Removes a chat. */
export async function forgetChat(id: string): Promise<void> {
  // A run that has just been stopped writes no more.
  await store.delete(id);
  await sessionsOf(store).delete(id);
}

const weekMs = 7 * 24 * 3600 * 1000;

/** Removes the chats of tabs that were closed long ago. */
export async function forgetOldChats(): Promise<void> {
  for (const { id, updatedMs } of await sessionsOf(store).list())
    if (updatedMs < Date.now() - weekMs) await forgetChat(id);
}

const key = "looplet.chat";
const draftKey = "looplet.draft";

/** Saves the conversation, or nothing if the tab has no storage left. */
export function keep(kept: Kept): void {
  try {
    sessionStorage.setItem(key, JSON.stringify(kept));
  } catch {
    forget();
  }
}

export function forget(): void {
  sessionStorage.removeItem(key);
  sessionStorage.removeItem(draftKey);
}

/** Saves the user's draft, including messages that a stopped run returned. */
export function keepDraft(text: string): void {
  try {
    sessionStorage.setItem(draftKey, text);
  } catch {
    sessionStorage.removeItem(draftKey);
  }
}

export function keptDraft(): string {
  return sessionStorage.getItem(draftKey) ?? "";
}

export function remembered(): Kept | undefined {
  try {
    const text = sessionStorage.getItem(key);
    return text === null ? undefined : (JSON.parse(text) as Kept);
  } catch {
    return undefined;
  }
}

/** A run for the tab to keep. The events of one under way come again when it resumes. */
export function keptRun(run: ShownRun): KeptRun {
  return { ...run, happened: run.result ? merged(run.happened) : [] };
}

/** A run of before a reload. */
export function shownAgain(run: KeptRun): ShownRun {
  return { ...run, tally: Object.assign(new Tally(), run.tally) };
}

/** The events with the pieces of a block as one. */
function merged(happened: readonly Happened[]): Happened[] {
  const list: Happened[] = [];
  for (const { event, timeMs } of happened) {
    const last = list.at(-1)?.event;
    const isPiece = event.type.endsWith("-delta") && last !== undefined && blockOf(last) === blockOf(event);
    if (isPiece && "text" in last && "text" in event)
      list.splice(-1, 1, { event: { ...event, text: last.text + event.text } as RunEvent, timeMs });
    else list.push({ event, timeMs });
  }
  return list;
}

const blockOf = ({ type, agentPath, iteration, attempt, ...event }: RunEvent) =>
  [type, agentPath, iteration, attempt, "block" in event && event.block].join();
