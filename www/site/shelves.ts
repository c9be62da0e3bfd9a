// The order of the documentation. docs/README.md is its list: a shelf is a heading of the second level, a group is
// one of the third, and a page is a row of a table.
import { posix } from "node:path";

export interface Page {
  /** From docs/, with `.md`. */
  path: string;
  title: string;
  description: string;
}

export interface Shelf {
  title: string;
  groups: { title: string; pages: Page[] }[];
}

const PAGE_LINK = /\[([^\]]+)\]\(([\w/-]+\.md)\)/;

export function shelvesOf(readme: string): Shelf[] {
  const shelves: Shelf[] = [];
  for (const line of readme.split("\n")) {
    const [, level, title = ""] = /^(##|###) (.*)$/.exec(line) ?? [];
    if (level === "##") shelves.push({ title, groups: [] });
    if (level === "###") shelves.at(-1)?.groups.push({ title, pages: [] });
    const page = line.startsWith("|") ? pageOf(line) : undefined;
    if (page !== undefined) shelves.at(-1)?.groups.at(-1)?.pages.push(page);
  }
  return shelves;
}

/** One cell of a row is the link, the other one says what the page is for. */
function pageOf(row: string): Page | undefined {
  const [, title = "", path] = PAGE_LINK.exec(row) ?? [];
  if (path === undefined) return undefined;
  const cells = row.split("|").map((cell) => cell.trim());
  return {
    path,
    title: title.replaceAll("`", ""),
    description: cells.find((cell) => cell !== "" && !PAGE_LINK.test(cell)) ?? "",
  };
}

/** https://llmstxt.org: the pages as Markdown, for programs that read. */
export function llmsText(shelves: Shelf[], summary: string): string {
  const sections = shelves.map(({ title, groups }) => {
    const pages = groups.flatMap((group) => group.pages);
    const lines = pages.map((page) => `- [${page.title}](${page.path}): ${page.description}`);
    return `## ${title}\n\n${lines.join("\n")}\n`;
  });
  return [`# looplet\n\n> ${summary}\n`, ...sections].join("\n");
}

/**
 * A page of docs/ for the site: the list of pages is its index, and a link to a file of the repository, which the
 * site does not have, is its text.
 */
export function forSite(markdown: string, path: string): string {
  const parts = markdown.split(/^(```[^]*?^```)/m);
  return parts
    .map((part) =>
      part.startsWith("```") ? part : part.replaceAll(/\[([^\]]+)\]\(([^)\s]+)\)/g, linkForSite),
    )
    .join("");

  function linkForSite(link: string, text: string, target: string): string {
    if (/^(?:[a-z]+:|#)/.test(target)) return link;
    const place = posix.join(posix.dirname(path), target);
    if (place.startsWith("..")) return text;
    return /(?:^|\/)README\.md(?:#|$)/.test(place)
      ? `[${text}](${target.replace("README.md", "index.md")})`
      : link;
  }
}

/** The anchor of a heading, as GitHub makes it. */
export const anchorOf = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, "")
    .replaceAll(" ", "-");
