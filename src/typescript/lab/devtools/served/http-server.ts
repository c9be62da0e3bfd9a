/**
 * The server of devtools: their page with its files, the events that it sends and the messages that it receives. It
 * listens only on 127.0.0.1, under an unguessable address, and refuses pages of another origin.
 */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { isObject } from "../../../core/kit/check.js";
import type { ServedChannel } from "./served-channel.js";

/** The host of every devtools server: no other machine reaches it. */
const HOST = "127.0.0.1";

/** A page of another name that its owner has pointed at 127.0.0.1 (DNS rebinding) sends that name. */
const HOSTS = /^(?:127\.0\.0\.1|localhost)(?::\d{1,5})?$/;

/** Bytes of a message of a page. A fork has the journal of its run. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

/** Bun ends a connection that has been silent for ten seconds. */
const BEAT_MS = 5_000;

const TYPES: { readonly [ending: string]: string } = {
  html: "text/html; charset=utf-8",
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
};

const POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const HEADERS = {
  "content-security-policy": POLICY,
  "cross-origin-resource-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
  "x-content-type-options": "nosniff",
  // The address is a secret.
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
};

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width" />
    <title>looplet devtools</title>
    <link rel="stylesheet" href="page.css" />
    <script type="module" src="dist/default.js"></script>
    <script type="module" src="dist/devtools.js"></script>
    <script type="module" src="dist/devtools/page.js"></script>
  </head>
  <body>
    <looplet-devtools></looplet-devtools>
  </body>
</html>
`;

const STYLE = "html, body { height: 100%; margin: 0; } looplet-devtools { display: block; height: 100%; }\n";

/** A server that listens, and its address. */
export interface Listening {
  readonly url: string;
  close(): Promise<void>;
}

/** An answer with a status in place of what was asked for. */
class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/**
 * Serves devtools with the files of the package in the folder `dist`. Rejects with the error of the platform if the
 * port is taken.
 */
export async function listen(
  channel: ServedChannel,
  dist: URL,
  { port, keepAlive }: { readonly port: number; readonly keepAlive: boolean },
): Promise<Listening> {
  const token = randomBytes(24).toString("base64url");
  const streams = new Set<ServerResponse>();
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = pathOf(request, token);
    if (path === "ask" && request.method === "POST") return heard(request, response, channel);
    if (request.method !== "GET") throw new Refusal(405, "The page is read with GET.");
    if (path === "events") return follow(response, channel, streams);
    const [ending, body] = await file(path, dist);
    response.writeHead(200, { ...HEADERS, "content-type": TYPES[ending]! }).end(body);
  };
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      if (response.headersSent) return response.destroy();
      const { status, message } =
        error instanceof Refusal ? error : new Refusal(500, "The server failed. Reload the page.");
      // The rest of a body that was refused is not read.
      const headers = { ...HEADERS, "content-type": "text/plain; charset=utf-8", connection: "close" };
      return response.writeHead(status, headers).end(`${message}\n`);
    });
  });
  // Bun lets a process end when its pages have left it.
  if (!keepAlive) server.on("connection", (socket) => socket.unref());
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, HOST, resolve);
  });
  if (!keepAlive) server.unref();
  const url = `http://${HOST}:${(server.address() as { readonly port: number }).port}/${token}/`;
  return { url, close: () => closed(server, streams) };
}

/** The path after the token. @throws Refusal */
function pathOf({ url = "", headers }: IncomingMessage, token: string): string {
  const { host = "", origin } = headers;
  if (!HOSTS.test(host)) throw new Refusal(403, "Devtools are served on 127.0.0.1 only.");
  if (origin !== undefined && origin !== `http://${host}`)
    throw new Refusal(403, "Devtools do not answer pages of another origin.");
  const [, given = "", path = ""] = /^\/([^/?#]*)\/([^?#]*)$/.exec(url) ?? [];
  if (!timingSafeEqual(digest(given), digest(token)))
    throw new Refusal(403, "Open the full address that the program printed. It changes with each start.");
  return path;
}

/** Digests have one length, which `timingSafeEqual` needs. */
function digest(text: string): Uint8Array {
  return new TextEncoder().encode(createHash("sha256").update(text).digest("hex"));
}

/** The ending and the text of a file of the page. @throws Refusal */
async function file(path: string, dist: URL): Promise<[ending: string, body: string | Uint8Array]> {
  if (path === "") return ["html", PAGE];
  if (path === "page.css") return ["css", STYLE];
  const name = /^dist\/((?:[\w-]+\/)*[\w-]+\.js)$/.exec(path)?.[1];
  const body = name === undefined ? undefined : await readFile(new URL(name, dist)).catch(() => undefined);
  if (body === undefined) throw new Refusal(404, "File not found.");
  return ["js", body];
}

async function heard(
  request: IncomingMessage,
  response: ServerResponse,
  channel: ServedChannel,
): Promise<void> {
  // A form of another page can send every type but this one.
  if (!/^application\/json\b/i.test(request.headers["content-type"] ?? ""))
    throw new Refusal(415, "Send a message as application/json.");
  const message = await jsonOf(request);
  if (!isObject(message)) throw new Refusal(400, "A message must be a JSON object.");
  response.writeHead(204, HEADERS).end();
  channel.hear(message);
}

/** The JSON of a body. @throws Refusal */
async function jsonOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Uint8Array<ArrayBuffer>>) {
    length += chunk.length;
    if (length > MAX_MESSAGE_BYTES) throw new Refusal(413, "The message is too long.");
    chunks.push(chunk);
  }
  try {
    return JSON.parse(await new Blob(chunks).text());
  } catch {
    throw new Refusal(400, "The message is not valid JSON.");
  }
}

function follow(response: ServerResponse, channel: ServedChannel, streams: Set<ServerResponse>): void {
  response.writeHead(200, { ...HEADERS, "content-type": "text/event-stream" });
  streams.add(response);
  const leave = channel.join(response);
  const beat = setInterval(() => response.write(": still here\n\n"), BEAT_MS) as unknown as { unref(): void };
  beat.unref();
  response.on("close", () => {
    clearInterval(beat as never);
    leave();
    streams.delete(response);
  });
}

/** Ends the streams of pages and lets go of every connection. */
function closed(server: Server, streams: Set<ServerResponse>): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    for (const stream of streams) stream.end();
    server.closeAllConnections();
  });
}
