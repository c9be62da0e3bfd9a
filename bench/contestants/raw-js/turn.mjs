/** What both hand-written loops share: one request, its stream, the tools, and the two wire formats. */
export async function streamTurn(fetch, format, body, onText) {
  const response = await fetch(format.url, { method: "POST", headers: format.headers, body });
  if (!response.ok) throw new Error(`status ${response.status}`);
  const turn = { text: "", calls: [] };
  await readEvents(response.body, (data) => format.apply(turn, data, onText));
  for (const call of turn.calls) call.input = JSON.parse(call.json);
  return turn;
}

export function runTools(calls, tools) {
  return Promise.all(
    calls.map(async (call) => {
      const tool = tools.find(({ name }) => name === call.name);
      return { id: call.id, output: await tool.execute(call.input) };
    }),
  );
}

async function readEvents(stream, onData) {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + decoder.decode(value, { stream: true })).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      if (line.startsWith("data: ")) onData(line.slice(6));
    }
  }
}

export const formats = {
  anthropic: {
    url: "https://api.anthropic.com/v1/messages",
    headers: { "content-type": "application/json", "x-api-key": "x", "anthropic-version": "2023-06-01" },
    body: (tools) => ({
      model: "claude-sonnet-4-6",
      max_tokens: 4096,
      stream: true,
      tools: tools.map(({ name, description, inputSchema }) => ({
        name,
        description,
        input_schema: inputSchema,
      })),
    }),
    apply(turn, data, onText) {
      const event = JSON.parse(data);
      if (event.type === "content_block_delta") {
        if (event.delta.type === "text_delta") {
          turn.text += event.delta.text;
          onText(event.delta.text);
        } else if (event.delta.type === "input_json_delta") {
          turn.calls.at(-1).json += event.delta.partial_json;
        }
      } else if (event.type === "content_block_start" && event.content_block.type === "tool_use") {
        turn.calls.push({ id: event.content_block.id, name: event.content_block.name, json: "" });
      } else if (event.type === "error") {
        throw new Error(event.error.message);
      }
    },
    assistant: ({ text, calls }) => ({
      role: "assistant",
      content: [
        ...(text === "" ? [] : [{ type: "text", text }]),
        ...calls.map(({ id, name, input }) => ({ type: "tool_use", id, name, input })),
      ],
    }),
    results: (results) => [
      {
        role: "user",
        content: results.map(({ id, output }) => ({ type: "tool_result", tool_use_id: id, content: output })),
      },
    ],
  },
  "openai-chat": {
    url: "https://api.openai.com/v1/chat/completions",
    headers: { "content-type": "application/json", authorization: "Bearer x" },
    body: (tools) => ({
      model: "gpt-5",
      stream: true,
      stream_options: { include_usage: true },
      tools: tools.map(({ name, description, inputSchema }) => ({
        type: "function",
        function: { name, description, parameters: inputSchema },
      })),
    }),
    apply(turn, data, onText) {
      if (data === "[DONE]") return;
      const delta = JSON.parse(data).choices[0]?.delta;
      if (delta?.content) {
        turn.text += delta.content;
        onText(delta.content);
      }
      for (const { index, id, function: part } of delta?.tool_calls ?? []) {
        turn.calls[index] ??= { id, name: part.name, json: "" };
        turn.calls[index].json += part.arguments;
      }
    },
    assistant: ({ text, calls }) => ({
      role: "assistant",
      content: text,
      ...(calls.length > 0 && {
        tool_calls: calls.map(({ id, name, json }) => ({
          id,
          type: "function",
          function: { name, arguments: json },
        })),
      }),
    }),
    results: (results) =>
      results.map(({ id, output }) => ({ role: "tool", tool_call_id: id, content: output })),
  },
};
