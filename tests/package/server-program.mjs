// A server of chats for tests, in every host: its model counts to 20, and pays when it is asked to.
import { createAgent, custom, tool } from "looplet";
import { handler } from "looplet/server";
import { memoryStore } from "looplet/stores";

const inputSchema = { type: "object", properties: {} };
const pay = tool({ description: "Pays", inputSchema, needsApproval: true, execute: () => "paid" });
const model = custom(async function* ({ messages }) {
  const [asked] = messages.at(-1).content;
  if (asked.text === "Pay.") yield { type: "tool_call", id: "p", name: "pay", input: {} };
  else for (let word = 1; word <= 20; word++) yield `word${word} `;
});

export function serverOf(store) {
  return handler(createAgent({ model, tools: { pay }, store }), {
    store,
    base: "/api/agent",
    authorize: ({ headers }) => headers.get("authorization")?.replace(/^Bearer /, ""),
  });
}

export const handle = serverOf(memoryStore());
