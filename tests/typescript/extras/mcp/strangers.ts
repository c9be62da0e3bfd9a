// Servers of strangers, of which each answer is made by hand.
import { connectMcp, type McpError, type McpFetch, type McpOptions } from "looplet/mcp";

export const KEY = "Bearer secret-key-of-the-user-1";
export const url = "https://files.test/mcp/4f9a0c1b2d3e4f5a6b7c?key=address-key-12";

export interface Asked {
  readonly url: string;
  readonly init: Parameters<McpFetch>[1];
  readonly id: number;
  readonly method: string;
  readonly params: any;
}

export type Answers = { [method: string]: (asked: Asked) => unknown };

/** A server of 2026-07-28 that answers methods with these results or responses. */
export function far(answers: Answers): McpFetch & { asked: Asked[] } {
  const asked: Asked[] = [];
  const fetch = async (url: string, init: Parameters<McpFetch>[1]): Promise<Response> => {
    const { id, method, params } = JSON.parse(init.body ?? "{}");
    const one = { url, init, id, method, params };
    asked.push(one);
    const made = (await answers[method]?.(one)) ?? { resultType: "complete" };
    return made instanceof Response ? made : Response.json({ jsonrpc: "2.0", id, result: made });
  };
  return Object.assign(fetch, { asked });
}

export const discovers = { "server/discover": () => ({ supportedVersions: ["2026-07-28"] }) };
export const connect = (answers: Answers, more: Partial<McpOptions> = {}) =>
  connectMcp({
    url,
    headers: { authorization: KEY },
    fetch: far({ ...discovers, ...answers }),
    onWarning: () => {},
    ...more,
  });

export const failure = (work: Promise<unknown>) =>
  work.then(
    () => {
      throw new Error("it did not fail");
    },
    (error: unknown) => error as McpError,
  );

export const schema = { type: "object" } as const;
export const listing = (...tools: unknown[]) => ({ "tools/list": () => ({ tools }) });
export const named = (...names: string[]) => names.map((name) => ({ name, inputSchema: schema }));
