import type { RunEvent } from "looplet";

/** After their first task runs give late loops a snapshot. */
export const task = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

export async function collect(events: AsyncIterable<RunEvent>): Promise<RunEvent[]> {
  const all: RunEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

/** The deltas joined, and the types of the other events. */
export function told(events: readonly RunEvent[]): string[] {
  const parts: string[] = [];
  for (const event of events) {
    if (event.type !== "text-delta") parts.push(event.type);
    else if (parts.at(-1)?.startsWith("“")) parts[parts.length - 1] += event.text;
    else parts.push(`“${event.text}`);
  }
  return parts;
}

export async function question(events: AsyncIterable<RunEvent>): Promise<number> {
  for await (const event of events) if (event.type === "question") return event.questionId;
  throw new Error("no question");
}
