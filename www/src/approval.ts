/** A tool call that waits for a person: allow it, change its input, or deny it with a reason for the model. */
import type { PermissionResult, RunEventOf } from "looplet";
import { element } from "./element.js";
import { icon } from "./icon.js";
import { mismatch } from "./schema.js";

export type PermissionQuestion = NonNullable<RunEventOf<"question">["data"]>;

export class Approval {
  readonly element: HTMLElement;
  readonly #question: PermissionQuestion;
  readonly #schema: unknown;
  readonly #answer: (result: PermissionResult) => void;
  readonly #allow = button("Allow", "check", "primary", () => this.#decide({ behavior: "allow" }));
  readonly #edit = button("Edit", "pen", "", () => this.#showEditor());
  readonly #deny = button("Deny", "close", "", () => this.#showReason());
  readonly #always = element("input", { type: "checkbox" });
  readonly #choice: HTMLElement;

  /** `schema` is that of the tool's input, if the page knows it. */
  constructor(question: PermissionQuestion, schema: unknown, answer: (result: PermissionResult) => void) {
    const { toolName, reason } = question;
    this.#question = question;
    this.#schema = schema;
    this.#answer = answer;
    this.#choice = element(
      "div",
      { class: "choice" },
      this.#allow,
      this.#edit,
      this.#deny,
      element("label", { class: "always" }, this.#always, element("span", {}, `Always allow ${toolName}`)),
    );
    this.element = element(
      "div",
      { class: "approval", role: "group", "aria-label": `Approval of ${toolName}` },
      element(
        "p",
        { class: "asks" },
        "May this run? ",
        element("span", { class: "quiet" }, `Asked because ${reason}.`),
      ),
      this.#choice,
    );
    // Escape leaves what is being written, not the run.
    this.element.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || this.#choice.isConnected) return;
      event.stopPropagation();
      this.#showChoice();
    });
  }

  focus(): void {
    this.element.querySelector<HTMLElement>("button.primary, textarea, input")?.focus();
  }

  #decide(result: PermissionResult): void {
    const { toolName } = this.#question;
    const isAlways = result.behavior === "allow" && this.#always.checked;
    this.#answer(
      isAlways
        ? {
            ...result,
            updatedPermissions: [{ type: "addRules", behavior: "allow", rules: [toolName] }],
          }
        : result,
    );
  }

  #showChoice(): void {
    this.element.lastElementChild?.replaceWith(this.#choice);
    this.#allow.focus();
  }

  #showEditor(): void {
    const { toolName, input } = this.#question;
    const text = typeof input === "string" ? input : JSON.stringify(input, null, 2);
    const hint = "The tool gets this; the conversation keeps what the model wrote.";
    const note = element(
      "p",
      { class: "note quiet", id: `note-${(noteId += 1)}`, "aria-live": "polite" },
      hint,
    );
    const field = element("textarea", {
      "aria-label": `Input for ${toolName}, as JSON`,
      "aria-describedby": note.id,
      rows: Math.min(12, Math.max(3, text.split("\n").length)),
      spellcheck: "false",
      autocapitalize: "off",
    });
    field.value = text;
    const check = () => {
      const { problem, value } = readInput(field.value, this.#schema);
      note.textContent = problem ?? hint;
      note.classList.toggle("fault", problem !== undefined);
      note.classList.toggle("quiet", problem === undefined);
      field.setAttribute("aria-invalid", String(problem !== undefined));
      return value;
    };
    field.addEventListener("input", () => {
      if (field.getAttribute("aria-invalid") === "true") check();
    });
    const run = () => {
      const updatedInput = check();
      if (updatedInput === undefined) field.focus();
      else this.#decide({ behavior: "allow", updatedInput });
    };
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      run();
    });
    this.#open(field, note, button("Run with this", "check", "primary", run));
  }

  #showReason(): void {
    const { toolName } = this.#question;
    const field = element("input", {
      type: "text",
      "aria-label": `Why ${toolName} is denied`,
      placeholder: "Why? The model is told (optional)",
      maxlength: 500,
    });
    const deny = () => {
      const message = field.value.trim();
      this.#decide({ behavior: "deny", message: message === "" ? "The user said no." : message });
    };
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.isComposing) return;
      event.preventDefault();
      deny();
    });
    this.#open(field, undefined, button("Deny", "close", "stop", deny));
  }

  #open(field: HTMLElement, note: HTMLElement | undefined, done: HTMLElement): void {
    const back = button("Back", undefined, "ghost", () => this.#showChoice());
    this.#choice.replaceWith(
      element(
        "div",
        { class: "writing" },
        field,
        ...(note ? [note] : []),
        element("div", { class: "choice" }, done, back),
      ),
    );
    field.focus();
  }
}

let noteId = 0;

/** The object that `text` stands for, or what is wrong with it. */
function readInput(text: string, schema: unknown): { value?: object; problem?: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { problem: `This is not JSON: ${why.replace(/\.?$/, ".")}` };
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return { problem: "The input of a tool is a JSON object, like { … }." };
  const problem = mismatch(schema, value);
  return problem === undefined ? { value } : { problem };
}

function button(
  label: string,
  symbol: "check" | "pen" | "close" | undefined,
  kind: string,
  click: () => void,
): HTMLButtonElement {
  return element(
    "button",
    { type: "button", class: `small ${kind}`.trim(), click },
    ...(symbol ? [icon(symbol)] : []),
    label,
  );
}
