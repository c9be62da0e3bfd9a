// How the playground looks and where it fits: colours, narrow windows, motion.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Visitor, launch, serve, skip } from "./playground.mjs";

describe("the playground's look", { skip }, () => {
  let server, browser;
  before(async () => ([server, browser] = await Promise.all([serve(), launch()])));
  after(async () => {
    await browser?.close();
    await server?.close();
  });

  const visit = async ({ page = "", ...options }, look) => {
    const visitor = await Visitor.open(browser, server.url + page, options);
    await look(visitor);
    await visitor.close();
    assert.deepEqual(visitor.complaints, []);
  };
  /** Lightness of the page's ground, 0 to 255. */
  const ground = (page) =>
    page.evaluate(() => Number(/\d+/.exec(getComputedStyle(document.body).backgroundColor)[0]));

  for (const [colorScheme, isRight] of [
    ["light", (value) => value > 200],
    ["dark", (value) => value < 50],
  ])
    test(`it is ${colorScheme} where the system is`, () =>
      visit({ colorScheme }, async ({ page }) =>
        assert.ok(isRight(await ground(page)), `${await ground(page)}`),
      ));

  test("the choice of colours wins over the system and survives a reload", () =>
    visit({ colorScheme: "dark" }, async ({ page }) => {
      await page.getByRole("button", { name: "Colours: auto" }).click();
      await page.getByRole("button", { name: "Colours: light" }).waitFor();
      assert.ok((await ground(page)) > 200);
      await page.reload();
      assert.ok((await ground(page)) > 200);
    }));

  for (const colorScheme of ["light", "dark"])
    test(`the texts of the query tab are readable in ${colorScheme}`, () =>
      visit({ colorScheme, page: "query.html" }, async (visitor) => {
        await visitor.say("Fix the failing test in cart.test.ts");
        await visitor.until(visitor.button("Allow"));
        assert.deepEqual(await visitor.page.evaluate(findFaintText), []);
      }));

  for (const [width, height] of [
    [390, 844],
    [820, 1180],
  ])
    test(`the field of the query tab is at the bottom of a window of ${width} pixels`, () =>
      visit({ viewport: { width, height }, page: "query.html" }, async ({ page }) => {
        const gap = () =>
          page.locator(".dock").evaluate((dock) => innerHeight - dock.getBoundingClientRect().bottom);
        const files = page.getByRole("list", { name: "Files" });
        assert.equal(await gap(), 0);
        assert.equal(await files.isVisible(), false);
        await page.getByRole("button", { name: "Workspace", exact: true }).click();
        assert.equal(await files.isVisible(), true);
        assert.equal(await gap(), 0);
      }));

  for (const page of ["", "query.html"])
    test(`the wordmark of ${page || "the agent tab"} stays on one line at 820 pixels`, () =>
      visit({ viewport: { width: 820, height: 1180 }, page }, async ({ page }) => {
        const lines = await page.locator(".bar h1").evaluate((title) => {
          const range = document.createRange();
          range.selectNodeContents(title);
          return new Set([...range.getClientRects()].map(({ bottom }) => Math.round(bottom))).size;
        });
        assert.equal(lines, 1);
        const label = page.locator(".bar .pill .label");
        assert.ok(
          await label.evaluate((label) => label.clientWidth > 0 && label.scrollWidth <= label.clientWidth),
        );
      }));

  test("the query tab fits a window of 390 pixels", () =>
    visit({ viewport: { width: 390, height: 800 }, page: "query.html" }, async (visitor) => {
      await visitor.ask("What is in this project?");
      assert.ok(await visitor.page.evaluate(() => document.body.scrollWidth <= innerWidth));
    }));

  for (const colorScheme of ["light", "dark"])
    test(`texts are readable in ${colorScheme}: contrast of 4.5 and more`, () =>
      visit({ colorScheme }, async (visitor) => {
        await visitor.ask("What is 17 * 23 + 4, and calculate 7 / 0");
        assert.deepEqual(await visitor.page.evaluate(findFaintText), []);
        await visitor.openControls();
        await visitor.page.getByRole("combobox", { name: "Permissions" }).selectOption("plan");
        await visitor.ask("Save the note: water the plants");
        assert.deepEqual(await visitor.page.evaluate(findFaintText), []);
        await visitor.button("Carry it out").click();
        await visitor.until(visitor.button("Edit"));
        await visitor.button("Edit").click();
        await visitor.page.getByRole("textbox", { name: /as JSON/ }).fill("{");
        await visitor.button("Run with this").click();
        assert.deepEqual(await visitor.page.evaluate(findFaintText), []);
        await visitor.button("Devtools").click();
        await visitor.until(visitor.page.getByRole("listbox", { name: "Steps" }));
        assert.deepEqual(await visitor.page.evaluate(findFaintText), []);
      }));

  test("it fits a window of 360 pixels, with cards, a queue and the log", () =>
    visit({ viewport: { width: 360, height: 640 } }, async (visitor) => {
      const { page } = visitor;
      const overflow = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.equal(await overflow(), 0);
      await visitor.say("What is 17 * 23 + 4, and look up keys in the archive");
      await visitor.until(page.locator("progress"));
      await visitor.say("This is a message that is longer than the window is wide, without any doubt");
      assert.equal(await overflow(), 0);
      for (const name of ["Stop", "Steer", "New chat", "Devtools", "Events"]) {
        const { x, width } = await visitor.button(name).boundingBox();
        assert.ok(x >= 0 && x + width <= 360, `${name} is inside`);
      }
      await visitor.button("Events").click();
      assert.equal(await overflow(), 0);
      await page.getByRole("button", { name: "Close the event log" }).click();
      await visitor.button("Devtools").click();
      await visitor.until(page.getByRole("listbox", { name: "Steps" }));
      assert.equal(await overflow(), 0);
      const devtools = page.locator("looplet-devtools");
      assert.ok(await devtools.evaluate((node) => node.scrollWidth <= node.clientWidth), "the devtools fit");
      await page.getByRole("button", { name: "Close the devtools" }).click();
      await visitor.until(visitor.summaries);
      assert.equal(await overflow(), 0);
    }));

  for (const [width, height] of [
    [390, 844],
    [360, 640],
  ])
    test(`header and dialog fit a phone of ${width} pixels`, () =>
      visit({ viewport: { width, height } }, async (visitor) => {
        const { page } = visitor;
        const header = page.locator(".bar :is(h1, button):visible, .bar .pill .label");
        const parts = await header.evaluateAll((all) =>
          all.map((one) => {
            const { left, right } = one.getBoundingClientRect();
            return {
              name: one.ariaLabel ?? one.textContent,
              isIn: left >= 0 && right <= innerWidth && one.scrollWidth <= one.clientWidth + 1,
            };
          }),
        );
        assert.deepEqual(
          parts.filter(({ isIn }) => !isIn),
          [],
        );
        assert.match(parts.map(({ name }) => name).join(), /Practice provider/);

        await page.locator("#connection").click();
        const dialog = page.getByRole("dialog");
        const top = (name) =>
          dialog
            .locator(".kinds label")
            .getByText(name, { exact: true })
            .evaluate((one) => one.offsetTop);
        assert.equal(
          await top("OpenAI-compatible"),
          await top("Practice provider"),
          "the choices are one row",
        );
        for (const kind of ["Practice provider", "Anthropic"]) {
          await dialog.locator(".kinds label").getByText(kind, { exact: true }).click();
          const { x, y, width: wide, height: high } = await visitor.button("Use this").boundingBox();
          assert.ok(x >= 0 && x + wide <= width && y + high <= height, `${kind}: the button is in sight`);
          assert.ok(await dialog.evaluate((one) => one.scrollWidth <= one.clientWidth));
        }
        // Nothing that is typed into hides below the buttons.
        const seconds = dialog.getByRole("textbox", { name: "Seconds", exact: true });
        await seconds.focus();
        const [field, buttons] = [await seconds.boundingBox(), await dialog.locator("footer").boundingBox()];
        assert.ok(field.y + field.height <= buttons.y + 1, "the last field can be seen");
      }));

  test("nothing moves for who wants less motion", () =>
    visit({ reducedMotion: "reduce" }, async (visitor) => {
      await visitor.say("Look up keys in the archive");
      await visitor.until(visitor.page.locator("progress"));
      const names = await visitor.page.evaluate(() => document.getAnimations().length);
      assert.equal(names, 0);
    }));

  test("the end stays in view until the reader scrolls up", () =>
    visit({ viewport: { width: 800, height: 420 } }, async (visitor) => {
      const { page } = visitor;
      await visitor.ask("What is 17 * 23 + 4, and what time is it in Tokyo?");
      const left = () =>
        page.evaluate(() => {
          const { scrollHeight, scrollTop, clientHeight } = document.getElementById("scroller");
          return scrollHeight - scrollTop - clientHeight;
        });
      assert.ok((await left()) < 80);
      await page.locator("#scroller").hover();
      await page.mouse.wheel(0, -400);
      await page.getByRole("button", { name: "Jump to the latest message" }).waitFor();
      await page.evaluate(() => document.getElementById("prompt").focus());
      const before = await page.evaluate(() => document.getElementById("scroller").scrollTop);
      await page.getByRole("article", { name: "Tool call time" }).evaluate((card) => card.append("more"));
      assert.equal(await page.evaluate(() => document.getElementById("scroller").scrollTop), before);
      await page.getByRole("button", { name: "Jump to the latest message" }).click();
      assert.ok((await left()) < 80);
    }));
});

/** Elements with text of their own whose contrast with what lies behind is below WCAG's 4.5. Runs in the page. */
function findFaintText() {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const paint = (...colors) => {
    canvas.clearRect(0, 0, 1, 1);
    for (const color of colors) {
      canvas.fillStyle = color;
      canvas.fillRect(0, 0, 1, 1);
    }
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const luminance = (rgb) => {
    const [r, g, b] = rgb.map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const faint = [];
  for (const node of document.querySelectorAll("body *")) {
    const hasText = [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim() !== "");
    if (!hasText || !node.checkVisibility({ visibilityProperty: true }) || node.closest(".hidden, .skip"))
      continue;
    const behind = [];
    for (let at = node; at; at = at.parentElement) behind.unshift(getComputedStyle(at).backgroundColor);
    const [text, ground] = [
      luminance(paint(...behind, getComputedStyle(node).color)),
      luminance(paint(...behind)),
    ];
    const contrast = (Math.max(text, ground) + 0.05) / (Math.min(text, ground) + 0.05);
    if (contrast < 4.5) faint.push(`${node.className || node.tagName}: ${contrast.toFixed(2)}`);
  }
  return faint;
}
