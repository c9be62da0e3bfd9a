// An agent that reads, pays and says so, alone or in a chat, for tests that kill its process. The module runs in
// every host.

/**
 * `looplet` is the package. `effects` has what the tools have done: `has(id)` and `add(id)`, which may be
 * asynchronous. The process hangs at the moment `hold`: `model` (the second request), `before` or `after` the
 * payment's effect.
 */
export function payingAgent(
  { createAgent, custom, tool },
  { store, effects, clock, hold, onHold = () => {} },
) {
  const forever = () => {
    onHold();
    return new Promise(() => {});
  };
  const inputSchema = { type: "object", properties: { n: { type: "number" } } };
  const model = custom(async ({ messages }) => {
    const asked = messages.findLastIndex(
      ({ role, content }) => role === "user" && content[0].type === "text",
    );
    const prompt = messages[asked].content[0].text;
    if (prompt !== "Pay.") return `${prompt} ${messages.length}`;
    const answered = messages.slice(asked).filter(({ role }) => role === "assistant").length;
    if (answered === 1 && hold === "model") await forever();
    if (answered === 0) return [{ type: "tool_call", id: "a", name: "read", input: { n: 1 } }];
    if (answered === 1) return [{ type: "tool_call", id: "b", name: "pay", input: { n: 2 } }];
    return "Paid.";
  });
  const read = tool({ description: "Reads", inputSchema, readOnly: true, execute: () => "read" });
  const pay = tool({
    description: "Pays",
    inputSchema,
    async execute(_, { toolCallId }) {
      if (hold === "before") await forever();
      await effects.add(toolCallId);
      if (hold === "after") await forever();
      return "paid";
    },
  });
  const reconcile = async ({ toolCallId }) =>
    (await effects.has(toolCallId)) ? { outcome: "done", output: "paid" } : { outcome: "run" };
  return createAgent({ model, tools: { read, pay }, store, durable: { reconcile }, clock });
}

export const moments = ["model", "before", "after"];

/** What every life of the run comes to in the end. */
export function told({ outcome, text, toolCalls, iterations }) {
  const calls = toolCalls.map(({ toolCallId, output }) => `${toolCallId}: ${output}`);
  return `${outcome} ${text} ${calls.join(", ")} in ${iterations}`;
}

export const expected = "completed Paid. a: read, b: paid in 3";

/**
 * Opens the agent's chat, goes on with what it is at, and says each prompt that it does not have: the second one
 * pays. `onOpen` gets the chat at once. Returns its texts.
 */
export async function converse(agent, onOpen = () => {}) {
  const chat = await agent.openChat("chat-1");
  onOpen(chat);
  await chat.current?.result;
  const said = chat.messages.map(({ content }) => content[0].text);
  for (const prompt of ["Hi.", "Pay.", "Bye."]) if (!said.includes(prompt)) await chat.run(prompt).result;
  await chat.saved();
  const texts = chat.messages.flatMap(({ content }) => content.map(({ text, type }) => text ?? type));
  return texts.join(" ");
}

const round = "tool_call tool_result";

/** The texts of every life of the chat in the end. */
export const expectedChat = `Hi. Hi. 1 Pay. ${round} ${round} Paid. Bye. Bye. 9`;
