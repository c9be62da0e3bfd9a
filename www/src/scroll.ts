/** Keeps the end of the conversation in view, unless the reader has scrolled away from it. */
import { element } from "./element.js";
import { icon } from "./icon.js";

const nearPx = 80;

export class Scroll {
  readonly button = element(
    "button",
    {
      type: "button",
      class: "to-end",
      hidden: true,
      "aria-label": "To the latest",
      click: () => this.toEnd(),
    },
    icon("down"),
  );
  readonly #scroller: HTMLElement;
  #isFollowing = true;

  constructor(scroller: HTMLElement) {
    this.#scroller = scroller;
    scroller.addEventListener("scroll", () => {
      this.#isFollowing = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < nearPx;
      this.button.hidden = this.#isFollowing;
    });
    const content = new ResizeObserver(() => {
      if (this.#isFollowing) scroller.scrollTop = scroller.scrollHeight;
    });
    for (const child of scroller.children) content.observe(child);
  }

  toEnd(): void {
    this.#isFollowing = true;
    this.#scroller.scrollTop = this.#scroller.scrollHeight;
  }
}
