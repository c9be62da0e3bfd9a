// A page with `useChat` is left at every single event of a run, or its host ends there: the next page draws the same.
import { describe, expect, it } from "vitest";
import { connectAgent } from "looplet/workers";
import { tick, World } from "../../support/processes.js";
import { aiOf } from "./kit.js";
import { byRoute, inPage, linesOf, onServer, OpenPage, serverOf, type Make } from "./pages.js";

async function talk(version: 6 | 7, make: Make, at: number, isHostGone: boolean) {
  const ai = await aiOf(version);
  const world = new World();
  const place = make(world, ai, version);
  const errors: unknown[] = [];
  let page!: OpenPage;
  const open = (): void => {
    page = new OpenPage(ai, place.page());
    page.open().catch((error) => errors.push(error));
  };
  open();
  let isLeft = false;
  world.onEvent = () => {
    if (isLeft || world.seen !== at) return;
    isLeft = true;
    place.leave(isHostGone);
    open();
  };
  for (let step = 0; step < 20_000; step++) {
    const { chat } = page;
    if (errors.length > 0) throw errors[0];
    if (chat?.status === "error") throw chat.error;
    page.answerAll();
    const isOver = page.parts.at(-1)?.text === "Step 5.";
    if (chat?.status === "ready" && chat.messages.length === 0) void chat.sendMessage({ text: "Go." });
    else if (chat?.status === "ready" && isOver) return { drawn: linesOf(chat), events: world.seen };
    await tick();
  }
  throw new Error(`event ${at}: it stays ${page.chat.status}: ${linesOf(page.chat).join(" / ")}`);
}

describe.each([
  ["in the page", inPage, true],
  ["of a server whose page is reloaded", onServer, false],
  ["of a server that ends", onServer, true],
  ["behind the format of the AI SDK, whose page is reloaded", byRoute, false],
  ["behind the format of the AI SDK on a server that ends", byRoute, true],
] as const)("a chat of ai on an agent %s, at every event", (_, make, isHostGone) => {
  // What `ai` 5 draws of approvals has tests of its own.
  it.each([6, 7] as const)(
    "is drawn by version %i as in a page that was never left",
    async (version) => {
      const { drawn, events } = await talk(version, make, 0, false);
      expect(drawn.join()).toContain('"toolName":"pay","input":{},"state":"output-available"');
      for (let at = 1; at <= events; at++)
        expect((await talk(version, make, at, isHostGone)).drawn, `event ${at}`).toEqual(drawn);
    },
    60_000,
  );
});

it.each([
  ["connectAgent", onServer],
  ["the format of the AI SDK", byRoute],
] as const)(
  "a reload over %s draws nothing twice where another page has added a message",
  async (_, make) => {
    const world = new World();
    const server = serverOf(world, 7);
    const ai = await aiOf(7);
    const place = make(world, ai, 7, server);
    const opened = async (): Promise<OpenPage> => {
      const page = new OpenPage(ai, place.page());
      void page.open();
      for (let waits = 0; page.chat === undefined; waits++) await tick();
      return page;
    };
    const texts = ({ parts }: OpenPage): string[] => parts.flatMap(({ text }) => text ?? []);
    const until = async (isThere: () => boolean): Promise<void> => {
      for (let waits = 0; !isThere(); waits++) {
        if (waits > 5000) throw new Error("it never happens");
        await tick();
      }
    };
    const before = await opened();
    await before.chat.sendMessage({ text: "Go." });
    await until(() => before.parts.filter(({ state }) => state === "approval-requested").length === 3);
    const other = await connectAgent("http://server.test", { fetch: server.fetch }).openChat("chat");
    other.current!.steer("Also this.");
    before.answerAll();
    await until(() => texts(before).includes("Step 4."));
    const after = await opened();
    await until(() => texts(after).includes("Step 4."));
    expect(texts(after)).toEqual(["Go.", "Step 0.", "Step 4."]);
    other.current!.abort();
  },
  20_000,
);
