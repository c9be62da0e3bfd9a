// One process of a chat in a folder: `node chat-process.mjs <moment>`. Its second run pays, and hangs at the moment `model`,
// `before` or `after` the payment's effect; without a moment it goes on to the end of its third run, and prints the chat.
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { createAgent, custom, tool } from "looplet";
import { fileStore } from "looplet/stores/node";

const [, , hold = ""] = process.argv;
const payments = () =>
  existsSync("payments") ? readFileSync("payments", "utf8").split("\n").slice(0, -1) : [];

/** The moment has come: the parent process kills this one when it sees the file. */
async function forever() {
  await chat.current.saved();
  writeFileSync("held", hold);
  return new Promise((resolve) => setTimeout(resolve, 600_000));
}

const model = custom(async ({ messages }) => {
  const said = messages.filter(({ role, content }) => role === "user" && content[0].type === "text");
  const text = said.at(-1).content[0].text;
  if (text !== "Pay.") return `${text} ${messages.length}`;
  if (messages.at(-1).content[0].type === "text")
    return [{ type: "tool_call", id: "b", name: "pay", input: {} }];
  if (hold === "model") await forever();
  return "Paid.";
});
const pay = tool({
  description: "Pays",
  inputSchema: { type: "object", properties: {} },
  async execute(_, { toolCallId }) {
    if (hold === "before") await forever();
    appendFileSync("payments", `${toolCallId}\n`);
    if (hold === "after") await forever();
    return "receipt";
  },
});
const reconcile = ({ toolCallId }) =>
  payments().includes(toolCallId) ? { outcome: "done", output: "receipt" } : { outcome: "run" };
const agent = createAgent({ model, tools: { pay }, reconcile, store: fileStore("chats") });

const chat = await agent.openChat("chat-1");
const isOld = chat.current !== undefined;
await chat.current?.result;
if (chat.messages.length === 0) await chat.run("Hi.").result;
if (!isOld) await chat.run("Pay.").result;
await chat.run("Bye.").result;
await chat.saved();
const texts = chat.messages.flatMap(({ content }) => content.map((block) => block.text ?? block.type));
console.log(JSON.stringify({ isOld, texts, payments: payments() }));
