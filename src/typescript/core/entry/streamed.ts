/** Streams the engine's `.wasm` in a page, whose browser compiles it during the download and caches the code. */

/** The page's own address and kind; other hosts have no such address. */
const { location, ServiceWorkerGlobalScope } = globalThis as {
  location?: { readonly protocol: string; readonly href: string };
  ServiceWorkerGlobalScope?: unknown;
};

/**
 * The URL of the file with `bytes` bytes, if this is a page or a worker of a page, and its server has the file. A
 * bundler that copies the file gives it another name, so `looplet.wasm` is the file only in the folder of the
 * package. Anywhere else the bundler has left the name as it was, and a request would log an error on the console.
 */
export function servedFile(find: () => URL, bytes: number): URL | undefined {
  if (!isWeb(location) || ServiceWorkerGlobalScope !== undefined) return undefined;
  try {
    // The `URL` that Turbopack puts here is an object of its own, with a path only.
    const url = new URL(String(find()), location?.href);
    if (!isWeb(url)) return undefined;
    if (!url.pathname.endsWith("/looplet.wasm")) return url;
    // The name has no hash, and a cache may hold the file of another version.
    url.search = `${bytes}`;
    return /\/looplet(@[^/]*)?\/dist\/[^/]*$/.test(url.pathname) ? url : undefined;
  } catch {
    // A bundle in another format than ESM has no `import.meta.url`.
    return undefined;
  }
}

const isWeb = (url: { readonly protocol: string } | undefined): boolean =>
  /^https?:$/.test(url?.protocol ?? "");

/** The compiled engine. Rejects, before it reads the body, if the server sends anything but WebAssembly. */
export async function streamed(url: URL): Promise<{ readonly module: WebAssembly.Module }> {
  const response = await fetch(url);
  if (response.ok && /^application\/wasm$/i.test(response.headers.get("content-type") ?? ""))
    return { module: await WebAssembly.compileStreaming(response) };
  await response.body?.cancel();
  throw new Error("no WebAssembly");
}
