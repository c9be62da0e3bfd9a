// Compiled with the types of every host: whatever is a `fetch` there is one for looplet, and the practice provider is
// one there.
import { query } from "looplet/agent-sdk";
import { anthropic, createAgent, type Fetch } from "looplet";
import { connectMcp } from "looplet/mcp";
import { practice, scripted } from "looplet/practice";

export const models = [
  anthropic("m", { fetch: practice() }),
  anthropic("m", { fetch: scripted([{ text: "a" }]) }),
  anthropic("m", { fetch: globalThis.fetch }),
  anthropic("m", { fetch }),
  anthropic("m", { fetch: (url, init) => fetch(url, init) }),
  anthropic("m", {
    fetch: async (url, { method, headers, body, signal }) => fetch(url, { method, headers, body, signal }),
  }),
  anthropic("m", { fetch: async (_, init) => new Response(init.body, { headers: init.headers }) }),
];
const [model] = models;
export const agent = createAgent({ model: model!, fetch });
export const others = [
  createAgent({ model: model!, fetch: practice() }),
  createAgent({ model: model!, fetch: scripted([]) }),
];
export const client = connectMcp({ url: "https://mcp.test", fetch, signal: AbortSignal.timeout(1) });
export const asked = query({
  prompt: "Hello",
  options: { model: "m", abortController: new AbortController(), host: { fetch, mcpFetch: fetch } },
});
export const run = agent.run("Hello", { signal: new AbortController().signal });

/** Where a platform's `fetch` is wanted, the practice provider may stand. */
export const platforms: (typeof globalThis.fetch)[] = [practice(), scripted([])];
export const ours: Fetch = globalThis.fetch;
