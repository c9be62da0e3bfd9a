import { failureText } from "looplet/ui";

/** Sentences for users by the code of a failure. The page has no bundle, so they are written into it. */
const sentences = Object.fromEntries(
  [
    ...["rate_limit", "overloaded", "server", "network", "timeout", "auth", "billing", "invalid_request"],
    ...[
      "context_length",
      "content_filter",
      "finish_reason",
      "guardrail",
      "run_held",
      "store_failed",
      "default",
    ],
  ].map((code) => [code, failureText({ code })]),
);

/** The page: it draws the events of one conversation, which the fragment of its address names. */
export const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>A chat in a Durable Object</title>
<style>
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
  body { margin: 0 auto; max-width: 44rem; padding: 1rem; }
  #log > * { margin: 0.5rem 0; padding: 0.6rem 0.9rem; border-radius: 0.7rem; white-space: pre-wrap; overflow-wrap: anywhere; }
  .user { background: light-dark(#dbe7ff, #1d3357); margin-left: 3rem !important; }
  .model { background: light-dark(#f0f0f0, #2a2a2a); }
  .tool, #state { color: light-dark(#555, #aaa); font-size: 0.9rem; }
  .question { border: 2px solid light-dark(#b36b00, #ffb74d); }
  form { display: flex; gap: 0.5rem; position: sticky; bottom: 0; padding: 0.5rem 0; background: Canvas; }
  input { flex: 1; }
  input, button { font: inherit; padding: 0.5rem 0.8rem; border-radius: 0.5rem; border: 1px solid light-dark(#767676, #8f8f8f); }
</style>
<h1>A chat in a Durable Object</h1>
<div id="log" aria-live="polite"></div>
<p id="state" role="status">Connecting …</p>
<form>
  <input name="prompt" aria-label="Message" placeholder="What time is it in Tokyo?" required autocomplete="off">
  <button>Send</button>
  <button type="button" id="stop">Stop</button>
</form>
<script type="module">
  const sentences = ${JSON.stringify(sentences)};
  const sentenceOf = (code) => sentences[code] ?? sentences.default;
  const name = location.hash.slice(1) || crypto.randomUUID();
  location.hash = name;
  const address = (path) => "/sessions/" + name + "/" + path;
  const post = (path, body) => fetch(address(path), { method: "POST", body: JSON.stringify(body) });
  const log = document.querySelector("#log");
  const state = document.querySelector("#state");
  const add = (kind, text) => {
    const line = Object.assign(document.createElement("div"), { className: kind, textContent: text });
    log.append(line);
    line.scrollIntoView({ block: "nearest" });
    return line;
  };
  const questions = new Map();
  let answer;

  function ask({ questionId, data }) {
    questions.get(questionId)?.remove();
    const line = add("question", "May " + data.toolName + " run with " + JSON.stringify(data.input) + "? ");
    questions.set(questionId, line);
    for (const [label, behavior] of [["Allow", "allow"], ["Deny", "deny"]]) {
      const button = Object.assign(document.createElement("button"), { textContent: label });
      button.onclick = () => post("answer", { questionId, answer: { behavior } });
      line.append(button, " ");
    }
  }

  function write({ role, content }) {
    const text = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("");
    if (text !== "") add(role === "user" ? "user" : "model", text);
  }

  function show(event) {
    if (event.agentPath !== "root") return;
    if (event.type === "message" && event.message.role === "user") write(event.message);
    else if (event.type === "snapshot") {
      // A conversation that was imported.
      log.replaceChildren();
      event.messages.forEach(write);
    } else if (event.type === "attempt-start") {
      // An answer that was cut off starts again.
      answer?.remove();
      answer = undefined;
      state.textContent = "The model answers …";
    } else if (event.type === "text-delta") {
      answer ??= add("model", "");
      answer.textContent += event.text;
    } else if (event.type === "iteration-finish") answer = undefined;
    else if (event.type === "tool-call") add("tool", event.toolName + " " + JSON.stringify(event.input));
    else if (event.type === "tool-result") add("tool", "→ " + JSON.stringify(event.output));
    else if (event.type === "tool-error") add("tool", "→ " + event.error.message);
    else if (event.type === "question" && event.question === "permission") ask(event);
    else if (event.type === "answered") questions.get(event.questionId)?.remove();
    else if (event.type === "finish") {
      answer = undefined;
      for (const line of questions.values()) line.remove();
      state.textContent = event.outcome.error ? sentenceOf(event.outcome.error.code) : event.outcome.outcome;
    }
  }

  // The browser reconnects automatically, and sends the id of the last event that it received.
  const events = new EventSource(address("events"));
  events.onopen = () => (state.textContent = "Connected.");
  events.onerror = () => (state.textContent = "The connection is lost. Trying again …");
  events.onmessage = ({ data }) => show(JSON.parse(data));
  events.addEventListener("gap", () => add("tool", "Earlier messages are not shown."));
  document.querySelector("form").onsubmit = async (submitted) => {
    submitted.preventDefault();
    const { prompt } = submitted.target.elements;
    const response = await post("run", { prompt: prompt.value, requestId: crypto.randomUUID() });
    if (response.ok) prompt.value = "";
    else state.textContent = response.status === 400 ? "Write a message first." : sentences.default;
  };
  document.querySelector("#stop").onclick = () => post("abort", {});
</script>
</html>
`;
