import { AwsClient } from "aws4fetch";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { awsSigV4 } from "../../../../src/typescript/core/models/aws.js";
import type { AwsSigV4Options } from "../../../../src/typescript/core/api/index.js";

type Pairs = readonly (readonly [string, string])[];

beforeEach(() => {
  vi.useFakeTimers({ now: Date.UTC(2015, 7, 30, 12, 36) });
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** Those of AWS's published test suite. */
const EXAMPLE = {
  accessKeyId: "AKIDEXAMPLE",
  secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
};

async function signed(
  options: AwsSigV4Options,
  url: string,
  { method = "GET", headers = [] as Pairs, body = "" } = {},
): Promise<Record<string, string>> {
  const request = { method, url, headers, body: new TextEncoder().encode(body) };
  return Object.fromEntries((await awsSigV4(options)(request)) as Pairs);
}

const signature = (headers: Record<string, string>): string =>
  headers["authorization"]?.split("Signature=")[1] ?? "";

describe("a signature", () => {
  // https://docs.aws.amazon.com/IAM/latest/UserGuide/signature-v4-test-suite.html. Its paths that need escaping are
  // not escaped in the request, as no `fetch` can send them; the other implementation below stands for these.
  it.each([
    ["get-vanilla", "GET", "/", "", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"],
    ["post-vanilla", "POST", "/", "", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"],
    [
      "get-vanilla-query-order-key-case",
      "GET",
      "/?Param2=value2&Param1=value1",
      "",
      "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
    ],
    [
      "get-slashes",
      "GET",
      "//example//",
      "",
      "9a624bd73a37c9a373b5312afbebe7a714a789de108f0bdfe846570885f57e84",
    ],
    [
      "post-x-www-form-urlencoded",
      "POST",
      "/",
      "Param1=value1",
      "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
    ],
  ])("is the one that AWS publishes for %s", async (_name, method, path, body, expected) => {
    const headers: Pairs = body === "" ? [] : [["Content-Type", "application/x-www-form-urlencoded"]];
    const options = { region: "us-east-1", service: "service", credentials: EXAMPLE };
    const made = await signed(options, `https://example.amazonaws.com${path}`, { method, headers, body });
    expect(signature(made)).toBe(expected);
    expect(made["authorization"]).toContain(
      "Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=",
    );
  });

  it("is the one that another implementation makes, for any model, body and header", async () => {
    const random = generator(7);
    const pick = (alphabet: string, length: number): string => {
      const characters = Array.from(alphabet);
      return Array.from({ length }, () => characters[Math.floor(random() * characters.length)]).join("");
    };
    const hard = "abcXYZ019-._~:/%!'()* é😀+&=?#";
    for (let round = 0; round < 60; round += 1) {
      vi.setSystemTime(1.7e12 + Math.floor(random() * 1e11));
      const region = `${pick("abc", 2)}-west-${Math.floor(random() * 9)}`;
      const credentials = {
        accessKeyId: pick("ABC123", 20),
        secretAccessKey: pick("abc/+XYZ", 40),
        ...(round % 2 === 0 ? { sessionToken: pick("abc/+=", 100) } : {}),
      };
      const url = `https://bedrock-runtime.${region}.amazonaws.com/model/${encodeURIComponent(pick(hard, 12))}/converse${
        round % 3 === 0 ? `?b=${encodeURIComponent(pick(hard, 4))}&a=1&B=2&a=0` : ""
      }`;
      const headers: Pairs = [
        ["content-type", "application/json"],
        ["X-Amz-Note", ` ${pick("ab  c", 9)} `],
      ];
      const body = pick(hard, round * 5);
      const made = await signed({ region, credentials }, url, { method: "POST", headers, body });
      const other = new AwsClient({ ...credentials, region, service: "bedrock", retries: 0 });
      const theirs = await other.sign(url, {
        method: "POST",
        headers: headers as [string, string][],
        body,
        aws: { allHeaders: true },
      });
      expect(made["authorization"]).toBe(theirs.headers.get("authorization"));
      expect(made["x-amz-date"]).toBe(theirs.headers.get("x-amz-date"));
      expect(made["x-amz-security-token"] ?? null).toBe(theirs.headers.get("x-amz-security-token"));
    }
  });

  it("replaces what an earlier one has left and keeps every other header", async () => {
    const headers: Pairs = [
      ["Authorization", "Bearer old"],
      ["X-Amz-Date", "19990101T000000Z"],
      ["x-team", "a"],
    ];
    const made = await signed({ region: "us-east-1", credentials: EXAMPLE }, "https://x.example/", {
      headers,
    });
    expect(made).toMatchObject({ "x-team": "a", "x-amz-date": "20150830T123600Z" });
    expect(made["authorization"]).toMatch(/^AWS4-HMAC-SHA256 .*SignedHeaders=host;x-amz-date, /);
    expect(Object.keys(made)).toHaveLength(3);
  });

  it("asks a function for credentials each time, and passes its failure on", async () => {
    const credentials = vi.fn(() => Promise.resolve(EXAMPLE));
    const authorize = awsSigV4({ region: "us-east-1", credentials });
    const request = { method: "POST", url: "https://x.example/", headers: [], body: new Uint8Array() };
    await authorize(request);
    await authorize(request);
    expect(credentials).toHaveBeenCalledTimes(2);
    credentials.mockRejectedValue(new Error("the vault is closed"));
    await expect(authorize(request)).rejects.toThrow("the vault is closed");
  });

  it("names a missing or broken credential and shows none", async () => {
    const options = (credentials: unknown): AwsSigV4Options => ({ region: "r", credentials }) as never;
    const secretAccessKey = "s3cr3t\n";
    const broken = { accessKeyId: "A", secretAccessKey };
    expect(() => awsSigV4(options(broken))).toThrow("model.credentials.secretAccessKey: must not be empty");
    expect(() => awsSigV4(options(broken))).not.toThrow("s3cr3t");
    expect(() => awsSigV4(options({}))).toThrow("model.credentials.accessKeyId: needs a string");
    expect(() => awsSigV4(options(undefined))).toThrow("credentials");
    expect(() => awsSigV4({ ...options(EXAMPLE), regoin: "x" } as never)).toThrow("region");
    await expect(
      signed(
        options(() => undefined),
        "https://x.example/",
      ),
    ).rejects.toThrow("accessKeyId");
  });

  it("says what is missing where there is no WebCrypto", async () => {
    vi.stubGlobal("crypto", {});
    await expect(signed({ region: "r", credentials: EXAMPLE }, "http://x.example/")).rejects.toThrow(
      "over https",
    );
  });
});

/** Numbers in [0, 1) that a seed decides. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}
