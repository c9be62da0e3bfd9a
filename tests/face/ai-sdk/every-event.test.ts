// A page with `useChat` is left at every single event of a run, or its host ends there: the next page draws the same.
import { describe, expect, it } from "vitest";
import { isAnswered, isVoid, LoopletChatTransport, uiMessages } from "looplet/ai-sdk";
import { handler } from "looplet/server";
import type { OpenQuestion } from "looplet/ui";
import { connectAgent, type RemoteAgent } from "looplet/workers";
import { answerTo, tick, World } from "../support/processes.js";
import { aiOf, chatOf, type Ai } from "./kit.js";

/** What a page needs to open the chat. */
interface Page {
  transport: any;
  load(): Promise<any[]>;
  /** Answers a `data-question`. */
  answer(id: string, answer: object): Promise<unknown> | unknown;
}

interface Place {
  page(): Page;
  leave(isHostGone: boolean): void;
}

function ofTransport(transport: LoopletChatTransport): Page {
  return {
    transport,
    load: () => transport.loadMessages("chat"),
    answer: (id, answer) => transport.answer(id, answer as never),
  };
}

function inPage(world: World): Place {
  return {
    page: () => ofTransport(new LoopletChatTransport(world.agent())),
    leave: () => world.end(),
  };
}

/** A server with `handler`, and the `fetch` of its pages. A page that was left gets nothing more. */
function serverOf(world: World, version?: 6 | 7) {
  const formats = [uiMessages({ version })];
  const serve = () => handler(world.agent(), { store: world.store, authorize: () => "ada", formats });
  let handle: any = serve();
  return {
    fetch: (url: string, init: object): any => handle(new Request(new URL(url, "http://server.test"), init)),
    end() {
      world.end();
      handle = serve();
    },
  };
}

function onServer(world: World, _ai: Ai, _version: 6 | 7, server = serverOf(world)): Place {
  let agent: RemoteAgent | undefined;
  return {
    page: () =>
      ofTransport(
        new LoopletChatTransport((agent = connectAgent("http://server.test", { fetch: server.fetch }))),
      ),
    leave(isHostGone) {
      agent?.disconnect();
      if (isHostGone) server.end();
    },
  };
}

