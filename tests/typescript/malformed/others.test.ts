/** An object of Cloudflare, its WebSocket and the server of devtools answer malformed messages with a sentence too. */
import { expect, it } from "vitest";
import type { Agent, Store } from "looplet";
import { AgentObject } from "looplet/cloudflare";
import { serveDevtools } from "looplet/devtools/node";
import { objectState, sqlite } from "../support/object-state.js";
import { agentOf, post, wrongs, wrongWith } from "./kit.js";
import { BODIES, malformed, wrongIn } from "./values.js";

class Session extends AgentObject {
  agent(store: Store): Agent {
    return agentOf(store) as unknown as Agent;
  }
}

it.skipIf(sqlite === undefined)("AgentObject", { timeout: 120_000 }, async () => {
  const prompt = [{ type: "text", text: "Hi" }];
  const rows: [string, unknown][] = [
    ["/one/run", { prompt, requestId: "q" }],
    ["/one/call", { method: "run", args: [prompt, { id: "r", inputs: { a: 1 } }] }],
    ["/one/answer", { questionId: 1, answer: { behavior: "deny" } }],
    ["/one/session", { looplet: 1, messages: [] }],
  ];
  for (const [path, body] of rows) {
    const make = () => {
      const session = new Session(objectState(), {});
      return (request: Request) => session.fetch(request as never);
    };
    const request = post(path, path.endsWith("session") ? "PUT" : "POST");
    expect([path, await wrongs(make, body, request)]).toEqual([path, []]);
  }
});

it.skipIf(sqlite === undefined)("a WebSocket of AgentObject", { timeout: 60_000 }, async () => {
  for (const body of [
    { do: "run", prompt: [{ type: "text", text: "Hi" }], requestId: "q" },
    { do: "answer", questionId: 1, answer: { behavior: "deny", message: "x" } },
    { do: "abort", reason: "x" },
  ])
    for (const [name, bad] of malformed(body)) {
      const told: string[] = [];
      const session = new Session(objectState(), {});
      const message = typeof bad === "string" ? bad : new TextDecoder().decode(bad);
      const socket = { send: (text: string) => void told.push(text), close: () => {} };
      await session.webSocketMessage(socket as never, message);
      expect([name, told.length]).toEqual([name, 1]);
      expect([name, told[0]]).not.toEqual([name, expect.stringContaining("Its log says why")]);
      expect([name, wrongIn(400, told[0]!, [])]).toEqual([name, undefined]);
    }
});

it("the server of devtools", { timeout: 60_000 }, async () => {
  const { url, close } = await serveDevtools();
  const message = { looplet: 1, type: "export", source: "s", run: "r", request: 7 };
  const found: string[] = [];
  const headers = { "content-type": "application/json" };
  const ask = (body: string | Uint8Array) =>
    new Request(`${url}ask`, { method: "POST", headers, body: body as BodyInit });
  for (const [name, body] of [...malformed(message), ...Object.entries(BODIES)]) {
    const wrong = await wrongWith(fetch, ask(body));
    if (wrong !== undefined) found.push(`${name}: ${wrong}`);
  }
  for (const body of ["null", "[]", "7", '"a"', "true", "{", ""])
    found.push(...((await fetch(ask(body))).status === 400 ? [] : [`${body} is taken`]));
  await close();
  expect(found).toEqual([]);
});
