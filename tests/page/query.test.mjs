// The tab where query of looplet/agent-sdk works on files: approvals, todos, sessions.
import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import { Visitor, eachVisits, launch, serveSource, skip } from "./playground.mjs";

const mend = "Fix the failing test in cart.test.ts";

/** What a person sees and does in the tab. */
class Tab {
  constructor(visitor) {
    this.visitor = visitor;
    this.page = visitor.page;
  }

  approval = (name) => this.page.getByRole("group", { name: `Approval of ${name}` });
  list = (name) => this.page.getByRole("list", { name });
  items = (name) => this.list(name).getByRole("listitem");
  fileText = () => this.page.locator(".file-text").innerText();

  async decide(name, decision) {
    await this.visitor.until(this.approval(name));
    await this.approval(name).getByRole("button", { name: decision, exact: true }).click();
  }

  async mend() {
    await this.visitor.say(mend);
    await this.decide("Edit", "Allow");
    await this.decide("Write", "Allow");
    await this.visitor.until(this.visitor.summaries);
  }
}

describe("the query tab of the playground", { skip }, () => {
  let visitor, tab;
  eachVisits((fresh) => ((visitor = fresh), (tab = new Tab(fresh))));
  beforeEach(() => visitor.page.getByRole("link", { name: "Query" }).click());

  test("a change waits for the person, who sees it in the file", async () => {
    await visitor.say(mend);
    await visitor.until(tab.approval("Edit"));
    assert.doesNotMatch(await tab.fileText(), /item\.count, 0/);
    assert.match(await visitor.card("Edit").innerText(), /needs your approval/);
    assert.deepEqual(await tab.items("Todos").allTextContents(), [
      "● Find the code that the test calls, completed",
      "◐ Fixing the total, in progress",
      "○ Add a line to the changelog, pending",
    ]);
    await tab.decide("Edit", "Allow");
    await visitor.until(tab.approval("Write"));
    assert.match(await tab.fileText(), /item\.cents \* item\.count, 0/);
    assert.equal(await tab.items("Files").filter({ hasText: "CHANGELOG.md" }).count(), 0);
    await tab.decide("Write", "Allow");
    await visitor.until(visitor.summaries);
    assert.match(await tab.items("Files").first().innerText(), /CHANGELOG\.md\s*changed/);
    assert.match(await visitor.summaries.innerText(), /success · 6 turns/);
    assert.match(await visitor.answers.last().innerText(), /multiplies now/);
  });

  test("what only looks runs at once, and a file is read by a click", async () => {
    await visitor.ask("What is in this project?");
    assert.match(await visitor.card("Glob").innerText(), /done/);
    await tab.list("Files").getByRole("button", { name: "CLAUDE.md" }).click();
    assert.match(await tab.fileText(), /Prices are whole cents/);
  });

  test("a call that is denied changes nothing, and the model is told", async () => {
    await visitor.say(mend);
    await tab.decide("Edit", "Deny");
    await tab.approval("Edit").getByRole("button", { name: "Deny", exact: true }).click();
    await visitor.until(visitor.summaries);
    assert.match(await visitor.answers.last().innerText(), /refused, so I stop here/);
    assert.doesNotMatch(await tab.fileText(), /item\.count, 0/);
  });

  test("the mode that accepts edits asks nothing", async () => {
    await tab.page.getByRole("combobox", { name: "Permissions" }).selectOption("acceptEdits");
    await visitor.ask(mend);
    assert.match(await tab.items("Files").first().innerText(), /CHANGELOG/);
  });

  test("Escape ends the query, whose call was waiting", async () => {
    await visitor.say(mend);
    await visitor.until(tab.approval("Edit"));
    await visitor.page.keyboard.press("Escape");
    await visitor.until(visitor.summaries);
    assert.match(await visitor.summaries.innerText(), /error_during_execution/);
    assert.equal(await tab.approval("Edit").count(), 0);
  });

  test("a message to a query that runs is told before its next answer", async () => {
    await visitor.say(mend);
    await visitor.until(tab.approval("Edit"));
    await visitor.say("What is in this project?");
    await tab.decide("Edit", "Allow");
    await visitor.until(visitor.summaries);
    assert.match(await visitor.answers.last().innerText(), /The project has a cart/);
    assert.equal(await visitor.card("Glob").count(), 1);
  });

  test("a session is opened again, gone on with, and forked", async () => {
    await tab.mend();
    await tab.page.getByRole("button", { name: "New session" }).click();
    assert.equal(await visitor.answers.count(), 0);
    await visitor.ask("What is in this project?");
    assert.equal(await tab.items("Sessions").count(), 2);

    await tab.list("Sessions").getByRole("button", { name: mend, exact: true }).click();
    await visitor.until(visitor.card("Edit"));
    assert.match(await visitor.card("Edit").innerText(), /done[^]*Edited \/shop\/src\/cart\.ts/);
    await visitor.ask("What is in this project?");
    assert.equal(await tab.items("Sessions").count(), 2);

    await tab.page.getByRole("button", { name: `Fork ${mend}` }).click();
    await visitor.until(tab.items("Sessions").filter({ hasText: "(fork)" }));
    assert.equal(await tab.items("Sessions").count(), 3);
    assert.match(await visitor.transcript.innerText(), /Fix the failing test/);
  });

  test("another connection is chosen in a dialog without budgets", async () => {
    await visitor.button("Connection: Stand-in").click();
    const dialog = tab.page.getByRole("dialog", { name: "Connection" });
    assert.equal(await dialog.getByText("Budgets of one run").isVisible(), false);
    assert.equal(await dialog.getByText("Wire format").isVisible(), false);
    await dialog.getByText("Anthropic", { exact: true }).click();
    await dialog.getByRole("textbox", { name: "Model" }).fill("claude-sonnet-4-6");
    await dialog.getByRole("textbox", { name: "Key" }).fill("k");
    await dialog.getByRole("button", { name: "Use this" }).click();
    await visitor.say("Hello");
    await visitor.until(tab.page.getByText("dangerouslyAllowBrowser"));
  });
});

test("the query tab that npm start serves runs under its Content-Security-Policy", { skip }, async () => {
  const [server, browser] = await Promise.all([serveSource(), launch()]);
  try {
    const visitor = await Visitor.open(browser, `${server.url}query.html`);
    await new Tab(visitor).mend();
    await visitor.close();
    assert.deepEqual(visitor.complaints, []);
  } finally {
    await browser.close();
    await server.close();
  }
});
