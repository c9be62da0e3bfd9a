/** Pages over plain http in a local network have neither `crypto.subtle` nor `crypto.randomUUID`. */
import { createHash } from "node:crypto";
import { afterEach, expect, it, vi } from "vitest";
import { createAgent, custom } from "looplet";
import { handler } from "looplet/server";
import { memoryStore } from "looplet/stores";
import { sha256Of } from "../../../src/typescript/extras/sha256.js";

afterEach(() => void vi.unstubAllGlobals());

function onPlainHttp(): void {
  const { crypto } = globalThis;
  vi.stubGlobal("crypto", { getRandomValues: crypto.getRandomValues.bind(crypto) });
}

it("a digest is the same without crypto.subtle, for every length", async () => {
  onPlainHttp();
  for (const length of [0, 1, 3, 55, 56, 63, 64, 65, 119, 120, 1000, 100_003]) {
    const bytes = Uint8Array.from({ length }, (_, at) => (at * 167 + length) & 255);
    const digest = Buffer.from(await sha256Of(bytes)).toString("hex");
    expect(digest).toBe(createHash("sha256").update(bytes).digest("hex"));
  }
});

it("a server in such a page takes back a version of the chat that it has had", async () => {
  onPlainHttp();
  const store = memoryStore();
  const agent = createAgent({ model: custom(() => "hi"), store });
  const handle = handler<Request>(agent, { store, base: "/api", authorize: () => "ada" });
  const call = async (method: string, ...args: unknown[]): Promise<any> => {
    const init = { method: "POST", headers: { "content-type": "application/json" } };
    const body = JSON.stringify({ method, args });
    const response = (await handle(new Request("http://lan.test/api/a/call", { ...init, body }))) as Response;
    return { status: response.status, ...(await response.json()) };
  };
  await call("run", [{ type: "text", text: "Hi." }], { id: "r1" });
  await vi.waitFor(async () => expect((await call("openChat")).value.run).toBeNull());
  const { messages } = (await call("openChat")).value;
  expect(messages).toHaveLength(2);
  expect(await call("reset", [])).toMatchObject({ status: 200 });
  expect(await call("reset", messages)).toMatchObject({ status: 200 });
  expect((await call("openChat")).value.messages).toEqual(messages);
});
