/** What a guardrail has taken out of a conversation stays out of the requests, whoever the provider is. */
import { describe, expect, it } from "vitest";
import { scripted } from "looplet/practice";
import { toRequest, turn, type Guardrails, type Message } from "looplet/prompty";
import { agentOf } from "./kit.js";
import "looplet";

const providers = [
  ["openai", "chat"],
  ["openai", "responses"],
  ["anthropic", "chat"],
  ["google", "chat"],
] as const;
const thread = { thread: [{ role: "user", content: "Go." }] };
const answers = [
  {
    thinking: { text: "Hm.", signature: "sig" },
    text: "I look for 1234.",
    toolCalls: [{ name: "look", input: { pin: 5678 } }],
  },
  { text: "Done." },
];
const masked = <T>(value: T): T =>
  JSON.parse(JSON.stringify(value).replaceAll(/1234|5678|9012/g, "7777")) as T;

async function second(model: object, input: Guardrails["input"]) {
  const fetch = scripted(answers);
  const agent = await agentOf({ model: { id: "m", ...model }, tools: [{ name: "look" }] });
  const host = { fetch, apiKey: "k" };
  const guardrails = input === undefined ? {} : { input };
  await turn(agent, thread, { look: () => "It is 9012." }, { host, guardrails });
  return JSON.stringify(fetch.requests[1]!.body);
}

describe("the guardrail of the input", () => {
  it.each(providers)("with %s %s sees the texts of results and of answers", async (provider, apiType) => {
    const seen: Message[][] = [];
    const input = (messages: readonly Message[]) => (seen.push([...messages]), { allowed: true });
    await second({ provider, apiType }, input);
    const texts = seen[1]!.flatMap(({ content }) => content.map(({ value }) => value));
    expect(texts).toEqual(["Go.", "I look for 1234.", "It is 9012."]);
  });

  it.each(providers)("with %s %s rewrites what is sent of them", async (provider, apiType) => {
    const body = await second({ provider, apiType }, (messages) => ({
      allowed: true,
      rewrite: messages.map((message) => {
        const { tool_calls: calls } = message.metadata ?? {};
        const metadata = {
          ...message.metadata,
          ...(calls === undefined ? {} : { tool_calls: masked(calls) }),
        };
        return { ...message, content: masked(message.content), metadata };
      }),
    }));
    expect(body).not.toMatch(/1234|5678|9012/);
    expect(body).toContain("I look for 7777.");
    expect(body).toContain("It is 7777.");
    expect(body).toMatch(/pin\W+7777/);
  });

  it("leaves the other blocks of an answer where they are", async () => {
    const input = (messages: readonly Message[]) => ({ allowed: true, rewrite: masked([...messages]) });
    expect(await second({ provider: "anthropic" }, input)).toContain('"signature":"sig"');
    const asIs = await second({ provider: "anthropic" }, undefined);
    expect(asIs).toContain("I look for 1234.");
    expect(asIs).toContain('"signature":"sig"');
  });
});

describe("the messages of a turn", () => {
  it("are a request of Anthropic's with their calls and results", async () => {
    const messages: Message[] = [];
    const fetch = scripted(answers);
    const agent = await agentOf({ model: { id: "m", provider: "anthropic" }, tools: [{ name: "look" }] });
    await turn(
      agent,
      thread,
      { look: () => "It is 9012." },
      {
        host: { fetch, apiKey: "k" },
        onEvent: (type, data) => {
          if (type === "done") messages.push(...(data as { messages: Message[] }).messages);
        },
      },
    );
    const {
      content: [, { id } = { id: "" }],
    } = (toRequest(agent, messages)["messages"] as any[])[1];
    expect(toRequest(agent, messages)["messages"]).toEqual([
      { role: "user", content: [{ type: "text", text: "Go." }] },
      {
        role: "assistant",
        content: [
          { type: "text", text: "I look for 1234." },
          { type: "tool_use", id, name: "look", input: { pin: 5678 } },
        ],
      },
      {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: id, content: [{ type: "text", text: "It is 9012." }] }],
      },
      { role: "assistant", content: [{ type: "text", text: "Done." }] },
    ]);
  });
});
