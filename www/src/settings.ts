/** The dialog where a connection is chosen. A key that is typed here stays in the memory of the tab. */
import type { Price } from "looplet";
import { budgetNames, budgets, fieldOf, initialLimits, readBudget, type Limits } from "./budget.js";
import { practiceConnection, wires, type Connection, type Wire } from "./connection.js";
import { element } from "./element.js";
import { explainThrown } from "./failure.js";
import { icon } from "./icon.js";

/** Contract: takes the settings over, or throws a `LoopletError` that the dialog shows. */
type Apply = (connection: Connection, limits: Limits) => void;

const kinds = {
  practice: "Practice provider",
  anthropic: "Anthropic",
  openai_chat: "OpenAI-compatible",
} as const;
type Kind = keyof typeof kinds;

const examples: Record<Exclude<Kind, "practice">, { model: string; baseUrl: string }> = {
  anthropic: { model: "claude-sonnet-4-6", baseUrl: "https://api.anthropic.com" },
  openai_chat: { model: "gpt-5-mini", baseUrl: "https://api.openai.com/v1" },
};

/** What a page leaves out, or says otherwise. */
interface SettingsParts {
  /** Default true. */
  hasBudgets?: boolean;
  /** What the page's own stand-in is, in place of the practice provider with its wire formats. */
  practice?: string;
}

export class Settings {
  readonly #dialog: HTMLDialogElement;
  readonly #form: HTMLFormElement;
  readonly #practice: HTMLFieldSetElement;
  readonly #vendor: HTMLFieldSetElement;
  /** The vendor that was used last: its fields stay when the practice provider is chosen for a while. */
  #lastVendor: Exclude<Connection, { kind: "practice" }> | undefined;
  #practiceModel = practiceConnection.model;
  readonly #error = element("div", { class: "form-error", role: "alert" });

