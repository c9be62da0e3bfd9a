/** The tab where `query` of looplet/agent-sdk works on files that one sees. */
import { Composer } from "../composer.js";
import { nameOf, practiceConnection } from "../connection.js";
import { byId, element } from "../element.js";
import { explainThrown } from "../failure.js";
import { icon } from "../icon.js";
import { notice } from "../notice.js";
import { ModeSwitch } from "../permission.js";
import { Scroll } from "../scroll.js";
import { Settings } from "../settings.js";
import { setUpTheme } from "../theme.js";
import { suggestionList } from "../welcome.js";
import { Files, Sessions, Todos } from "./panels.js";
import { project } from "./project.js";
import { suggestions } from "./stand-in.js";
import { Talk } from "./talk.js";
import { Turn } from "./turn.js";

const transcript = byId("transcript");
const welcome = byId("welcome");
const connectionButton = byId<HTMLButtonElement>("connection");
const workspace = byId("workspace");
const workspaceButton = byId<HTMLButtonElement>("toggle-workspace");
const scroll = new Scroll(byId("scroller"));
let turn: Turn | undefined;

const vfs = project((path) => void files.changed(path));
const files = new Files(vfs);
const todos = new Todos();
const sessions = new Sessions({
  begin() {
    if (talk.isRunning) return;
    clear();
    void talk.begin();
  },
  open: (id) => void open(id),
  async fork(id) {
    if (talk.isRunning) return;
    await talk.fork(id);
  },
});
const composer = new Composer({
  ask: (text) => void talk.ask(text),
  tell(_, text) {
    turn?.element.append(bubble(text));
    void talk.tell(text);
  },
  stop: () => talk.stop(),
  typed: () => {},
});
const talk = new Talk(vfs, practiceConnection, {
  started(prompt) {
    welcome.hidden = true;
    turn = new Turn();
    transcript.append(bubble(prompt), turn.element);
    composer.setRunning(true);
    scroll.toEnd();
  },
  message(message) {
    turn?.show(message);
    if (message.type !== "assistant" || message.parent_tool_use_id !== null) return;
    for (const block of message.message.content)
      if (block.type === "tool_use" && block.name === "TodoWrite") todos.show((block.input as any).todos);
  },
  ended(error) {
    turn?.close();
    composer.setRunning(false);
    if (error === undefined) return;
    const { title, advice, details } = explainThrown(error);
    const lines = [element("p", { class: "quiet" }, advice), element("pre", { tabindex: 0 }, details)];
    transcript.append(notice("error", title, ...lines));
  },
  sessions: (list, current) => sessions.show(list, current),
  canUseTool: (toolName, input, request) =>
    turn?.ask({ ...request, toolName, input }) ?? { behavior: "deny", message: "Nobody is there to ask." },
});
const modes = new ModeSwitch((mode) => {
  talk.setMode(mode);
  modes.show(mode);
});
const settings = new Settings(
  (connection) => {
    talk.connection = connection;
    showConnection();
  },
  { hasBudgets: false, practice: "A stand-in that knows two tasks. No key, no network." },
);

byId("dock").append(scroll.button, element("div", { class: "mode-row" }, modes.element), composer.element);
workspace.append(files.element, todos.element, sessions.element);
workspaceButton.setAttribute("aria-label", "Workspace");
workspaceButton.append(icon("file"), element("span", {}, "Workspace"));
workspaceButton.addEventListener("click", () =>
  workspaceButton.setAttribute("aria-expanded", String(workspace.classList.toggle("open"))),
);
welcome.append(
  element("h2", { id: "welcome-title" }, "Watch an agent work on files"),
  element(
    "p",
    { class: "lead" },
    "query() of looplet/agent-sdk with its built-in tools, in this tab: the files of the workspace are in memory, and each change waits for you.",
  ),
  suggestionList(suggestions, (prompt) => void talk.ask(prompt)),
);
setUpTheme(byId<HTMLButtonElement>("theme"));
connectionButton.addEventListener("click", () => settings.open(talk.connection, {}));
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !document.querySelector("dialog[open]") && talk.isRunning) talk.stop();
});
showConnection();
void talk.begin();
composer.focus();

function showConnection(): void {
  const { connection } = talk;
  const name = connection.kind === "practice" ? "Stand-in" : nameOf(connection);
  connectionButton.replaceChildren(
    element("span", { class: `dot ${connection.kind}` }),
    element("span", { class: "label" }, name),
  );
  connectionButton.setAttribute("aria-label", `Connection: ${name}`);
}

function clear(): void {
  transcript.replaceChildren();
  todos.show([]);
  welcome.hidden = false;
  scroll.toStart();
  composer.focus();
}

/** Shows another session and goes on with it. */
async function open(id: string): Promise<void> {
  if (talk.isRunning) return;
  const messages = await talk.open(id);
  clear();
  welcome.hidden = true;
  for (const { type, message } of messages) {
    const asked = message.content.flatMap((block) =>
      type === "user" && block.type === "text" ? [block.text] : [],
    );
    if (asked.length > 0) {
      turn = new Turn();
      transcript.append(bubble(String(asked.join("\n"))), turn.element);
    } else turn?.restore(type, message.content);
  }
  scroll.toEnd();
}

function bubble(text: string): HTMLElement {
  return element("section", { class: "asked", "aria-label": "You" }, element("p", {}, text));
}
