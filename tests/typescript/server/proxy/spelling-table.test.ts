/** Every name of a field that the proxy refuses, in every spelling that a vendor may fold, at every depth. */
import { describe, expect, it } from "vitest";
import { anthropic, bedrock, compatible, gemini, openai, openaiChat } from "looplet";
import { KEY, requestOf, statusOf } from "./kit.js";

const bound = { apiKey: KEY, maxOutputTokens: 100 };
const credentials = { accessKeyId: "AKIA0123456789", secretAccessKey: "0123456789" };
const models = [
  anthropic("m", bound),
  openai("m", bound),
  openaiChat("m", bound),
  compatible("m", { ...bound, baseUrl: "https://gate.test/v1" }),
  gemini("m", bound),
  bedrock("m", { region: "eu-central-1", credentials, maxOutputTokens: 100 }),
];
const ROUTES = {
  anthropic: ["/api/anthropic/v1/messages", { model: "m", max_tokens: 10, messages: [] }],
  responses: ["/api/openai/responses", { model: "m", max_output_tokens: 10, input: "x" }],
  chat: ["/api/openai/chat/completions", { model: "m", max_completion_tokens: 10, messages: [] }],
  gate: ["/api/compatible/chat/completions", { model: "m", max_completion_tokens: 10, messages: [] }],
  gemini: [
    "/api/google/v1beta/models/m:generateContent",
    { contents: [], generationConfig: { maxOutputTokens: 10 } },
  ],
  bedrock: ["/api/bedrock/model/m/converse", { messages: [], inferenceConfig: { maxTokens: 10 } }],
} as const satisfies { readonly [name: string]: readonly [string, object] };
type Route = keyof typeof ROUTES;
const ALL = Object.keys(ROUTES) as Route[];

const statusFor = async (route: Route, more: object): Promise<number> => {
  const [path, body] = ROUTES[route];
  return (await statusOf(requestOf({ ...body, ...more }, { path }), { models }))[0];
};

/** `words` of a name, as vendors, gateways and attackers write them. */
function spellings(name: string): string[] {
  const words = name.split("_");
  const title = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1);
  const camel = words[0]! + words.slice(1).map(title).join("");
  const wide = [...name].map((letter) =>
    /[a-z]/.test(letter) ? String.fromCodePoint(letter.codePointAt(0)! + 0xfee0) : letter,
  );
  return [
    name,
    camel,
    title(camel),
    name.toUpperCase(),
    name.replaceAll("_", "-"),
    name.replaceAll("_", "."),
    name.replaceAll("_", " "),
    words.map(title).join("-"),
    words.join(""),
    wide.join(""),
    name.replace("s", "\u017f"),
    name.replace("k", "\u212a"),
    name.replace("i", "\u0130"),
    name.replace("i", "i\u0307"),
    `${name}\u200b`,
    ` ${name}`,
  ];
}

/** The places of a field in a request, from the top to lists in lists. */
const PLACES: { readonly [place: string]: (field: object) => object } = {
  "at the top": (field) => field,
  "in a message": (field) => ({ messages: [{ role: "user", content: "x", ...field }] }),
  "in a block": (field) => ({
    messages: [{ role: "user", content: [{ type: "text", text: "x", ...field }] }],
  }),
  "in a result of a call": (field) => ({
    messages: [
      {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: "c", content: [{ type: "x", ...field }] }],
      },
    ],
  }),
  "in lists of lists": (field) => ({ messages: [[[[{ role: "user", content: [[field]] }]]]] }),
  "deep below": (field) => ({ messages: [{ a: { b: { c: { d: { e: { f: [{ g: field }] } } } } } }] }),
  "in a field of a gateway": (field) => ({ extra_body: { google: field } }),
};

/** Names of what other users have left at the vendor, or what the operator has in buckets. */
const OBJECTS = [
  ["file_id", "file_ids", "input_file_id", "upload_id", "media_id", "attachment_ids", "library_ids"],
  ["previous_response_id", "previous_interaction_id", "response_id", "conversation_id", "thread_id"],
  ["container_id", "vector_store_id", "vector_store_ids", "knowledge_base_id", "collection_ids"],
  ["cached_content", "cache_id", "prompt_id", "skill_id", "batch_id", "dataset_id", "memory_store_id"],
  ["s3_location", "s3_uri", "gcs_uri", "gcs_source", "bucket", "bucket_name", "bucket_owner", "blob_uri"],
  ["rag_corpus", "rag_resources", "datastore", "data_sources", "index_name", "container"],
  ["user_profile_id", "previous_message_id", "comparison_response_id"],
].flat();

