/** UI messages as a format of `looplet/server`: `useChat` with `DefaultChatTransport` and without a route. */
import { LoopletError } from "../../core/api/errors.js";
import type { QuestionAnswer, RunEvent, RunEventOf } from "../../core/api/index.js";
import type { EventFormat, FormattedRun, ReadOrder } from "../../server/server/formats.js";
import { questionsIn, dataOf, numbered, seenBefore } from "../../server/server/emitted-events.js";
import { pageCallOf } from "../../extras/tools/page-call.js";
import { callIdOf, ChunkWriter, PAUSE_END } from "./chunk-writer.js";
import { promptOf } from "./from-ui.js";
import { behindPrompt, promptsOf } from "./past.js";
import { answersIn, questionOf, waitingPart } from "./questions.js";
import { withSubagents } from "./subagent-parts.js";
import { toUIMessages } from "./to-ui.js";
import { checkMessages, type UIMessageLike, type UiStreamOptions } from "./types.js";
import { checkStreamOptions, UI_STREAM_HEADERS } from "./ui-stream.js";

/** The options of `uiMessages`. */
export type UiFormatOptions = Omit<UiStreamOptions, "messageId" | "staysOpen">;

/**
 * The UI message stream of the AI SDK for `formats` of `looplet/server`. `useChat` connects to it with `new
 * DefaultChatTransport({ api: "/api/agent/ui-messages" })`.
 *
 * @throws LoopletError `config_…`
 */
export function uiMessages(options: UiFormatOptions = {}): EventFormat {
  const checked = checkStreamOptions(options);
  return {
    name: "ui-messages",
    accept: "text/vnd.ai-sdk.ui-messages",
    headers: UI_STREAM_HEADERS,
    session: (body) => (body as { id?: unknown }).id,
    read,
    messages: (messages, isRunning, kept) => {
      const shown = isRunning ? messages.slice(0, behindPrompt(messages, promptsOf(kept))) : messages;
      return withSubagents(toUIMessages(shown, { version: checked.version }), kept?.transcripts ?? []);
    },
    stream: (events, run) => texts(events, run, checked),
  };
}

/** @throws LoopletError `misuse_invalid_argument` */
function read(body: object, events: readonly RunEvent[], run: string | undefined): ReadOrder {
  const { messages, trigger, messageId } = body as { [field: string]: unknown };
  const all = (Array.isArray(messages) ? messages : []) as UIMessageLike[];
  checkMessages(all);
  const last = all.at(-1);
  if (last === undefined)
    throw new LoopletError(
      "misuse_invalid_argument",
      "messages",
      "needs the messages of useChat, one at least",
    );
  const named = all.find(({ id }) => id === messageId);
  const answered = trigger === "submit-message" ? (named ?? last) : last;
  if (answered.role === "assistant") return readAnswers(answered, events, run);
  const isRewritten = trigger === "regenerate-message" || messageId !== undefined;
  const prompt = promptOf(last);
  // The run's id becomes the answer's id, so it must differ from the message's id. Without ids each prompt is new.
  const requestId = last.id ? `${last.id}:answer` : undefined;
  if (!isRewritten) return { prompt, isTurn: true, requestId };
  return { prompt, isTurn: true, keep: all.filter(({ role }) => role === "user").length - 1 };
}

/** The answers to the run's questions in a message, and the position up to which the page has seen the run. */
function readAnswers(
  message: UIMessageLike,
  events: readonly RunEvent[],
  run: string | undefined,
): ReadOrder {
  const { approvals, outputs } = answersIn(message);
  const given = (asked: RunEventOf<"question">): QuestionAnswer | undefined => {
    const call = pageCallOf(asked);
    if (call !== undefined)
      return call.page === undefined ? outputs.get(callIdOf(asked, call.toolCallId)) : undefined;
    return [...approvals].find(([id]) => {
      const { runId, questionId } = questionOf(id) ?? {};
      return runId === run && questionId === asked.questionId;
    })?.[1];
  };
  const { all, isOpen } = questionsIn(events);
  const ours = all.flatMap((asked) => {
    const answer = given(asked);
    return answer === undefined ? [] : [{ asked, questionId: asked.questionId, answer }];
  });
  if (ours.length === 0) {
    const problem = "ends with an answer of the agent, and no run waits for one of its parts; send a message";
    throw new LoopletError("misuse_invalid_argument", "messages", problem);
  }
  const open = ours.filter(({ asked }) => isOpen(asked));
  // Another page may have answered.
  const seen = seenBefore(
    events,
    (open.length > 0 ? open : ours.slice(-1)).map(({ questionId }) => questionId),
  );
  return { answers: open.map(({ questionId, answer }) => ({ questionId, answer })), seen };
}

async function* texts(
  events: AsyncIterable<RunEvent>,
  run: FormattedRun,
  options: UiFormatOptions,
): AsyncGenerator<string> {
  const writer = new ChunkWriter(options, run.id);
  const { seen = 0 } = run;
  const write = numbered(run);
  if (seen > 0) yield dataOf(waitingPart([]));
  for await (const event of events) {
    const chunks = writer.feed(event);
    const isPause = writer.isPause(event);
    if (isPause) chunks.push(...writer.pauseChunks());
    yield* write(event.seq, chunks);
    // Later events show that the question was answered.
    if (!isPause || event.seq <= seen || run.hasMore()) continue;
    yield PAUSE_END.map(dataOf).join("");
    break;
  }
  yield "data: [DONE]\n\n";
}
