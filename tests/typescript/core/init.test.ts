import { readFileSync } from "node:fs";
import { expect, it, vi } from "vitest";
import { LoopletError } from "../../../src/typescript/core/entry/external.js";

/** The external entry as a page loads it anew: without an engine. */
async function external(): Promise<typeof import("../../../src/typescript/core/entry/external.js")> {
  vi.resetModules();
  return import("../../../src/typescript/core/entry/external.js");
}

const wasm = (): Uint8Array<ArrayBuffer> =>
  new Uint8Array(readFileSync(new URL("../../../target/glue/looplet_bg.wasm", import.meta.url)));

/** The smallest module, which exports nothing. */
const empty = new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);

it.each<[string, () => unknown, RegExp]>([
  [
    "no source",
    () => undefined,
    /looplet\/external does not include the WebAssembly: call `await init\(source\)`/,
  ],
  ["a number", () => 7, /needs a WebAssembly.Module, bytes, a Response or a URL, got the number 7/],
  ["nothing, later", async () => undefined, /got nothing/],
  ["bytes that are no module", () => new Uint8Array([1, 2, 3]), /WebAssembly/],
  ["a page that was not found", () => new Response("<p>", { status: 404 }), /404/],
  ["a module of something else", () => new WebAssembly.Module(empty), /not looplet's/],
  ["bytes of something else", () => empty, /not looplet's/],
  ["a source that fails", () => Promise.reject(new Error("offline")), /offline/],
])("init of %s rejects with the code config_wasm", async (_, source, message) => {
  const { init } = await external();
  const error = (await init(source() as never).catch((thrown: unknown) => thrown)) as LoopletError;
  expect(error).toMatchObject({ name: "LoopletError", code: "config_wasm", field: "" });
  expect(error.message).toMatch(message);
  expect(error.cause).toBeInstanceOf(Error);
});

it("verify of looplet/receipts without an engine says which import is missing", async () => {
  vi.resetModules();
  const { verify } = await import("looplet/receipts");
  const file = readFileSync(new URL("../../fixtures/loop/wasm.loop", import.meta.url), "utf8");
  await expect(verify(file, {})).rejects.toThrow(
    /looplet\/receipts, .* carry none either: add `import "looplet"`/,
  );
});

it("init can be tried again after it has failed", async () => {
  const { init, createAgent, custom } = await external();
  await expect(init(Promise.reject(new Error("offline")))).rejects.toThrow("offline");
  await expect(init(empty)).rejects.toThrow("not looplet's");
  await init(wasm());
  expect(await createAgent({ model: custom(() => "hi") }).run("?").result).toMatchObject({ text: "hi" });
});

const facades = {
  "agent-sdk": () => import("../../../src/typescript/compat/agent-sdk/external.js"),
  guide: () => import("../../../src/typescript/compat/guide/external.js"),
  production: () => import("../../../src/typescript/compat/production/external.js"),
  prompty: () => import("../../../src/typescript/compat/prompty/external.js"),
  sprout: () => import("../../../src/typescript/compat/sprout/external.js"),
};

it.each(Object.entries(facades))(
  "init of looplet/external/%s starts the engine of every entry",
  async (_, facade) => {
    const { createAgent, custom } = await external();
    const agent = createAgent({ model: custom(() => "hi") });
    expect(await agent.run("?").result).toMatchObject({ outcome: "failed", error: { code: "config_wasm" } });
    await (await facade()).init(wasm());
    expect(await agent.run("?").result).toMatchObject({ text: "hi" });
  },
);
