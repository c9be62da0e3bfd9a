/** What stands beside the conversation: the files, the list of todos and the sessions. */
import type { Vfs } from "looplet/vfs";
import { element } from "../element.js";
import { folder, pathsBelow, textOf } from "./project.js";
import type { Session } from "./talk.js";

/** The files as they are, and the text of the one that is chosen. Files that have changed are marked. */
export class Files {
  readonly element: HTMLElement;
  readonly #vfs: Vfs;
  readonly #list = element("ul", { class: "files", "aria-label": "Files" });
  readonly #text = element("pre", { class: "file-text", tabindex: 0, "aria-label": "Text of the file" });
  readonly #changed = new Set<string>();
  #chosen = `${folder}/src/cart.ts`;

  constructor(vfs: Vfs) {
    this.#vfs = vfs;
    this.element = part("Files", this.#list, this.#text);
    void this.draw();
  }

  /** A file was written or removed: it is shown. */
  async changed(path: string): Promise<void> {
    this.#changed.add(path);
    this.#chosen = path;
    await this.draw();
  }

  async draw(): Promise<void> {
    const paths = await pathsBelow(this.#vfs, folder);
    this.#list.replaceChildren(...paths.map((path) => element("li", {}, this.#button(path))));
    const text = await textOf(this.#vfs, this.#chosen);
    this.#text.textContent = text ?? `${this.#chosen} is gone.`;
  }

  #button(path: string): HTMLElement {
    const isChosen = path === this.#chosen;
    const choose = () => {
      this.#chosen = path;
      void this.draw();
    };
    const mark = this.#changed.has(path) ? [element("span", { class: "badge" }, "changed")] : [];
    const name = path.slice(folder.length + 1);
    return element(
      "button",
      { type: "button", "aria-pressed": String(isChosen), click: choose },
      name,
      ...mark,
    );
  }
}

const signs = { pending: "○", in_progress: "◐", completed: "●" } as const;

interface Todo {
  content: string;
  activeForm: string;
  status: keyof typeof signs;
}

/** The list that the model keeps with TodoWrite. */
export class Todos {
  readonly #list = element("ul", { class: "todos", "aria-label": "Todos" });
  readonly element = part("Todos", this.#list);

  constructor() {
    this.show([]);
  }

  show(todos: readonly Todo[]): void {
    this.#list.replaceChildren(
      ...todos.map(({ content, activeForm, status }) =>
        element(
          "li",
          { "data-status": status },
          `${signs[status] ?? "○"} `,
          status === "in_progress" ? activeForm : content,
          element("span", { class: "hidden" }, `, ${status.replace("_", " ")}`),
        ),
      ),
    );
    this.element.hidden = todos.length === 0;
  }
}

interface SessionActions {
  begin(): void;
  open(id: string): void;
  fork(id: string): void;
}

/** The sessions of this page, the latest first. */
export class Sessions {
  readonly element: HTMLElement;
  readonly #actions: SessionActions;
  readonly #list = element("ul", { class: "sessions", "aria-label": "Sessions" });

  constructor(actions: SessionActions) {
    this.#actions = actions;
    const begin = element(
      "button",
      { type: "button", class: "small", click: () => actions.begin() },
      "New session",
    );
    this.element = part("Sessions", begin, this.#list);
  }

  show(sessions: readonly Session[], current: string | undefined): void {
    this.#list.replaceChildren(
      ...sessions.map(({ id, title }) =>
        element(
          "li",
          {},
          element(
            "button",
            { type: "button", "aria-pressed": String(id === current), click: () => this.#actions.open(id) },
            title,
          ),
          element(
            "button",
            {
              type: "button",
              class: "small ghost",
              "aria-label": `Fork ${title}`,
              click: () => this.#actions.fork(id),
            },
            "Fork",
          ),
        ),
      ),
    );
  }
}

function part(title: string, ...children: HTMLElement[]): HTMLElement {
  return element("section", { class: "part" }, element("h2", {}, title), ...children);
}
