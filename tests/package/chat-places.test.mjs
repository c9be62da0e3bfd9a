// The chat of docs/tasks/react.md where its agent is elsewhere, as a person uses it: its agent.ts is another one, and
// its components are the same.
import { pipeline, Readable } from "node:stream";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { personsPath, shop } from "./chat-path.mjs";
import { examples, root } from "./docs-examples.mjs";
import { mounted } from "./docs-screens.mjs";
import { installPacked } from "./install.mjs";
import { visit } from "./page.mjs";

const browserPath = process.env.LOOPLET_CHROMIUM;
const skip = !browserPath && "no Chromium";
const codeOf = (name) => examples.find((example) => example.name === name).code;

let installed;
before(async () => {
  installed = skip ? undefined : await installPacked();
  for (const name of skip ? [] : ["react", "react-dom", "scheduler"])
    symlinkSync(join(root, "node_modules", name), join(installed.folder, "node_modules", name));
});
after(() => installed?.remove());

/** Goes a person's path on a page with the chat and these files of its project. */
function path(name, files, others) {
  const folder = join(installed.folder, "docs");
  mkdirSync(join(folder, name), { recursive: true });
  for (const [file, code] of Object.entries({ "chat.tsx": codeOf("react/chat.tsx"), ...files }))
    writeFileSync(join(folder, name, file), code);
  return visit({
    folder,
    file: `${name}/chat.tsx`,
    mount: mounted("chat", "Chat"),
    others,
    inPage: personsPath,
  });
}

test("a person chats with an agent in a worker", { skip }, () => {
  const worker = `${codeOf("react/agent.ts")}
    import { serveAgent } from "looplet/workers";
    serveAgent(agent, { store });
    export type ServedAgent = typeof agent;
  `;
  return path("worker", { "agent.ts": codeOf("workers/agent.ts"), "worker.ts": worker }, shop().others);
});

/** A server's `handle` as a listener of Node's own server. */
function ofNode(handle) {
  return async (incoming, outgoing) => {
    const { method, headers, url } = incoming;
    const body = method === "GET" ? null : Readable.toWeb(incoming);
    const init = { method, headers, body, duplex: "half" };
    const response = await handle(new Request(new URL(url, `http://${headers.host}`), init));
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    if (response.body === null) return outgoing.end();
    pipeline(Readable.fromWeb(response.body), outgoing, () => {});
  };
}

test("a person chats with an agent on a server", { skip }, async () => {
  const page = `
    import { indexedDbStore } from "looplet/stores";
    export const agent = "/api/agent";
    export const store = indexedDbStore();
  `;
  const { createAgent, anthropic, tool } = await import("looplet");
  const { handler } = await import("looplet/server");
  const { memoryStore } = await import("looplet/stores");
  const practice = await import("looplet/practice");
  const { answer, isHeld } = shop();
  const store = memoryStore();
  const inputSchema = { type: "object" };
  const tools = {
    stock: tool({
      description: "Books in stock",
      inputSchema,
      readOnly: true,
      execute: () => (isHeld() ? new Promise(() => {}) : ["Emma", "Ulysses"]),
    }),
    order: tool({
      description: "Orders a book",
      inputSchema,
      needsApproval: true,
      execute: ({ title }) => `Ordered ${title}.`,
    }),
  };
  const fetch = async (url, init) => answer(practice, await new Response(init.body).text())(url, init);
  const agent = createAgent({ model: anthropic("m", { apiKey: "key", fetch }), tools, store });
  const handle = handler(agent, { store, base: "/api/agent", authorize: () => "ada" });
  await path("server", { "agent.ts": page }, { "/api/agent": ofNode(handle) });
});
