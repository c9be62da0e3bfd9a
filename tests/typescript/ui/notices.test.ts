// The words of looplet and of hooks in a transcript: the model reads them, and no screen shows them as a person's.
import { describe, expect, it } from "vitest";
import { createAgent, custom, tool, type AgentOptions, type Message } from "looplet";
import { fromUIMessages, toUIMessages } from "looplet/ai-sdk";
import { checkTranscript } from "looplet/transcript";
import { conversation, viewOf, type UiMessage } from "looplet/ui";
import { messagesOf } from "../../../src/typescript/ui/ag-ui/messages.js";

const look = tool({ description: "look", inputSchema: { type: "object" }, execute: () => "seen" });

/** An agent whose hook adds a text to the prompt, and whose model repeats a call until it is told so. */
function agent(more: Partial<AgentOptions> = {}) {
  const model = custom(function* ({ messages }) {
    const asked = messages.filter(({ role }) => role === "assistant").length;
    if (asked < 2) yield { type: "tool_call", id: `l${asked}`, name: "look", input: {} };
    else yield "I have looked.";
  });
  return createAgent({
    model,
    tools: { look },
    limits: { repeat: { nudgeAfter: 2 } },
    hooks: { UserPromptSubmit: [{ hooks: [() => ({ additionalContext: "It is Monday." })] }] },
    ...more,
  } as AgentOptions);
}

const textsOf = (messages: readonly UiMessage[]): string[] =>
  messages.flatMap(({ role, parts }) =>
    parts.flatMap((part) => (part.type === "text" ? [`${role}: ${part.text}`] : [])),
  );

const noticesOf = (messages: readonly Message[]): string[] =>
  messages.flatMap(({ content }) =>
    content.flatMap((block) => (block.type === "text" && block.purpose === "notice" ? [block.text] : [])),
  );

describe("a text that looplet or a hook gives the model", () => {
  it("is marked in the transcript", async () => {
    const { messages } = await agent().run("Look.").result;
    expect(noticesOf(messages)).toEqual([
      "It is Monday.",
      expect.stringMatching(/^You have made the same tool calls/),
    ]);
  });

  it("is no message of the person on a screen, and is not asked again", async () => {
    const chat = conversation(agent());
    for (const ask of [() => chat.send("Look."), () => chat.regenerate()]) {
      await ask();
      while (chat.getSnapshot().status !== "ready") await new Promise((resolve) => setTimeout(resolve, 0));
      expect(textsOf(chat.getSnapshot().messages)).toEqual(["user: Look.", "assistant: I have looked."]);
    }
    const { messages } = await agent().run("Look.").result;
    expect(textsOf(viewOf(messages).messages)).toEqual(["user: Look.", "assistant: I have looked."]);
  });

  it("is no message of the person in AG-UI", async () => {
    const { messages } = await agent().run("Look.").result;
    const users = messagesOf(messages, "run").filter(({ role }) => role === "user");
    expect(users.map(({ content }) => content)).toEqual(["Look."]);
  });

  it("comes back from useChat where it was", async () => {
    const { messages } = await agent().run("Look.").result;
    const shown = toUIMessages(messages);
    expect(shown.map(({ role }) => role)).toEqual(["user", "assistant"]);
    const back = fromUIMessages(shown).map(({ ui: _, ...message }) => message);
    expect(noticesOf(back).at(-1)).toMatch(/^You have made the same tool calls/);
    expect(checkTranscript(back, "looplet")).toEqual([]);
  });
});