  constructor(apply: Apply, { hasBudgets = true, practice }: SettingsParts = {}) {
    this.#practice = element(
      "fieldset",
      { class: "part" },
      element("legend", { class: "hidden" }, "Practice provider"),
      element(
        "p",
        { class: "quiet" },
        practice ??
          "A stand-in inside this page. It speaks the vendors' wire formats and plans with simple rules: no key, no network, nothing leaves your machine.",
      ),
      select(
        "wire",
        "Wire format",
        Object.fromEntries(Object.entries(wires).map(([wire, { name }]) => [wire, name])),
        practice !== undefined,
      ),
      select("delayMs", "Pace", { 24: "Readable", 80: "Slow", 0: "At once" }),
    );
    this.#vendor = element(
      "fieldset",
      { class: "part", hidden: true },
      element("legend", { class: "hidden" }, "Provider"),
      field("model", "Model", { type: "text", autocapitalize: "off", spellcheck: "false" }),
      field("apiKey", "Key", { type: "password", autocomplete: "off" }),
      field("baseUrl", "Base URL (empty: the vendor's own)", {
        type: "url",
        autocapitalize: "off",
        spellcheck: "false",
      }),
      element(
        "div",
        { class: "pair" },
        field("inputPrice", "Input price", {
          type: "text",
          autocomplete: "off",
          inputmode: "decimal",
          placeholder: "$ per million",
        }),
        field("outputPrice", "Output price", {
          type: "text",
          autocomplete: "off",
          inputmode: "decimal",
          placeholder: "$ per million",
        }),
      ),
      element(
        "div",
        { class: "notice warning" },
        icon("alert"),
        element(
          "div",
          {},
          element(
            "p",
            {},
            "The key stays in the memory of this tab, is sent only to the address above and is gone on reload. Scripts and extensions in this page can read it all the same.",
          ),
          element(
            "p",
            {},
            "looplet refuses a vendor's key in a page unless ",
            element("code", {}, "dangerouslyAllowBrowser: true"),
            " is set. In a product that would hand your key to every visitor: put a small proxy of your own in between.",
          ),
          element(
            "label",
            { class: "check" },
            element("input", { type: "checkbox", name: "isBrowserKeyAllowed" }),
            element("span", {}, "It is my own key in my own browser: allow it"),
          ),
        ),
      ),
    );
    this.#form = element(
      "form",
      { method: "dialog", novalidate: true },
      element(
        "header",
        {},
        element("h2", { id: "settings-title" }, hasBudgets ? "Connection and budgets" : "Connection"),
        element(
          "button",
          { type: "button", class: "ghost", "aria-label": "Close", click: () => this.#dialog.close() },
          icon("close"),
        ),
      ),
      element(
        "fieldset",
        { class: "kinds" },
        element("legend", {}, "Who answers"),
        ...Object.entries(kinds).flatMap(([value, label]) => [
          element("input", {
            type: "radio",
            name: "kind",
            id: `kind-${value}`,
            value,
            class: "hidden",
            checked: value === "practice",
          }),
          element("label", { for: `kind-${value}` }, label),
        ]),
      ),
      this.#practice,
      this.#vendor,
      element(
        "fieldset",
        { class: "part", hidden: !hasBudgets },
        element("legend", {}, "Budgets of one run"),
        element("p", { class: "quiet" }, "What is used up stops the run. Empty: no limit."),
        element(
          "div",
          { class: "triple" },
          ...budgetNames.map((name) =>
            field(name, fieldOf(name), {
              type: "text",
              inputmode: budgets[name].isWhole ? "numeric" : "decimal",
              autocomplete: "off",
              placeholder: "no limit",
            }),
          ),
        ),
      ),
      this.#error,
      element(
        "footer",
        {},
        element("button", { type: "button", click: () => this.#dialog.close() }, "Cancel"),
        element("button", { type: "submit", class: "primary" }, "Use this"),
      ),
    );
    this.#dialog = element("dialog", { "aria-labelledby": "settings-title", class: "settings" }, this.#form);
    this.#form.addEventListener("change", () => this.#fit());
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      const limits = this.#readTyped();
      if (!limits) return;
      const connection = readConnection(new FormData(this.#form), this.#practiceModel);
      try {
        apply(connection, limits);
      } catch (error) {
        const { advice, details } = explainThrown(error);
        return this.#refuse(element("p", {}, details), element("p", { class: "quiet" }, advice));
      }
      if (connection.kind !== "practice") this.#lastVendor = connection;
      this.#dialog.close();
    });
    document.body.append(this.#dialog);
    this.#show(practiceConnection, initialLimits);
  }

  /** Opens the dialog with what holds: what was typed and not taken over is gone. */
  open(connection: Connection, limits: Limits): void {
    this.#show(connection, limits);
    this.#dialog.showModal();
  }

  #show(connection: Connection, limits: Limits): void {
    this.#form.reset();
    const set = (name: string, value: string | number | undefined) => {
      (this.#form.elements.namedItem(name) as RadioNodeList | HTMLInputElement).value = String(value ?? "");
    };
    set("kind", connection.kind);
    if (connection.kind === "practice") {
      this.#practiceModel = connection.model;
      set("wire", connection.wire);
      set("delayMs", connection.delayMs);
    }
    const vendor = connection.kind === "practice" ? this.#lastVendor : connection;
    if (vendor) {
      for (const name of ["model", "apiKey", "baseUrl"] as const) set(name, vendor[name]);
      set("inputPrice", vendor.price?.inputUsdPerMillion);
      set("outputPrice", vendor.price?.outputUsdPerMillion);
      this.#input("isBrowserKeyAllowed").checked = vendor.isBrowserKeyAllowed;
    }
    this.#showLimits(limits);
    for (const name of ["inputPrice", "outputPrice"]) this.#input(name).removeAttribute("aria-invalid");
    this.#fit();
  }

  #showLimits(limits: Limits): void {
    for (const name of budgetNames) {
      const input = this.#input(name);
      input.value = limits[name] === undefined ? "" : String(limits[name]);
      input.removeAttribute("aria-invalid");
    }
  }

  /** Looks at all that was typed; without a value when the dialog has said what is wrong with it. */
  #readTyped(): Limits | undefined {
    const limits: Limits = {};
    const problems = new Map<HTMLInputElement, string>();
    for (const name of budgetNames) {
      const input = this.#input(name);
      const { value, problem } = { value: undefined, ...readBudget(name, input.value.trim()) };
      if (problem !== undefined) problems.set(input, problem);
      else if (value !== undefined) limits[name] = value;
    }
    const prices = [this.#input("inputPrice"), this.#input("outputPrice")];
    if (!this.#vendor.hidden) {
      const isOne = prices.filter(({ value }) => value.trim() !== "").length === 1;
      const bad = prices.find(({ value }) => (isOne && value.trim() === "") || !(Number(value) >= 0));
      if (bad) problems.set(bad, "Prices: type both in dollars per million tokens, from 0 on, or none.");
    }
    for (const input of [...budgetNames.map((name) => this.#input(name)), ...prices])
      input.setAttribute("aria-invalid", String(problems.has(input)));
    const [first] = problems.keys();
    if (!first) return limits;
    this.#refuse(...[...problems.values()].map((problem) => element("p", {}, problem)));
    first.focus({ preventScroll: true });
    return undefined;
  }

  #refuse(...lines: HTMLElement[]): void {
    this.#error.replaceChildren(...lines);
    this.#error.scrollIntoView({ block: "center" });
  }

  #input(name: string): HTMLInputElement {
    return this.#form.elements.namedItem(name) as HTMLInputElement;
  }

  #fit(): void {
    const kind = new FormData(this.#form).get("kind") as Kind;
    this.#practice.hidden = kind !== "practice";
    this.#vendor.hidden = kind === "practice";
    this.#error.replaceChildren();
    if (kind === "practice") return;
    for (const [name, example] of Object.entries(examples[kind])) {
      const input = this.#form.elements.namedItem(name);
      if (input instanceof HTMLInputElement) input.placeholder = example;
    }
  }
}

function readConnection(data: FormData, practiceModel: string): Connection {
  const text = (name: string) => String(data.get(name) ?? "").trim();
  const kind = text("kind") as Kind;
  if (kind === "practice") {
    const wire = text("wire");
    if (!(wire in wires)) throw new Error(`There is no wire format "${wire}".`);
    return { kind, model: practiceModel, wire: wire as Wire, delayMs: Number(text("delayMs")) };
  }
  return {
    kind,
    model: text("model"),
    apiKey: text("apiKey"),
    baseUrl: text("baseUrl"),
    isBrowserKeyAllowed: data.has("isBrowserKeyAllowed"),
    price: priceOf(text("inputPrice"), text("outputPrice")),
  };
}

function priceOf(input: string, output: string): Price | undefined {
  return input === "" || output === ""
    ? undefined
    : { inputUsdPerMillion: Number(input), outputUsdPerMillion: Number(output) };
}

function field(name: string, label: string, attributes: Record<string, string | number>): HTMLElement {
  return element(
    "label",
    { class: "field" },
    element("span", {}, label),
    element("input", { name, ...attributes }),
  );
}

function select(name: string, label: string, options: Record<string, string>, isHidden = false): HTMLElement {
  // Object keys that are whole numbers come sorted; the first one given is meant to be the default.
  const choices = Object.entries(options).map(([value, text]) =>
    element("option", { value, selected: text === "Readable" }, text),
  );
  return element(
    "label",
    { class: "field", hidden: isHidden },
    element("span", {}, label),
    element("select", { name }, ...choices),
  );
}
