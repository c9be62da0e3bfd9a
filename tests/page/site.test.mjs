// The documentation as a web site, as `npm run site` builds it.
import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import axe from "axe-core";
import { root } from "../../scripts/lib/machine.mjs";
import { buildSite, serveSite } from "../../scripts/site.mjs";
import { launch, skip } from "./playground.mjs";

const site = join(root, "target/site");

describe("the site of the documentation", { skip }, () => {
  let server, browser;
  before(async () => {
    await buildSite();
    [server, browser] = await Promise.all([serveSite(), launch()]);
  });
  after(async () => {
    await browser?.close();
    await server?.close();
  });

  const visit = async (path, options, look) => {
    const page = await browser.newPage(options);
    const errors = [];
    page.on("pageerror", (error) => errors.push(error.message));
    await page.goto(server.url + path, { waitUntil: "networkidle" });
    await look(page);
    await page.close();
    assert.deepEqual(errors, []);
  };

  test("every link to a page of the site finds the page and the anchor", () =>
    visit("", {}, async (page) => {
      const files = readdirSync(site, { recursive: true }).filter(
        (path) => path.endsWith(".html") && path !== "404.html",
      );
      const pages = await page.evaluate(
        (texts) => {
          const parser = new DOMParser();
          return texts.map(([address, html]) => {
            const document = parser.parseFromString(html, "text/html");
            const links = [...document.querySelectorAll("a[href]")].map((a) => a.getAttribute("href"));
            return [
              address,
              {
                ids: [...document.querySelectorAll("[id]")].map(({ id }) => id),
                links: links
                  .map((link) => new URL(link, address))
                  .map(({ href, origin }) => ({ href, origin })),
              },
            ];
          });
        },
        files.map((path) => [
          server.url + path.replace(/(^|(?<=\/))index\.html$|\.html$/, ""),
          readFileSync(join(site, path), "utf8"),
        ]),
      );
      const found = new Map(pages);
      const wrong = pages.flatMap(([address, { links }]) =>
        links
          .filter(({ origin }) => origin === new URL(server.url).origin)
          .filter(({ href }) => {
            const [target, anchor = ""] = href.split("#");
            if (!found.has(target)) return true;
            return anchor !== "" && !found.get(target).ids.includes(decodeURIComponent(anchor));
          })
          .map(({ href }) => `${address} → ${href}`),
      );
      assert.ok(found.size > 70, `${found.size} pages`);
      assert.deepEqual([...new Set(wrong)], []);
    }));

  test("the search finds a page by its words", () =>
    visit("", {}, async (page) => {
      await page.getByRole("button", { name: "Search" }).first().click();
      await page.getByRole("searchbox").fill("Durable Objects");
      await page.locator("#localsearch-list a[href*='durable-objects']").first().click();
      await page.getByRole("heading", { level: 1, name: "Sessions in Durable Objects" }).waitFor();
    }));

  for (const colorScheme of ["light", "dark"])
    for (const path of ["", "tasks/tools-and-approvals"])
      test(`"/${path}" has no serious obstacle in ${colorScheme} colours`, () =>
        visit(path, { colorScheme }, async (page) => {
          await page.evaluate(axe.source);
          const { violations } = await page.evaluate(() => window.axe.run());
          const serious = violations.filter(({ impact }) => ["serious", "critical"].includes(impact));
          assert.deepEqual(
            serious.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]),
            [],
          );
        }));

  for (const path of ["", "vendors", "tasks/errors", "tasks/tools-and-approvals"])
    test(`"/${path}" fits a window of 390 pixels`, () =>
      visit(path, { viewport: { width: 390, height: 844 } }, async (page) =>
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390),
      ));

  test("it is dark where the system is, and a click makes it light", () =>
    visit("", { colorScheme: "dark" }, async (page) => {
      const ground = () =>
        page.evaluate(() => Number(/\d+/.exec(getComputedStyle(document.body).backgroundColor)[0]));
      assert.ok((await ground()) < 50);
      await page.getByRole("switch", { name: /theme/ }).first().click();
      assert.ok((await ground()) > 200);
    }));

  test("each page is Markdown under its address with .md, and llms.txt lists it", async () => {
    const text = async (path) => {
      const response = await fetch(server.url + path);
      assert.equal(response.status, 200);
      return response.text();
    };
    assert.match(await text("tools.md"), /^# Tools\n/);
    const listed = [...(await text("llms.txt")).matchAll(/\]\(([^)]+)\)/g)].map(([, path]) => path);
    assert.ok(listed.length > 70, `${listed.length} pages`);
    assert.deepEqual(
      listed.filter((path) => !existsSync(join(site, path))),
      [],
    );
  });
});
