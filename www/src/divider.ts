/** A line across the conversation: from here on something is otherwise than before. */
import { element } from "./element.js";
import { icon, type IconName } from "./icon.js";

export function divider(symbol: IconName, text: string): HTMLElement {
  return element("div", { class: "divider" }, element("p", {}, icon(symbol), text));
}

/** Puts what stands in the place of the history below the line that says so. */
export function unfold(line: HTMLElement, summary: string): void {
  line.append(
    element("details", {}, element("summary", {}, "The summary"), element("p", { class: "quiet" }, summary)),
  );
}
