/** AG-UI as a format of `looplet/server`. */
import { LoopletError } from "../../../core/api/errors.js";
import type { RunEvent } from "../../../core/api/index.js";
import type { EventFormat, FormattedRun, ReadOrder } from "../../../server/server/formats.js";
import { questionsIn, numbered, seenBefore } from "../../../server/server/emitted-events.js";
import { checkedInput } from "../input.js";
import { isAsked } from "../interrupts.js";
import { forClient } from "../older.js";
import { HEADERS } from "../stream.js";
import { answerTo, promptOf } from "../threads.js";
import { memoryOf, Translation } from "../translation.js";
import { PROTOCOL_VERSION, type AgUiInput } from "../types.js";

/**
 * AG-UI for `formats` of `looplet/server`: `new HttpAgent({ url: "/api/agent/ag-ui" })`. A thread is a session. The
 * tools of the page become page tools of the agent. A page that disconnects does not stop its run.
 */
export function agUi(): EventFormat {
  return {
    name: "ag-ui",
    accept: "text/vnd.ag-ui.events",
    headers: HEADERS,
    session: (body) => (body as { threadId?: unknown }).threadId,
    read,
    stream: texts,
  };
}

/** @throws LoopletError `misuse_invalid_argument` */
function read(body: object, events: readonly RunEvent[], run = ""): ReadOrder {
  const input = inputOf(body);
  const { resume = [], messages } = input;
  const { all, isOpen } = questionsIn(events);
  const answers = all.filter(isOpen).flatMap((asked) => {
    const answer = isAsked(asked) ? answerTo(asked, run, input, false) : undefined;
    return answer === undefined ? [] : [{ questionId: asked.questionId, answer }];
  });
  const prompt = promptOf(input);
  const requestId = `${messages.at(-1)?.id}:answer`;
  if (answers.length > 0) {
    const ids = answers.map(({ questionId }) => questionId);
    return { answers, seen: seenBefore(events, ids), ...(prompt.length > 0 && { prompt, requestId }) };
  }
  if (resume.length > 0) throw wrong("resume", "answers interrupts, and no run of this thread waits for any");
  if (prompt.length === 0)
    throw wrong("messages", "needs a message of the user at its end, or results of calls that wait");
  return { prompt, isTurn: true, requestId };
}

function inputOf(body: object): AgUiInput {
  try {
    return checkedInput(body);
  } catch (error) {
    const { field, problem } = error as LoopletError;
    throw wrong(field, problem);
  }
}

function wrong(field: string, problem: string): LoopletError {
  return new LoopletError("misuse_invalid_argument", field, problem);
}

async function* texts(events: AsyncIterable<RunEvent>, run: FormattedRun): AsyncGenerator<string> {
  const { id, session, seen = 0, body } = run;
  const joined = { threadId: session, runId: id, messages: [], protocolVersion: PROTOCOL_VERSION };
  const input = (body ?? joined) as AgUiInput;
  const memory = memoryOf(id);
  const past = new Translation({ ...input, messages: [] }, memory);
  const translation = new Translation(input, memory);
  const write = numbered({ ...run, seen: undefined });
  yield* write(0, [translation.begin()]);
  for await (const event of events) {
    const isPast = event.seq <= seen;
    // Later events show that the question was answered.
    if (event.type === "waiting" && (isPast || run.hasMore())) continue;
    const result = event.type === "finish" ? await run.output() : undefined;
    const pieces = [...(isPast ? past : translation).take(event, result)];
    if (!isPast)
      yield* write(
        event.seq,
        pieces.map((piece) => forClient(input, piece)),
      );
    if (translation.isOver) return;
  }
}
