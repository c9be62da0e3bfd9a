// @ts-check
// A server route of the AI SDK, ported: the page keeps its `useChat`. The route takes its UIMessages and answers with
// the UI message stream (version 1), so that nothing changes but this file.
//
//   before: streamText({ model, system, messages: await convertToModelMessages(messages), tools,
//             stopWhen: isStepCount(5), abortSignal: request.signal }).toUIMessageStreamResponse()
//
//   node examples/ported/ai-sdk-route.mjs "What is the weather in Paris?"
import { LoopletError, createAgent, tool } from "looplet";
import { memoryStore } from "looplet/stores";
import { claude, isMain } from "./model.mjs";

const weather = tool({
  description: "Current weather of a city",
  inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  readOnly: true,
  execute: ({ city }) => ({ city, sky: "rain", celsius: 12 }),
});

const book = tool({
  description: "Books a hotel in a city",
  inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  needsApproval: true,
  execute: ({ city }) => ({ booked: `Hotel ${city}` }),
});

// A store that all processes of the server share lets any of them go on with a run that waits for a person.
const store = memoryStore();

const newAgent = () =>
  createAgent({
    model: claude([
      { text: "I look.", toolCalls: [{ name: "weather", input: { city: "Paris" } }] },
      { text: "It rains in Paris." },
    ]),
    system: "You answer with facts.",
    tools: { weather, book },
    limits: { maxIterations: 5 },
    timeouts: { permissionMs: 600_000 },
    store,
  });

/** The runs of this process that wait for a person, each with its events. @type {Map<string, Going>} */
export const waiting = new Map();
/** @typedef {{ run: import("looplet").Run, events: AsyncIterator<import("looplet").RunEvent> }} Going */

/** @param {Request} request @returns {Promise<Response>} */
export async function POST(request) {
  try {
    const { messages } = /** @type {any} */ (await request.json());
    if (!Array.isArray(messages)) throw new SyntaxError("The body needs `messages`, a list of UIMessages");
    const answers = answersIn(messages.at(-1));
    const going = answers.size > 0 ? goOn(answers) : begin(messages);
    return new Response(uiStream(going, answers, request.signal), {
      headers: {
        "content-type": "text/event-stream",
        "cache-control": "no-cache",
        "x-accel-buffering": "no",
        "x-vercel-ai-ui-message-stream": "v1",
      },
    });
  } catch (error) {
    if (!(error instanceof LoopletError || error instanceof SyntaxError)) throw error;
    return Response.json({ error: error.message }, { status: 400 });
  }
}

/** A run with the whole conversation. One that still waits for an answer in it waits in vain. @param {any[]} messages */
function begin(messages) {
  for (const { approval } of messages.flatMap(({ parts }) => parts))
    if (approval) waiting.get(runOf(approval.id))?.run.abort("the conversation went on");
  const run = newAgent().run([], { messages: fromUi(messages) });
  return { run, events: run.events() };
}

/** The run whose questions the page has answered. @param {Map<string, Answer>} answers @returns {Going} */
function goOn(answers) {
  const [id] = [...answers.keys()].map(runOf);
  const here = waiting.get(/** @type {string} */ (id));
  if (here) {
    for (const [approvalId, answer] of answers) here.run.answer(questionOf(approvalId), answer);
    return here;
  }
  // Its process is gone. The run asks its open questions again, and `uiStream` answers them.
  const run = newAgent().resume(/** @type {string} */ (id), { takeOver: true });
  return { run, events: run.events() };
}

/** The `approvalId` of a question names its run, too. @param {import("looplet").Run} run @param {number} questionId */
const approvalOf = (run, questionId) => `${run.id}:${questionId}`;
/** @param {string} approvalId */
const runOf = (approvalId) => approvalId.slice(0, approvalId.lastIndexOf(":"));
/** @param {string} approvalId */
const questionOf = (approvalId) => Number(approvalId.slice(approvalId.lastIndexOf(":") + 1));

/** @typedef {{ behavior: "allow" } | { behavior: "deny", message: string }} Answer */
/**
 * What a person has answered: `useChat` sends it in the last message, which is the assistant's.
 *
 * @param {any} message
 * @returns {Map<string, Answer>}
 */
function answersIn({ role, parts } = /** @type {any} */ ({})) {
  if (role !== "assistant") return new Map();
  const answered = parts.filter(/** @param {any} part */ ({ state }) => state === "approval-responded");
  return new Map(
    answered.map(
      /** @param {any} part */ ({ approval: { id, approved, reason } }) => [
        id,
        approved ? { behavior: "allow" } : { behavior: "deny", message: reason ?? "The user said no." },
      ],
    ),
  );
}

/**
 * UIMessages as looplet's messages: what people wrote and attached, and each step of the model with the results of
 * its calls.
 *
 * @param {any[]} messages
 * @returns {import("looplet").Message[]}
 */
function fromUi(messages) {
  return messages.flatMap(({ role, parts }) => {
    if (role === "user") return [{ role, content: parts.flatMap(userBlock) }];
    return steps(parts).flatMap((step) => {
      const calls = step.filter(({ type }) => type.startsWith("tool-") || type === "dynamic-tool");
      const made = calls.map((part) => ({
        type: "tool_call",
        id: part.toolCallId,
        name: part.toolName ?? part.type.slice("tool-".length),
        input: part.input ?? {},
      }));
      /** @type {any[]} */
      const content = [...step.filter(isText).map(textBlock), ...made];
      const said = content.length > 0 ? [{ role: "assistant", content }] : [];
      return calls.length === 0 ? said : [...said, { role: "user", content: calls.map(resultBlock) }];
    });
  });
}

