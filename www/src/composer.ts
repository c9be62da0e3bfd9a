/** Where a person writes: asks when nothing runs, steers or queues a follow-up while something does, and stops. */
import { element } from "./element.js";
import { icon } from "./icon.js";
import type { QueuedKind } from "./conversation.js";

interface ComposerActions {
  ask(text: string): void;
  tell(kind: QueuedKind, text: string): void;
  stop(): void;
  /** The text has changed. */
  typed(): void;
}

const maxRows = 8;

export class Composer {
  readonly element: HTMLFormElement;
  readonly #actions: ComposerActions;
  readonly #field = element("textarea", {
    id: "prompt",
    rows: 1,
    "aria-label": "Message",
    "aria-describedby": "keys",
    enterkeyhint: "send",
    placeholder: "Ask something",
  });
  readonly #modes = element(
    "fieldset",
    { class: "modes", hidden: true },
    element("legend", { class: "hidden" }, "What a message does while the run goes on"),
    ...mode("steer", "Steer", "Delivered before the next model call", true),
    ...mode("follow-up", "Follow up", "Asked when the model has finished", false),
  );
  readonly #stop = element(
    "button",
    { type: "button", class: "stop", hidden: true, click: () => this.#actions.stop() },
    icon("stop"),
    "Stop",
  );
  readonly #send = element("button", { type: "submit", class: "primary" });
  #isRunning = false;
  #isPlanning = false;

  constructor(actions: ComposerActions) {
    this.#actions = actions;
    const keys = element(
      "p",
      { id: "keys", class: "quiet keys" },
      element("span", {}, element("kbd", {}, "Enter"), " sends"),
      element("span", {}, element("kbd", {}, "Shift Enter"), " new line"),
      element("span", {}, element("kbd", {}, "Esc"), " stops"),
    );
    const row = element("div", { class: "row" }, this.#modes, keys, this.#stop, this.#send);
    this.element = element("form", { class: "composer" }, this.#field, row);
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit();
    });
    this.element.addEventListener("change", () => this.#label());
    this.#field.addEventListener("input", () => {
      this.#fit();
      this.#actions.typed();
    });
    this.#field.addEventListener("keydown", (event) => {
      // While an input method composes a word, Enter belongs to it.
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.#submit();
    });
    this.#label();
  }

  setRunning(isRunning: boolean): void {
    const hadFocus = document.activeElement === this.#stop;
    this.#isRunning = isRunning;
    this.#modes.hidden = !isRunning;
    this.#stop.hidden = !isRunning;
    this.element.classList.toggle("running", isRunning);
    if (hadFocus && !isRunning) this.focus();
    this.#label();
  }

  /** Says so where a person writes while only plans are made. */
  setPlanning(isPlanning: boolean): void {
    this.#isPlanning = isPlanning;
    this.element.classList.toggle("planning", isPlanning);
    this.#label();
  }

  /** Puts a text back that was not delivered, unless something else has been written. */
  restore(text: string): void {
    if (this.#field.value.trim() !== "") return;
    this.#field.value = text;
    this.#fit();
  }

  get text(): string {
    return this.#field.value.trim();
  }

  focus(): void {
    this.#field.focus();
  }

  get #kind(): QueuedKind {
    return new FormData(this.element).get("mode") === "follow-up" ? "follow-up" : "steer";
  }

  #submit(): void {
    const text = this.#field.value.trim();
    if (text === "") return;
    this.#field.value = "";
    this.#fit();
    if (this.#isRunning) this.#actions.tell(this.#kind, text);
    else this.#actions.ask(text);
  }

  #label(): void {
    const word = !this.#isRunning ? "Send" : this.#kind === "steer" ? "Steer" : "Queue";
    this.#send.replaceChildren(icon("send"), word);
    this.#field.placeholder = !this.#isRunning
      ? this.#isPlanning
        ? "Ask for a plan: nothing is changed"
        : "Ask something"
      : this.#kind === "steer"
        ? "Tell it something while it works"
        : "Ask this when it has finished";
  }

  #fit(): void {
    this.#field.rows = Math.min(maxRows, Math.max(1, this.#field.value.split("\n").length));
  }
}

function mode(value: QueuedKind, label: string, title: string, isChecked: boolean): Node[] {
  const id = `mode-${value}`;
  return [
    element("input", { type: "radio", name: "mode", id, value, checked: isChecked, class: "hidden" }),
    element("label", { for: id, title }, label),
  ];
}
