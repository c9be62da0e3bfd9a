// A server of `server-program.mjs`, asked by the page's half, for tests in every host.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";

/** Does what pages of two users do with the server at `url`. */
export async function behaves(connectAgent, url, fetch) {
  const page = (user) => connectAgent(url, { fetch, headers: { authorization: `Bearer ${user}` } });
  const [ada, phone, eve] = [page("ada"), page("ada"), page("eve")];
  const chat = await ada.openChat("support");
  const events = [];
  for await (const event of chat.run("Count.")) events.push(event);
  const said = events.map(({ text = "", type }) => (type === "text-delta" ? text : "")).join("");
  assert.match(said, /^word1 word2 .*word20 $/);
  assert.deepEqual([events[0].type, events.at(-1).type], ["run-start", "finish"]);

  const paying = chat.run("Pay.");
  for await (const { type } of paying.events({ detached: true })) if (type === "question") break;
  const there = await phone.openChat("support");
  for await (const event of there.current.events({ detached: true })) {
    if (event.type !== "question") continue;
    there.current.answer(event.questionId, { behavior: "allow" });
    break;
  }
  const { outcome, messages } = await paying.result;
  assert.equal(outcome, "completed");
  assert.match(JSON.stringify(messages), /"paid"/);
  assert.equal((await ada.run("Count.").result).messages.length, 2);

  assert.deepEqual((await eve.openChat("support")).messages, []);
  await assert.rejects(eve.attach(paying.id, { chat: "support" }).result, /There is no run/);
  for (const agent of [ada, phone, eve]) agent.disconnect();
}

/** A process that tells the address at which it listens. */
export function listening(command, args, cwd) {
  const child = spawn(command, args, { cwd, env: { ...process.env, NO_COLOR: "1" } });
  return new Promise((resolve, reject) => {
    let told = "";
    const hear = (text) => {
      told += text;
      const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(told) ?? [];
      if (url) resolve({ url, end: () => child.kill() });
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.on("error", reject);
    child.on("exit", () => reject(new Error(told)));
  });
}
