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
  #isFollowing = false;
  #lastTop = 0;
  /** The first prompts are no conversation: their end is nowhere to hurry to. */
  #hasBegun = false;

  constructor(scroller: HTMLElement) {
    this.#scroller = scroller;
    scroller.addEventListener("scroll", () => {
      const isUp = scroller.scrollTop < this.#lastTop;
      this.#lastTop = scroller.scrollTop;
      // Content that grows also leaves the end behind; only a reader who scrolls up wants to stay there.
      if (this.#isNearEnd) this.#isFollowing = true;
      else if (isUp) this.#isFollowing = false;
      this.#showButton();
    });
    const size = new ResizeObserver(() => {
      if (this.#isFollowing) scroller.scrollTop = scroller.scrollHeight;
      this.#showButton();
    });
    for (const part of [scroller, ...scroller.children]) size.observe(part);
  }

  /** Goes to the end and stays there. */
  toEnd(): void {
    this.#hasBegun = true;
    this.#isFollowing = true;
    this.#scroller.scrollTop = this.#scroller.scrollHeight;
  }

  toStart(): void {
    this.#hasBegun = false;
    this.#isFollowing = false;
    this.#scroller.scrollTop = 0;
  }

  get #isNearEnd(): boolean {
    const { scrollHeight, scrollTop, clientHeight } = this.#scroller;
    return scrollHeight - scrollTop - clientHeight < nearPx;
  }

  #showButton(): void {
    this.button.hidden = !this.#hasBegun || this.#isFollowing || this.#isNearEnd;
  }
}
