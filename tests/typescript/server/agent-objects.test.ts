/** Requests of strangers to an `AgentObject`, whose storage is SQLite here. */
import { describe, expect, it } from "vitest";
import { createAgent, custom, tool, type Agent, type Store } from "looplet";
import { AgentObject, type DurableObjectStateLike } from "looplet/cloudflare";
import { objectState, sqlite } from "../support/object-state.js";

class Session extends AgentObject {
  agent(store: Store): Agent {
    const pay = tool({
      description: "Pays",
      inputSchema: { type: "object", properties: {} },
      needsApproval: true,
      execute: () => "paid",
    });
    const model = custom(({ messages }) => {
      const isAsked = JSON.stringify(messages.at(-1)).includes("Pay.");
      return isAsked ? [{ type: "tool_call", id: "p", name: "pay", input: {} }] : "Done.";
    });
    return createAgent({ model, store, tools: { pay } }) as unknown as Agent;
  }

  async asked(method: string, word: string, body: string | Promise<string> = ""): Promise<any> {
    const url = `http://sessions.test/one/${word}`;
    const response = (await this.fetch({
      method,
      url,
      headers: new Headers(),
      text: async () => body,
    } as never)) as unknown as Response;
    const text = await response.text();
    return word === "session" && method === "GET" ? text : { status: response.status, ...JSON.parse(text) };
  }

  post(word: string, body: unknown): Promise<any> {
    return this.asked("POST", word, JSON.stringify(body));
  }

