/** Messages on their way into the run: shown above the composer until they are delivered or taken back. */
import type { Queued } from "looplet";
import type { QueuedKind } from "./conversation.js";
import { element } from "./element.js";
import { icon } from "./icon.js";

interface Waiting {
  kind: QueuedKind;
  text: string;
  element: HTMLElement;
}

export class Queue {
  readonly element = element("ul", { class: "queue", "aria-label": "Waiting to be delivered", hidden: true });
  readonly #waiting = new Map<number, Waiting>();

  add(kind: QueuedKind, text: string, queued: Queued): void {
    const takeBack = element(
      "button",
      { type: "button", class: "ghost small", "aria-label": `Take back: ${text}`, title: "Take back" },
      icon("close"),
    );
    const item = element(
      "li",
      {},
      element("span", { class: "badge" }, kind),
      element("span", { class: "text" }, text),
      takeBack,
    );
    takeBack.addEventListener("click", () => {
      if (queued.withdraw()) this.#remove(queued.id);
    });
    this.#waiting.set(queued.id, { kind, text, element: item });
    this.element.append(item);
    this.element.hidden = false;
  }

  /** Takes out the message that has been delivered. */
  take(id: number): { kind: QueuedKind; text: string } | undefined {
    const found = this.#waiting.get(id);
    this.#remove(id);
    return found;
  }

  clear(): void {
    for (const id of [...this.#waiting.keys()]) this.#remove(id);
  }

  #remove(id: number): void {
    this.#waiting.get(id)?.element.remove();
    this.#waiting.delete(id);
    this.element.hidden = this.#waiting.size === 0;
  }
}
