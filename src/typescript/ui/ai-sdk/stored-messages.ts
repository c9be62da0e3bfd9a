/** What the store has of a conversation that the page shows: more than the page knows of it. */
import type { Message } from "../../core/api/message.js";
import { withoutText } from "../ui/transcript.js";
import { userMessage } from "./from-ui.js";
import { isPrompt } from "../../extras/transcript/prompts.js";
import type { UIMessageLike } from "./types.js";

/**
 * The part of the stored transcript that the page shows, for a message that replaces the page's next prompt.
 * Undefined if the page's prompts differ from those of the transcript.
 */
export function storedMessages(
  transcript: readonly Message[],
  shown: readonly UIMessageLike[],
): readonly Message[] | undefined {
  const places = transcript.flatMap((message, place) => (isPrompt(message) ? [place] : []));
  const prompts = shown.filter(({ role }) => role !== "assistant").map(userMessage);
  const isSame = prompts.every((prompt, at) => {
    const kept = transcript[places[at] ?? transcript.length];
    return kept !== undefined && textOf(kept) === textOf(prompt);
  });
  if (!isSame) return undefined;
  const next = places[prompts.length];
  return next === undefined ? transcript : withoutText(transcript, next);
}

function textOf({ content }: Message): string {
  return JSON.stringify(content.map((block) => (block.type === "text" ? block.text : "")).filter(Boolean));
}
