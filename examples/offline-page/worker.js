// @ts-check
/** Caches the files of the page, and serves them when the network fails. */
const scope = /** @type {any} */ (self);
const NAME = "offline-page";

scope.addEventListener("install", () => scope.skipWaiting());
scope.addEventListener("activate", (/** @type {any} */ event) => event.waitUntil(scope.clients.claim()));
scope.addEventListener("fetch", (/** @type {any} */ event) => {
  const { request } = event;
  if (request.method !== "GET" || new URL(request.url).origin !== location.origin) return;
  event.respondWith(answer(request));
});

/** @param {Request} request */
async function answer(request) {
  const files = await caches.open(NAME);
  try {
    const response = await fetch(request);
    if (response.ok) await files.put(request, response.clone());
    return response;
  } catch (error) {
    const kept = await files.match(request);
    if (kept !== undefined) return kept;
    throw error;
  }
}
