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
    advice: "looplet retried and gave up. Wait a moment, then try again.",
    action: "retry",
  },
  auth: {
    title: "The key was refused",
    advice: "Check that the key is correct and belongs to this provider and address.",
    action: "connection",
  },
  billing: {
    title: "The account has no credit",
    advice: "Check the balance and the spending limit of your account with the provider.",
    action: "connection",
  },
  invalid_request: {
    title: "The provider refused the request",
    advice: "The usual cause is a wrong model name, or an option that the model does not support.",
    action: "connection",
  },
  context_length: {
    title: "The conversation is too long",
    advice: "Start a new chat, or choose a model with a larger context.",
    action: "new-chat",
  },
  content_filter: {
    title: "The provider's filter stopped the answer",
    advice: "Rephrase the question.",
    action: undefined,
  },
  not_found: { title: "Not found", advice: "Check the model's name and the base URL.", action: "connection" },
  server: {
    title: "The provider failed",
    advice: "looplet retried and gave up. Try again.",
    action: "retry",
  },
  network: {
    title: "The provider cannot be reached",
    advice:
      "Check the connection and the base URL. A server that sends no CORS headers cannot be called from a page: put a proxy in front.",
    action: "connection",
  },
  timeout: {
    title: "The answer timed out",
    advice: "The stream sent nothing for too long. Try again.",
    action: "retry",
  },
  malformed_stream: {
    title: "The answer does not follow the protocol",
    advice: "Check that the base URL is that of the API, not of a web page.",
    action: "connection",
  },
  redirected: {
    title: "The server redirects the request",
    advice:
      "looplet does not follow redirects, because they would forward the key. Set the base URL to the final address.",
    action: "connection",
  },
  finish_reason: {
    title: "The answer is incomplete",
    advice: "Ask for a shorter answer, or allow more output tokens.",
    action: "retry",
  },
  custom_model: {
    title: "The function of the custom model failed",
    advice: "The details below have its error message. A retry would fail in the same way.",
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
    title: "A guardrail blocked it",
    advice: "The question or the answer was not allowed. Ask something else.",
    action: "retry",
  },
  run_held: {
    title: "Another tab performs this run",
    advice: "Continue in that tab. If there is none, try again in a minute.",
    action: "retry",
  },
  journal_gone: {
    title: "The saved run was deleted",
    advice: "The data of this site was cleared in this tab or another one. Start a new run.",
    action: undefined,
  },
  store_failed: {
    title: "This browser could not read the saved run",
    advice: "The storage of this site may be full, closed or blocked. The run is unchanged.",
    action: "retry",
  },
  run_exists: {
    title: "Another run has this id",
    advice: "Start a new run.",
    action: "retry",
  },
  bug: {
    title: "A bug in looplet",
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
    "Everyone who can open the page can read its key. Tick the box if this is your own key in your own browser.";
  const advice = code === "config_browser_key" ? key : "Correct it and try again.";
  const known = byCode[code as FailureCode] ?? {
    title: "The settings do not work",
    advice,
    action: "connection",
  };
  return { ...known, details: code === "" ? said : `${said} · code ${code}` };
}

/** The message without the place to read more, which is in the package. */
function saidBy({ field, problem }: LoopletError): string {
  return field === "" ? problem : `${field}: ${problem}`;
}
