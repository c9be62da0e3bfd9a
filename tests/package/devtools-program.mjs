// A program whose agent is shown by `serveDevtools`. It prints the address, and obeys the lines of its input.
import process from "node:process";
import { createInterface } from "node:readline";
import { anthropic, createAgent, tool } from "looplet";
import { serveDevtools } from "looplet/devtools/node";
import { scripted } from "looplet/practice";

const options = JSON.parse(process.argv[2] ?? "{}");
const { record, offer, close } = await serveDevtools({ name: "checkout", print: console.log, ...options });
const read = tool({
  description: "Reads",
  readOnly: true,
  inputSchema: { type: "object" },
  execute: () => "rain",
});
const fetch = scripted([
  { toolCalls: [{ name: "read", input: {} }] },
  { text: "Take an umbrella." },
  { text: "Otherwise." },
]);
const agent = createAgent({
  model: anthropic("m", { apiKey: "plain-key-of-a-user-42", fetch }),
  tools: { read },
  record,
});
offer({ support: agent });
console.log("ran", (await agent.run("Umbrella?").result).text);

// A program that reads its input is alive as long as that is open.
if (options.keepAlive)
  createInterface({ input: process.stdin }).on("line", async (line) => {
    if (line !== "close") return;
    await close();
    console.log("closed");
    process.exit(0);
  });
