import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { createAgent, openai } from "looplet";

const event = (data: object): string => `data: ${JSON.stringify(data)}\n\n`;
const delta = (sequence_number: number, text: string): string =>
  event({
    type: "response.output_text.delta",
    sequence_number,
    output_index: 0,
    content_index: 0,
    delta: text,
  });

it("goes on with an answer in the background after a lost connection, by a GET without a body", async () => {
  const asked: string[] = [];
  const begins = (response: ServerResponse): void => {
    response.write(event({ type: "response.created", sequence_number: 0, response: { id: "resp_1" } }));
    response.write(delta(1, "The first half"), () => setImmediate(() => response.destroy()));
  };
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers["authorization"]}`);
    response.writeHead(200, { "content-type": "text/event-stream" });
    if (request.method === "POST") return begins(response);
    const output = [
      { type: "message", content: [{ type: "output_text", text: "The first half, and the rest." }] },
    ];
    response.write(delta(2, ", and the rest."));
    response.end(
      event({
        type: "response.completed",
        sequence_number: 3,
        response: { id: "resp_1", status: "completed", output },
      }),
    );
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  const model = openai("gpt-5", {
    apiKey: "k",
    baseUrl: `http://127.0.0.1:${port}/v1`,
    body: { background: true },
  });
  const texts: string[] = [];
  const agent = createAgent({ model, retry: { delaysMs: [0], jitterMs: 0 } });
  const { outcome, text } = await agent.run("Go.", { onText: (text) => texts.push(text) }).result;
  expect({ outcome, text, told: texts.join("") }).toEqual({
    outcome: "completed",
    text: "The first half, and the rest.",
    told: "The first half, and the rest.",
  });
  expect(asked).toEqual([
    "POST /v1/responses Bearer k",
    "GET /v1/responses/resp_1?stream=true&starting_after=1 Bearer k",
  ]);
});
