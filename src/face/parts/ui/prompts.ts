/** The messages of the person in a transcript. */
import type { Message } from "../../core/api/index.js";
import type { UiMessage } from "./parts.js";
import { shownMessages } from "./transcript.js";

/**
 * The places in the transcript of the messages of the person, by the ids under which they are shown. A message for
 * which a summary stands has none.
 */
export function promptsOf(
  shown: readonly UiMessage[],
  transcript: readonly Message[],
): ReadonlyMap<string, number> {
  const ids = shown.filter(({ role }) => role === "user").map(({ id }) => id);
  const places = transcript.flatMap((message, place) => (isPrompt(message) ? [place] : []));
  const count = Math.min(ids.length, places.length);
  return new Map(ids.slice(ids.length - count).map((id, at) => [id, places[places.length - count + at]!]));
}

function isPrompt(message: Message): boolean {
  return message.role === "user" && shownMessages([message]).at(-1)?.role === "user";
}

/** The transcript up to a message of the person. Results of tools in that message stay. */
export function withoutText(transcript: readonly Message[], place: number): readonly Message[] {
  const { role, content } = transcript[place]!;
  const results = content.filter(({ type }) => type === "tool_result");
  return [...transcript.slice(0, place), ...(results.length > 0 ? [{ role, content: results }] : [])];
}
