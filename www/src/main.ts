/** Wires the parts of the page to one conversation. Imports looplet as any application does: by its name. */
import { AllRuns } from "./all-runs.js";
import { Answer } from "./answer.js";
import { BudgetBars } from "./budget-bars.js";
import { budgets, initialLimits, type BudgetName, type Limits } from "./budget.js";
import { Composer } from "./composer.js";
import { modelNameOf, nameOf, practiceConnection, type Connection } from "./connection.js";
import { Conversation } from "./conversation.js";
import { CompactButton } from "./compact-button.js";
import { Controls } from "./controls.js";
import { byId, element } from "./element.js";
import { EventLog } from "./event-log.js";
import { explainThrown, type Explanation } from "./failure.js";
import { icon } from "./icon.js";
import { Meter } from "./meter.js";
import { ModelSwitch } from "./model-switch.js";
import { notice } from "./notice.js";
import { ModeSwitch, modeNameOf, type Mode } from "./permission.js";
import { Queue } from "./queue.js";
import { RunFile } from "./run-file.js";
import { RunTrace } from "./run-trace.js";
import { Scroll } from "./scroll.js";
import { Settings } from "./settings.js";
import { Tally } from "./tally.js";
import { setUpTheme } from "./theme.js";
import { Waterfall } from "./waterfall.js";
import { fillWelcome } from "./welcome.js";

const transcript = byId("transcript");
const welcome = byId("welcome");
const connectionButton = byId<HTMLButtonElement>("connection");
const logButton = byId<HTMLButtonElement>("toggle-log");
const traceButton = byId<HTMLButtonElement>("toggle-trace");
const runFileButton = byId<HTMLButtonElement>("run-file");
const newChatButton = byId<HTMLButtonElement>("new-chat");

const scroll = new Scroll(byId("scroller"));
const modeSwitch = new ModeSwitch(setMode);
const modelSwitch = new ModelSwitch(changeModel);
const compactButton = new CompactButton(() => conversation.compact());
const bars = new BudgetBars(initialLimits, (share, state) => controls.showBudget(share, state));
const controls = new Controls([modeSwitch.element, modelSwitch.element, compactButton.element], bars.element);
const meter = new Meter(controls.toggle, () => answer?.review());
const queue = new Queue();
const log = new EventLog(byId("event-log"), () => showLog(false));
const waterfall = new Waterfall(byId("trace"), () => showTrace(false));
const allRuns = new AllRuns();
byId("trace").append(allRuns.element);
const composer = new Composer({
  ask: (text) => conversation.ask(text),
  tell: (kind, text) => conversation.tell(kind, text),
  stop: () => conversation.stop(),
  typed: () => showBound(),
});
/** A run that waits for its connection. */
const waiting = element("div", { class: "cut-off-run" });
let answer: Answer | undefined;
let tally = new Tally();
let boundTimer: ReturnType<typeof setTimeout> | undefined;

const conversation = new Conversation(
  {
    started(prompt, number, origin) {
      welcome.hidden = true;
      waiting.remove();
      transcript.append(bubble(prompt));
      tally = new Tally();
      answer = new Answer(transcript, `Run ${number}`, tally, origin, {
        act,
        goOn,
        raised: (budget) => budgets[budget].describe(more(budget)),
        schemaOf: (toolName) => conversation.schemaOf(toolName),
        answer: (questionId, result) => conversation.answer(questionId, result),
        leave: () => composer.focus(),
        bubble,
        carryOut,
      });
      meter.start(tally);
      bars.start(tally);
      log.start();
      composer.setRunning(true);
      scroll.toEnd();
    },
    traced(run) {
      const trace = new RunTrace();
      waterfall.start(`Run ${conversation.runs + 1}`, trace);
      return trace.tracer(waterfall.changed)(run);
    },
    happened(event, timeMs) {
      log.add(event, timeMs);
      tally.handle(event, timeMs);
      meter.handle(event);
      bars.grow();
      if (event.type === "finish") void allRuns.draw();
      if (event.type === "steer-delivered") {
        for (const id of event.ids) {
          const told = queue.take(id);
          if (told) answer?.heard(bubble(told.text, told.kind));
        }
      }
      answer?.handle(event);
      if (event.type === "question" || event.type === "answered") meter.waitFor(answer?.openQuestions ?? 0);
    },
    queued: (kind, text, queued) => queue.add(kind, text, queued),
    settled(result) {
      tally.settle(result);
      answer?.settle(result);
      meter.settle(result);
      bars.settle();
      waterfall.settle();
      composer.setRunning(false);
      showBound();
      const undelivered = result.undelivered.flatMap((id) => queue.take(id)?.text ?? []);
      if (undelivered.length > 0) composer.restore(undelivered.join("\n"));
      queue.clear();
    },
    refused(error) {
      const { title, advice, details } = explainThrown(error);
      transcript.append(
        notice(
          "error",
          title,
          element("p", { class: "quiet" }, advice),
          element("pre", { tabindex: 0 }, details),
        ),
      );
    },
    restored({ connection, limits, mode }) {
      showLimits(limits);
      showMode(mode);
      showConnection(connection);
    },
    cannotGoOn(prompt, model) {
      welcome.hidden = true;
      waiting.replaceChildren(
        bubble(prompt),
        notice(
          "warning",
          "The run was cut off, and its key is gone with the page.",
          element(
            "p",
            { class: "quiet" },
            `Choose the connection to ${model} again, and the run goes on. Another question leaves it.`,
          ),
          element(
            "p",
            { class: "actions" },
            element("button", { type: "button", class: "small", click: openSettings }, "Open the connection"),
          ),
        ),
      );
      transcript.append(waiting);
    },
    compacting: (isWaiting) => compactButton.show(isWaiting),
    nothingToCompact: () =>
      transcript.append(notice("info", "Nothing was compacted: all that there is has to be kept.")),
    cleared() {
      transcript.replaceChildren();
      scroll.toStart();
      welcome.hidden = false;
      queue.clear();
      meter.clear();
      bars.clear();
      log.clear();
      waterfall.clear();
      composer.setRunning(false);
      composer.focus();
    },
  },
  { connection: practiceConnection, limits: initialLimits, mode: "default" },
);

