/// <reference path="../../../../src/extension/chrome.d.ts" />
// The scripts of the extension, with the parts of `chrome` that they use: what they pass on, and to whom.
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import manifest from "../../../../src/extension/manifest.json" with { type: "json" };

type Heard = (value: any) => void;

/** A port whose other side is the test. */
function port(more: object = {}) {
  const heard: Heard[] = [];
  return {
    sent: [] as unknown[],
    isOpen: true,
    onMessage: { addListener: (hear: Heard) => heard.push(hear) },
    onDisconnect: { addListener: () => {} },
    postMessage(message: unknown) {
      this.sent.push(message);
    },
    disconnect() {
      this.isOpen = false;
    },
    receive: (message: unknown) => heard.forEach((hear) => hear(message)),
    ...more,
  };
}

let connected: Heard[];
let tabs: ReturnType<typeof port>[];
beforeEach(() => {
  [connected, tabs] = [[], []];
  vi.resetModules();
  vi.stubGlobal("chrome", {
    runtime: {
      onConnect: { addListener: (hear: Heard) => connected.push(hear) },
      getURL: (path: string) => `chrome-extension://ours/${path}`,
    },
    tabs: {
      connect: () => {
        tabs.push(port());
        return tabs.at(-1);
      },
    },
  });
});
afterEach(() => void vi.unstubAllGlobals());

it("joins no one but the panel of the extension with a tab", async () => {
  // @ts-expect-error It is a script, not a module.
  await import("../../../../src/extension/background.js");
  for (const url of [
    undefined,
    "http://localhost:5173/",
    "chrome-extension://theirs/extension/panel.html",
    "http://evil.test/chrome-extension://ours/extension/panel.html",
  ]) {
    const stranger = port({ name: "7", sender: { url } });
    for (const hear of connected) hear(stranger);
    expect([stranger.isOpen, tabs.length], `${url}`).toEqual([false, 0]);
  }
  const panel = port({ name: "7", sender: { url: "chrome-extension://ours/extension/panel.html" } });
  for (const hear of connected) hear(panel);
  expect([panel.isOpen, tabs.length]).toEqual([true, 1]);
  panel.receive({ looplet: 1 });
  tabs[0]!.receive({ looplet: 2 });
  expect([tabs[0]!.sent, panel.sent]).toEqual([[{ looplet: 1 }], [{ looplet: 2 }]]);
});

it("passes messages of looplet on in a page, and no others", async () => {
  const channels: { postMessage: Heard; onmessage?: Heard; sent: unknown[] }[] = [];
  vi.stubGlobal(
    "BroadcastChannel",
    class {
      sent: unknown[] = [];
      onmessage?: Heard;
      constructor() {
        channels.push(this as never);
      }
      postMessage(message: unknown) {
        this.sent.push(message);
      }
      addEventListener(_: string, hear: Heard) {
        this.onmessage = hear;
      }
      close() {}
    },
  );
  // @ts-expect-error It is a script, not a module.
  await import("../../../../src/extension/content.js");
  expect(channels).toEqual([]);
  const panel = port();
  for (const hear of connected) hear(panel);
  const [channel] = channels;
  for (const data of [null, "text", {}, [1], { looplet: 1, type: "hello" }]) {
    channel!.onmessage!({ data });
    panel.receive(data);
  }
  expect(panel.sent).toEqual([{ looplet: 1, type: "hello" }]);
  expect(channel!.sent).toEqual([{ looplet: 1, type: "hello" }]);
});

it("asks for no permission, and has its script in pages of this machine only", () => {
  expect(Object.keys(manifest).filter((name) => /permission/.test(name))).toEqual([]);
  const hosts = manifest.content_scripts.flatMap(({ matches }) => matches);
  expect(hosts.every((host) => /^\*:\/\/(localhost|\*\.localhost|127\.0\.0\.1)\//.test(host))).toBe(true);
});
