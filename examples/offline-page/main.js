// @ts-check
/**
 * A page that works offline after its first visit. Its chats are in files of the browser (OPFS), and a service worker
 * caches the page itself. A run that a reload cut off resumes.
 */
import { anthropic, createAgent } from "looplet";
import { practice } from "looplet/practice";
import { sessionsOf } from "looplet/sessions";
import { opfsStore } from "looplet/stores";
import { failureText } from "looplet/ui";
import { time } from "../tools/time.mjs";

const store = opfsStore();
const sessions = sessionsOf(store);
// A real model needs the network: a server of yours that adds the key, or a model in the page.
const agent = createAgent({
  model: anthropic("practice", { fetch: practice({ delayMs: 20 }) }),
  tools: { time },
  timeouts: { toolMs: 30_000 },
  store,
});

/** @param {string} selector */
const find = (selector) => /** @type {HTMLElement} */ (document.querySelector(selector));
const log = find("#log");
const state = find("#state");
const list = find("#chats");
const form = /** @type {HTMLFormElement} */ (document.querySelector("form"));

/** @type {import("looplet").Chat} */
let chat;
/** The chat to show. @type {Promise<import("looplet").Chat>} */
let opening;

/** @param {string} role @param {string} text */
function add(role, text) {
  const line = Object.assign(document.createElement("p"), { className: role, textContent: text });
  log.append(line);
  line.scrollIntoView({ block: "nearest" });
  return line;
}

function draw() {
  log.replaceChildren();
  for (const { role, content } of chat.messages)
    for (const block of content) if (block.type === "text") add(role, block.text);
}

async function drawList() {
  const all = await sessions.list();
  const open = all.map(({ id, title }) => {
    const button = Object.assign(document.createElement("button"), { textContent: title ?? "New chat" });
    if (id === chat.id) button.setAttribute("aria-current", "true");
    button.onclick = () => show(id);
    return button;
  });
  const fresh = Object.assign(document.createElement("button"), { textContent: "+" });
  fresh.setAttribute("aria-label", "New chat");
  fresh.onclick = () => show();
  list.replaceChildren(...open, fresh);
}

/** Shows a run as it comes. @param {import("looplet").Run} run */
async function follow(run) {
  state.textContent = "…";
  /** @type {HTMLElement | undefined} */
  let line;
  for await (const event of run) {
    if (event.type === "attempt-start") line = void line?.remove();
    else if (event.type === "text-delta") (line ??= add("assistant", "")).textContent += event.text;
    else if (event.type === "iteration-finish") line = undefined;
  }
  const { outcome, error } = await run.result;
  state.textContent = error ? failureText(error) : outcome;
  draw();
}

/** Opens a chat, and resumes the run that a reload cut off. @param {string} [id] */
async function show(id) {
  opening = sessions.open(agent, id);
  chat = await opening;
  state.textContent = "";
  draw();
  await drawList();
  if (chat.current !== undefined) await follow(chat.current);
}

form.onsubmit = async (/** @type {SubmitEvent} */ event) => {
  event.preventDefault();
  const input = /** @type {HTMLInputElement} */ (form.elements.namedItem("prompt"));
  // A message belongs to the chat that was asked for last.
  await opening;
  if (chat.current !== undefined) return;
  const prompt = input.value;
  input.value = "";
  add("user", prompt);
  const isFirst = chat.messages.length === 0;
  const run = chat.run(prompt);
  if (isFirst) await sessions.rename(/** @type {string} */ (chat.id), prompt.slice(0, 40));
  await drawList();
  await follow(run);
};

// A chat as a file, which the other examples take in.
find("#save").onclick = async () => {
  const id = /** @type {string} */ (chat.id);
  await chat.saved();
  const file = new Blob([(await sessions.export(id)) ?? ""]);
  Object.assign(document.createElement("a"), {
    href: URL.createObjectURL(file),
    download: `${id}.ndjson`,
  }).click();
};
find("#open").onchange = async (event) => {
  const [file] = /** @type {HTMLInputElement} */ (event.target).files ?? [];
  if (file === undefined) return;
  const id = file.name.replace(/\.ndjson$/, "");
  try {
    await sessions.import(agent, id, await file.text());
    await show(id);
  } catch (error) {
    console.error(error);
    state.textContent = "This file is not a chat of this page.";
  }
};

await navigator.serviceWorker.register("./worker.js");
await navigator.serviceWorker.ready;
await show((await sessions.latest())?.id);
document.body.dataset.ready = "true";
