/**
 * The two wire formats, both directions: a model's turn as server-sent events, and a request body read back into the
 * calls and results that it holds. A turn is `{ text: literal[], calls: [{ id, name, pieces: string[] }] }`, where a
 * literal is JSON string text with its quotes: the workloads decide how a character is escaped, not `JSON.stringify`.
 */
const sse = (event, data) => `event: ${event}\ndata: ${data}\n\n`;

const anthropic = {
  /** https://docs.anthropic.com/en/api/messages-streaming */
  events({ text = [], calls = [] }) {
    const block = (index, start, deltas) => [
      sse("content_block_start", `{"type":"content_block_start","index":${index},"content_block":${start}}`),
      ...deltas.map((delta) =>
        sse("content_block_delta", `{"type":"content_block_delta","index":${index},"delta":${delta}}`),
      ),
      sse("content_block_stop", `{"type":"content_block_stop","index":${index}}`),
    ];
    const first = text.length > 0 ? 1 : 0;
    const blocks = calls.map(({ id, name, pieces }, at) =>
      block(
        first + at,
        JSON.stringify({ type: "tool_use", id, name, input: {} }),
        pieces.map((piece) => `{"type":"input_json_delta","partial_json":${JSON.stringify(piece)}}`),
      ),
    );
    if (first) {
      const deltas = text.map((literal) => `{"type":"text_delta","text":${literal}}`);
      blocks.unshift(block(0, '{"type":"text","text":""}', deltas));
    }
    return [
      sse(
        "message_start",
        '{"type":"message_start","message":{"id":"msg_01","type":"message","role":"assistant","model":"claude-sonnet-4-6",' +
          '"content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":25,"output_tokens":1,' +
          '"cache_creation_input_tokens":0,"cache_read_input_tokens":0}}}',
      ),
      ...blocks.flat(),
      sse(
        "message_delta",
        `{"type":"message_delta","delta":{"stop_reason":"${calls.length > 0 ? "tool_use" : "end_turn"}",` +
          '"stop_sequence":null},"usage":{"output_tokens":100}}',
      ),
      sse("message_stop", '{"type":"message_stop"}'),
    ];
  },

  exchanges(body) {
    return body.messages.flatMap(({ content }, message) =>
      (typeof content === "string" ? [] : content).flatMap((block) => {
        if (block.type === "tool_use") return [{ kind: "call", id: block.id, value: block.input, message }];
        if (block.type !== "tool_result") return [];
        return [{ kind: "result", id: block.tool_use_id, value: plainText(block.content), message }];
      }),
    );
  },

  /** Anthropic refuses a request unless all results are in the message directly after their calls. */
  resultsShareAMessage: true,
};

const openaiChat = {
  /** https://platform.openai.com/docs/api-reference/chat-streaming */
  events({ text = [], calls = [] }) {
    const head =
      'data: {"id":"chatcmpl-01","object":"chat.completion.chunk","created":1760000000,"model":"gpt-5",';
    const chunk = (delta, finish = "null") =>
      `${head}"choices":[{"index":0,"delta":${delta},"logprobs":null,"finish_reason":${finish}}],"usage":null}\n\n`;
    return [
      chunk('{"role":"assistant","content":"","refusal":null}'),
      ...text.map((literal) => chunk(`{"content":${literal}}`)),
      ...calls.flatMap(({ id, name, pieces }, index) => [
        chunk(
          `{"tool_calls":[{"index":${index},"id":"${id}","type":"function","function":{"name":"${name}","arguments":""}}]}`,
        ),
        ...pieces.map((piece) =>
          chunk(`{"tool_calls":[{"index":${index},"function":{"arguments":${JSON.stringify(piece)}}}]}`),
        ),
      ]),
      chunk("{}", calls.length > 0 ? '"tool_calls"' : '"stop"'),
      `${head}"choices":[],"usage":{"prompt_tokens":25,"completion_tokens":100,"total_tokens":125}}\n\n`,
      "data: [DONE]\n\n",
    ];
  },

  exchanges(body) {
    return body.messages.flatMap((message, at) => {
      if (message.role === "tool")
        return [{ kind: "result", id: message.tool_call_id, value: plainText(message.content), message: at }];
      return (message.tool_calls ?? []).map((call) => ({
        kind: "call",
        id: call.id,
        value: JSON.parse(call.function.arguments),
        message: at,
      }));
    });
  },

  resultsShareAMessage: false,
};

export const wires = { anthropic, "openai-chat": openaiChat };

function plainText(content) {
  return typeof content === "string" ? content : content.map((part) => part.text).join("");
}
