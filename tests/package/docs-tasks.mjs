// What the examples of docs/tasks must have done; docs-expected.mjs says how.
//   inPage(page)   what a person does in a browser that has opened the example
//   mount          the script that puts a module on a page
//   others         what the page's server answers below a path
import assert from "node:assert/strict";

export const tasks = {
  "first-run/index.html": {
    async inPage(page) {
      await page.waitForFunction(() => document.getElementById("outcome").textContent === "completed");
      assert.match(await page.textContent("#answer"), /Paris/);
    },
  },
  "first-run/agent.ts": {
    // A path of the page's own server has no meaning without a page.
    before: () => (globalThis.location = new URL("https://page.test/")),
    async after({ made, requests }) {
      const { outcome } = await made.agent.run("Hello").result;
      delete globalThis.location;
      assert.equal(outcome, "completed");
      assert.equal(requests[0].url, "https://page.test/api/anthropic/v1/messages");
      assert.equal(requests[0].headers.get("x-api-key"), null);
    },
  },
};