/** `DefaultChatTransport` of `ai` on the format `uiMessages()`. */
function byRoute(world: World, ai: Ai, version: 6 | 7, server = serverOf(world, version)): Place {
  const post = (path: string, body: object) =>
    server.fetch(path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  return {
    page: () => ({
      transport: new ai.DefaultChatTransport({ api: "/ui-messages", fetch: server.fetch }),
      async load() {
        const response = await server.fetch("/ui-messages/chat", {});
        return response.ok ? (await response.json()).messages : [];
      },
      answer: (id, answer) => {
        const questionId = Number(id.slice(id.lastIndexOf(":") + 1));
        return post("/chat/answer", { questionId, answer });
      },
    }),
    leave(isHostGone) {
      if (isHostGone) server.end();
    },
  };
}

/** A chat of `ai` as a page with `resume: true` has it. */
class OpenPage {
  chat: any;
  isGone = false;
  #answered = new Set<string>();

  constructor(
    private readonly ai: Ai,
    private readonly page: Page,
  ) {}

  async open(): Promise<void> {
    const messages = await this.page.load();
    const { transport } = this.page;
    const chat = chatOf(this.ai, { transport, messages, sendAutomaticallyWhen: isAnswered });
    await Promise.resolve();
    this.chat = chat;
    await chat.resumeStream();
  }

  get parts(): any[] {
    return this.chat?.messages.flatMap(({ parts }: any) => parts) ?? [];
  }

  /** Answers what is open, as a person does: once. */
  answerAll(): void {
    for (const part of this.parts) {
      if (part.state === "approval-requested") this.#approve(part.approval.id);
      if (part.type === "data-question" && !part.data.isAnswered) this.#answer(part.id, part.data.question);
    }
  }

  #approve(id: string): void {
    if (this.#answered.has(id)) return;
    this.#answered.add(id);
    void Promise.resolve(this.chat.addToolApprovalResponse({ id, approved: true })).catch(() => {});
  }

  #answer(id: string, kind: OpenQuestion["kind"]): void {
    if (this.#answered.has(id)) return;
    this.#answered.add(id);
    void this.page.answer(id, answerTo({ kind }));
  }
}

function line(part: any): string {
  // `ai` 6 cannot remove parts of an answer that has broken off.
  if (isVoid(part)) return "";
  if (part.type === "text") return part.text;
  if (part.type === "data-subagent") return `[${JSON.stringify(part.data).replace(/_\d+"/g, '"')}]`;
  if (part.toolCallId === undefined) return "";
  // An approval of a subagent. When the call is settled, the part of the subagent has it.
  if (part.type === "dynamic-tool" && part.state.startsWith("output")) return "";
  return `${part.toolName ?? part.type} ${part.state} ${JSON.stringify(part.output ?? part.errorText ?? "")}`;
}

const linesOf = (chat: any): string[] =>
  chat.messages.map(
    ({ role, parts }: any) =>
      `${role}: ${parts
        .map(line)
        .filter((said: string) => said !== "")
        .join(" | ")}`,
  );

type Make = (world: World, ai: Ai, version: 6 | 7) => Place;

async function talk(version: 6 | 7, make: Make, at: number, isHostGone: boolean) {
  const ai = await aiOf(version);
  const world = new World();
  const place = make(world, ai, version);
  const errors: unknown[] = [];
  let page!: OpenPage;
  const open = (): void => {
    page = new OpenPage(ai, place.page());
    page.open().catch((error) => errors.push(error));
  };
  open();
  let isLeft = false;
  world.onEvent = () => {
    if (isLeft || world.seen !== at) return;
    isLeft = true;
    place.leave(isHostGone);
    open();
  };
  for (let step = 0; step < 20_000; step++) {
    const { chat } = page;
    if (errors.length > 0) throw errors[0];
    if (chat?.status === "error") throw chat.error;
    page.answerAll();
    const isOver = page.parts.at(-1)?.text === "Step 5.";
    if (chat?.status === "ready" && chat.messages.length === 0) void chat.sendMessage({ text: "Go." });
    else if (chat?.status === "ready" && isOver) return { drawn: linesOf(chat), events: world.seen };
    await tick();
  }
  throw new Error(`event ${at}: it stays ${page.chat.status}: ${linesOf(page.chat).join(" / ")}`);
}

describe.each([
  ["in the page", inPage, true],
  ["of a server whose page is reloaded", onServer, false],
  ["of a server that ends", onServer, true],
  ["behind the format of the AI SDK, whose page is reloaded", byRoute, false],
  ["behind the format of the AI SDK on a server that ends", byRoute, true],
] as const)("a chat of ai on an agent %s, at every event", (_, make, isHostGone) => {
  // What `ai` 5 draws of approvals has tests of its own.
  it.each([6, 7] as const)(
    "is drawn by version %i as in a page that was never left",
    async (version) => {
      const { drawn, events } = await talk(version, make, 0, false);
      expect(drawn.join()).toContain('"toolName":"pay","input":{},"state":"output-available"');
      for (let at = 1; at <= events; at++)
        expect((await talk(version, make, at, isHostGone)).drawn, `event ${at}`).toEqual(drawn);
    },
    60_000,
  );
});

it.each([
  ["connectAgent", onServer],
  ["the format of the AI SDK", byRoute],
] as const)(
  "a reload over %s draws nothing twice where another page has added a message",
  async (_, make) => {
    const world = new World();
    const server = serverOf(world, 7);
    const ai = await aiOf(7);
    const place = make(world, ai, 7, server);
    const opened = async (): Promise<OpenPage> => {
      const page = new OpenPage(ai, place.page());
      void page.open();
      for (let waits = 0; page.chat === undefined; waits++) await tick();
      return page;
    };
    const texts = ({ parts }: OpenPage): string[] => parts.flatMap(({ text }) => text ?? []);
    const until = async (isThere: () => boolean): Promise<void> => {
      for (let waits = 0; !isThere(); waits++) {
        if (waits > 5000) throw new Error("it never happens");
        await tick();
      }
    };
    const before = await opened();
    await before.chat.sendMessage({ text: "Go." });
    await until(() => before.parts.filter(({ state }) => state === "approval-requested").length === 3);
    const other = await connectAgent("http://server.test", { fetch: server.fetch }).openChat("chat");
    other.current!.steer("Also this.");
    before.answerAll();
    await until(() => texts(before).includes("Step 4."));
    const after = await opened();
    await until(() => texts(after).includes("Step 4."));
    expect(texts(after)).toEqual(["Go.", "Step 0.", "Step 4."]);
    other.current!.abort();
  },
  20_000,
);
