/** The turns of clients with another model of a conversation: a new prompt ends the run, or removes later prompts. */
import type { Message } from "../../core/api/index.js";
import type { ReadOrder } from "./formats.js";
import { isPrompt } from "../../extras/transcript/prompts.js";
import type { ChatSession } from "./chat-session.js";

/** Starts the turn of an order with a prompt. A repeated order changes nothing. @throws BadRequest */
export async function takeTurn(
  session: ChatSession,
  { prompt, requestId, isTurn = false, keep }: ReadOrder,
): Promise<{ readonly taken: boolean; readonly after?: string }> {
  const chat = await session.open();
  const isTaken = requestId !== undefined && chat.hasTaken(requestId);
  const { current } = session.runs;
  if (isTurn && !isTaken && current !== undefined) {
    await session.obey({ do: "abort", reason: "the conversation went on" });
    await session.call({ run: current, method: "result", args: [] });
  }
  if (keep !== undefined && !isTaken) {
    const { messages } = await session.state();
    const kept = messages.slice(0, placeOfPrompt(messages, keep));
    if (kept.length < messages.length) await session.call({ method: "reset", args: [kept] });
  }
  return session.obey({ do: "run", prompt, requestId });
}

/** The index of the prompt after `before` others, or of the last one. */
function placeOfPrompt(messages: readonly Message[], before: number): number {
  const places = messages.flatMap((message, place) => (isPrompt(message) ? [place] : []));
  return places[before] ?? places.at(-1) ?? messages.length;
}
