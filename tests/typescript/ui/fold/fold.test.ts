// What a reader draws of a run does not depend on when it begins to read: any beginning of the events, then a
// snapshot, then the rest comes to the same as all events. So it is for every consumer of the fold.
import { describe, expect, it } from "vitest";
import type { ContentBlock, RunEvent, RunResult } from "looplet";
import { isVoid } from "looplet/ai-sdk";
import { reduce, viewOf, withPrompt, withResult } from "looplet/ui";
import { EventFold, type Folded } from "../../../../src/typescript/extras/transcript/fold.js";
import { memoryOf, Translation } from "../../../../src/typescript/ui/ag-ui/translation.js";
import { ChunkWriter } from "../../../../src/typescript/ui/ai-sdk/chunk-writer.js";
import { aiOf } from "../ai-sdk/kit.js";
import { lines } from "../kit.js";
import { play, PROMPT } from "./story.js";

const stories = Number(process.env["LOOPLET_STORIES"] ?? 60);
const from = Number(process.env["LOOPLET_FIRST_STORY"] ?? 1);
const ai = await aiOf(7);

/** The rules of the fold that the events break. */
function broken(events: readonly RunEvent[]): string[] {
  const fold = new EventFold();
  const agents = new Set<string>();
  const blocks = new Map<string, boolean>();
  const faults: string[] = [];
  for (const given of events)
    for (const { event, facts } of fold.take(given) as readonly Folded[]) {
      const agent = `${event.agentPath}:${event.parentToolCallId ?? ""}`;
      const fault = (what: string): unknown => faults.push(`${what}: ${event.seq} ${event.type} of ${agent}`);
      if (event.type === "agent-begin") {
        agents.add(agent);
        continue;
      }
      if (!agents.has(agent)) fault("an agent that has not begun");
      if (event.type === "reset")
        for (const { block, iteration } of facts.blocks!) blocks.delete(`${agent} ${iteration}.${block}`);
      if (event.type === "iteration-finish" || event.type === "agent-finish")
        for (const [key, isOver] of blocks)
          if (key.startsWith(`${agent} `)) {
            if (!isOver) fault(`the open block ${key}`);
            blocks.delete(key);
          }
      if (!("block" in event)) continue;
      const key = `${agent} ${event.iteration}.${event.block}`;
      if (/-start$/.test(event.type)) {
        if (blocks.has(key)) fault("a second start");
        blocks.set(key, false);
      } else if (!blocks.has(key)) fault("a block that has not begun");
      if (/-end$/.test(event.type)) {
        if (blocks.get(key)) fault("a second end");
        blocks.set(key, true);
      }
    }
  return faults;
}

const before = withPrompt(viewOf(), [{ type: "text", text: PROMPT }]);

function drawn(events: readonly RunEvent[], result: RunResult): string[] {
  let view = before;
  for (const event of events) {
    view = reduce(view, event);
    if (event.type === "steer-delivered") view = withPrompt(view, event.content as ContentBlock[]);
  }
  return lines(withResult(view, result).messages);
}

/** The messages of a page of AG-UI, whose runs end where a person is asked. */
function ofAgUi(events: readonly RunEvent[]): string[] {
  const memory = memoryOf("r");
  const input = {
    threadId: "t",
    runId: "r",
    messages: [{ id: "u1", role: "user" as const, content: PROMPT }],
  };
  let page = new Translation(input, memory);
  for (const event of events) {
    if (page.isOver) page = new Translation({ ...input, messages: page.messages }, memory);
    for (const _ of page.take(event));
  }
  // AG-UI has no word for a message that joins a run.
  const own = page.messages.filter(({ role }) => role !== "user");
  const told = own.map(({ role, content, toolCalls = [], subagentRunId = "" }) => {
    const calls = toolCalls.map(({ function: { name, arguments: input } }) => `${name} ${input}`).join();
    return `${subagentRunId} ${role}: ${JSON.stringify(content ?? "")} ${calls}`;
  });
  // A transcript has results in the order of their calls.
  const groups = told.map(
    (line, at) => [/ tool: /.test(line) ? "" : `${at}`.padStart(6, "0"), line] as const,
  );
  let group = "";
  return groups
    .map(([start, line]) => [(group = start || group), start === "" ? `~${line}` : line].join())
    .sort()
    .map((line) => line.slice(line.indexOf(",") + 1));
}

/** The parts of a message of `useChat`. */
async function ofUseChat(events: readonly RunEvent[]): Promise<string[]> {
  const writer = new ChunkWriter({ version: 7, staysOpen: true }, "r");
  const stream = new ReadableStream({
    start(controller) {
      for (const event of events) for (const chunk of writer.feed(event)) controller.enqueue(chunk);
      controller.close();
    },
  });
  let last: any;
  const onError = (error: unknown): never => {
    throw error;
  };
  for await (const message of ai.readUIMessageStream({ stream, onError })) last = message;
  return last.parts
    .filter((part: any) => !isVoid(part) && !/^(data-|step-start)/.test(part.type))
    .filter((part: any) => part.text !== "")
    .map(({ type, text, state, input, output, errorText }: any) =>
      [type, text, state, JSON.stringify(input), JSON.stringify(output), errorText].join(" "),
    );
}

/** Of a subagent, a transcript has nothing that a reader of the run gets. */
function ofRoot(line: string): string {
  const shorter = line.replace(/ \[[^[\]]*\]/g, "");
  return shorter === line ? line : ofRoot(shorter);
}

const hasResumed = (events: readonly RunEvent[]): boolean => events.some(({ type }) => type === "run-start");

const isOfRun = (line: string): boolean => line.startsWith(" ") || line.startsWith("~ ");

const isOfRoot = (part: string): boolean => !part.startsWith("dynamic-tool");

describe("the events of a run", () => {
  it.each(Array.from({ length: stories }, (_, at) => at + from))(
    "come to the same for a reader that begins late, story %i",
    async (seed) => {
      const { whole, late, result } = await play(`${seed}`);
      expect(broken(whole)).toEqual([]);
      const [view, page, chat] = [drawn(whole, result), ofAgUi(whole), await ofUseChat(whole)];
      for (const { after, events } of late) {
        const at = `from event ${after}`;
        const joined = [...whole.slice(0, after), ...events];
        expect(broken(events), at).toEqual([]);
        expect(broken(joined), at).toEqual([]);
        expect(drawn(joined, result), at).toEqual(view);
        expect(ofAgUi(joined), at).toEqual(page);
        expect(await ofUseChat(joined), at).toEqual(chat);
        // A loop over a run that resumes gets no snapshot: its host reads the chat first.
        if (events[0]?.type !== "snapshot" || hasResumed(events)) continue;
        // A reader whose connection was lost for a while. What subagents did meanwhile is in no snapshot.
        const gap = [...whole.slice(0, Math.floor((after * (1 + (seed % 4))) / 5)), ...events];
        expect(broken(gap), at).toEqual([]);
        expect(drawn(gap, result).map(ofRoot), at).toEqual(view.map(ofRoot));
        expect(ofAgUi(gap).filter(isOfRun), at).toEqual(page.filter(isOfRun));
        expect(drawn(events, result).map(ofRoot), at).toEqual(view.map(ofRoot));
        // A message of a person ends the one before it, and the questions of subagents are those of this process.
        const [known, own] = [chat, await ofUseChat(events)].map((all) => all.filter(isOfRoot));
        expect(own, at).toEqual(known!.slice(known!.length - own!.length));
      }
    },
  );
});
