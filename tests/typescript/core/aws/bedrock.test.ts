import { afterEach, describe, expect, it, vi } from "vitest";
import { agentOn } from "../../../../src/typescript/core/agents/agent.js";
import { authorizeRequest } from "../../../../src/typescript/core/host/authorize.js";
import { bedrock } from "../../../../src/typescript/core/models/bedrock.js";
import { modelParts, type ModelParts } from "../../../../src/typescript/core/models/models.js";
import type { BedrockOptions, Model } from "../../../../src/typescript/core/api/index.js";
import { FakeEngine } from "../../support/fake-driver.js";

afterEach(() => {
  vi.unstubAllGlobals();
});

const KEYS = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "secret-of-aws" };
const ID = "us.anthropic.claude-sonnet-4-6-v1:0";

function parts(model: Model): ModelParts {
  const found = modelParts(model);
  if (found === undefined) throw new Error("no model");
  return found;
}

const make = (options: Omit<BedrockOptions, "region">): Model =>
  bedrock(ID, { region: "eu-central-1", ...options });
const agent = (model: Model): unknown => agentOn(new FakeEngine().load, { model });

describe("a model of Bedrock", () => {
  it("is reached in its region, with a key as a bearer token", () => {
    const model = parts(make({ apiKey: "key", maxOutputTokens: 9 }));
    expect(model.config).toEqual({
      vendor: "bedrock",
      protocol: "bedrock_converse",
      model: ID,
      baseUrl: "https://bedrock-runtime.eu-central-1.amazonaws.com",
      vendorUrl: "https://bedrock-runtime.eu-central-1.amazonaws.com",
      headers: [],
      maxOutputTokens: 9,
    });
    expect(model.isDirect).toBe(true);
    const proxied = parts(make({ baseUrl: "https://mine.example" }));
    expect([proxied.isDirect, proxied.config.baseUrl]).toEqual([false, "https://mine.example/"]);
  });

  it("signs with credentials, which nobody sees who prints it", async () => {
    const model = make({ credentials: KEYS });
    expect(JSON.stringify([model, parts(model).config])).not.toContain("secret-of-aws");
    const headers = await authorizeRequest(parts(model), {
      method: "POST",
      url: `https://bedrock-runtime.eu-central-1.amazonaws.com/model/${encodeURIComponent(ID)}/converse-stream`,
      headers: [["content-type", "application/json"]],
      auth: { header: "authorization", prefix: "Bearer " },
      body: new TextEncoder().encode("{}"),
    });
    const { authorization } = Object.fromEntries(headers);
    expect(authorization).toMatch(
      /Credential=AKIDEXAMPLE\/\d{8}\/eu-central-1\/bedrock\/aws4_request, SignedHeaders=content-type;host;x-amz-date, /,
    );
  });

  it("needs a region, and one way to prove who calls", () => {
    expect(() => bedrock(ID, {} as never)).toThrow("model.region");
    expect(() => bedrock(ID, { region: "eu-central-1.evil.example/" })).toThrow("needs a region's name");
    expect(() => bedrock(" ", { region: "eu-central-1" })).toThrow("model.model");
    expect(() => make({ credentials: KEYS, apiKey: "k" })).toThrow("must stand alone");
    expect(() => make({ credentials: KEYS, authorize: () => [] })).toThrow("must stand alone");
    expect(() => make({ credentials: { ...KEYS, secretAccessKey: "" } })).toThrow("secretAccessKey");
    expect(() => agent(make({}))).toThrow("model.apiKey: is required");
    expect(() => agent(make({ baseUrl: "https://mine.example" }))).not.toThrow();
    expect(() => agent(make({ credentials: KEYS }))).not.toThrow();
  });

  it("does not let a page have a key or credentials unless told so", () => {
    vi.stubGlobal("navigator", { userAgent: "Mozilla/5.0 (X11) Chrome/156" });
    expect(() => agent(make({ apiKey: "k" }))).toThrow("dangerouslyAllowBrowser");
    expect(() => make({ credentials: () => KEYS })).toThrow("dangerouslyAllowBrowser");
    const allowed = make({ credentials: () => KEYS, dangerouslyAllowBrowser: true });
    expect(() => agent(allowed)).not.toThrow();
  });
});
