// Another page adds a message to the run of a page with `useChat`, at every single event. The page is left soon after
// that, or its host ends: the next page draws what the chat has, each part once.
import { expect, it } from "vitest";
import { tick, World } from "../../support/processes.js";
import { aiOf } from "./kit.js";
import { byRoute, linesOf, onServer, OpenPage, serverOf, type Make } from "./pages.js";

const STEER = "Also this.";

/** What the page draws at the end, and what one draws that is opened then. */
async function talk(version: 6 | 7, make: Make, steerAt: number, leaveAt: number, isHostGone: boolean) {
  const ai = await aiOf(version);
  const world = new World();
  const server = serverOf(world, version);
  const place = make(world, ai, version, server);
  const errors: unknown[] = [];
  const open = (): OpenPage => {
    const page = new OpenPage(ai, place.page());
    page.open().catch((error) => errors.push(error));
    return page;
  };
  let isSteered = false;
  /** One that ends with its host is sent again. */
  const steer = async (): Promise<void> => {
    const body = JSON.stringify({ prompt: STEER, requestId: "steer" });
    const headers = { "content-type": "application/json" };
    const response = await server.fetch("/chat/run", { method: "POST", headers, body });
    if (!response.ok) errors.push(await response.json());
    isSteered = true;
  };
  let page = open();
  world.onEvent = () => {
    if (world.seen === steerAt) void steer();
    if (world.seen !== leaveAt) return;
    place.leave(isHostGone);
    if (isHostGone && steerAt <= leaveAt && !isSteered) void steer();
    page = open();
  };
  const isOver = (): boolean => {
    const { chat, parts } = page;
    return isSteered && chat?.status === "ready" && parts.at(-1)?.text === "Step 5.";
  };
  for (let step = 0; !isOver(); step++) {
    const { chat } = page;
    if (errors.length > 0) throw errors[0];
    if (chat?.status === "error") throw chat.error;
    if (step > 5000) throw new Error(`it stays ${chat?.status}: ${linesOf(chat).join(" / ")}`);
    page.answerAll();
    if (chat?.status === "ready" && chat.messages.length === 0) void chat.sendMessage({ text: "Go." });
    await tick();
  }
  const events = world.seen;
  const last = open();
  while (last.chat === undefined || last.chat.status !== "ready") await tick();
  return { drawn: linesOf(page.chat), stored: linesOf(last.chat), events };
}

/**
 * The parts in their order, and what the user has said. A page that follows a run has all that the agent says in one
 * message, and the messages of the user between its parts.
 */
const partsOf = (lines: readonly string[]): string[] =>
  lines.flatMap((line) =>
    line.startsWith("assistant: ") ? line.slice("assistant: ".length).split(" | ") : [line],
  );

const isOfUser = (part: string): boolean => part.startsWith("user: ");

it.each([
  ["on a server whose page is reloaded", onServer, 7, false],
  ["on a server that ends", onServer, 6, true],
  ["in the format of the AI SDK, whose page is reloaded", byRoute, 6, false],
  ["in the format of the AI SDK on a server that ends", byRoute, 7, true],
] as const)(
  "a message of another page for an agent %s is drawn once, at once and after a reload",
  async (_, make, version, isHostGone) => {
    const whole = await talk(version, make, 4, 0, false);
    expect(partsOf(whole.drawn)).toEqual(partsOf(whole.stored));
    // A host that ends earlier may not have saved the first prompt.
    for (let at = isHostGone ? 6 : 1; at < whole.events; at++) {
      const { drawn, stored } = await talk(version, make, at, at + (at % 7), isHostGone);
      // Behind the last answer the message is the prompt of a run of its own, which the page may have missed.
      const isSteer = at < whole.events - (isHostGone ? 10 : 3);
      const shown = (lines: string[]): string[] => partsOf(lines).filter((one) => isSteer || !isOfUser(one));
      expect(shown(drawn), `event ${at}`).toEqual(shown(stored));
      expect(stored.filter((line) => line.includes(STEER)).length, `event ${at}`).toBe(1);
    }
  },
  60_000,
);
