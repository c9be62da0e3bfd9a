// @ts-check
// Markdown on a terminal, while it streams: a line is written as soon as its signs are read.

/** @typedef {"bold" | "italic" | "dim" | "underline" | "cyan"} Style */

// An opened sign, up to its end: ** before *, so that bold is not read as empty italics.
const signs = /** @type {const} */ ([
  [/^`([^`]+)`/, "cyan"],
  [/^\*\*(?=\S)(.+?\S|\S)\*\*/, "bold"],
  [/^__(?=\S)(.+?\S|\S)__/, "bold"],
  [/^\*(?=[^\s*])(.+?[^\s*]|[^\s*])\*/, "italic"],
  [/^_(?=[^\s_])(.+?[^\s_]|[^\s_])_(?!\w)/, "italic"],
  [/^\[([^\]]+)\]\(([^)\s]+)\)/, "underline"],
]);
/** Text after one of these cannot be written until its end is received. */
const opening = /^[`*_[]/;

/** The complete sign at `at`. @param {string} text @param {number} at */
function signAt(text, at) {
  if (/\w/.test(text[at - 1] ?? "")) return undefined;
  const rest = text.slice(at);
  for (const [pattern, style] of signs) {
    const match = pattern.exec(rest);
    if (match) return { style, whole: match[0], inner: match[1] ?? "", address: match[2] };
  }
  return undefined;
}

export class Markdown {
  /** @type {(style: Style, text: string) => string} */
  #paint;
  /** The part of the line that is not written yet. */
  #rest = "";
  #isLineStart = true;
  #isCode = false;
  #isHeading = false;

  /** @param {(style: Style, text: string) => string} paint */
  constructor(paint) {
    this.#paint = paint;
  }

  /** The part of `text`, with the text held back before it, that can be written. @param {string} text */
  write(text) {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    const written = lines.map((line) => this.#line(line)).join("");
    return written + this.#begun();
  }

  /** The end of the text. */
  end() {
    const written = this.#rest === "" && this.#isLineStart ? "" : this.#line(this.#rest);
    this.#rest = "";
    this.#isCode = false;
    return written;
  }

  /** A whole line, or the rest of one. @param {string} line */
  #line(line) {
    const isFence = this.#isLineStart && /^\s*(?:```|~~~)/.test(line);
    if (isFence) {
      this.#isCode = !this.#isCode;
      return "";
    }
    const written = this.#block(line);
    this.#isLineStart = true;
    this.#isHeading = false;
    return `${written}\n`;
  }

  /** The start of an incomplete line: up to the last space before an open sign. */
  #begun() {
    const isMark = this.#isLineStart && /^[\s#>`~*+_-]*(?:\d+[.)]?)?\s*$/.test(this.#rest);
    if (this.#isCode || isMark) return "";
    let end = 0;
    for (let at = 0; at < this.#rest.length;) {
      const sign = signAt(this.#rest, at);
      if (!sign && opening.test(this.#rest.slice(at))) break;
      at += sign?.whole.length ?? 1;
      if (this.#rest[at - 1] === " ") end = at;
    }
    const ready = this.#rest.slice(0, end);
    this.#rest = this.#rest.slice(end);
    return ready === "" ? "" : this.#block(ready);
  }

  /** @param {string} text */
  #block(text) {
    const isStart = this.#isLineStart;
    this.#isLineStart = false;
    if (this.#isCode) return this.#paint("cyan", `  ${text}`);
    if (!isStart) return this.#inline(text);
    if (/^\s*(?:[-*_]\s*){3,}$/.test(text)) return this.#paint("dim", "─".repeat(24));
    const [, indent = "", quote, item, heading, rest = ""] =
      /^(\s*)((?:>\s?)+)?(?:([-*+])\s+|(#{1,6}\s+))?(.*)$/s.exec(text) ?? [];
    this.#isHeading = heading !== undefined;
    const mark = quote ? this.#paint("dim", "│ ") : "";
    return indent + mark + (item ? "• " : "") + this.#inline(rest);
  }

  /** @param {string} text */
  #inline(text) {
    let written = "";
    let plain = "";
    const flush = () => {
      written += plain && this.#isHeading ? this.#paint("bold", plain) : plain;
      plain = "";
    };
    for (let at = 0; at < text.length;) {
      const sign = signAt(text, at);
      at += sign?.whole.length ?? 1;
      if (!sign) {
        plain += text[at - 1];
        continue;
      }
      flush();
      const address = sign.address ? this.#paint("dim", ` (${sign.address})`) : "";
      written += this.#paint(sign.style, sign.inner) + address;
    }
    flush();
    return written;
  }
}
