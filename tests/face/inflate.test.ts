import { randomBytes } from "node:crypto";
import { gzipSync } from "node:zlib";
import { afterEach, expect, it, vi } from "vitest";
import { inflate } from "../../src/face/host/inflate.js";
import { gzip } from "../../target/glue/inline.js";
import { readFileSync } from "node:fs";

afterEach(() => vi.unstubAllGlobals());

it("what the default entry carries is the .wasm of the package, byte for byte", async () => {
  const wasm = readFileSync(new URL("../../target/glue/looplet_bg.wasm", import.meta.url));
  expect(Buffer.from(await inflate(gzip)).equals(wasm)).toBe(true);
});

it.each([0, 1, 100_000])(
  "%i bytes come out as they went in, with and without Uint8Array.fromBase64",
  async (length) => {
    const bytes = randomBytes(length);
    const packed = gzipSync(bytes).toString("base64");
    expect(Buffer.from(await inflate(packed)).equals(bytes)).toBe(true);
    const own = Object.getOwnPropertyDescriptor(Uint8Array, "fromBase64");
    const fromBase64 = vi.fn((text: string) => new Uint8Array(Buffer.from(text, "base64")));
    Object.defineProperty(Uint8Array, "fromBase64", {
      value: own ? undefined : fromBase64,
      configurable: true,
    });
    try {
      expect(Buffer.from(await inflate(packed)).equals(bytes)).toBe(true);
      expect(fromBase64).toHaveBeenCalledTimes(own ? 0 : 1);
    } finally {
      if (own) Object.defineProperty(Uint8Array, "fromBase64", own);
      else delete (Uint8Array as { fromBase64?: unknown }).fromBase64;
    }
  },
);

it("what is damaged or cut off rejects, and is not reported a second time", async () => {
  const rejections: unknown[] = [];
  const onRejection = (error: unknown): void => void rejections.push(error);
  process.on("unhandledRejection", onRejection);
  const packed = gzipSync(randomBytes(100_000));
  await expect(inflate(packed.subarray(0, 50_000).toString("base64"))).rejects.toThrow();
  packed[0] = 0;
  await expect(inflate(packed.toString("base64"))).rejects.toThrow();
  await new Promise((resolve) => setTimeout(resolve, 10));
  process.off("unhandledRejection", onRejection);
  expect(rejections).toEqual([]);
});
