/** What the page does about a tool call that nothing allows: asks the person, or holds it back while only planning. */
import type { CanUseTool, PermissionMode } from "looplet";
import { element } from "./element.js";
import { icon } from "./icon.js";

/** The modes that a person can switch to here; `auto` would need a classifier. */
const modes = {
  default: { label: "Ask first", title: "Tools that change something wait for you" },
  plan: { label: "Plan only", title: "Tools that change something are held back" },
  acceptEdits: { label: "Accept edits", title: "Notes are saved without asking, all else asks" },
  dontAsk: { label: "Never ask", title: "What is not allowed already is refused" },
  bypassPermissions: { label: "Run everything", title: "No tool waits for you" },
} as const satisfies Partial<Record<PermissionMode, { label: string; title: string }>>;

export type Mode = keyof typeof modes;

/** The mode in a few words. */
export const modeNameOf = (mode: Mode): string => modes[mode].label;

/** Tools that only look: they run in every mode. */
export const harmless = ["calculator", "time", "list_notes", "read_document", "slow_lookup"];

/** How the reason begins that the model reads while it may only plan. */
export const heldBack = "Held back";

/** Leaves the question to the card of the call; while planning nobody is asked. */
export function ask(mode: () => Mode): CanUseTool {
  return () =>
    mode() === "plan"
      ? {
          behavior: "deny",
          message: `${heldBack}: plan mode changes nothing.`,
        }
      : null;
}

/** The switch above the field. */
export class ModeSwitch {
  readonly #select = element(
    "select",
    { "aria-label": "Permissions" },
    ...Object.entries(modes).map(([value, { label, title }]) => element("option", { value, title }, label)),
  );
  readonly element = element("label", { class: "mode-switch" }, icon("shield"), this.#select);

  constructor(change: (mode: Mode) => void) {
    this.#select.addEventListener("change", () => change(this.#select.value as Mode));
    this.show("default");
  }

  show(mode: Mode): void {
    this.#select.value = mode;
    this.element.title = modes[mode].title;
    this.element.dataset["mode"] = mode;
  }
}
