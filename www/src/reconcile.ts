/** A call that was under way when the page went away: nobody knows whether it was done, so the person says. */
import type { Reconciliation } from "looplet";
import { element } from "./element.js";

export class Reconcile {
  readonly element: HTMLElement;

  constructor(toolName: string, answer: (result: Reconciliation) => void) {
    const choice = (label: string, kind: string, result: Reconciliation) =>
      element(
        "button",
        { type: "button", class: `small ${kind}`.trim(), click: () => answer(result) },
        label,
      );
    this.element = element(
      "div",
      { class: "approval", role: "group", "aria-label": `What became of ${toolName}` },
      element(
        "p",
        { class: "asks" },
        "Was this done? ",
        element("span", { class: "quiet" }, "The page went away while the call was under way."),
      ),
      element(
        "div",
        { class: "choice" },
        choice("Run it again", "primary", { outcome: "run" }),
        choice("It was done", "", { outcome: "done", output: "The user says that it was done." }),
        choice("Leave it", "", { outcome: "fail", message: "The user left it undone." }),
      ),
    );
  }

  focus(): void {
    this.element.querySelector("button")?.focus();
  }
}
