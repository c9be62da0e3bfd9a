/** Pages of AG-UI: how a user uses one, and what it draws. */
import { answerTo } from "../../support/processes.js";

export const STEER = "Also this.";

/** The answers of a user to the open interrupts. */
const resumeOf = (interrupts: readonly any[]): object[] =>
  interrupts.map(({ id, reason }) => ({ interruptId: id, status: "resolved", payload: payloadOf(reason) }));

function payloadOf(reason: string): unknown {
  if (reason === "tool_call") return { approved: true };
  if (reason === "looplet:reconcile") return answerTo({ kind: "reconcile" });
  return { count: 2 };
}

const has = ({ messages }: any, text: string): boolean =>
  messages.some(({ content }: any) => content === text);

/**
 * Asks and answers until the page has the last text; false if it is left before. With `steerAt` it adds a message to
 * the answers of that wait, of those that `waits` counts.
 */
export async function used(
  page: any,
  isLeft: () => boolean,
  steerAt = Infinity,
  waits = { now: 0 },
): Promise<boolean> {
  await page.connectAgent();
  for (let turns = 0; turns < 20 && !isLeft(); turns++) {
    const { messages, pendingInterrupts } = page;
    if (messages.at(-1)?.content === "Step 5.") return true;
    if (pendingInterrupts?.length > 0) {
      waits.now += 1;
      if (waits.now >= steerAt && !has(page, STEER))
        page.addMessage({ id: "u2", role: "user", content: STEER });
      await page.runAgent({ resume: resumeOf(pendingInterrupts) });
    } else {
      if (messages.length === 0) page.addMessage({ id: "u1", role: "user", content: "Go." });
      await page.runAgent();
    }
  }
  return false;
}

/** A message, and the path of the subagent that it is from. The ids of calls that are asked for again differ. */
const line = ({ role, content, toolCalls = [], subagentRunId = "" }: any): string =>
  [
    subagentRunId.split(":")[1] ?? "root",
    `${role}: ${typeof content === "string" ? content : JSON.stringify(content ?? "")}`,
    toolCalls.map((call: any) => call.function.name).join(),
  ].join(" ");

export const linesOf = ({ messages }: any): string[] =>
  messages.filter(({ role }: any) => role !== "activity").map(line);
