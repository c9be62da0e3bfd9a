/** What went wrong, and what the user can do about it. */
import { LoopletError, type Failure, type FailureCode } from "looplet";
import { failureText } from "looplet/ui";

/** A failure in words. `action` names the button that helps. */
export interface Explanation {
  title: string;
  advice: string;
  details: string;
  action: "retry" | "connection" | "new-chat" | undefined;
}

const byCode: Record<FailureCode, Omit<Explanation, "details">> = {
  rate_limit: {
    title: "Too many requests",
    advice: "The provider asks you to wait. Try again in a moment.",
    action: "retry",
  },
  overloaded: {
    title: "The provider is overloaded",
    advice: "looplet tried again and gave up. Wait a little, then try again.",
    action: "retry",
  },
  auth: {
    title: "The key was refused",
    advice: "Check the key, and whether it belongs to this provider and address.",
    action: "connection",
  },
  billing: {
    title: "The account cannot pay",
    advice: "Check the credit or the spending limit at your provider.",
    action: "connection",
  },
  invalid_request: {
    title: "The provider refused the request",
    advice: "Often a wrong model name or an option the model does not know.",
    action: "connection",
  },
  context_length: {
    title: "The conversation is too long",
    advice: "Start a new chat, or choose a model with a larger context.",
    action: "new-chat",
  },
  content_filter: {
    title: "The provider's filter stopped the answer",
    advice: "Put the question in other words.",
    action: undefined,
  },
  not_found: { title: "Not found", advice: "Check the model's name and the base URL.", action: "connection" },
  server: {
    title: "The provider failed",
    advice: "looplet tried again and gave up. Try once more.",
    action: "retry",
  },
  network: {
    title: "The provider cannot be reached",
    advice:
      "Check the connection and the base URL. A server that sends no CORS headers cannot be called from a page: put a proxy in front.",
    action: "connection",
  },
  timeout: {
    title: "No answer in time",
    advice: "The stream stood still for too long. Try again.",
    action: "retry",
  },
  malformed_stream: {
    title: "The answer is not what the protocol promises",
    advice: "Is the base URL that of the API, and not of a web page?",
    action: "connection",
  },
  redirected: {
    title: "The server sends the request elsewhere",
    advice:
      "looplet follows no redirect, because the key would go along. Set the base URL to the final address.",
    action: "connection",
  },
  finish_reason: {
    title: "The answer did not end as it should",
    advice: "Ask for a shorter answer, or allow more output tokens.",
    action: "retry",
  },
  custom_model: {
    title: "The code that answers as a model has failed",
    advice: "The details below have its words. Another attempt would fail in the same way.",
    action: "connection",
  },
  config_invalid: {
    title: "A setting was refused",
    advice: "Correct it and try again.",
    action: "connection",
  },
  config_wasm: {
    title: "The engine could not start",
    advice: "The page's Content-Security-Policy must allow 'wasm-unsafe-eval'. Reload the page.",
    action: undefined,
  },
  guardrail: {
    title: "A guardrail said no",
    advice: "What was asked or answered is not let through. Ask something else.",
    action: "retry",
  },
  run_held: {
    title: "Another page is at work on this run",
    advice: "Look for it in your other tabs. Without one, try again in a minute.",
    action: "retry",
  },
  journal_gone: {
    title: "The saved run was deleted",
    advice: "The data of this site was cleared, here or in another tab. Begin a new run.",
    action: undefined,
  },
  store_failed: {
    title: "This browser could not read the kept run",
    advice: "The storage of this site may be full, closed or blocked. The run is unchanged.",
    action: "retry",
  },
  run_exists: {
    title: "There is another run with this id",
    advice: "Begin a new run.",
    action: "retry",
  },
  bug: {
    title: "A defect of looplet",
    advice: "Only this run ended. Please report it with the details below.",
    action: "retry",
  },
};

/** The page's own sentences, for developers who try looplet. A code without one has that of `looplet/ui`. */
const titles = Object.fromEntries(Object.entries(byCode).map(([code, { title }]) => [code, title]));

/** Words for the failure of a run. */
export function explain(failure: Failure): Explanation {
  const { model, requestId, body } = failure;
  const facts = [
    failure.message,
    requestId ? `request ${requestId}` : "",
    // The message of a model call has its code already.
    model ? "" : `code ${failure.code}`,
  ];
  const details = facts.filter(Boolean).join(" · ") + (body ? `\n${body}` : "");
  const known = byCode[failure.code] ?? { advice: "Try again.", action: "retry" };
  return { ...known, title: failureText(failure, titles), details };
}

/** Words for what `createAgent` threw, and for the error of a conversation that could not ask. */
export function explainThrown(error: unknown): Explanation {
  const { code = "", message = String(error) } = Object(error) as Partial<LoopletError>;
  const said = error instanceof LoopletError ? saidBy(error) : message;
  const key =
    "A key in a page can be read by everybody who can open it. Tick the box if it is your own key in your own browser.";
  const advice = code === "config_browser_key" ? key : "Correct it and try again.";
  const known = byCode[code as FailureCode] ?? { title: "This cannot work", advice, action: "connection" };
  return { ...known, details: code === "" ? said : `${said} · code ${code}` };
}

/** The message without the place to read more, which is in the package. */
function saidBy({ field, problem }: LoopletError): string {
  return field === "" ? problem : `${field}: ${problem}`;
}
