/** A process over a store that dies before one of its writes. */
import type { Store } from "looplet";

const never = (): Promise<never> => new Promise(() => {});

export interface DyingStore {
  readonly store: Required<Store>;
  /** The writes so far. */
  readonly writes: readonly string[];
  /** Resolves with the last write, when the process dies. */
  readonly death: Promise<string>;
  /** Does `work` unless the process is dead. `write` is its name if it is a write to somewhere outside. */
  alive<T>(work: () => T | PromiseLike<T>, write?: string): Promise<T>;
}

/** The process does `lives` writes. Nothing that it does after them has an effect or an answer. */
export function dyingStore(inner: Required<Store>, lives = Infinity): DyingStore {
  const writes: string[] = [];
  let die = (_last: string): void => {};
  const death = new Promise<string>((resolve) => (die = resolve));
  let isDead = false;
  const alive = async <T>(work: () => T | PromiseLike<T>, write?: string): Promise<T> => {
    if (write !== undefined && !isDead && writes.length >= lives) {
      isDead = true;
      die(writes.at(-1) ?? "nothing");
    }
    if (isDead) return never();
    if (write !== undefined) writes.push(withoutIds(write));
    return work();
  };
  const store: Required<Store> = {
    ...inner,
    load: (key, after) => alive(() => inner.load(key, after)),
    append: (key, ...rest) => alive(() => inner.append(key, ...rest), `append ${key}`),
    delete: (key) => alive(() => inner.delete(key), `delete ${key}`),
    pending: () => alive(() => inner.pending()),
    ended: (ageMs) => alive(() => inner.ended(ageMs)),
    async lease(key, options) {
      const lease = await alive(() => inner.lease(key, options), `lease ${key}`);
      return (
        lease && {
          fence: lease.fence,
          renew: (ttlMs) => alive(() => lease.renew(ttlMs), `renew ${key}`),
          release: (isPending) => alive(() => lease.release(isPending), `release ${key}`),
        }
      );
    },
  };
  return { store, writes, death, alive };
}

function withoutIds(write: string): string {
  return write.replace(/[0-9a-f]{8}-[0-9a-f-]+/g, "<run>");
}
