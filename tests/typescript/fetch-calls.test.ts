/** Every request of looplet goes by `fetchOnce`, which follows no redirect. */
import { readdirSync, readFileSync } from "node:fs";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import ts from "typescript";
import { expect, it } from "vitest";
import { createAgent, custom, openai, openaiChat } from "looplet";
import { handler } from "looplet/server";
import { memoryStore } from "looplet/stores";
import { connectAgent } from "looplet/workers";

const SRC = new URL("../../src", import.meta.url).pathname;

/** What sends a request, or is a way to. A file that is not here has none of them. */
const KNOWN: { readonly [file: string]: string } = {
  "typescript/core/fetch-once.ts": "globalThis.fetch",
  // The file of the engine, without a key. A CDN may redirect it.
  "typescript/core/entry/streamed.ts": "fetch()",
  "typescript/core/host/wasm.ts": "fetch()",
  // Events of a process on 127.0.0.1, whose address is its secret. An EventSource takes no headers.
  "typescript/lab/devtools/served/events-channel.ts": "new EventSource",
};

/** The names that send a request without any function of looplet. */
const SENDERS = ["EventSource", "WebSocket", "XMLHttpRequest", "WebTransport"];

/** The uses of the platform's ways to send, in a source file. */
function sendsOf(file: string): string[] {
  const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const isGlobal = (node: ts.Expression): boolean =>
    ts.isIdentifier(node) && ["globalThis", "self", "window"].includes(node.text);
  const visit = (node: ts.Node, own: ReadonlySet<string>): void => {
    // A parameter or a variable with the name is a function that was given.
    const names = new Set(own);
    if (ts.isFunctionLike(node)) node.parameters.forEach((one) => namesIn(one.name, names));
    if (ts.isBlock(node) || ts.isSourceFile(node))
      for (const statement of node.statements)
        if (ts.isVariableStatement(statement))
          statement.declarationList.declarations.forEach((one) => namesIn(one.name, names));
    if (ts.isTypeNode(node)) return;
    if (
      ts.isPropertyAccessExpression(node) &&
      node.name.text === "fetch" &&
      isGlobal(unwrapped(node.expression))
    )
      found.push("globalThis.fetch");
    if (ts.isIdentifier(node) && node.text === "fetch" && !names.has("fetch") && isValue(node))
      found.push(ts.isCallExpression(node.parent) && node.parent.expression === node ? "fetch()" : "fetch");
    if (ts.isNewExpression(node) && SENDERS.includes(node.expression.getText()))
      found.push(`new ${node.expression.getText()}`);
    if (ts.isPropertyAccessExpression(node) && node.name.text === "sendBeacon") found.push("sendBeacon");
    ts.forEachChild(node, (child) => visit(child, names));
  };
  visit(source, new Set());
  return found;
}

function unwrapped(node: ts.Expression): ts.Expression {
  return ts.isParenthesizedExpression(node) || ts.isAsExpression(node) ? unwrapped(node.expression) : node;
}

function namesIn(name: ts.BindingName, names: Set<string>): void {
  if (ts.isIdentifier(name)) names.add(name.text);
  else for (const one of name.elements) if (ts.isBindingElement(one)) namesIn(one.name, names);
}

/** Whether an identifier is read, and does not name a field. */
function isValue(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node;
  if (ts.isPropertyAssignment(parent)) return parent.initializer === node;
  if (ts.isBindingElement(parent)) return parent.initializer === node;
  return (
    ts.isCallExpression(parent) ||
    ts.isVariableDeclaration(parent) ||
    ts.isBinaryExpression(parent) ||
    ts.isShorthandPropertyAssignment(parent)
  );
}

it("sends every request of the source through one function", () => {
  const files = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter((name) =>
    /\.tsx?$/.test(name),
  );
  expect(files.length).toBeGreaterThan(300);
  const found = Object.fromEntries(
    files.flatMap((name) => {
      const sends = sendsOf(join(SRC, name));
      return sends.length === 0 ? [] : [[name, sends.join(", ")]];
    }),
  );
  expect(found).toEqual(KNOWN);
});