const runFile = new RunFile({
  latest: () => conversation.export(),
  setup: () => conversation.setup,
  tools: () => conversation.tools,
  fork({ name, replay }, { step, told, ...setup }) {
    const { journal, messages } = replay.at(step);
    const asked = messages.filter(({ role }) => role === "user").flatMap(({ content }) => content);
    const [prompt] = asked.flatMap((block) => (block.type === "text" ? [block.text] : []));
    conversation.fork(prompt ?? name, journal, `Forked here, at step ${step + 1} of ${name}.`, setup, told);
    composer.focus();
  },
});

const settings = new Settings((connection, limits) => {
  conversation.change({ connection, limits });
  showConnection(connection);
  showLimits(limits);
  conversation.goOn();
});

byId("dock").append(scroll.button, queue.element, controls.element, meter.element, composer.element);
fillWelcome(welcome, (prompt) => {
  conversation.ask(prompt);
  composer.focus();
});
setUpTheme(byId<HTMLButtonElement>("theme"));
newChatButton.setAttribute("aria-label", "New chat");
newChatButton.append(icon("plus"), element("span", {}, "New chat"));
newChatButton.addEventListener("click", () => conversation.clear());
runFileButton.setAttribute("aria-label", "Run file");
runFileButton.append(icon("file"), element("span", {}, "Run file"));
runFileButton.addEventListener("click", () => runFile.open());
logButton.setAttribute("aria-label", "Events");
logButton.append(icon("list"), element("span", {}, "Events"));
logButton.addEventListener("click", () => showLog(!log.isOpen));
traceButton.setAttribute("aria-label", "Trace");
traceButton.append(icon("waterfall"), element("span", {}, "Trace"));
traceButton.addEventListener("click", () => showTrace(!waterfall.isOpen));
connectionButton.addEventListener("click", openSettings);
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || document.querySelector("dialog[open]")) return;
  if (conversation.isRunning) conversation.stop();
  else if (log.isOpen) showLog(false);
  else if (waterfall.isOpen) showTrace(false);
});
showLimits(initialLimits);
showMode("default");
showConnection(practiceConnection);
conversation.recall();
composer.focus();

function act(action: NonNullable<Explanation["action"]>): void {
  if (action === "connection") openSettings();
  else if (action === "new-chat") conversation.clear();
  else conversation.retry();
}

function openSettings(): void {
  settings.open(conversation.setup.connection, conversation.setup.limits);
}

function changeModel(connection: Connection): void {
  try {
    conversation.changeModel(connection);
  } finally {
    showConnection(conversation.setup.connection);
  }
}

function setMode(mode: Mode): void {
  conversation.change({ mode });
  showMode(mode);
}

function showLimits(limits: Limits): void {
  bars.show(limits);
  showBound();
}

/** Says what the next run may cost: when what it depends on stands still for a moment. */
function showBound(): void {
  clearTimeout(boundTimer);
  boundTimer = setTimeout(() => {
    void conversation.bound(composer.text || "?").then((bound) => bars.showBound(bound));
  }, 300);
}

function showMode(mode: Mode): void {
  modeSwitch.show(mode);
  controls.showMode(modeNameOf(mode));
  composer.setPlanning(mode === "plan");
}

/** Twice as much as a run may use. */
function more(budget: BudgetName): number {
  return (conversation.setup.limits[budget] ?? 0) * 2;
}

function goOn(budget: BudgetName): void {
  if (conversation.isRunning) return;
  const limits = { ...conversation.setup.limits, [budget]: more(budget) };
  conversation.change({ limits });
  showLimits(limits);
  conversation.ask("Go on.");
  composer.focus();
}

function carryOut(): void {
  if (conversation.isRunning) return;
  setMode("default");
  conversation.ask("Go ahead.");
  composer.focus();
}

// There is room for one of the two.
function showLog(isOpen: boolean): void {
  if (isOpen && waterfall.isOpen) showTrace(false);
  showPanel(log, byId("event-log"), logButton, isOpen);
}

function showTrace(isOpen: boolean): void {
  if (isOpen && log.isOpen) showLog(false);
  showPanel(waterfall, byId("trace"), traceButton, isOpen);
}

function showPanel(
  view: { setOpen(isOpen: boolean): void },
  panel: HTMLElement,
  button: HTMLElement,
  isOpen: boolean,
): void {
  const hadFocus = panel.contains(document.activeElement);
  view.setOpen(isOpen);
  button.setAttribute("aria-expanded", String(isOpen));
  if (hadFocus && !isOpen) button.focus();
}

function showConnection(connection: Connection): void {
  connectionButton.replaceChildren(
    element("span", { class: `dot ${connection.kind}` }),
    element("span", { class: "label" }, nameOf(connection)),
  );
  connectionButton.setAttribute("aria-label", `Connection: ${nameOf(connection)}`);
  modelSwitch.show(connection);
  showBound();
  controls.showModel(modelNameOf(connection));
}

function bubble(text: string, kind?: string): HTMLElement {
  const label = kind === undefined ? [] : [element("span", { class: "badge" }, kind)];
  return element("section", { class: "asked", "aria-label": "You" }, ...label, element("p", {}, text));
}
