/**
 * The dialog of run files: saves the latest run as a `.loop` file, opens one that is chosen or dropped on the page,
 * and shows it step by step.
 */
import type { Tool } from "looplet";
import { replay } from "looplet/replay";
import { element } from "./element.js";
import { explainThrown } from "./failure.js";
import type { Fork } from "./fork-form.js";
import { icon } from "./icon.js";
import { RunPlayer, type OpenedRun } from "./run-player.js";
import type { Setup } from "./conversation.js";

/** A `.loop` file. */
export interface NamedFile {
  name: string;
  text: string;
}

/** Contract: what the dialog does to the conversation. */
interface RunFileActions {
  /** The latest run; `undefined` when there was none since the page was opened. */
  latest(): NamedFile | undefined;
  setup(): Readonly<Setup>;
  /** The tools that a fork can have. */
  tools(): { readonly [name: string]: Tool };
  /** Goes on from a step. Throws a `LoopletError` for options that do not fit. */
  fork(opened: OpenedRun, fork: Fork): void;
}

/** A file above this size is no run of a page. */
const maxBytes = 64 << 20;

export class RunFile {
  readonly #actions: RunFileActions;
  readonly #title = element("h2", { id: "run-file-title" }, "Run file");
  readonly #problem = element("div", { class: "form-error", role: "alert" });
  readonly #content = element("div", { class: "run-file-content" });
  readonly #input = element("input", {
    type: "file",
    class: "hidden",
    accept: ".loop",
    "aria-label": "A .loop file",
    tabindex: -1,
  });
  readonly #dialog: HTMLDialogElement;

  constructor(actions: RunFileActions) {
    this.#actions = actions;
    this.#dialog = element(
      "dialog",
      { "aria-labelledby": "run-file-title", class: "settings run-file" },
      element(
        "header",
        {},
        this.#title,
        element(
          "button",
          { type: "button", class: "ghost", "aria-label": "Close", click: () => this.#dialog.close() },
          icon("close"),
        ),
      ),
      this.#problem,
      this.#content,
      this.#input,
    );
    document.body.append(this.#dialog);
    this.#input.addEventListener("change", () => {
      const [file] = this.#input.files ?? [];
      this.#input.value = "";
      if (file) void this.#read(file);
    });
    this.#takeDrops();
  }

  open(): void {
    this.#showStart();
    if (!this.#dialog.open) this.#dialog.showModal();
  }

  #showStart(): void {
    const latest = this.#actions.latest();
    const needsRun = latest === undefined;
    this.#title.textContent = "Run file";
    this.#problem.replaceChildren();
    this.#content.replaceChildren(
      element(
        "p",
        { class: "quiet" },
        "A run is data: its prompt, the answers and the results with their times, without any key. Step through it, send it as a bug report, or go on from any of its moments.",
      ),
      element(
        "div",
        { class: "run-file-actions" },
        element(
          "button",
          {
            type: "button",
            class: "primary",
            disabled: needsRun,
            click: () => latest && void this.#show(latest),
          },
          "Step through the latest run",
        ),
        element(
          "button",
          { type: "button", disabled: needsRun, click: () => latest && save(latest) },
          "Save it as a file",
        ),
        element("button", { type: "button", click: () => this.#input.click() }, "Open a .loop file"),
      ),
      element(
        "p",
        { class: "quiet drop-hint" },
        needsRun
          ? "No run has begun since the page was opened. You can also drop a .loop file anywhere on the page."
          : "You can also drop a .loop file anywhere on the page.",
      ),
    );
  }

  async #read(file: File): Promise<void> {
    this.open();
    if (file.size > maxBytes) return this.#refuse(file.name, "The file is too large for a page.");
    await this.#show({ name: file.name, text: await file.text() });
  }

  async #show(file: NamedFile): Promise<void> {
    let opened: OpenedRun;
    try {
      opened = { ...file, replay: await replay(file.text) };
    } catch (error) {
      const { details } = explainThrown(error);
      return this.#refuse(file.name, details);
    }
    this.#problem.replaceChildren();
    this.#title.textContent = file.name;
    const player = new RunPlayer(opened, {
      setup: this.#actions.setup(),
      tools: this.#actions.tools(),
      save: () => save(file),
      fork: (fork) => {
        this.#actions.fork(opened, fork);
        this.#dialog.close();
      },
    });
    this.#content.replaceChildren(player.element);
    player.focus();
  }

  #refuse(name: string, details: string): void {
    this.#problem.replaceChildren(
      element("p", {}, `${name} cannot be opened.`),
      element("p", { class: "quiet" }, details),
    );
  }

  #takeDrops(): void {
    const isFile = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;
    const mark = (isOver: boolean) => document.body.classList.toggle("dropping", isOver);
    addEventListener("dragover", (event) => {
      if (!isFile(event)) return;
      event.preventDefault();
      mark(true);
    });
    addEventListener("dragleave", (event) => {
      if (event.relatedTarget === null) mark(false);
    });
    addEventListener("drop", (event) => {
      mark(false);
      const [file] = event.dataTransfer?.files ?? [];
      if (!file) return;
      event.preventDefault();
      void this.#read(file);
    });
  }
}

/** Gives the file to the browser's downloads. */
export function save({ name, text }: NamedFile): void {
  const url = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  element("a", { href: url, download: name }).click();
  // The download has read it by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
