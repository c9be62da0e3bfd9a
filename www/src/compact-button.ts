/** Has the history summarised: before the next model call of the run, or of the next message. */
import { element } from "./element.js";
import { icon } from "./icon.js";

export class CompactButton {
  readonly element: HTMLButtonElement;

  constructor(click: () => void) {
    this.element = element(
      "button",
      { type: "button", class: "ghost small", "aria-pressed": "false", click },
      icon("fold"),
      "Compact now",
    );
    this.show(false);
  }

  /** `isWaiting`: it happens before the next model call. */
  show(isWaiting: boolean): void {
    this.element.setAttribute("aria-pressed", String(isWaiting));
    this.element.title = isWaiting
      ? "The history is summarised before the next model call"
      : "Summarise the history before the next model call";
  }
}
