/** A run file, step by step: the state behind each step, what came in and what followed from it. */
import type { RunEvent, RunEventOf, Tool } from "looplet";
import type { Replay, ReplayMoment, ReplayStep } from "looplet/replay";
import { AgentView, textOf } from "./agent-view.js";
import { cost, counted, shown } from "./amount.js";
import type { Setup } from "./conversation.js";
import { element } from "./element.js";
import { ForkForm, type Fork } from "./fork-form.js";
import { drawNow, drawSoon } from "./frame.js";
import { notice } from "./notice.js";

/** A file that was played. */
export interface OpenedRun {
  name: string;
  text: string;
  replay: Replay;
}

/** Contract: what a person does from inside the player. */
interface PlayerActions {
  setup: Readonly<Setup>;
  tools: { readonly [name: string]: Tool };
  save(): void;
  fork(fork: Fork): void;
}

export class RunPlayer {
  readonly element: HTMLElement;
  readonly #run: Replay;
  readonly #name: string;
  /** Indexes of the steps that the buttons and the list go through. */
  #shown: number[] = [];
  /** An index of `#shown`. */
  #at = 0;
  readonly #slider = element("input", {
    type: "range",
    min: 0,
    "aria-label": "Step",
    input: () => this.#go(Number(this.#slider.value)),
  });
  readonly #back = this.#button("Back", () => this.#go(this.#at - 1));
  readonly #forward = this.#button("Forward", () => this.#go(this.#at + 1));
  readonly #place = element("p", { class: "place", role: "status" });
  readonly #every = element("input", {
    type: "checkbox",
    change: () => this.#list(this.#shown[this.#at] ?? 0),
  });
  readonly #steps = element("ol", { class: "steps", tabindex: 0, "aria-label": "Steps" });
  readonly #state = element("section", {
    class: "moment",
    "aria-label": "State behind this step",
    tabindex: 0,
  });
  readonly #event = element("section", { class: "happening", "aria-label": "This step", tabindex: 0 });
  readonly #fork: ForkForm;
  readonly #copied = element("span", { class: "quiet", role: "status" });

  constructor({ name, replay }: OpenedRun, actions: PlayerActions) {
    this.#run = replay;
    this.#name = name;
    this.#fork = new ForkForm(actions.setup, actions.tools, actions.fork);
    const lost =
      replay.lost === undefined
        ? []
        : [
            notice(
              "error",
              "looplet itself failed in the last step.",
              element("pre", { tabindex: 0 }, replay.lost),
            ),
          ];
    this.element = element(
      "div",
      { class: "player" },
      ...lost,
      element(
        "div",
        { class: "player-bar" },
        this.#back,
        this.#slider,
        this.#forward,
        element("label", { class: "check" }, this.#every, element("span", {}, "Every input")),
      ),
      this.#place,
      element("div", { class: "player-columns" }, this.#steps, this.#event, this.#state),
      this.#fork.element,
      element(
        "p",
        { class: "actions" },
        this.#button("Copy as test", () => void this.#copyTest()),
        this.#button("Save the file", actions.save),
        this.#copied,
      ),
    );
    this.#list(replay.steps.length - 1);
  }

  focus(): void {
    this.#slider.focus();
  }

  draw(): void {
    const index = this.#shown[this.#at] ?? 0;
    const step = this.#run.steps[index];
    if (!step) return;
    this.#slider.setAttribute("aria-valuetext", `${index + 1} of ${this.#run.steps.length}: ${nameOf(step)}`);
    this.#place.textContent = `Step ${index + 1} of ${this.#run.steps.length}: ${nameOf(step)}`;
    this.#back.disabled = this.#at === 0;
    this.#forward.disabled = this.#at >= this.#shown.length - 1;
    for (const [at, item] of [...this.#steps.children].entries()) {
      const button = item.firstElementChild;
      if (at === this.#at) button?.setAttribute("aria-current", "step");
      else button?.removeAttribute("aria-current");
      if (at === this.#at) item.scrollIntoView({ block: "nearest" });
    }
    this.#event.replaceChildren(...happening(step));
    let moment: ReplayMoment | undefined;
    try {
      moment = this.#run.at(index);
      this.#state.replaceChildren(...stateOf(moment, this.#run.steps.slice(0, index + 1)));
    } catch (error) {
      // The step in which looplet was lost has no state.
      this.#state.replaceChildren(
        element("p", { class: "quiet" }, error instanceof Error ? error.message : String(error)),
      );
    }
    this.#fork.show(index, (moment?.journal.length ?? 0) > 0);
    drawNow();
  }

  /** Goes to an index of the steps that are shown. */
  #go(at: number): void {
    this.#at = Math.min(Math.max(0, at), this.#shown.length - 1);
    this.#slider.value = String(this.#at);
    drawSoon(this);
  }

  /** Lists the steps anew and goes to this one, or to the last before it. */
  #list(index: number): void {
    const { steps } = this.#run;
    const isShown = (step: ReplayStep, at: number) =>
      this.#every.checked || at === steps.length - 1 || isTelling(step);
    this.#shown = steps.flatMap((step, at) => (isShown(step, at) ? [at] : []));
    this.#slider.max = String(this.#shown.length - 1);
    this.#steps.replaceChildren(
      ...this.#shown.map((at, place) =>
        element(
          "li",
          {},
          element(
            "button",
            { type: "button", class: "ghost small", tabindex: -1, click: () => this.#go(place) },
            element("span", { class: "seq" }, String(at + 1)),
            element("span", {}, nameOf(steps[at]!)),
          ),
        ),
      ),
    );
    this.#go(this.#shown.filter((at) => at <= index).length - 1);
  }

  async #copyTest(): Promise<void> {
    await navigator.clipboard.writeText(testOf(this.#name));
    this.#copied.textContent = `Copied. Save the file as ${this.#name} beside the test.`;
  }

  #button(label: string, click: () => void): HTMLButtonElement {
    return element("button", { type: "button", class: "small", click }, label);
  }
}

