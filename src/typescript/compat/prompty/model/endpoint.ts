/** Where a file may send prompts and keys. */
import { shownUrl } from "../../../core/kit/http.js";
import { ValueError } from "../errors.js";
import { hidesPath } from "../file/paths.js";
import type { PromptyHost } from "../types.js";

/** The addresses of the vendors that the built-in executors ask. */
const USUAL: { readonly [provider: string]: string } = {
  openai: "https://api.openai.com",
  anthropic: "https://api.anthropic.com",
  google: "https://generativelanguage.googleapis.com",
};

/**
 * The endpoint of a file's connection. Whoever wrote the file gets the key and the prompts there, so it has to be the
 * provider's own or one that the host allows.
 *
 * @throws ValueError
 */
export function checkedEndpoint(
  endpoint: unknown,
  provider: string,
  { allowedEndpoints = [] }: PromptyHost,
): string | undefined {
  if (endpoint === undefined || endpoint === null) return undefined;
  if (typeof endpoint !== "string") throw new ValueError("model.connection.endpoint needs a text");
  const usual = Object.hasOwn(USUAL, provider) ? USUAL[provider]! : "none";
  if ([usual, ...allowedEndpoints].some((allowed) => isBelow(endpoint, allowed))) return endpoint;
  const listed = allowedEndpoints.length === 0 ? "nothing" : allowedEndpoints.map(shownUrl).join(", ");
  throw new ValueError(
    `The file names the endpoint ${shownUrl(endpoint)}, which would get the key and the prompts. The provider's own is ${usual}, ` +
      `and host.allowedEndpoints names ${listed}: add it there if you trust it`,
  );
}

function isBelow(endpoint: string, allowed: string): boolean {
  if (hidesPath(endpoint)) return false;
  try {
    const [one, root] = [new URL(endpoint), new URL(allowed)];
    const folder = root.pathname.endsWith("/") ? root.pathname : `${root.pathname}/`;
    return one.origin !== "null" && one.origin === root.origin && `${one.pathname}/`.startsWith(folder);
  } catch {
    return false;
  }
}
