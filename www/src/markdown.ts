/**
 * Markdown that grows. Each draw parses the text and replaces only the blocks that changed, so a long answer is not
 * rebuilt with every word and a selection in it survives. What comes out is cleaned: a model's text is foreign input.
 */
import DOMPurify from "dompurify";
import { Lexer, Parser, type Token } from "marked";
import { element } from "./element.js";
import { drawSoon } from "./frame.js";

// No images: their addresses could carry words of the conversation to a stranger's server.
const rules = {
  RETURN_DOM_FRAGMENT: true,
  USE_PROFILES: { html: true },
  FORBID_TAGS: ["img", "picture", "video", "audio", "style", "form", "button", "textarea", "select"],
  FORBID_ATTR: ["style", "class", "id", "name"],
} as const;

DOMPurify.addHook("afterSanitizeAttributes", (node) => {
  if (node.tagName !== "A") return;
  node.setAttribute("target", "_blank");
  node.setAttribute("rel", "noopener noreferrer");
});

export class Markdown {
  readonly element = element("div", { class: "markdown" });
  /** Source of each block that is shown. */
  #shown: string[] = [];
  #text = "";

  get text(): string {
    return this.#text;
  }

  append(text: string): void {
    this.#text += text;
    drawSoon(this);
  }

  draw(): void {
    const tokens = new Lexer({ gfm: true }).lex(this.#text);
    const blocks = tokens.filter((token) => token.type !== "space");
    const isSame = (at: number) => this.#shown[at] === blocks[at]?.raw;
    let same = 0;
    while (same < this.#shown.length && isSame(same)) same += 1;
    while (this.element.childElementCount > same) this.element.lastElementChild?.remove();
    for (const token of blocks.slice(same)) this.element.append(rendered(token));
    this.#shown = blocks.map(({ raw }) => raw);
  }
}

function rendered(token: Token): HTMLElement {
  const html = Parser.parse([token]);
  const block = element("div", { class: "block" });
  block.append(
    DOMPurify.sanitize(html, {
      ...rules,
      FORBID_TAGS: [...rules.FORBID_TAGS],
      FORBID_ATTR: [...rules.FORBID_ATTR],
    }),
  );
  // A wide block scrolls by itself and must be reachable by keyboard.
  for (const wide of block.querySelectorAll("pre, table")) wide.setAttribute("tabindex", "0");
  return block;
}
