/** A line in the transcript that neither person nor model said. */
import { element } from "./element.js";
import { icon, type IconName } from "./icon.js";

export function notice(kind: "info" | "warning" | "error", text: string, ...more: Node[]): HTMLElement {
  const symbol: IconName = kind === "info" ? "stop" : "alert";
  return element(
    "div",
    { class: `notice ${kind}`, role: kind === "error" ? "alert" : undefined },
    icon(symbol),
    element("div", {}, element("p", {}, text), ...more),
  );
}
