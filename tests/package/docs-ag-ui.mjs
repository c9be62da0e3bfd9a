// What the examples about AG-UI must have done; docs-tasks.mjs takes them in.
import assert from "node:assert/strict";

// The route that the page of its example asks.
let route;

const call = (name, input) => ({ toolCalls: [{ name, input }] });
const input = (content, more) => ({
  threadId: "t",
  runId: "r",
  messages: [{ id: "u", role: "user", content }],
  ...more,
});
const post = (body, headers = { cookie: "session=ada" }) =>
  new Request("https://page.test/api/agent", {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });

export const agUi = {
  "ag-ui/route.ts": {
    async after({ made }) {
      assert.equal((await made.POST(post(input("Hello"), {}))).status, 401);
      assert.match(await (await made.POST(post(input("Hello")))).text(), /"type":"success"/);
      route = made.POST;
    },
  },
  "ag-ui/page.ts": {
    before({ practice, serve }) {
      const turns = practice.scripted([
        call("color_page", { color: "red" }),
        call("send_mail", { to: "ada@mail.test" }),
        { text: "Done." },
      ]);
      serve((url, init) => {
        if (url !== "/api/agent") return turns(url, init);
        const headers = { ...init.headers, cookie: "session=eve" };
        return route(new Request("https://page.test/api/agent", { ...init, headers }));
      });
    },
    async after({ made, requests }) {
      const shown = [];
      const asked = [];
      await made.send(
        "Red, and a mail to Ada",
        (text) => shown.push(text),
        (question) => asked.push(question) > 0,
      );
      assert.deepEqual(shown, ["Done."]);
      assert.equal(asked.length, 1);
      assert.match(requests.at(-1).body, /The page is coloured.*sent to ada@mail\.test/);
    },
  },
  "ag-ui/by-input.ts": {
    async after({ made, requests }) {
      const context = [{ description: "The page", value: "a map" }];
      const text = await (await made.POST(post(input("Hello", { context })))).text();
      assert.match(text, /STATE_SNAPSHOT.*claude-sonnet-4-6/);
      assert.match(requests[0].body, /The user is ada\.\\nThe page: a map/);
    },
  },
  "ag-ui/connected.ts": {
    async after({ made, serve }) {
      serve((url, init) =>
        route(new Request(url, { ...init, headers: { ...init.headers, cookie: "session=ada" } })),
      );
      const page = new made.Connected({ url: "https://page.test/api/agent", threadId: "t" });
      await page.connectAgent();
      assert.deepEqual(
        page.messages.map(({ role }) => role),
        ["user", "assistant"],
      );
    },
  },
  "ag-ui/in-page.ts": {
    before: () => (globalThis.location = new URL("https://page.test/")),
    async after({ made: { page } }) {
      page.addMessage({ id: "u", role: "user", content: "Hello" });
      const { newMessages } = await page.runAgent();
      delete globalThis.location;
      assert.equal(newMessages.at(-1).role, "assistant");
    },
  },
  "ag-ui/own-run.ts": {
    async after({ made }) {
      assert.match(await (await made.POST(post(input("Hello")))).text(), /RUN_FINISHED/);
    },
  },
};
