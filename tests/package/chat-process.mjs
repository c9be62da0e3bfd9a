// One process of a chat in a folder: `node chat-process.mjs <moment>`. Its second run pays, and hangs at the moment;
// without a moment the chat comes to its end, which is printed.
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import * as looplet from "looplet";
import { fileStore } from "looplet/stores/node";
import { converse, payingAgent } from "./durable-run.mjs";

const hold = process.argv[2];
const payments = () =>
  existsSync("payments") ? readFileSync("payments", "utf8").split("\n").slice(0, -1) : [];
const effects = {
  has: (id) => payments().includes(id),
  add: (id) => appendFileSync("payments", `${id}\n`),
};

let chat;
/** The parent process kills this one when it sees the file. */
async function onHold() {
  await chat.current.saved();
  writeFileSync("held", hold);
  setInterval(() => {}, 1000);
}
const agent = payingAgent(looplet, { store: fileStore("chats"), effects, hold, onHold });
const texts = await converse(agent, (opened) => (chat = opened));
console.log(JSON.stringify({ texts, payments: payments() }));
