/**
 * Calls a `fetch`, the platform's by default. Nothing else in looplet calls one, and no request follows a redirect:
 * the target would get the headers of the request. Whoever calls it refuses what `redirectOf` of
 * `core/host/exchange.ts` finds.
 */
export function fetchOnce<R>(
  fetch: ((url: any, init: any) => R) | undefined,
  url: string,
  init: { readonly [field: string]: any },
): R {
  // Workers refuse a fetch that is called as a method of another object.
  const call = fetch ?? (globalThis.fetch as unknown as (url: string, init: object) => R);
  return call(url, { ...init, redirect: "manual" });
}
