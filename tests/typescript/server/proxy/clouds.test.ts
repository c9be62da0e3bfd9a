/** Models of Amazon Bedrock and Vertex AI behind a proxy. */
import { beforeAll, describe, expect, it } from "vitest";
import { bedrock, createAgent, type Fetch } from "looplet";
import { scripted } from "looplet/practice";
import { prices } from "looplet/prices";
import { proxy } from "looplet/proxy";
import { vertex } from "looplet/vendors";
import { claude, KEY, noting, pageFetch, requestOf, statusOf, vendorOf } from "./kit.js";

// The first run loads the engine.
beforeAll(() => createAgent({ model: claude({ fetch: scripted([{ text: "Hi." }]) }) }).run("Hi").result);

const turns = () => [
  { thinking: { text: "Hm." }, text: ["It is ", "7 degrees, and it will rain until the evening."] },
];

it("signs a call of Bedrock with credentials that the page does not have, and counts frames cut anywhere", async () => {
  const name = "us.anthropic.claude-sonnet-4-6-v1:0";
  const credentials = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: KEY };
  const quota = noting();
  const whole = scripted(turns());
  const { fetch, sent } = vendorOf((async (url: string, init: RequestInit) => {
    const response = (await whole(url, init as never)) as unknown as Response;
    const bytes = new Uint8Array(await response.arrayBuffer());
    const one = {
      pull: (controller: ReadableByteStreamController) => {
        const byte = bytes.subarray(at, (at += 1));
        return byte.length === 0 ? controller.close() : controller.enqueue(byte.slice());
      },
    };
    let at = 0;
    return new Response(new ReadableStream(one as never), { headers: response.headers });
  }) as unknown as Fetch);
  const handler = proxy({
    models: [bedrock(name, { region: "eu-central-1", credentials, price: prices })],
    authorize: () => "ada",
    quota,
    fetch,
  });
  const page = bedrock(name, {
    region: "eu-central-1",
    baseUrl: "https://page.test/api/bedrock",
    fetch: pageFetch(handler),
  });
  const { text, usage } = await createAgent({ model: page }).run("Hello").result;
  expect(text).toMatch(/^It is 7 degrees/);
  expect(sent[0]!.headers.get("authorization")).toMatch(/^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/);
  const { inputTokens, outputTokens } = usage!;
  expect(quota.ended.map(([, told]) => told)).toMatchObject([
    { inputTokens, outputTokens, isReported: true },
  ]);
});

it("fetches a token for each call of Vertex AI", async () => {
  let tokens = 0;
  const { fetch, sent } = vendorOf([...turns(), ...turns()]);
  const place = { project: "p", location: "europe-west1" };
  const apiKey = async () => `token-${(tokens += 1)}`;
  const models = [vertex("gemini-2.5-pro", { ...place, apiKey })];
  const handler = proxy({ models, authorize: () => "ada", fetch });
  const options = { ...place, baseUrl: "https://page.test/api/vertex", fetch: pageFetch(handler) };
  const agent = createAgent({ model: vertex("gemini-2.5-pro", options) });
  for (const _ of [1, 2]) await agent.run("Hello").result;
  expect(sent.map(({ headers }) => headers.get("authorization"))).toEqual([
    "Bearer token-1",
    "Bearer token-2",
  ]);
});

describe("the proxy is no open relay", () => {
  it("knows the paths of Bedrock and of Vertex AI by the models on its list", async () => {
    const place = { project: "mine", location: "europe-west1" };
    const models = [
      bedrock("eu.amazon.nova-pro-v1:0", { region: "eu-central-1", apiKey: KEY }),
      vertex("gemini-2.5-pro", { ...place, apiKey: KEY }),
    ];
    const bedrockBody = { messages: [], inferenceConfig: { maxTokens: 9 } };
    const project = "/api/vertex/v1/projects/mine/locations/europe-west1";
    const vertexPath = `${project}/publishers/google/models/gemini-2.5-pro:generateContent`;
    const cases: [string, number][] = [
      ["/api/bedrock/model/eu.amazon.nova-pro-v1%3A0/converse", 200],
      ["/api/bedrock/model/eu.amazon.nova-lite-v1%3A0/converse", 403],
      ["/api/bedrock/model/eu.amazon.nova-pro-v1%3A0/invoke", 404],
      ["/api/bedrock/model/x/y/converse", 404],
      ["/api/bedrock/model/%/converse", 404],
      ["/api/bedrock/guardrail/x/version/1/apply", 404],
      [vertexPath, 200],
      [vertexPath.replace("mine", "others"), 404],
      [vertexPath.replace("europe-west1", "us-central1"), 404],
      [vertexPath.replace("gemini-2.5-pro", "gemini-3-pro"), 403],
      [vertexPath.replace("google", "anthropic"), 404],
      [vertexPath.replace("generateContent", "streamGenerateContent"), 404],
      [vertexPath.replace("generateContent", "predictLongRunning"), 404],
      ["/api/vertex/v1beta/models/gemini-2.5-pro:generateContent", 404],
    ];
    for (const [path, status] of cases) {
      const given = path.startsWith("/api/bedrock") ? bedrockBody : { contents: [] };
      expect([path, (await statusOf(requestOf(given, { path }), { models }))[0]]).toEqual([path, status]);
    }
  });

  it("bounds an answer of Bedrock, and refuses what costs more than its tokens", async () => {
    const models = [bedrock("m", { region: "eu-central-1", apiKey: KEY, maxOutputTokens: 100 })];
    const cases: [object, number][] = [
      [{ inferenceConfig: { maxTokens: 100 } }, 200],
      [{ inferenceConfig: { maxTokens: 101 } }, 403],
      [{}, 403],
      [
        {
          inferenceConfig: { maxTokens: 9 },
          additionalModelRequestFields: { thinking: { type: "enabled" } },
        },
        200,
      ],
      [{ inferenceConfig: { maxTokens: 9 }, additionalModelRequestFields: { max_tokens: 9999 } }, 403],
      [
        { inferenceConfig: { maxTokens: 9 }, toolConfig: { tools: [{ toolSpec: {} }, { cachePoint: {} }] } },
        200,
      ],
      [{ inferenceConfig: { maxTokens: 9 }, toolConfig: { tools: [{ systemTool: { name: "s" } }] } }, 403],
      [{ inferenceConfig: { maxTokens: 9 }, toolConfig: { tools: "all" } }, 403],
      [{ inferenceConfig: { maxTokens: 9 }, guardrailConfig: {} }, 403],
      [{ inferenceConfig: { maxTokens: 9 }, serviceTier: { type: "priority" } }, 403],
    ];
    for (const [given, status] of cases) {
      const request = requestOf({ messages: [], ...given }, { path: "/api/bedrock/model/m/converse" });
      expect([given, (await statusOf(request, { models }))[0]]).toEqual([given, status]);
    }
  });
});
