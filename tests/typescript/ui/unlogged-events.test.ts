// A server crashes when the journal of a run has more than the log of its session. The pages stay, and get the rest.
import { HttpAgent } from "@ag-ui/client";
import { expect, it } from "vitest";
import type { RunEvent } from "looplet";
import { agUiAgent } from "looplet/ag-ui";
import { LoopletChatTransport } from "looplet/ai-sdk";
import { reduce, viewOf } from "looplet/ui";
import { connectAgent, type RemoteAgent } from "looplet/workers";
import { answerTo, tick, World } from "../support/processes.js";
import { LaggingServer } from "../support/lagging-server.js";
import { linesOf as linesOfAgUi, used } from "./ag-ui/pages.js";
import { aiOf } from "./ai-sdk/kit.js";
import { linesOf, OpenPage } from "./ai-sdk/pages.js";
import { lines, Screen } from "./kit.js";

const remote = ({ fetch }: LaggingServer): RemoteAgent =>
  connectAgent("http://server.test", { fetch: fetch as never, maxAttempts: null });

/** A conversation on a screen and in a loop, over a server that crashes. */
async function talk(events: number, lag: number) {
  const world = new World();
  const server = new LaggingServer(world, events, lag);
  const agentOf = () =>
    connectAgent("http://server.test", { fetch: server.fetch as never, maxAttempts: null });
  const [mine, other] = [agentOf(), agentOf()];
  const heard: RunEvent[] = [];
  const loop = async (): Promise<void> => {
    const chat = await other.openChat("chat");
    await new Promise<void>((resolve) => chat.onRun(() => resolve()));
    for await (const event of other.attach(chat.current!.id).events({ detached: true })) heard.push(event);
  };
  const looped = loop();
  const screen = new Screen(mine, { id: "chat" });
  await screen.until(({ status }) => status === "ready");
  await screen.conversation.send("Go.");
  let hasSteered = false;
  for (let steps = 0; ; steps++) {
    if (steps > 20_000) throw new Error(`it stays ${JSON.stringify(screen.now.status)}`);
    screen.draw();
    const { status, questions, error } = screen.now;
    if (status === "error") throw new Error(error!.message);
    if (status === "ready") break;
    if (!hasSteered && questions.length === 3) hasSteered = await screen.conversation.send("Also this.");
    else if (hasSteered)
      for (const question of questions)
        screen.conversation.answer(question as never, answerTo(question) as never);
    await tick();
  }
  await looped;
  for (const agent of [mine, other]) agent.disconnect();
  const { transcripts } = (await world.agent().readChat("ada/chat", { transcripts: true }))!;
  return { drawn: lines(screen.now.messages), heard, transcripts: transcripts! };
}

/** The texts and the results of each agent by its events, and as the journal has them. */
function said(events: readonly RunEvent[]): string[] {
  const texts = new Map<string, string>();
  const results: string[] = [];
  for (const event of events) {
    const key = `${event.agentPath} ${event.iteration}`;
    if (event.type === "attempt-start") texts.delete(key);
    if (event.type === "text-delta") texts.set(key, (texts.get(key) ?? "") + event.text);
    if (event.type === "tool-result") results.push(`${event.agentPath} ${event.toolCallId} ${event.output}`);
  }
  return [...[...texts].map(([key, text]) => `${key.split(" ")[0]} ${text}`), ...results].sort();
}

function kept(transcripts: Awaited<ReturnType<typeof talk>>["transcripts"]): string[] {
  return transcripts
    .flatMap(({ agentPath, messages, toolCalls }) => [
      ...messages.flatMap(({ role, content }) =>
        content.flatMap((block) =>
          role === "assistant" && block.type === "text" ? [`${agentPath} ${block.text}`] : [],
        ),
      ),
      ...toolCalls.map(({ toolCallId, output }) => `${agentPath} ${toolCallId} ${output}`),
    ])
    .sort();
}

it.each([1, 4, 15, 1000])(
  "%i events that the log lacks reach the pages that stay, from every event on",
  async (lag) => {
    const { drawn, heard: all } = await talk(Infinity, 0);
    expect(drawn.join()).toContain("pay output-available");
    const made = lines(all.reduce(reduce, viewOf()).messages);
    const cuts = all.map((_, cut) => cut);
    await Promise.all(
      cuts.map(async (cut) => {
        const { heard, transcripts, ...talked } = await talk(cut, lag);
        expect(talked.drawn, `after ${cut} events`).toEqual(drawn);
        expect(said(heard), `after ${cut} events`).toEqual(kept(transcripts));
        expect(heard.map(({ seq }) => seq)).toEqual(
          [...new Set(heard.map(({ seq }) => seq))].sort((a, b) => a - b),
        );
        const { messages, questions } = heard.reduce(reduce, viewOf());
        expect([questions, lines(messages)], `after ${cut} events`).toEqual([[], made]);
      }),
    );
  },
  120_000,
);

/** What a page with `useChat` draws at the end. */
async function chatted(version: 6 | 7, events: number, lag: number): Promise<string[]> {
  const ai = await aiOf(version);
  const agent = remote(new LaggingServer(new World(), events, lag));
  const transport = new LoopletChatTransport(agent, { version });
  const page = new OpenPage(ai, {
    transport,
    load: () => transport.loadMessages("chat"),
    answer: (id, answer) => transport.answer(id, answer as never),
  });
  await page.open();
  const { chat } = page;
  void chat.sendMessage({ text: "Go." });
  for (let steps = 0; page.parts.at(-1)?.text !== "Step 5." || chat.status !== "ready"; steps++) {
    if (chat.status === "error") throw chat.error;
    if (steps > 20_000) throw new Error(`it stays ${chat.status}: ${linesOf(chat).join(" / ")}`);
    page.answerAll();
    await tick();
  }
  agent.disconnect();
  return linesOf(chat);
}

it.each([
  [6, 1],
  [7, 15],
  [7, 1000],
] as const)(
  "a page with useChat of ai %i that stays gets %i events that the log lacks",
  async (version, lag) => {
    const drawn = await chatted(version, Infinity, 0);
    const cuts = Array.from({ length: 82 }, (_, cut) => cut);
    await Promise.all(
      cuts.map(async (cut) => expect(await chatted(version, cut, lag), `after ${cut} events`).toEqual(drawn)),
    );
  },
  120_000,
);

/** What a page of AG-UI draws at the end. */
async function agUi(events: number, lag: number): Promise<string[]> {
  const agent = remote(new LaggingServer(new World(), events, lag));
  const page = agUiAgent(agent as never, { HttpAgent, config: { threadId: "t" }, keepRunning: true });
  await used(page, () => false);
  agent.disconnect();
  return linesOfAgUi(page);
}

it.each([1, 15, 1000])(
  "a page of AG-UI that stays gets %i events that the log lacks",
  async (lag) => {
    const drawn = await agUi(Infinity, 0);
    expect(drawn).toHaveLength(13);
    const cuts = Array.from({ length: 82 }, (_, cut) => cut);
    await Promise.all(
      cuts.map(async (cut) => expect(await agUi(cut, lag), `after ${cut} events`).toEqual(drawn)),
    );
  },
  120_000,
);