/** The code of a test that plays the file. */
function testOf(name: string): string {
  const quoted = JSON.stringify(name);
  return `import { readFile } from "node:fs/promises";
import { test } from "node:test";
import "looplet"; // the engine
import { expectReplay } from "looplet/testing";

test(${JSON.stringify(`the run ${name}`)}, async () => {
  await expectReplay(await readFile(new URL(${quoted}, import.meta.url), "utf8"));
});
`;
}

/** A step that more followed from than a piece of a text. */
function isTelling({ events, requests, calls, questions }: ReplayStep): boolean {
  const isMore = events.some(({ type }) => !type.endsWith("-delta") && type !== "usage");
  return isMore || requests.length + calls.length + questions.length > 0;
}

const inputs: Record<string, string> = {
  prompt: "The prompt",
  steer: "A steer",
  followUp: "A follow-up",
  handedOver: "The next iteration may begin",
  head: "The response begins",
  end: "The response ends",
  networkFailed: "The network fails",
  toolFinished: "A tool has finished",
  toolProgress: "A tool reports progress",
  toolAsks: "A tool asks a person",
  toolCheckpoint: "A tool keeps a state",
  answered: "A question is answered",
  saved: "The store has a save",
  due: "A time is up",
  cancel: "The run is aborted",
  resume: "The run goes on in another process",
};

/** What came in, in a few words, and what followed from it. */
function nameOf({ input, events, calls }: ReplayStep): string {
  const kind = kindOf(input.input);
  const followed = [...new Set(events.map(titleOf))].slice(0, 3).join(", ");
  const called = calls.map(({ toolName }) => `calls ${toolName}`).join(", ");
  const more = [followed, called].filter(Boolean).join(" · ");
  return more === "" ? kind : `${kind} → ${more}`;
}

function titleOf(event: RunEvent): string {
  return event.type === "question" ? `asks ${questionOf(event)}` : event.type;
}

function questionOf({ question, data }: RunEventOf<"question">): string {
  return data ? `${question} of ${data.toolName}` : question;
}

function kindOf(input: ReplayStep["input"]["input"]): string {
  if (!("json" in input)) return "A piece of the response";
  const { json } = input;
  const name = typeof json === "string" ? json : (Object.keys(json as object)[0] ?? "");
  return inputs[name] ?? name;
}

