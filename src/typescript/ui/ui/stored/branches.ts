/**
 * The versions of edited messages. A version is the transcript from its message on. A journal has only the transcript
 * that is shown, so the other versions are in a separate log. Each entry is a change, with the version that it
 * replaces. A change is logged before the chat gets its transcript, so a crash between the two loses no version: if
 * the chat still has the transcript of the old version, the change is undone.
 */
import type { Message, Store } from "../../../core/api/index.js";
import type { Branch, UiMessage } from "../message.js";
import { logsBeside } from "../../../extras/stores/logs/beside-chat.js";
import { SharedLog, type LogObject } from "../../../extras/stores/logs/shared-log.js";

/** A place at which the conversation branches. */
interface Fork {
  /** The number of messages before it. */
  readonly at: number;
  readonly versions: readonly Version[];
  /** The index of the version that is shown. Its transcript is that of the chat. */
  readonly shown: number;
}

interface Version {
  readonly messages: readonly Message[];
  /** The later forks, after this one. */
  readonly forks: readonly Fork[];
}

/** A version is replaced by another one, or by a new one. */
interface Leaving {
  readonly at: number;
  readonly left: readonly Message[];
  readonly to?: number | undefined;
}

/** A change. The one before it has happened, or has not. All go when the history is summarised. */
type Change = Leaving | { readonly undone: true } | { readonly done: true } | { readonly forget: true };

const NEW: Version = { messages: [], forks: [] };

export class Branches {
  readonly #log: SharedLog | undefined;
  #forks: readonly Fork[] = [];
  /** The last change if it might not have happened, and the forks before it. */
  #last: { readonly change: Leaving; readonly before: readonly Fork[] } | undefined;
  /** Whether the last logged change did not happen. */
  #isUndone = false;

  /** Without a store the versions last as long as this object. */
  constructor(store: Store | undefined, chat: string | undefined) {
    this.#log =
      store === undefined || chat === undefined ? undefined : new SharedLog(store, logsBeside(chat).branches);
  }

  /** Reads what the store has. */
  async load(): Promise<void> {
    if (this.#log === undefined) return;
    const changes = await this.#log.load();
    [this.#forks, this.#last, this.#isUndone] = [[], undefined, false];
    for (const change of changes) if (isChange(change)) this.#take(change);
  }

  /** The chat has the transcript of the last change. */
  async done(): Promise<void> {
    await this.#change({ done: true }).catch(() => {});
  }

  /** Undoes the last change if the chat, which has these messages, is still as it was before. */
  settle(transcript: readonly Message[]): void {
    const { change } = this.#last ?? {};
    if (change === undefined) return;
    const now = transcript.slice(change.at);
    if (now.length === 0 || JSON.stringify(now) !== JSON.stringify(change.left)) return;
    this.#take({ undone: true });
    this.#isUndone = true;
  }

  /**
   * The index of the version that is shown at a place, and the number of versions. Undefined if there is only one.
   */
  at(place: number): { readonly shown: number; readonly count: number } | undefined {
    const fork = this.#forks.find(({ at }) => at === place);
    return fork && { shown: fork.shown, count: fork.versions.length };
  }

  /**
   * Adds the versions to the messages that have several. `prompts` maps the ids of the user's messages to their
   * places. Messages that have not changed since `known` was shown stay the same objects.
   */
  on(
    messages: readonly UiMessage[],
    prompts: ReadonlyMap<string, number>,
    known: readonly UiMessage[],
  ): readonly UiMessage[] {
    if (this.#forks.length === 0) return messages;
    return messages.map((message, index) => {
      const place = message.role === "user" ? prompts.get(message.id) : undefined;
      const fork = place === undefined ? undefined : this.at(place);
      if (fork === undefined) return message;
      const branch: Branch = { number: fork.shown + 1, count: fork.count };
      const before = known[index];
      const isKnown =
        before?.parts === message.parts &&
        before.branch?.number === branch.number &&
        before.branch.count === branch.count;
      return isKnown ? before : { ...message, branch };
    });
  }

  /** Starts a new version at a place of the transcript. */
  begin(place: number, transcript: readonly Message[]): Promise<void> {
    return this.#change({ at: place, left: transcript.slice(place) });
  }

  /** The transcript with another version from a place on. */
  with(place: number, index: number, transcript: readonly Message[]): readonly Message[] {
    const { versions } = this.#forks.find(({ at }) => at === place)!;
    return [...transcript.slice(0, place), ...versions[index]!.messages];
  }

  /** Notes that another version is shown in the place of the one that this transcript has. */
  select(place: number, index: number, transcript: readonly Message[]): Promise<void> {
    return this.#change({ at: place, left: transcript.slice(place), to: index });
  }

  /** The transcript that the places refer to no longer exists. */
  async forget(): Promise<void> {
    if (this.#forks.length > 0) await this.#change({ forget: true });
  }

  async #change(change: Change): Promise<void> {
    const isUndone = this.#isUndone;
    this.#isUndone = false;
    this.#take(change);
    if (isUndone) await this.#log?.add({ undone: true });
    await this.#log?.add(change);
  }

  #take(change: Change): void {
    const last = this.#last;
    this.#last = undefined;
    if ("done" in change) return;
    if ("undone" in change) return void (this.#forks = last?.before ?? this.#forks);
    if ("forget" in change) return void (this.#forks = []);
    this.#last = { change, before: this.#forks };
    const { at, left, to } = change;
    const forks = this.#forks.filter((fork) => fork.at > at);
    const { versions, shown } = this.#forks.find((fork) => fork.at === at) ?? { versions: [NEW], shown: 0 };
    const kept = versions.map((version, index) => (index === shown ? { messages: left, forks } : version));
    const all = to === undefined ? [...kept, NEW] : kept;
    const fork: Fork = { at, versions: all, shown: to ?? all.length - 1 };
    this.#forks = [...this.#forks.filter((fork) => fork.at < at), fork, ...(all[fork.shown] ?? NEW).forks];
  }
}

/** A damaged entry is ignored. */
function isChange(entry: LogObject): entry is LogObject & Change {
  const { at, left, to, forget, undone, done } = entry;
  if (forget === true || undone === true || done === true) return true;
  return Number.isInteger(at) && Array.isArray(left) && (to === undefined || Number.isInteger(to));
}
