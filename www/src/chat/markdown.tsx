/**
 * Markdown that grows. Each draw parses the text and replaces only the blocks that changed, so a long answer is not
 * rebuilt with every word and a selection in it survives. What comes out is cleaned: a model's text is foreign input.
 */
import DOMPurify, { type Config } from "dompurify";
import { Lexer, Parser, Renderer, type Token } from "marked";
import { memo, useLayoutEffect, useRef } from "react";

const tags =
  "a abbr b blockquote br code dd del dl dt em h1 h2 h3 h4 h5 h6 hr i kbd li ol p pre s small strong sub sup table tbody td th thead tr u ul";

// Nothing that loads, submits or opens: the address of an image could leak text of the conversation to an untrusted
// server, and a form or a dialog could look like the page's own.
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

export const Markdown = memo(function Markdown({ text }: { text: string }) {
  const element = useRef<HTMLDivElement>(null);
  /** Source of each block that is shown. */
  const shown = useRef<string[]>([]);
  useLayoutEffect(() => {
    const { current: place } = element;
    if (!place) return;
    const blocks = new Lexer({ gfm: true }).lex(text).filter(({ type }) => type !== "space");
    const same = shown.current.findIndex((raw, at) => raw !== blocks[at]?.raw);
    const kept = same < 0 ? shown.current.length : same;
    while (place.childElementCount > kept) place.lastElementChild?.remove();
    place.append(...blocks.slice(kept).map(rendered));
    shown.current = blocks.map(({ raw }) => raw);
  }, [text]);
  return <div className="markdown" ref={element} />;
});

function rendered(token: Token): HTMLElement {
  const block = document.createElement("div");
  block.className = "block";
  block.append(DOMPurify.sanitize(Parser.parse([token], { renderer }), rules));
  // A wide block scrolls and must be reachable by keyboard.
  for (const wide of block.querySelectorAll("pre, table")) wide.setAttribute("tabindex", "0");
  return block;
}
