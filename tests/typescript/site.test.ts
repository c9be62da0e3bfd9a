import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { forSite, llmsText, shelvesOf } from "../../www/site/shelves.js";

const docs = fileURLToPath(new URL("../../docs/", import.meta.url));
const shelves = shelvesOf(readFileSync(`${docs}README.md`, "utf8"));

test("the site has four shelves, and every page of the documentation is on one of them, once", () => {
  expect(shelves.map(({ title }) => title)).toEqual(["Learn", "Do", "Understand", "Look up"]);
  const listed = shelves.flatMap(({ groups }) =>
    groups.flatMap(({ pages }) => pages.map(({ path }) => path)),
  );
  const written = readdirSync(docs, { recursive: true, encoding: "utf8" })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => path.endsWith(".md") && path !== "README.md");
  expect(listed.sort()).toEqual(written.sort());
});

test("every page of the list has a description", () => {
  const pages = shelves.flatMap(({ groups }) => groups.flatMap(({ pages }) => pages));
  expect(pages.filter(({ description }) => description === "")).toEqual([]);
});

test("llms.txt lists the pages by shelf", () => {
  const some = shelvesOf("## Do\n\n### Tools\n\n| | |\n|---|---|\n| call one | [`tool`](tasks/tool.md) |\n");
  expect(llmsText(some, "Runs loops.")).toBe(
    "# looplet\n\n> Runs loops.\n\n## Do\n\n- [tool](tasks/tool.md): call one\n",
  );
});

test("a page of the site links to pages of the site only", () => {
  const page = "[a](../tools.md#x) [b](../README.md) [c](../../src/lib.rs) [d](https://example.com)";
  expect(forSite(`${page}\n\`\`\`\n[c](../../src/lib.rs)\n\`\`\`\n`, "tasks/a.md")).toBe(
    "[a](../tools.md#x) [b](../index.md) c [d](https://example.com)\n```\n[c](../../src/lib.rs)\n```\n",
  );
});
