// The examples of docs/tasks/hot-reload.md. `hot-reload.test.mjs` changes them while they run.
import assert from "node:assert/strict";
import { vendorThat } from "./docs-vendor.mjs";

/** The script that puts the page's function on a page. */
export const mount = `import { show } from "./page"; void show(document.querySelector("main"));`;

/** A vendor whose model asks for the refund of the page, and is done. */
export const refunds = vendorThat(({ scripted }, body) => {
  const isRefunded = JSON.parse(body).messages.length > 1;
  return scripted([
    isRefunded ? { text: "All done." } : { toolCalls: [{ name: "refund", input: { order: "7" } }] },
  ]);
});

export const hotReloads = {
  "hot-reload/vite.config.ts": { isConfig: true },
  "hot-reload/page.ts": {
    mount,
    others: { "/api/anthropic": refunds },
    async inPage(page) {
      await page.click("text=Allow the refund");
      await page.waitForFunction(() => document.body.innerText.includes("Order 7 was refunded. All done."));
    },
  },
  "hot-reload/by-hand.ts": {
    // A path of the page's own server has no meaning without a page.
    before: () => (globalThis.location = new URL("https://page.test/")),
    async after({ made, requests }) {
      const { outcome } = await made.agent.run("Hello").result;
      delete globalThis.location;
      assert.equal(outcome, "completed");
      assert.match(requests[0].body, /Be brief\./);
    },
  },
};
