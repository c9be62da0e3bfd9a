// What the examples about tools of pages must have done; docs-tasks.mjs takes them in.
import assert from "node:assert/strict";
import { Readable } from "node:stream";

// The server that the page of its example asks.
let handle;

export const pageTools = {
  "page-tools/route.ts": {
    async after({ made }) {
      handle = made.handle;
      const response = await handle(new Request("https://page.test/api/agent"));
      assert.deepEqual(await response.json(), { sessions: [] });
    },
  },
  "page-tools/page.ts": {
    mount: 'import "./page";',
    others: {
      async "/api/agent"(request, response) {
        const { method, url, headers } = request;
        const body = method === "GET" ? null : Readable.toWeb(request);
        const init = { method, headers, body, duplex: "half" };
        const answer = await handle(new Request(`https://${headers.host}${url}`, init));
        response.writeHead(answer.status, Object.fromEntries(answer.headers));
        if (answer.body === null) return response.end();
        const told = Readable.fromWeb(answer.body);
        response.on("close", () => told.destroy());
        told.on("error", () => {}).pipe(response);
      },
    },
    async inPage(page) {
      await page.waitForFunction(() => /Emma/.test(document.body.innerText));
      assert.equal(await page.evaluate(() => localStorage.getItem("cart")), '["Emma"]');
    },
  },
  "page-tools-1": {
    async after({ made }) {
      const elicit = async () => ({ action: "accept", content: { output: { city: 7 } } });
      await assert.rejects(made.locate.execute({}, { elicit }), /does not fit/);
    },
  },
};
