/** The context of a model call: sources, transforms and packing make an immutable snapshot. */
import type { ContextCandidate, ContextSnapshot, TurnCheckpoint, TurnMessage, TurnPorts } from "./types.js";

/** @throws Error for candidates with equal ids, and for a packing that says nothing about one of them */
export async function snapshotOf(
  id: string,
  messages: readonly TurnMessage[],
  stablePrefix: number,
  kept: Pick<TurnCheckpoint, "portability" | "delegatedState">,
  ports: TurnPorts,
): Promise<ContextSnapshot> {
  let candidates: readonly ContextCandidate[] = messages.map((message, at) => ({
    id: `message-${at}`,
    message,
  }));
  for (const source of ports.contextSources ?? []) candidates = [...candidates, ...(await source(messages))];
  for (const transform of ports.contextTransforms ?? []) candidates = await transform(candidates);
  const twice = candidates.find(({ id }, at) => candidates.findIndex((other) => other.id === id) !== at);
  if (twice !== undefined) throw new Error(`Two candidates of the context have the id "${twice.id}".`);
  const all: Awaited<ReturnType<NonNullable<TurnPorts["packing"]>>> = {
    decisions: candidates.map(({ id }) => ({ id, isIncluded: true })),
  };
  const packed = (await ports.packing?.(candidates)) ?? all;
  const included = candidates.map(({ id }) => {
    const decision = packed.decisions.find((decision) => decision.id === id);
    if (decision === undefined) throw new Error(`The packing has no decision about "${id}".`);
    return decision.isIncluded;
  });
  const stable = included.slice(0, stablePrefix);
  const { portability = kept.portability ?? "portable", delegatedState = kept.delegatedState ?? [] } = packed;
  return frozen({
    id,
    messages: candidates.filter((_, at) => included[at]).map(({ message }) => message),
    decisions: packed.decisions,
    stablePrefixMessages: stable.filter(Boolean).length,
    portability,
    delegatedState,
  });
}

/** A frozen copy. */
export function frozen<T>(value: T): T {
  const copy = structuredClone(value);
  const freeze = (part: unknown): void => {
    if (typeof part !== "object" || part === null || Object.isFrozen(part)) return;
    Object.freeze(part);
    Object.values(part).forEach(freeze);
  };
  freeze(copy);
  return copy;
}
