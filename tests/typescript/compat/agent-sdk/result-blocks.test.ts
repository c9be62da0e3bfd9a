import { describe, expect, it } from "vitest";
import { createSdkMcpServer, getSessionMessages, tool, type SDKMessage } from "looplet/agent-sdk";
import { all, anything, resultOf, scene } from "./kit.js";

const PNG = "iVBORw0KGgo=";
const image = { type: "image", data: PNG, mimeType: "image/png" };
const shown = { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } };

/** The content of the first yielded result, of a tool that returns `result`. */
async function yielded(result: unknown) {
  const act = tool("act", "Acts", anything, () => result as string);
  const { options } = scene([{ toolCalls: [{ name: "mcp__a__act", input: {} }] }, { text: "Done." }], {
    mcpServers: { a: createSdkMcpServer({ name: "a", tools: [act] }) },
    allowedTools: ["mcp__a__act"],
  });
  const messages = await all("Go", options);
  const ofSession = await getSessionMessages(resultOf(messages).session_id);
  const blocks = [...messages, ...ofSession]
    .filter((message): message is Extract<SDKMessage, { type: "user" }> => message.type === "user")
    .flatMap(({ message }) => (typeof message.content === "string" ? [] : message.content))
    .filter(({ type }) => type === "tool_result");
  expect(blocks).toHaveLength(2);
  expect(blocks[0]).toEqual(blocks[1]);
  return blocks[0];
}

describe("the result of a tool, as a query yields it and a session returns it", () => {
  it("keeps texts and images in their order", async () => {
    const content = [{ type: "text", text: "Before" }, image, { type: "text", text: "After" }];
    expect(await yielded({ content })).toMatchObject({
      content: [{ type: "text", text: "Before" }, shown, { type: "text", text: "After" }],
    });
  });

  it("keeps two texts apart", async () => {
    const content = [
      { type: "text", text: "one" },
      { type: "text", text: "two" },
    ];
    expect(await yielded({ content })).toMatchObject({ content });
  });

  it("keeps an image without a text", async () => {
    expect(await yielded({ content: [image] })).toMatchObject({ content: [shown] });
  });

  it("keeps a document, with its name", async () => {
    const document = { type: "media", mediaType: "application/pdf", data: PNG, name: "a.pdf" };
    expect(await yielded({ content: [document] })).toMatchObject({
      content: [
        {
          type: "document",
          source: { type: "base64", media_type: "application/pdf", data: PNG },
          title: "a.pdf",
        },
      ],
    });
  });

  it("is the texts of a failure, because a vendor refuses images in one", async () => {
    const content = [{ type: "text", text: "The page" }, image, { type: "text", text: "looks wrong." }];
    expect(await yielded({ content, isError: true })).toMatchObject({
      is_error: true,
      content: "The page\nlooks wrong.",
    });
  });

  it("is a string for one text", async () => {
    expect(await yielded("plain")).toMatchObject({ content: "plain" });
    expect(await yielded({ content: [{ type: "text", text: "one" }] })).toMatchObject({ content: "one" });
  });

  it("leaves out a sound, which the Messages API does not have", async () => {
    const sound = { type: "audio", data: PNG, mimeType: "audio/wav" };
    expect(await yielded({ content: [{ type: "text", text: "Listen" }, sound] })).toMatchObject({
      content: "Listen",
    });
  });
});
