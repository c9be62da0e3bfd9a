/** The model's reasoning: one line that opens. */
import { element } from "./element.js";
import { drawSoon } from "./frame.js";

export class Reasoning {
  readonly #title = element("span", {}, "Thinking …");
  readonly #body = element("p", { class: "reasoning-text" });
  readonly element = element(
    "details",
    { class: "reasoning" },
    element("summary", {}, this.#title),
    this.#body,
  );
  #text = "";

  append(text: string): void {
    this.#text += text;
    drawSoon(this);
  }

  draw(): void {
    this.#body.textContent = this.#text;
  }

  end(): void {
    this.#title.textContent = "Reasoning";
    this.element.dataset["state"] = "done";
  }
}