const moved = (seen: any[]) => async (_: unknown, init: any) => {
  seen.push(init.redirect);
  return new Response(null, { status: 307, headers: { location: "https://evil.test/x?key=1" } });
};

it("connectAgent follows no redirect, with a fetch of yours too", async () => {
  const seen: any[] = [];
  const agent = connectAgent("https://own.test/api", {
    headers: { "x-token": "secret" },
    fetch: moved(seen) as never,
  });
  await expect(agent.openChat("a")).rejects.toThrow(/redirects to https:\/\/evil\.test \(status 307\)/);
  expect(seen).toEqual(["manual"]);
  agent.disconnect();
});

it("connectAgent takes no answer of a fetch that has followed a redirect itself", async () => {
  const fetch = async (): Promise<Response> =>
    Object.defineProperties(
      Response.json({ value: { messages: [], subagents: [], usage: null, run: null } }),
      {
        redirected: { value: true },
        url: { value: "https://evil.test/x" },
      },
    );
  const agent = connectAgent("https://own.test/api", { fetch: fetch as never });
  await expect(agent.openChat("a")).rejects.toThrow(/redirects to https:\/\/evil\.test/);
  agent.disconnect();
});

it("a request to a model follows no redirect", async () => {
  const seen: any[] = [];
  const agent = createAgent({
    model: openai("m", { apiKey: "sk-0123456789abcdef", fetch: moved(seen) as never }),
  });
  const { outcome, error } = await agent.run("Hi").result;
  expect([outcome, (error as any)?.code, seen]).toEqual(["failed", "redirected", ["manual"]]);
});

it("the platform's own fetch follows no redirect of a model's server, whose key stays there", async () => {
  const seen: [port: number, key: string | undefined][] = [];
  const listen = async (answer: (response: ServerResponse) => void): Promise<Server> => {
    const server = createServer((request, response) => {
      seen.push([request.socket.localPort!, request.headers.authorization]);
      answer(response);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return server;
  };
  const urlOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const evil = await listen((response) => response.end("{}"));
  const servers = [evil];
  try {
    for (const status of [301, 302, 303, 307, 308]) {
      const location = `${urlOf(evil)}/x?key=1`;
      const own = await listen((response) => response.writeHead(status, { location }).end());
      servers.push(own);
      const other = openaiChat("other", { baseUrl: urlOf(evil), apiKey: "sk-9876543210fedcba" });
      const model = openaiChat("m", { baseUrl: urlOf(own), apiKey: "sk-0123456789abcdef" });
      const { error } = await createAgent({ model, fallbackModels: [other] }).run("Hi").result;
      expect(error).toMatchObject({ code: "redirected", retryable: false });
      expect(error!.message).toContain(urlOf(evil));
      expect(error!.message).not.toContain("key=1");
      const { port } = own.address() as AddressInfo;
      expect(seen.splice(0)).toEqual([[port, "Bearer sk-0123456789abcdef"]]);
    }
  } finally {
    for (const server of servers) server.closeAllConnections();
    for (const server of servers) server.close();
  }
});

it("a POST of a foreign page needs JSON, whatever says who the user is", async () => {
  const store = memoryStore();
  const handle = handler(createAgent({ model: custom(() => "Done."), store }) as never, {
    store,
    authorize: () => "ada",
  });
  const status = async (headers: object): Promise<number> => {
    const init = { method: "POST", body: '{"prompt":"Hi."}', headers: headers as Record<string, string> };
    return (await handle(new Request("http://own.test/a/run", init))).status;
  };
  const origin = "https://evil.test";
  expect(await status({ origin, "content-type": "text/plain" })).toBe(403);
  expect(await status({ origin })).toBe(403);
  expect(await status({ origin: "null", "content-type": "application/x-www-form-urlencoded" })).toBe(403);
  expect(await status({ "sec-fetch-site": "cross-site", "content-type": "text/plain" })).toBe(403);
  expect(await status({ origin, "content-type": "text/plain; a=application/json" })).toBe(403);
  expect(await status({ origin: "http://own.test", "content-type": "text/plain" })).toBe(200);
});
