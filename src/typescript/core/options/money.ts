/** Money in the engine: integers of billionths of a US dollar. */

/** Nano-USD in one US dollar. */
export const NANO = 1e9;

export function nanoUsd(usd: number | undefined): number | undefined {
  return usd === undefined ? undefined : Math.round(usd * NANO);
}