  /** Runs a prompt to its end. */
  async through(prompt: string): Promise<void> {
    await this.post("run", { prompt });
    while ((await this.asked("GET", "")).isRunning) await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** A body that comes when it is let go. */
function slowly(text: string): [body: Promise<string>, arrive: () => void] {
  let arrive!: (text: string) => void;
  const body = new Promise<string>((resolve) => (arrive = resolve));
  return [body, () => arrive(text)];
}

describe.skipIf(sqlite === undefined)("a session in an object", () => {
  const text = async (): Promise<string> => {
    const session = new Session(objectState(), {});
    await session.through("Hi");
    return session.asked("GET", "session");
  };

  it("that is asked while its text arrives goes on from that text", async () => {
    const [body, arrive] = slowly(await text());
    const session = new Session(objectState(), {});
    const put = session.asked("PUT", "session", body);
    expect((await session.asked("GET", "")).messages).toEqual([]);
    arrive();
    const [seen, taken] = await Promise.all([session.asked("GET", ""), put]);
    expect([seen.status, taken]).toEqual([200, { status: 200, taken: true }]);
    await session.through("More");
    const { messages } = await session.asked("GET", "");
    expect(messages).toHaveLength(4);
    expect((await new Session(session.ctx, {}).asked("GET", "")).messages).toEqual(messages);
  });

  it("whose run begins while a text arrives refuses the text, and its run goes on", async () => {
    const [body, arrive] = slowly(await text());
    const session = new Session(objectState(), {});
    const put = session.asked("PUT", "session", body);
    await session.post("run", { prompt: "Pay." });
    arrive();
    expect((await put).status).toBe(409);
    expect((await session.asked("GET", "")).isRunning).toBe(true);
    expect((await session.post("abort", {})).taken).toBe(true);
  });

  it("gets two texts at once, and takes one of them", async () => {
    const [one, two] = [await text(), await text()];
    const session = new Session(objectState(), {});
    const put = (body: string): Promise<any> => session.asked("PUT", "session", body);
    expect((await Promise.all([put(one), put(two), put("no chat")])).map(({ status }) => status)).toEqual([
      200, 400, 400,
    ]);
    await session.through("More");
    expect(await session.asked("GET", "session")).toContain(one.trimEnd());
  });

  it("does what a request asks once, also in another instance, another object and behind other runs", async () => {
    const one = new Session(objectState(), {});
    const order = { prompt: "Pay.", requestId: "order" };
    const more = { prompt: "More.", requestId: "more" };
    const both = await Promise.all([one.post("run", order), one.post("run", order)]);
    expect(both.map(({ taken }) => taken)).toEqual([true, false]);
    const taken = [await one.post("run", more), await one.post("run", more)].map(({ taken }) => taken);
    expect(taken).toEqual([true, false]);
    await one.post("abort", {});
    await one.through("Hi");
    const two = new Session(one.ctx, {});
    const three = new Session(objectState(), {});
    expect((await three.asked("PUT", "session", await two.asked("GET", "session"))).taken).toBe(true);
    for (const session of [one, two, three]) {
      expect((await session.post("run", order)).taken).toBe(false);
      expect((await session.asked("GET", "")).isRunning).toBe(false);
    }
    // No model call has taken the message before the abort, so it may come again.
    expect((await three.post("run", more)).taken).toBe(true);
    await three.post("abort", {});
  });

  it.each([
    ["run", { prompt: "Hi", requestId: "" }],
    ["run", { prompt: "Hi", requestId: "a\ud800" }],
    ["answer", { questionId: 1e300, answer: { behavior: "allow" } }],
    ["answer", { questionId: -1, answer: { behavior: "allow" } }],
    ["answer", { questionId: 1, answer: { behavior: "perhaps" } }],
    ["abort", { reason: { a: 1 } }],
  ])("tells who sends %s with %j what is wrong, and its log nothing", async (word, body) => {
    const session = new Session(objectState(), {});
    await session.post("run", { prompt: "Pay." });
    expect((await session.post(word, body)).status).toBe(400);
    expect((await session.post("abort", { reason: "enough" })).taken).toBe(true);
  });
});

describe.skipIf(sqlite === undefined)("the events of an AgentObject", () => {
  it("are read as the client reads them, each once", async () => {
    const own = objectState();
    const { exec } = own.storage.sql;
    let rows = 0;
    const storage = {
      ...own.storage,
      sql: {
        exec(query: string, ...values: (string | number | null)[]) {
          const found = exec(query, ...values);
          if (query.startsWith("SELECT seq, entry") && values[0] === "looplet.events")
            rows += found.toArray().length;
          return found;
        },
      },
    };
    const session = new Session({ ...own, storage } as DurableObjectStateLike, {});
    for (let runs = 0; runs < 10; runs += 1) await session.through("Hello");
    rows = 0;
    const url = "http://sessions.test/one/events";
    const response = (await session.fetch({ method: "GET", url, headers: new Headers() } as never)) as any;
    const reader = response.body.getReader();
    const decoder = new TextDecoder();
    let text = decoder.decode((await reader.read()).value);
    await new Promise((resolve) => setImmediate(resolve));
    expect(rows).toBeLessThan(50);
    const ids = () => [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
    const finished = () => text.split('"type":"finish"').length - 1;
    while (finished() < 10) text += decoder.decode((await reader.read()).value);
    const later = session.through("Once more");
    while (finished() < 11) text += decoder.decode((await reader.read()).value);
    await later;
    expect(ids()).toEqual(ids().map((_, at) => at + 1));
    expect(ids().length).toBeGreaterThan(100);
    await reader.cancel();
  });

  it("that are gone are told as a gap, and the next one is numbered on behind the last", async () => {
    const session = new Session(objectState(), {}, { keepEvents: 0 });
    await session.through("Hello");
    const before = Number((await session.asked("GET", "")).cursor);
    await session.through("Again");
    const url = "http://sessions.test/one/events";
    const headers = new Headers({ "last-event-id": "1" });
    const response = (await session.fetch({ method: "GET", url, headers } as never)) as any;
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    while (!text.includes("id: ")) text += (await reader.read()).value;
    expect(text).toMatch(new RegExp(`^: looplet\n\nevent: gap\ndata: \\{\\}\n\nid: ${before}\n`));
    expect(text.match(/event: gap/g)).toHaveLength(1);
    expect(text).toContain(`id: ${before + 1}\n`);
    await reader.cancel();
  });
});
