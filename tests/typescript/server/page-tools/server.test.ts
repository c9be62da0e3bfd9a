/** Tools of pages in the runs of a server. */
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { isPageCall, pageTool } from "looplet/tools";
import { connectAgent } from "looplet/workers";
import { Server } from "../../support/server-kit.js";
import { PageKit, PageWork, virtualTime } from "./kit.js";

virtualTime();

const settled = (): Promise<unknown> => vi.advanceTimersByTimeAsync(200);

async function opened(server: Server, tools?: object, user = "ada") {
  const agent = server.page(user, tools === undefined ? {} : { tools: tools as never });
  return { agent, chat: await agent.openChat("a") };
}

describe("a tool of a page", () => {
  it("is run by the page, with the checked arguments, and its result goes to the model", async () => {
    const server = new Server(new PageKit());
    const seen: unknown[] = [];
    const { chat } = await opened(server, {
      locate: (input: unknown, { toolCallId }: { toolCallId: string }) => {
        seen.push(input, toolCallId);
        return { city: "Rome" };
      },
    });
    const { outcome, text } = await chat.run("locate").result;
    expect([outcome, text]).toEqual(["completed", "Done."]);
    expect(seen).toEqual([{ at: 0 }, "c1-0"]);
    expect((server.kit as PageKit).results).toEqual(['{"city":"Rome"}']);
  });

  it("is run by one of two pages", async () => {
    const server = new Server(new PageKit());
    const works = [new PageWork(), new PageWork()];
    const [first, second] = [
      await opened(server, { locate: works[0]!.run }),
      await opened(server, { locate: works[1]!.run }),
    ];
    const run = first.chat.run("locate");
    await vi.waitFor(() => expect([...works[0]!.calls, ...works[1]!.calls]).toHaveLength(1));
    await vi.advanceTimersByTimeAsync(300_000);
    const calls = works.flatMap((work) => work.calls);
    expect(calls).toHaveLength(1);
    calls[0]!.give("here");
    expect((await run.result).outcome).toBe("completed");
    await vi.waitFor(() => expect(second.chat.messages).toHaveLength(4));
    expect(works.flatMap((work) => work.calls)).toHaveLength(1);
  });

  it("waits as a question until a page comes that has it", async () => {
    const server = new Server(new PageKit());
    const { chat } = await opened(server);
    const run = chat.run("locate");
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(run.outcome).toBeUndefined();
    await opened(server, { other: () => "no" });
    await opened(server, { locate: () => "here" });
    expect((await run.result).outcome).toBe("completed");
    expect((server.kit as PageKit).results).toEqual(["here"]);
  });

  it("is called in parallel where calls are", async () => {
    const server = new Server(new PageKit({ a: { readOnly: true }, b: { readOnly: true } }));
    const work = new PageWork();
    const { chat } = await opened(server, { a: work.run, b: work.run });
    const run = chat.run("a b");
    await vi.waitFor(() => expect(work.calls.map(({ input }) => input.at).sort()).toEqual([0, 1]));
    for (const { input, give } of work.calls.reverse()) give(input.at);
    await run.result;
    expect((server.kit as PageKit).results).toEqual(["0", "1"]);
  });

  it("gives the model its error, and what JSON cannot hold as one", async () => {
    const server = new Server(
      new PageKit({ a: { readOnly: true }, b: { readOnly: true }, c: { readOnly: true } }),
    );
    const { chat } = await opened(server, {
      a: () => {
        throw new Error("No GPS");
      },
      b: () => 1n,
      c: () => undefined,
    });
    await chat.run("a b c").result;
    const { results } = server.kit as PageKit;
    expect(results[0]).toContain("No GPS");
    expect(results[1]).toContain("JSON cannot");
    expect(results[2] ?? "").toBe("");
  });

  it("is no question for the agent's onElicitation", async () => {
    const onElicitation = vi.fn(() => ({ action: "decline" as const }));
    const server = new Server(new PageKit({ locate: {} }, { toolCalls: { onElicitation } }));
    const { chat } = await opened(server, { locate: () => "here" });
    await chat.run("locate").result;
    expect((server.kit as PageKit).results).toEqual(["here"]);
    expect(onElicitation).not.toHaveBeenCalled();
  });

  it("may check what a page returns", async () => {
    const outputSchema = z.object({ city: z.string() });
    const server = new Server(new PageKit({ locate: { outputSchema } }));
    let city: unknown = 7;
    const { chat } = await opened(server, { locate: () => ({ city, forged: true }) });
    await chat.run("locate").result;
    city = "Rome";
    await chat.run("locate").result;
    const { results } = server.kit as PageKit;
    expect(results[0]).toContain("does not fit");
    expect(results[1]).toBe('{"city":"Rome"}');
  });

  it("fails at its deadline, which begins when a page has the call, and tells the page", async () => {
    const server = new Server(new PageKit({ locate: { deadlineMs: 5_000 } }));
    const { chat } = await opened(server);
    const run = chat.run("locate");
    await vi.advanceTimersByTimeAsync(60_000);
    expect(run.outcome).toBeUndefined();
    const work = new PageWork();
    await opened(server, { locate: work.run });
    await vi.waitFor(() => expect(work.calls).toHaveLength(1));
    await vi.advanceTimersByTimeAsync(4_000);
    expect([run.outcome, ...work.signals]).toEqual([undefined, false]);
    await vi.advanceTimersByTimeAsync(1_500);
    expect((await run.result).outcome).toBe("completed");
    expect((server.kit as PageKit).results[0]).toContain("5000 ms");
    await vi.waitFor(() => expect(work.signals).toEqual([true]));
  });

  it("asks nothing any more when its deadline is past", async () => {
    const server = new Server(new PageKit({ locate: { deadlineMs: 5_000 } }));
    const work = new PageWork();
    const { chat } = await opened(server, { locate: work.run });
    const run = chat.run("locate locate");
    await vi.waitFor(() => expect(work.calls).toHaveLength(1));
    await vi.advanceTimersByTimeAsync(6_000);
    await vi.waitFor(() => expect(work.calls).toHaveLength(2));
    const { value } = await server.post("/a/call", { run: run.id, method: "snapshot", args: [] });
    expect(value.events.map(({ type }: any) => type)).toEqual(["snapshot", "question"]);
    work.calls[1]!.give("here");
    await run.result;
    expect([work.signals, (server.kit as PageKit).results[1]]).toEqual([[true, false], "here"]);
  });

  it("is told when its run is aborted", async () => {
    const server = new Server(new PageKit());
    const work = new PageWork();
    const { chat } = await opened(server, { locate: work.run });
    const run = chat.run("locate");
    await vi.waitFor(() => expect(work.calls).toHaveLength(1));
    (await opened(server)).chat.current!.abort("enough");
    expect((await run.result).outcome).toBe("cancelled");
    await vi.waitFor(() => expect(work.signals).toEqual([true]));
  });

  it("that is safe to repeat is run by another page when its page has gone", async () => {
    const server = new Server(new PageKit({ locate: { replay: "safe" } }));
    const [gone, next] = [new PageWork(), new PageWork()];
    const first = await opened(server, { locate: gone.run });
    const second = await opened(server, { locate: next.run });
    first.chat.run("locate").result.catch(() => {});
    await vi.waitFor(() => expect([...gone.calls, ...next.calls]).toHaveLength(1));
    const [leaving, staying] = gone.calls.length === 1 ? [first, next] : [second, gone];
    leaving.agent.disconnect();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(staying.calls).toHaveLength(0);
    await vi.advanceTimersByTimeAsync(31_000);
    await vi.waitFor(() => expect(staying.calls).toHaveLength(1));
    staying.calls[0]!.give("here");
    await vi.waitFor(() => expect((server.kit as PageKit).results).toEqual(["here"]));
  });

  it("goes to another page at once when its page is closed", async () => {
    const server = new Server(new PageKit({ locate: { replay: "safe" } }));
    const listeners: ((event: object) => void)[] = [];
    vi.stubGlobal("addEventListener", (_: string, listener: () => void) => listeners.push(listener));
    const gone = new PageWork();
    const { chat } = await opened(server, { locate: gone.run });
    chat.run("locate").result.catch(() => {});
    await vi.waitFor(() => expect(gone.calls).toHaveLength(1));
    vi.unstubAllGlobals();
    const next = new PageWork();
    await opened(server, { locate: next.run });
    const [hide] = listeners;
    hide!({ persisted: true });
    await settled();
    expect(next.calls).toHaveLength(0);
    hide!({ persisted: false });
    await vi.waitFor(() => expect(next.calls.length + gone.calls.length).toBe(2));
  });

  it.each([
    ["done", { outcome: "done", output: "sent" }, "sent", 0],
    ["run", { outcome: "run" }, "again", 1],
    ["fail", { outcome: "fail" }, "it is unknown", 0],
  ])("that is not safe asks a person when its page has gone: %s", async (_, content, result, repeated) => {
    const server = new Server(new PageKit());
    const gone = new PageWork();
    const first = await opened(server, { locate: gone.run });
    first.chat.run("locate").result.catch(() => {});
    await vi.waitFor(() => expect(gone.calls).toHaveLength(1));
    first.agent.disconnect();
    const asked: any[] = [];
    const next = new PageWork();
    const second = await opened(server, { locate: next.run });
    const run = second.chat.current!;
    void (async () => {
      for await (const event of run.events({ detached: true }))
        if (event.type === "question" && event.question === "elicitation" && !isPageCall(event.data.request))
          asked.push(event);
    })();
    await vi.advanceTimersByTimeAsync(100_000);
    await vi.waitFor(() => expect(asked).toHaveLength(1));
    expect(next.calls).toHaveLength(0);
    run.answer(asked[0].questionId, { action: "accept", content });
    if (repeated > 0) {
      await vi.waitFor(() => expect(next.calls).toHaveLength(1));
      next.calls[0]!.give("again");
    }
    await run.result;
    expect(next.calls).toHaveLength(repeated);
    expect((server.kit as PageKit).results[0]).toContain(result);
  });

  it("keeps its page as long as that works, over a server that ends", async () => {
    const server = new Server(new PageKit());
    server.kit.live();
    server.restart();
    const [first, second] = [new PageWork(), new PageWork()];
    const { chat } = await opened(server, { locate: first.run });
    const run = chat.run("locate");
    await vi.waitFor(() => expect(first.calls).toHaveLength(1));
    server.restart();
    await opened(server, { locate: second.run });
    await vi.advanceTimersByTimeAsync(200_000);
    expect([first.signals, second.calls.length]).toEqual([[false], 0]);
    first.calls[0]!.give("here");
    expect((await run.result).outcome).toBe("completed");
    expect([first.calls.length, second.calls.length]).toEqual([1, 0]);
  });

  it("is not lost when its result or its claim is", async () => {
    const server = new Server(new PageKit());
    const work = new PageWork();
    const { chat } = await opened(server, { locate: work.run });
    let isDown = true;
    server.between = async (request, handle) => {
      const isCall = request.method === "POST" && /"(claim|answer)"/.test(await request.clone().text());
      if (isCall && isDown) throw new TypeError("offline");
      return handle(request);
    };
    const run = chat.run("locate");
    await vi.advanceTimersByTimeAsync(120_000);
    isDown = false;
    await vi.waitFor(() => expect(work.calls).toHaveLength(1), { timeout: 60_000 });
    isDown = true;
    work.calls[0]!.give("here");
    await vi.advanceTimersByTimeAsync(60_000);
    isDown = false;
    await vi.advanceTimersByTimeAsync(60_000);
    expect((await run.result).outcome).toBe("completed");
    expect(work.calls).toHaveLength(1);
  });

  it("is answered by any client that has no functions, and by nobody else's", async () => {
    const server = new Server(new PageKit());
    const { chat } = await opened(server);
    const run = chat.run("locate");
    await settled();
    const call = { run: run.id, method: "claim", args: [1, "p"] };
    expect((await server.post("/a/call", call, "eve")).status).toBe(404);
    expect((await server.post("/a/call", { ...call, args: ["1", "p"] })).status).toBe(400);
    expect((await server.post("/a/call", { ...call, args: [1, 7] })).status).toBe(400);
    const answer = { action: "accept", content: { output: "by hand" } };
    let asked: any;
    for await (const event of chat.current!.events({ detached: true }))
      if (event.type === "question") {
        asked = event;
        break;
      }
    expect((await server.post("/a/answer", { questionId: asked.questionId, answer })).taken).toBe(true);
    await run.result;
    expect((server.kit as PageKit).results).toEqual(["by hand"]);
  });
});