describe.each(Object.entries(PLACES))("a name of a stored object %s", (_, placed) => {
  it.each(OBJECTS)("is refused in every spelling: %s", async (name) => {
    for (const route of ALL)
      for (const field of spellings(name)) {
        const status = await statusFor(route, placed({ [field]: "other" }));
        expect([route, field, [400, 403].includes(status)]).toEqual([route, field, true]);
      }
  });
});

const ADDRESSES = [
  ["gs://bucket/other", "s3://bucket/other", "GS://bucket/other", " gs://bucket/other", "\u0001gs://b/o"],
  ["g\ns://bucket/other", "g\ts://bucket/other", "gs:/bucket", "gs:bucket/other", "\uff47\uff53://bucket/o"],
  ["s3a://bucket/other", "abfss://c@a.dfs.core.windows.net/x", "file:///etc/passwd", "ftp://a.test/b"],
  ["files/other", "/files/other", "v1beta/files/other", "/v1beta/files/other", "FILES/other", "file-abc"],
  ["cachedContents/other", "projects/p/locations/l/x", "arn:aws:s3:::bucket/other", "uploads/other"],
  ["//storage.googleapis.com/b/o", "https://storage.googleapis.com/b/o", "https:storage.googleapis.com/b/o"],
  [
    "https:\\\\storage.googleapis.com\\b",
    "ht\ttps://storage.googleapis.com/b",
    "https://STORAGE.googleapis.com./b",
  ],
  [
    "https://u:p@storage.googleapis.com/b",
    "https://%73torage.googleapis.com/b",
    "https://storage.cloud.google.com/b",
  ],
  ["https://generativelanguage.googleapis.com/v1beta/files/x", "https://storage\u3002googleapis.com/b"],
  ["https://bucket.s3.eu-central-1.amazonaws.com/o", "https://a.blob.core.windows.net/c/o"],
  ["https://api.openai.com/v1/files/x/content", "https://api.anthropic.com/v1/files/x/content"],
  [
    "https://a.r2.cloudflarestorage.com/b",
    "https://api.mistral.ai/v1/files/x",
    "https://api.x.ai/v1/files/x",
  ],
].flat();

it.each(ADDRESSES)("an address of a vendor or of a bucket is refused in every field: %j", async (address) => {
  for (const route of ALL)
    for (const name of [
      "url",
      "uri",
      "file_uri",
      "image_url",
      "document_url",
      "FileURL",
      "video-url",
      "href",
    ])
      for (const value of [address, [address], { url: address }, [{ uri: address }]]) {
        const block = { type: "image", [name]: value };
        const more =
          route === "responses"
            ? { input: [{ role: "user", content: [block] }] }
            : { messages: [{ role: "user", content: [block] }] };
        expect([route, name, value, await statusFor(route, more)]).toEqual([route, name, value, 403]);
      }
});

it("an address on the web is let through, and the vendor's own address is not", async () => {
  const at = (url: string) => ({
    messages: [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }],
  });
  for (const url of ["https://example.com/a.png", "data:image/png;base64,AAAA", "http://files.test/files/x"])
    expect([url, await statusFor("gate", at(url))]).toEqual([url, 200]);
  expect(await statusFor("gate", at("https://gate.test/v1/files/x"))).toBe(403);
  expect(await statusFor("gate", at("https://GATE.test./v1/files/x"))).toBe(403);
});