/** The result of a call. A call that never ran has one too, which says so. @param {any} part */
function resultBlock({ toolCallId: callId, state, output, errorText, approval }) {
  const isDone = state === "output-available";
  const unmade =
    approval?.approved === false ? (approval.reason ?? "The user said no.") : "The call was not made.";
  const text = isDone ? JSON.stringify(output ?? null) : (errorText ?? unmade);
  return { type: "tool_result", callId, content: [textBlock({ text })], ...(!isDone && { isError: true }) };
}

/** A text or a file of a user's message. A file has a `data:` URL or an address. @param {any} part @returns {any[]} */
function userBlock(part) {
  if (isText(part)) return [textBlock(part)];
  if (part.type !== "file") return [];
  const { mediaType, url, filename: name } = part;
  const [, data] = /^data:[^,]*;base64,(.*)$/s.exec(url) ?? [];
  return [{ type: "media", mediaType, ...(data ? { data } : { url }), ...(name && { name }) }];
}

/** @param {any} part */
const isText = ({ type, text }) => type === "text" && text !== "";
/** @param {{ text: string }} part @returns {{ type: "text", text: string }} */
const textBlock = ({ text }) => ({ type: "text", text });

/** The parts of each step: a `step-start` begins one. @param {any[]} parts @returns {any[][]} */
function steps(parts) {
  /** @type {any[][]} */
  const begun = [[]];
  for (const part of parts) {
    if (part.type === "step-start") begun.push([]);
    else begun.at(-1)?.push(part);
  }
  return begun.filter((step) => step.length > 0);
}

/**
 * The stream of one response. It ends with the run, or when the run waits for nobody but the user.
 *
 * @param {Going} going
 * @param {Map<string, Answer>} answers
 * @param {AbortSignal} signal
 */
function uiStream({ run, events }, answers, signal) {
  const encoder = new TextEncoder();
  const left = () => run.abort("the page went away");
  signal.addEventListener("abort", left);
  /** @param {import("looplet").RunEvent} event */
  const chunksWithQuestions = (event) => {
    if (event.type !== "question" || event.question !== "permission") return chunksOf(event);
    const { questionId, data } = event;
    const approvalId = approvalOf(run, questionId);
    const answer = answers.get(approvalId);
    if (answer && run.answer(questionId, answer)) return [];
    const { toolCallId } = /** @type {{ toolCallId: string }} */ (data);
    return [{ type: "tool-approval-request", approvalId, toolCallId }];
  };
  /** Whether nothing goes on before the user answers a question. @param {import("looplet").RunEvent} event */
  const isWaiting = (event) =>
    event.type === "waiting" && event.questionIds.some((id) => !answers.has(approvalOf(run, id)));
  return new ReadableStream({
    async pull(controller) {
      /** @param {object[]} chunks */
      const send = (...chunks) => {
        for (const chunk of chunks) controller.enqueue(encoder.encode(`data: ${JSON.stringify(chunk)}\n\n`));
      };
      for (;;) {
        const { done, value } = await events.next();
        const chunks = done ? await ending(run) : chunksWithQuestions(value);
        send(...chunks);
        if (done || isWaiting(value)) {
          if (done) waiting.delete(run.id);
          else waiting.set(run.id, { run, events });
          if (!done) send({ type: "finish-step" }, { type: "finish" });
          controller.enqueue(encoder.encode("data: [DONE]\n\n"));
          signal.removeEventListener("abort", left);
          return controller.close();
        }
        if (chunks.length > 0) return;
      }
    },
    start(controller) {
      // A run that goes on has told its beginning to the earlier response.
      if (waiting.has(run.id)) controller.enqueue(encoder.encode('data: {"type":"start"}\n\n'));
    },
    cancel: left,
  });
}

/** @param {import("looplet").RunEvent} event @returns {object[]} */
function chunksOf(event) {
  switch (event.type) {
    case "run-start":
      return [{ type: "start" }];
    case "iteration-start":
      return [{ type: "start-step" }];
    case "iteration-finish":
      return [{ type: "finish-step" }];
    case "text-start":
    case "text-end":
    case "reasoning-start":
    case "reasoning-end":
      return [{ type: event.type, id: idOf(event) }];
    case "text-delta":
    case "reasoning-delta":
      return [{ type: event.type, id: idOf(event), delta: event.text }];
    case "tool-call": {
      const { toolCallId, toolName, input } = event;
      return [{ type: "tool-input-available", toolCallId, toolName, input }];
    }
    case "tool-result":
      return [{ type: "tool-output-available", toolCallId: event.toolCallId, output: event.output }];
    case "tool-error": {
      const { toolCallId, error } = event;
      return error.code === "denied"
        ? [{ type: "tool-output-denied", toolCallId }]
        : [{ type: "tool-output-error", toolCallId, errorText: error.message }];
    }
    case "abort":
      return [{ type: "abort" }];
    default:
      return [];
  }
}

/** Blocks are counted anew in each iteration; the page knows its parts by these ids. @param {any} event */
const idOf = ({ iteration, block }) => `${iteration}-${block}`;

/** @param {import("looplet").Run} run */
async function ending(run) {
  const { outcome, error } = await run.result;
  return outcome === "failed"
    ? [{ type: "error", errorText: error?.message ?? "The run has failed" }]
    : [{ type: "finish" }];
}

if (isMain(import.meta.url)) {
  const text = process.argv[2] ?? "What is the weather in Paris?";
  const body = JSON.stringify({ messages: [{ id: "1", role: "user", parts: [{ type: "text", text }] }] });
  const response = await POST(new Request("http://localhost/api/chat", { method: "POST", body }));
  process.stdout.write(await response.text());
}
