/** The view of a conversation: the result of its messages and events. It is immutable. */
import type {
  AgentTranscript,
  ContentBlock,
  Failure,
  MessageInput,
  RunEventOf,
  Usage,
} from "../../core/api/index.js";
import { messagesOf } from "../../core/kit/check.js";
import type { OpenQuestion, TextUiPart, UiMessage, UiPart } from "./message.js";
import { NOWHERE, placesIn, type Places } from "./places.js";
import { idAt, partsOfBlock, shownMessages, shownTranscripts } from "./transcript.js";

/** The view of a conversation. */
export interface View {
  readonly messages: readonly UiMessage[];
  /** The questions that wait for the user, the oldest first. */
  readonly questions: readonly OpenQuestion[];
  /** The latest notable event that is not part of a message. Present until the answer continues. */
  readonly notice: Notice | undefined;
  /** The usage of the run so far; `null` before the first report. */
  readonly usage: Usage | null;
  /** Whether only answers to open questions continue the run. */
  readonly isWaiting: boolean;
  /** The failure that ended the run. */
  readonly failure: Failure | undefined;
  /** Where the next events belong. It is of no use for a screen. */
  readonly places: Places;
}

/** Facts outside the messages: a failed attempt, another model, a text that a crash cut off, a warning. */
export type Notice = RunEventOf<
  "retry" | "model-change" | "handoff" | "answer-cut-off" | "warning" | "not-saved"
>;

/** The view of a transcript, for example of `chat.messages`. */
export function viewOf(transcript: readonly MessageInput[] = []): View {
  return viewWith(shownMessages(messagesOf(transcript, "messages")));
}

/** The view of a chat with its subagents, from the `transcripts` of `agent.readChat(id, { transcripts: true })`. */
export function viewOfTranscripts(transcripts: readonly AgentTranscript[]): View {
  return viewWith(shownTranscripts(transcripts));
}

/** The view of these messages when no run is in progress. */
export function viewWith(messages: readonly UiMessage[]): View {
  return { ...EMPTY, messages, places: placesIn(messages) };
}

const EMPTY: View = {
  messages: [],
  questions: [],
  notice: undefined,
  usage: null,
  isWaiting: false,
  failure: undefined,
  places: NOWHERE,
};

/** Adds a user message. If the previous user message has no answer, the two are merged, as in the transcript. */
export function withPrompt(view: View, prompt: readonly ContentBlock[]): View {
  return withPromptParts(
    view,
    prompt.flatMap((block) => partsOfBlock(block)),
  );
}

/** As `withPrompt`, of the parts that are drawn. */
export function withPromptParts(view: View, parts: readonly UiPart[]): View {
  const last = view.messages.at(-1);
  const isJoined = last?.role === "user";
  const message: UiMessage = isJoined
    ? { ...last, parts: [...last.parts, ...parts] }
    : { id: idAt(view.messages.length), role: "user", parts };
  const messages = [...(isJoined ? view.messages.slice(0, -1) : view.messages), message];
  return { ...view, messages, places: withoutRoot(view.places) };
}

/** The root's next output starts a new message. */
function withoutRoot({ agents, calls, seen }: Places): Places {
  const { root: _, ...others } = agents;
  const { root: __, ...othersSeen } = seen;
  return { agents: others, calls, seen: othersSeen };
}

/** The run is over: no part grows any more, and no question is open. */
export function end(view: View): View {
  const settled = view.messages.map((message) => withSame(message, ended(message.parts)));
  // A message that contains only a cut-off call is removed with it.
  const messages = settled.filter(
    ({ parts }, index) => parts.length > 0 || settled[index] === view.messages[index],
  );
  return { ...view, messages, questions: [], notice: undefined, isWaiting: false };
}

/** The parts of an agent that has ended. A call with cut-off arguments is removed, as in the transcript. */
export function ended(parts: readonly UiPart[]): UiPart[] {
  return closed(parts).filter(
    (part) =>
      (part.type !== "compaction" || part.state === "done") &&
      (part.type !== "tool" || part.state !== "input-streaming"),
  );
}

/** A piece that does not grow any more. */
export function close(part: UiPart): UiPart {
  if (part.type === "text") return { ...part, state: "done", stable: part.text.length };
  if (part.type === "reasoning") return { ...part, state: "done" };
  return part;
}

export function closed(parts: readonly UiPart[]): readonly UiPart[] {
  const isOpen = (part: UiPart): boolean => "state" in part && part.state === "streaming";
  return parts.some(isOpen) ? parts.map((part) => (isOpen(part) ? close(part) : part)) : parts;
}

export function textPart(refusal?: boolean): TextUiPart {
  const part: TextUiPart = { type: "text", text: "", state: "streaming", stable: 0 };
  return refusal === true ? { ...part, isRefusal: true } : part;
}

/** The message itself if its parts are the same objects. */
export function withSame(message: UiMessage, parts: readonly UiPart[]): UiMessage {
  const isSame =
    parts.length === message.parts.length && parts.every((part, index) => part === message.parts[index]);
  return isSame ? message : { ...message, parts };
}