describe("fields that spend more", () => {
  const refused = async (route: Route, name: string, value: unknown): Promise<void> => {
    for (const field of spellings(name)) {
      const status = await statusFor(route, { [field]: value });
      expect([route, field, [400, 403].includes(status)]).toEqual([route, field, true]);
    }
  };
  it.each([
    ["models", ["other"]],
    ["fallbacks", [{ model: "other" }]],
    ["fallback_models", ["other"]],
    ["route", "fallback"],
    ["n", 4],
    ["best_of", 4],
    ["candidate_count", 4],
    ["num_generations", 4],
    ["mcp_servers", [{ url: "https://evil.test" }]],
    ["plugins", [{ id: "web" }]],
    ["web_search_options", {}],
    ["search_parameters", { mode: "on" }],
    ["enable_search", true],
    ["service_tier", "priority"],
    ["service_tier", "PRIORITY"],
    ["service_tier", "fast"],
    ["service_tier", "ultrafast"],
    ["service_tier", "scale"],
    ["service_tier", "performance"],
    ["service_tier", 3],
    ["service_tier", ["priority"]],
    ["speed", "fast"],
    ["inference_geo", "us"],
    ["preset", "other"],
    ["search_settings", {}],
    ["compound_custom", {}],
    ["enable_code_interpreter", true],
    ["max_tokens", 6000],
    ["max_completion_tokens", 6000],
    ["max_output_tokens", 6000],
    ["max_new_tokens", 6000],
  ])("are refused at the top in every spelling: %s %j", async (name, value) => {
    for (const route of ["anthropic", "responses", "chat", "gate"] as const)
      await refused(route, name, value);
  });

  it.each(["service_tier", "speed"])("are let through with a plain value: %s", async (name) => {
    for (const value of ["standard", "auto", "default", "flex"])
      expect(await statusFor("gate", { [name]: value })).toBe(200);
  });

  it("are refused at Gemini by the names and the numbers of protobuf", async () => {
    const places = [
      (field: object) => field,
      (field: object) => ({ generationConfig: { maxOutputTokens: 10, ...field } }),
    ];
    for (const placed of places) {
      for (const value of ["priority", "PRIORITY", "SERVICE_TIER_PRIORITY", 3, ["priority"], {}])
        for (const field of ["serviceTier", "service_tier"])
          expect([field, value, await statusFor("gemini", placed({ [field]: value }))]).toEqual([
            field,
            value,
            403,
          ]);
      for (const serviceTier of [null, "standard", "SERVICE_TIER_STANDARD", "SERVICE_TIER_FLEX"])
        expect(await statusFor("gemini", placed({ serviceTier }))).toBe(200);
    }
    expect(await statusFor("anthropic", { inference_geo: "global" })).toBe(200);
  });

  it("are refused inside the objects of Gemini and Bedrock", async () => {
    for (const field of spellings("candidate_count"))
      expect([400, 403]).toContain(
        await statusFor("gemini", { generationConfig: { maxOutputTokens: 10, [field]: 4 } }),
      );
    for (const name of ["max_new_tokens", "num_generations", "mcp_servers", "models"])
      for (const field of spellings(name))
        expect([400, 403]).toContain(
          await statusFor("bedrock", { additionalModelRequestFields: { [field]: 6000 } }),
        );
  });
});

it("a tool that runs at the vendor is refused, wherever its type is and however it is spelled", async () => {
  const types = ["type", "Type", "TYPE", "\uff54ype", "type\u200b"];
  for (const route of ["anthropic", "responses", "chat"] as const)
    for (const type of types)
      expect([route, type, await statusFor(route, { tools: [{ [type]: "web_search", name: "a" }] })]).toEqual(
        [route, type, 403],
      );
  for (const type of [["web_search"], 7, { a: 1 }, true, "Function", "FUNCTION", ""])
    expect([type, await statusFor("chat", { tools: [{ type, function: {} }] })]).toEqual([type, 403]);
  for (const tools of [{}, "web_search", [["web_search"]], [null], 7, true])
    expect([tools, await statusFor("chat", { tools })]).toEqual([tools, 403]);
  const own = { additionalModelRequestFields: { tools: [{ type: "web_search", name: "a" }] } };
  expect(await statusFor("bedrock", own)).toBe(403);
});

it("a query reaches no vendor", async () => {
  for (const route of ALL)
    for (const query of [
      "?",
      "?model=other",
      "?key=x",
      "?api-version=1",
      "?alt=sse",
      "?%61lt=sse",
      "?beta=true",
    ]) {
      const [path, body] = ROUTES[route];
      const [status] = await statusOf(requestOf(body, { path: path + query }), { models });
      // A lone question mark is no query.
      expect([route, query, status]).toEqual([route, query, query === "?" ? 200 : 404]);
    }
});

it("names that only look alike are let through", async () => {
  const block = {
    type: "input_file",
    filename: "a.pdf",
    file_data: "data:application/pdf;base64,AAAA",
  };
  expect(await statusFor("responses", { input: [{ role: "user", content: [block] }] })).toBe(200);
  const call = { id: "call_1", type: "function", function: { name: "file_id", arguments: '{"file_id":1}' } };
  expect(await statusFor("chat", { messages: [{ role: "assistant", tool_calls: [call] }] })).toBe(200);
  const result = { type: "tool_result", tool_use_id: "toolu_1", content: "file_id: 7, gs://a/b" };
  expect(await statusFor("anthropic", { messages: [{ role: "user", content: [result] }] })).toBe(200);
  expect(await statusFor("responses", { prompt_cache_key: "a", safety_identifier: "b" })).toBe(200);
  expect(await statusFor("chat", { reasoning_effort: "low", stream_options: { include_usage: true } })).toBe(
    200,
  );
});
