/** The AI SDK in its three major versions, and agents for its tests. */
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { anthropic, createAgent, tool } from "looplet";
import type { Agent, AgentOptions } from "looplet";
import { scripted, type ScriptedStep } from "looplet/practice";

/** The parts of `ai` that the tests use. Their types differ from version to version. */
export interface Ai {
  readUIMessageStream(options: { stream: unknown; onError?: (error: unknown) => void }): AsyncIterable<any>;
  convertToModelMessages(messages: unknown): any;
  validateUIMessages(options: { messages: unknown }): Promise<any[]>;
  uiMessageChunkSchema(): { validate(value: unknown): Promise<{ success: boolean; error?: unknown }> };
  AbstractChat: new (init: object) => any;
  DefaultChatTransport: new (options: object) => object;
  lastAssistantMessageIsCompleteWithToolCalls: (options: any) => boolean;
  lastAssistantMessageIsCompleteWithApprovalResponses: (options: any) => boolean;
}

export const VERSIONS = [5, 6, 7] as const;
export type Version = (typeof VERSIONS)[number];

/** `ai` as the package of React's hooks brings it along. */
export async function aiOf(version: Version): Promise<Ai> {
  const require = createRequire(import.meta.resolve(`ai-sdk-react-${version}/package.json`));
  return (await import(
    pathToFileURL(require.resolve("ai")).href.replace(/\.js$/, version === 7 ? ".js" : ".mjs")
  )) as Ai;
}

/** A chat of `ai` without a framework. */
export function chatOf(ai: Ai, init: object): any {
  const state = {
    status: "ready",
    error: undefined,
    messages: (init as { messages?: unknown[] }).messages ?? [],
    pushMessage(message: unknown) {
      this.messages = [...this.messages, structuredClone(message)];
    },
    popMessage() {
      this.messages = this.messages.slice(0, -1);
    },
    replaceMessage(index: number, message: unknown) {
      this.messages = this.messages.map((old, at) => (at === index ? structuredClone(message) : old));
    },
    snapshot: structuredClone,
  };
  class Chat extends ai.AbstractChat {}
  let ids = 0;
  return new Chat({ generateId: () => `ui-${(ids += 1)}`, id: "chat", ...init, state });
}

const city = { type: "object", properties: { city: { type: "string" } }, required: ["city"] } as const;

/** An agent that looks at the weather, and that books when a person allows it. */
export function agentOf(
  turns: readonly ScriptedStep[],
  options: Partial<AgentOptions> = {},
): { agent: Agent; booked: string[]; asked: () => any[] } {
  const booked: string[] = [];
  const fetch = scripted(turns);
  const agent = createAgent({
    model: anthropic("m", { apiKey: "k" }),
    fetch,
    retry: { baseMs: 0, jitterMs: 0 },
    tools: {
      weather: tool({
        description: "Weather",
        inputSchema: city,
        readOnly: true,
        execute: ({ city }) => ({ city, sky: "rain" }),
      }),
      book: tool({
        description: "Books",
        inputSchema: city,
        needsApproval: true,
        execute: ({ city }) => {
          booked.push(city);
          return `Hotel ${city}`;
        },
      }),
    },
    ...options,
  });
  return { agent, booked, asked: () => fetch.requests.map(({ body }) => body) };
}

export const call = (name: string, city = "Paris", id = `toolu_${name}`) => ({ id, name, input: { city } });

/** All chunks of a stream. */
export async function chunksOf(stream: unknown): Promise<any[]> {
  const chunks: any[] = [];
  const reader = (stream as ReadableStream<any>).getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) chunks.push(next.value);
  return chunks;
}

export function streamOf(chunks: readonly unknown[]): ReadableStream {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
}

/** The message that `ai` makes of a stream. */
export async function messageOf(ai: Ai, stream: unknown): Promise<any> {
  let last: unknown;
  const errors: unknown[] = [];
  for await (const message of ai.readUIMessageStream({ stream, onError: (error) => errors.push(error) }))
    last = message;
  if (errors.length > 0) throw errors[0];
  return structuredClone(last);
}

/** Resolves when the condition holds, after the tasks under way. */
export async function until(condition: () => boolean): Promise<void> {
  for (let tries = 0; !condition(); tries += 1) {
    if (tries > 2_000) throw new Error("it never happens");
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

export const partsOf = (chat: any): any[] => chat.messages.at(-1).parts;

/** The texts of the last message. */
export const textOf = (chat: any): string =>
  partsOf(chat)
    .filter(({ type }) => type === "text")
    .map(({ text }) => text)
    .join("|");
