// The links of the documentation, as a reader follows them on a page of the package, and its list of error codes.
import assert from "node:assert/strict";
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { pages, root } from "./docs-examples.mjs";
import { installPacked } from "./install.mjs";

let installed;
before(async () => (installed = await installPacked()));
after(() => installed?.remove());

/** What the package leaves out. The page of npm, the site and the repository have these links too. */
const IN_REPOSITORY = /^(bench|src|scripts|tests|\.github)\/|^(CONTRIBUTING|SECURITY|CODE_OF_CONDUCT)\.md$/;

describe("every link leads to something that the package has, or the repository", () => {
  for (const page of pages)
    test(page, () => {
      const published = join(installed.folder, "node_modules/looplet");
      const wrong = linksOf(readFileSync(join(root, page), "utf8")).filter((link) => {
        const [path, anchor] = link.split("#");
        const place = path === "" ? page : join(dirname(page), path);
        const file = join(IN_REPOSITORY.test(place) ? root : published, place);
        if (place.startsWith("..") || !existsSync(file)) return true;
        return anchor !== undefined && !(statSync(file).isFile() && anchorsOf(file).includes(anchor));
      });
      assert.deepEqual(wrong, []);
    });
});

test("the page about errors has a section for each code, and for nothing else", () => {
  const codesOf = (file, type) =>
    [
      ...new RegExp(`export type ${type} =([^;]*);`)
        .exec(readFileSync(join(root, file), "utf8").replace(/^ *\/?\*.*$/gm, ""))[1]
        .matchAll(/"(\w+)"/g),
    ].map(([, code]) => code);
  const codes = [
    ...codesOf("src/typescript/core/generated/model.ts", "FailureCode"),
    ...codesOf("src/typescript/core/api/errors.ts", "LoopletErrorCode"),
  ];
  const page = readFileSync(join(root, "docs/tasks/errors.md"), "utf8");
  const sections = [...page.matchAll(/^### (\w+)$/gm)].map(([, code]) => code);
  assert.deepEqual(sections.sort(), [...new Set(codes)].sort());
});

/** The links of a page to other places of the package. */
function linksOf(text) {
  return [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link]) => link)
    .filter((link) => !/^[a-z]+:/.test(link));
}

/** The anchors of a page, as GitHub makes them of its headings. */
function anchorsOf(file) {
  return [...withoutCode(readFileSync(file, "utf8")).matchAll(/^#+ (.*)$/gm)].map(([, title]) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, "")
      .replaceAll(" ", "-"),
  );
}

function withoutCode(text) {
  return text.replace(/^```[^]*?^```/gm, "");
}
