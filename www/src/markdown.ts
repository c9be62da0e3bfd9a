/**
 * Markdown that grows. Each draw parses the text and replaces only the blocks that changed, so a long answer is not
 * rebuilt with every word and a selection in it survives. What comes out is cleaned: a model's text is foreign input.
 */
import DOMPurify, { type Config } from "dompurify";
import { Lexer, Parser, Renderer, type Token } from "marked";
import { element } from "./element.js";
import { drawSoon } from "./frame.js";

const tags =
  "a abbr b blockquote br code dd del dl dt em h1 h2 h3 h4 h5 h6 hr i kbd li ol p pre s small strong sub sup table tbody td th thead tr u ul";

// Nothing that loads, submits or opens: the address of an image could carry words of the conversation to a stranger's
// server, and a form or a dialog could pass for the page's own.
const rules = {
  RETURN_DOM_FRAGMENT: true as const,
  ALLOWED_TAGS: tags.split(" "),
  ALLOWED_ATTR: ["align", "href", "start", "title"],
  ALLOW_ARIA_ATTR: false,
  ALLOW_DATA_ATTR: false,
} satisfies Config;

DOMPurify.addHook("afterSanitizeAttributes", (node) => {
  if (node.tagName !== "A") return;
  node.setAttribute("target", "_blank");
  node.setAttribute("rel", "noopener noreferrer");
});

const renderer = new Renderer();
// The box of a task is a sign, not an input.
renderer.checkbox = ({ checked }) => (checked ? "☑ " : "☐ ");

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
  const html = Parser.parse([token], { renderer });
  const block = element("div", { class: "block" });
  block.append(DOMPurify.sanitize(html, rules));
  // A wide block scrolls by itself and must be reachable by keyboard.
  for (const wide of block.querySelectorAll("pre, table")) wide.setAttribute("tabindex", "0");
  return block;
}
