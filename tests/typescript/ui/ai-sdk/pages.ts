/** The places of an agent that a page of `useChat` may have, and the chat of such a page. */
import { isAnswered, isVoid, LoopletChatTransport, uiMessages } from "looplet/ai-sdk";
import { handler } from "looplet/server";
import type { OpenQuestion } from "looplet/ui";
import { connectAgent, type RemoteAgent } from "looplet/workers";
import { answerTo, type World } from "../../support/processes.js";
import { chatOf, type Ai } from "./kit.js";

/** What a page needs to open the chat. */
interface Page {
  transport: any;
  load(): Promise<any[]>;
  /** Answers a `data-question`. */
  answer(id: string, answer: object): Promise<unknown> | unknown;
}

export interface Place {
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

export function inPage(world: World): Place {
  return {
    page: () => ofTransport(new LoopletChatTransport(world.agent())),
    leave: () => world.end(),
  };
}

/** A server with `handler`, and the `fetch` of its pages. A page that was left gets nothing more. */
export function serverOf(world: World, version?: 6 | 7) {
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

export function onServer(world: World, _ai: Ai, _version: 6 | 7, server = serverOf(world)): Place {
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
export function byRoute(world: World, ai: Ai, version: 6 | 7, server = serverOf(world, version)): Place {
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
export class OpenPage {
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
  if (part.type === "data-user-message") return `user: ${part.data.parts.map(({ text }: any) => text)}`;
  if (part.type === "data-subagent") return `[${JSON.stringify(part.data).replace(/_\d+"/g, '"')}]`;
  if (part.toolCallId === undefined) return "";
  // An approval of a subagent. When the call is settled, the part of the subagent has it.
  if (part.type === "dynamic-tool" && part.state.startsWith("output")) return "";
  return `${part.toolName ?? part.type} ${part.state} ${JSON.stringify(part.output ?? part.errorText ?? "")}`;
}

export const linesOf = (chat: any): string[] =>
  chat.messages.map(
    ({ role, parts }: any) =>
      `${role}: ${parts
        .map(line)
        .filter((said: string) => said !== "")
        .join(" | ")}`,
  );

export type Make = (world: World, ai: Ai, version: 6 | 7, server?: ReturnType<typeof serverOf>) => Place;
