/**
 * The files as they were at each message of the user, so that a query can restore them. They are stored for a session
 * and for the object `host.vfs`, in the memory of the process.
 */
import type { Vfs } from "../../../extras/vfs/index.js";

/** What `rewindFiles` has done, or would do. */
export interface RewindFilesResult {
  readonly canRewind: boolean;
  readonly error?: string;
  readonly filesChanged?: string[];
  /** Lines. */
  readonly insertions?: number;
  readonly deletions?: number;
  /** Not set: `host.vfs` has no links. */
  readonly skippedLinks?: number;
}

/** The maximum size of a session's checkpoints in bytes. Beyond it the oldest checkpoint is dropped. */
const MAX_BYTES = 64 * 1024 * 1024;

/** The maximum number of sessions of a `vfs` with checkpoints. Beyond it the oldest is dropped. */
const MAX_SESSIONS = 32;

type Bytes = Uint8Array | undefined;

interface Checkpoint {
  readonly uuid: string;
  /** The files that were written after it, as they were before. */
  readonly before: Map<string, Bytes>;
}

export class Checkpoints {
  readonly #points: Checkpoint[] = [];
  #bytes = 0;

  begin(uuid: string): void {
    this.#points.push({ uuid, before: new Map() });
  }

  /** Saves a file that is about to be written. */
  async keep(vfs: Vfs, path: string): Promise<void> {
    const point = this.#points.at(-1);
    if (point === undefined || point.before.has(path)) return;
    const before = await vfs.read(path);
    point.before.set(path, before);
    this.#bytes += before?.length ?? 0;
    while (this.#bytes > MAX_BYTES && this.#points.length > 1)
      for (const data of this.#points.shift()!.before.values()) this.#bytes -= data?.length ?? 0;
  }

  /** Puts the files back as they were when the message with this uuid came. */
  async rewind(vfs: Vfs, uuid: string, isDry: boolean): Promise<RewindFilesResult> {
    const at = this.#points.findIndex((point) => point.uuid === uuid);
    if (at < 0) return { canRewind: false, error: `There is no file checkpoint for the message "${uuid}".` };
    const old = new Map<string, Bytes>();
    for (const { before } of this.#points.slice(at))
      for (const [path, data] of before) if (!old.has(path)) old.set(path, data);
    const filesChanged: string[] = [];
    let [insertions, deletions] = [0, 0];
    for (const [path, data] of old) {
      const now = await vfs.read(path);
      if (sameBytes(now, data)) continue;
      filesChanged.push(path);
      const lines = changedLines(now, data);
      insertions += lines.insertions;
      deletions += lines.deletions;
      if (isDry) continue;
      if (data === undefined) await vfs.remove(path);
      else await vfs.write(path, data);
    }
    return { canRewind: true, filesChanged, insertions, deletions };
  }
}

const kept = new WeakMap<Vfs, Map<string, Checkpoints>>();

export function checkpointsOf(vfs: Vfs, sessionId: string): Checkpoints {
  const sessions = kept.get(vfs) ?? new Map<string, Checkpoints>();
  kept.set(vfs, sessions);
  const own = sessions.get(sessionId) ?? new Checkpoints();
  sessions.set(sessionId, own);
  const [oldest] = sessions.keys();
  if (sessions.size > MAX_SESSIONS && oldest !== undefined) sessions.delete(oldest);
  return own;
}

/** The same files; before a write the checkpoints keep the old content. */
export function watched(vfs: Vfs, checkpoints: () => Checkpoints): Vfs {
  return {
    read: (path) => vfs.read(path),
    list: (path) => vfs.list(path),
    stat: (path) => vfs.stat(path),
    mkdir: (path) => vfs.mkdir(path),
    async write(path, data) {
      await checkpoints().keep(vfs, path);
      await vfs.write(path, data);
    },
    async remove(path) {
      await checkpoints().keep(vfs, path);
      await vfs.remove(path);
    },
    async rename(from, to) {
      await checkpoints().keep(vfs, from);
      await checkpoints().keep(vfs, to);
      await vfs.rename(from, to);
    },
  };
}

function sameBytes(one: Bytes, other: Bytes): boolean {
  if (one === undefined || other === undefined) return one === other;
  return one.length === other.length && one.every((byte, at) => byte === other[at]);
}

/** Lines between the first and the last that differ. */
function changedLines(now: Bytes, then: Bytes): { insertions: number; deletions: number } {
  const [from, to] = [now, then].map((data) =>
    data === undefined || data.length === 0 ? [] : new TextDecoder().decode(data).split("\n"),
  ) as [string[], string[]];
  const least = Math.min(from.length, to.length);
  let start = 0;
  while (start < least && from[start] === to[start]) start += 1;
  let end = 0;
  while (end < least - start && from.at(-1 - end) === to.at(-1 - end)) end += 1;
  return { insertions: to.length - start - end, deletions: from.length - start - end };
}
