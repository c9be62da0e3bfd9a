// A server of Node that lives one life: `node server-life.mjs <folder> <url>`. The folder outlives it. It prints its
// address.
import { createServer } from "node:http";
import { pipeline, Readable } from "node:stream";
import * as looplet from "looplet";
import { handler } from "looplet/server";
import { fileStore } from "looplet/stores/node";
import { agentOn } from "./killed-run.mjs";

const [, , folder, url] = process.argv;
// A run that its crashes have stopped waits for someone to resume it.
const durable = { maxCrashes: 1000, maxInterruptions: 1000 };
const { agent, store } = agentOn(looplet, { url, store: fileStore(folder), durable });
const handle = handler(agent, { store, base: "/api", authorize: () => "ada" });

const server = createServer(async (incoming, outgoing) => {
  const { method, headers } = incoming;
  const body = method === "GET" ? null : Readable.toWeb(incoming);
  const address = new URL(incoming.url, `http://${headers.host}`);
  const response = await handle(new Request(address, { method, headers, body, duplex: "half" }));
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  if (response.body === null) return outgoing.end();
  pipeline(Readable.fromWeb(response.body), outgoing, () => {});
});
server.listen(0, "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${server.address().port}`);
  void handle.wake();
});
