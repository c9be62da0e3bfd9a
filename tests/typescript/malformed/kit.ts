/** Handlers that read what pages send, and what they answer to a request. */
import { vi } from "vitest";
import { anthropic, createAgent, tool, type Store } from "looplet";
import { agUi } from "looplet/ag-ui";
import { uiMessages } from "looplet/ai-sdk";
import { scripted } from "looplet/practice";
import { handler } from "looplet/server";
import { memoryStore } from "looplet/stores";
import { malformed, wrongIn } from "./values.js";

export type Handle = (request: Request) => PromiseLike<unknown>;

const KEY = "sk-0123456789abcdef";
const OBJECT = { type: "object" } as const;

/** An agent that answers, or one that first calls a tool which needs an approval. */
export function agentOf(store?: Store, isAsking = false) {
  const first = isAsking ? [{ toolCalls: [{ id: "c1", name: "pay", input: {} }] }] : [];
  const turns = [...first, ...Array.from({ length: 4 }, () => ({ text: "Hi." }))];
  const pay = tool({ description: "Pays", inputSchema: OBJECT, needsApproval: true, execute: () => "paid" });
  return createAgent({
    model: anthropic("m", { apiKey: KEY, fetch: scripted(turns) }),
    tools: { pay },
    ...(store && { store }),
  });
}

/** Sessions of an agent, with every format. */
export function sessions({ trusted = false, isAsking = false } = {}) {
  const store = memoryStore();
  const agent = agentOf(store, isAsking);
  const formats = [uiMessages(), agUi()];
  return handler(agent as never, { store, authorize: () => "eve", formats, trusted });
}

export const post =
  (path: string, method = "POST") =>
  (body: string | Uint8Array): Request =>
    new Request(`http://s.test${path}`, {
      method,
      headers: { "content-type": "application/json" },
      body: body as BodyInit,
    });

/** Sessions with a run `r` that waits for an approval. */
export async function waiting(): Promise<Handle> {
  const handle = sessions({ isAsking: true });
  const call = async (body: object): Promise<any> =>
    ((await handle(post("/c/call")(JSON.stringify(body)))) as unknown as Response).json();
  await call({ method: "run", args: ["Pay.", { id: "r" }] });
  for (;;) {
    const { value } = await call({ run: "r", method: "snapshot", args: [] });
    if (value?.events?.some(({ type }: { type: string }) => type === "question")) return handle;
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
}

/** The time in which each answer must have come, in milliseconds. */
const HANGS_MS = 5000;

/** What is wrong with the answer to a request; undefined if nothing is. */
export async function wrongWith(handle: Handle, request: Request): Promise<string | undefined> {
  const logged: unknown[] = [];
  const spy = vi.spyOn(console, "error").mockImplementation((...words) => void logged.push(words.join(" ")));
  const host = globalThis as { reportError?: unknown };
  const { reportError } = host;
  host.reportError = (error: unknown) => logged.push(error);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<string>((resolve) => (timer = setTimeout(() => resolve("it hangs"), HANGS_MS)));
  const answered = async (): Promise<string | undefined> => {
    const response = (await handle(request)) as Response;
    return wrongIn(response.status, await response.text(), logged);
  };
  try {
    return await Promise.race([answered(), late]);
  } catch (error) {
    return `it throws ${String(error)}`;
  } finally {
    clearTimeout(timer);
    spy.mockRestore();
    host.reportError = reportError;
  }
}

/** What is wrong with the answers to every body that is malformed in one place. */
export async function wrongs(
  make: () => Handle | Promise<Handle>,
  body: unknown,
  request: (body: string | Uint8Array) => Request,
): Promise<string[]> {
  const found: string[] = [];
  for (const [name, bad] of malformed(body)) {
    const wrong = await wrongWith(await make(), request(bad));
    if (wrong !== undefined) found.push(`${name}: ${wrong}`);
  }
  return found;
}
