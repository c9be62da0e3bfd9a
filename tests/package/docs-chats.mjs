// What the examples about chats must have done; docs-tasks.mjs takes them in.
import assert from "node:assert/strict";

export const chats = {
  "save-a-chat/conversations.ts": {
    async after({ made, looplet: { createAgent, custom } }) {
      const { memoryStore } = await import("looplet/stores");
      const store = memoryStore();
      const agent = createAgent({ model: custom(({ messages }) => `answer ${messages.length}`), store });
      const listed = await made.conversations(agent, store);
      assert.deepEqual(
        listed.map(({ title, tags }) => [title, tags]),
        [["Shirts", ["shop"]]],
      );
      assert.equal((await agent.readChat(listed[0].id)).messages.length, 2);
    },
  },
  "save-a-chat/result-state.ts": {
    async after({ made, looplet: { createAgent, custom, tool } }) {
      const { memoryStore } = await import("looplet/stores");
      const calls = ["fail", "pay"].map((name) => ({ type: "tool_call", id: name, name, input: {} }));
      const tools = {
        fail: tool({
          description: "Fails.",
          inputSchema: { type: "object" },
          execute: () => Promise.reject(new Error("no")),
        }),
        pay: tool({
          description: "Pays.",
          inputSchema: { type: "object" },
          needsApproval: true,
          execute: () => "paid",
        }),
      };
      const agent = createAgent({ model: custom(() => calls), store: memoryStore(), tools });
      const run = (await agent.openChat("c")).run("Pay.");
      for await (const { type } of run.events({ detached: true })) if (type === "waiting") break;
      await run.saved();
      const { messages } = await agent.readChat("c");
      assert.deepEqual(messages.at(-1).content.map(made.stateOf), ["failed", "waits for your answer"]);
      run.abort();
      await run.result;
    },
  },
  "save-a-chat/app.ts": {
    async after({ made, practice: { scripted } }) {
      const { memoryStore } = await import("looplet/stores");
      const kept = memoryStore();
      // The first process is gone without a word, so nobody holds its run.
      const store = { append: (...given) => kept.append(...given), load: (key) => kept.load(key) };
      const view = () => {
        const seen = [];
        return {
          seen,
          show: ({ content }) => seen.push(content[0].text),
          write: (text) => seen.push(`+ ${text}`),
        };
      };
      const answers = scripted([{ text: "Hi Ada." }, { text: "Ada." }]);
      let requests = 0;
      // The first process hangs in its second run.
      let answerLate;
      const hanging = (...given) =>
        ++requests === 1 ? answers(...given) : new Promise((resolve) => (answerLate = resolve));
      const send = await made.start(store, view(), hanging);
      await send("My name is Ada.");
      const hung = send("What is my name?");
      while (requests < 2) await new Promise((resolve) => setTimeout(resolve, 1));
      const { seen, ...again } = view();
      await made.start(store, again, answers);
      assert.deepEqual(seen, ["My name is Ada.", "Hi Ada.", "What is my name?", "+ Ada."]);
      assert.equal(answers.requests[1].body.messages.length, 3);
      answerLate(new Response("{}", { status: 400 }));
      await hung;
    },
    mount: `
      import { practice } from "looplet/practice";
      import { opfsStore } from "looplet/stores";
      import { start } from "./app";
      const main = document.querySelector("main");
      main.innerHTML = "<output></output><form><input><button>Send</button></form>";
      const output = main.querySelector("output");
      const show = ({ role, content }) =>
        output.append(role + ": " + content.map(({ text = "" }) => text).join("") + " | ");
      const send = await start(opfsStore(), { show, write: (text) => output.append(text) }, practice());
      main.querySelector("form").onsubmit = async (event) => {
        event.preventDefault();
        await send(main.querySelector("input").value);
        output.append(" |");
      };
    `,
    async inPage(page) {
      const said = async (text) => {
        await page.waitForFunction((text) => document.body.textContent.includes(text), text);
        return page.textContent("output");
      };
      await page.fill("input", "Hello, I am Ada.");
      await page.click("text=Send");
      const answer = (await said("|")).replace(/ \|$/, "");
      await page.reload();
      // An answer whose end was not saved yet goes on.
      assert.match(await said(answer), /^user: Hello, I am Ada\. \| /);
    },
  },
  "save-a-chat/store.ts": {
    async after({ made, looplet: { anthropic, createAgent }, practice: { scripted } }) {
      const fetch = scripted([{ text: "Hi Ada." }, { text: "Ada." }]);
      const agent = createAgent({ model: anthropic("test", { fetch }) });
      const kept = new Map();
      const store = {
        getItem: (key) => kept.get(key) ?? null,
        setItem: (key, text) => kept.set(key, text),
      };
      const shown = [];
      const send = (prompt) => made.openChat(agent, store, "chat-1").send(prompt, (text) => shown.push(text));
      await send("My name is Ada.");
      await send("What is my name?");
      assert.deepEqual(shown, ["Hi Ada.", "Ada."]);
      assert.equal(fetch.requests[1].body.messages.length, 3);
    },
  },
};