/** What a page that writes its requests itself gets done. The honest page works on the call. */
describe("a page that is hostile", () => {
  /** A call that an honest page has claimed, and requests to the session of its owner. */
  async function claimed(options: object = {}, names = "locate", work = new PageWork()) {
    const server = new Server(new PageKit({ locate: { replay: "once", ...options } }));
    const { chat } = await opened(server, { locate: work.run });
    const run = chat.run(names);
    await vi.waitFor(() => expect(work.calls).toHaveLength(1));
    const call = (method: string, args: unknown[], user?: string): Promise<any> =>
      server.post("/a/call", { run: run.id, method, args }, user);
    const asked = async (): Promise<any> =>
      (await call("snapshot", [])).value.events.findLast(({ type }: any) => type === "question");
    const { questionId } = await asked();
    const answer = (content: object, user?: string): Promise<any> =>
      server.post("/a/answer", { questionId, answer: { action: "accept", content } }, user);
    const { results } = server.kit as PageKit;
    return { work, run, call, asked, questionId, answer, results };
  }

  it("does not get the call of another page, nor gives it up for that page", async () => {
    const { work, run, call, questionId, results } = await claimed();
    for (const id of [questionId - 1, questionId, questionId + 1]) {
      expect((await call("claim", [id, "evil"])).value).toBe(false);
      expect((await call("unclaim", [id, "evil"])).value).toBe(false);
    }
    await settled();
    expect([work.calls.length, work.signals]).toEqual([1, [false]]);
    work.calls[0]!.give("here");
    expect((await run.result).outcome).toBe("completed");
    expect(results).toEqual(["here"]);
  });

  it("does not make the page that has a call run it twice, by an answer in its name", async () => {
    for (const [field, isOwn] of [
      ["claim", false],
      ["claim", true],
      ["left", false],
    ] as const) {
      const { work, run, asked, answer, results } = await claimed();
      const [, page] = (await asked()).data.request.url.split("?page=");
      await answer({ [field]: isOwn ? decodeURIComponent(page) : "evil" });
      expect((await run.result).outcome).toBe("completed");
      expect([work.calls.length, work.signals]).toEqual([1, [true]]);
      expect(results[0]).toContain("by a page that does not have it");
    }
  });

  it("of another owner does nothing", async () => {
    const { work, run, call, answer, results } = await claimed();
    for (const method of ["claim", "unclaim", "answer"])
      for (const id of [0, 1, 2])
        expect(
          (await call(method, [id, method === "answer" ? { action: "cancel" } : "p"], "eve")).status,
        ).toBe(404);
    const forged = await answer({ output: "forged" }, "eve");
    expect(forged.taken === true).toBe(false);
    work.calls[0]!.give("here");
    await run.result;
    expect(results).toEqual(["here"]);
  });

  it("that answers twice, or when the call or the run is over, is not heard", async () => {
    const { work, run, call, asked, questionId, answer, results } = await claimed({}, "locate locate");
    const both = await Promise.all([answer({ output: "first" }), answer({ output: "second" })]);
    expect(both.map(({ taken }) => taken)).toEqual([true, false]);
    await vi.waitFor(() => expect(work.calls).toHaveLength(2));
    expect((await answer({ output: "third" })).taken).toBe(false);
    const last = (await asked()).questionId;
    work.calls[1]!.give("here");
    expect((await run.result).outcome).toBe("completed");
    expect((await answer({ output: "fourth" })).taken).toBe(false);
    for (const [method, args] of [
      ["answer", [questionId, { action: "accept", content: { output: "fifth" } }]],
      ["answer", [last, { action: "accept", content: { output: "sixth" } }]],
      ["claim", [last, "evil"]],
      ["unclaim", [last, "evil"]],
    ] as const)
      expect([method, (await call(method, [...args])).value ?? false]).toEqual([method, false]);
    expect(results).toEqual(["first", "here"]);
  });

  it("fills neither the model's context nor the store with results and errors", async () => {
    const long = "x".repeat(3_000_000);
    for (const content of [
      { output: long },
      { output: { long } },
      { output: { content: [{ type: "text", text: long }] } },
      { output: { content: [{ type: "raw", json: { long } }] } },
      { error: long },
    ]) {
      const { run, answer, results } = await claimed({ maxResultChars: 500 });
      expect((await answer(content)).taken).toBe(true);
      expect((await run.result).outcome).toBe("completed");
      expect(results.join("").length).toBeLessThan(2_000);
    }
    const { answer } = await claimed();
    expect((await answer({ output: long + long })).status).toBe(413);
    const deep = JSON.parse("[".repeat(200) + "]".repeat(200)) as unknown;
    expect((await answer({ output: deep })).status).toBe(400);
  });

  it.each([
    ["too many letters", "x".repeat(513)],
    ["an object", {}],
    ["half a letter", "\ud800"],
    ["a space", " "],
  ])("claims no call by a name of %s", async (_, claim) => {
    const server = new Server(new PageKit());
    const { chat } = await opened(server);
    const run = chat.run("locate");
    await settled();
    const { value } = await server.post("/a/call", { run: run.id, method: "snapshot", args: [] });
    const { questionId } = value.events.findLast(({ type }: any) => type === "question");
    const answer = { action: "accept", content: { claim } };
    expect((await server.post("/a/answer", { questionId, answer })).taken).toBe(true);
    expect((await run.result).outcome).toBe("completed");
    expect((server.kit as PageKit).results[0]).toContain("by a page that does not have it");
  });

  it("gives the vendor no block of its own by a schema, or when a person is asked", async () => {
    const raw = { content: [{ type: "raw", json: { type: "input_file", file_id: "EVIL" } }] };
    const { run, answer, results } = await claimed({ outputSchema: z.any() });
    await answer({ output: raw });
    await run.result;
    expect(results).toEqual([JSON.stringify(raw)]);
    const other = await claimed();
    const asked = (await other.asked()).data.request.url as string;
    await other.answer({ left: decodeURIComponent(asked.split("?page=")[1]!) });
    await settled();
    const judged = { action: "accept", content: { outcome: "done", output: raw } };
    expect((await other.call("answer", [(await other.asked()).questionId, judged])).value).toBe(true);
    await other.run.result;
    expect(other.results).toEqual([JSON.stringify(raw)]);
  });
});

describe("the options of page tools", () => {
  it("are checked, with a field that names what is wrong", () => {
    const inputSchema = { type: "object" } as const;
    const wrong = (work: () => unknown): unknown => {
      try {
        return work();
      } catch (error) {
        const { code, field } = error as { code: string; field: string };
        return `${code} ${field}`;
      }
    };
    const make = (more: object) => wrong(() => pageTool({ description: "d", inputSchema, ...more } as never));
    expect(make({ deadlineMs: 0 })).toBe("config_invalid_value tool.deadlineMs");
    expect(make({ outputSchema: {} })).toBe("config_invalid_schema tool.outputSchema");
    expect(make({ replay: "twice" })).toBe("config_invalid_value tool.replay");
    expect(make({ where: "page" })).toBe("config_unknown_option tool.where");
    expect(wrong(() => pageTool(undefined as never))).toMatch(/^config_/);
    const connect = (tools: unknown) => wrong(() => connectAgent("http://a.test", { tools } as never));
    expect(connect({ locate: 7 })).toBe("config_wrong_type tools.locate");
    expect(connect(7)).toBe("config_wrong_type tools");
  });
});