function happening(step: ReplayStep): HTMLElement[] {
  const { input, events, requests, calls, questions, entries } = step;
  const { input: told } = input;
  const came =
    "json" in told
      ? told.json
      : "text" in told
        ? told.text.text
        : `${told.bytes.base64.length} characters of base64`;
  return [
    element("h3", {}, "Came in"),
    element("pre", { tabindex: 0 }, shown(came)),
    ...list("Events", events, ({ type }) => type),
    ...list("Requests", requests, ({ method, url }) => `${method} ${url}`),
    ...list("Calls", calls, ({ toolName }) => toolName),
    ...list("Questions", questions, ({ point }) => point),
    ...list("Entries of the journal", entries, ({ seq }) => `Entry ${seq}`),
  ];
}

/** A list whose items open to their JSON. */
function list<Item>(title: string, items: readonly Item[], name: (item: Item) => string): HTMLElement[] {
  if (items.length === 0) return [];
  return [
    element("h3", {}, title),
    ...items.map((item) =>
      element(
        "details",
        { class: "item" },
        element("summary", {}, name(item)),
        element("pre", { tabindex: 0 }, JSON.stringify(item, null, 2)),
      ),
    ),
  ];
}

function stateOf(moment: ReplayMoment, steps: readonly ReplayStep[]): HTMLElement[] {
  const { messages, usage, iterations, outcome, text, toolCalls } = moment;
  const facts = [
    outcome ?? "at work",
    counted(iterations, "iteration"),
    usage === null ? "no usage yet" : `${counted(usage.inputTokens, "token")} in, ${usage.outputTokens} out`,
    usage?.costNanoUsd == null ? "" : cost(usage.costNanoUsd / 1e9),
  ].filter(Boolean);
  const transcript = element("div", { class: "transcript" });
  const view = new AgentView(() => transcript);
  for (const message of messages) {
    if (message.role === "user" && message.content.some(({ type }) => type === "text")) {
      const said = message.content.filter(({ type }) => type === "text");
      transcript.append(
        element("section", { class: "asked", "aria-label": "You" }, element("p", {}, textOf(said))),
      );
    }
    const rest =
      message.role === "user" ? message.content.filter(({ type }) => type !== "text") : message.content;
    view.restore({ ...message, content: rest });
  }
  const open = openEffects(moment, steps);
  const isWriting = open.requests > 0 && text !== "";
  return [
    element("p", { class: "facts" }, ...facts.map((fact) => element("span", { class: "badge" }, fact))),
    ...(open.lines.length === 0
      ? []
      : [
          element("h3", {}, "Open"),
          element("ul", { class: "open-effects" }, ...open.lines.map((line) => element("li", {}, line))),
        ]),
    element("h3", {}, `Messages (${messages.length})`),
    transcript,
    ...(isWriting ? [element("h3", {}, "The answer so far"), element("p", { class: "quiet" }, text)] : []),
    ...(toolCalls.length === 0 && messages.length === 0
      ? [element("p", { class: "quiet" }, "Nothing is said yet.")]
      : []),
  ];
}

/** Requests, calls and questions that nobody has answered behind the last of these steps. */
function openEffects(
  { outcome, toolCalls }: ReplayMoment,
  steps: readonly ReplayStep[],
): { requests: number; lines: string[] } {
  if (outcome !== undefined) return { requests: 0, lines: [] };
  let requests = 0;
  const questions = new Map<number, string>();
  for (const { input, requests: sent, events } of steps) {
    const json = "json" in input.input ? input.input.json : undefined;
    if (typeof json === "object" && json !== null && ("end" in json || "networkFailed" in json))
      requests -= 1;
    requests += sent.length;
    for (const event of events) {
      if (event.type === "question")
        questions.set(event.questionId, `A question waits: ${questionOf(event)}`);
      else if (event.type === "answered") questions.delete(event.questionId);
    }
  }
  const calls = toolCalls
    .filter(({ output }) => output === null)
    .map(({ toolName }) => `${toolName} has no result yet`);
  const asked = requests > 0 ? [`${counted(requests, "request")} under way`] : [];
  return { requests, lines: [...asked, ...calls, ...questions.values()] };
}
