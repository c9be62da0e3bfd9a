/** Requests of other wings: sending, redirects, keys, redaction. */
export { fetchOnce } from "../fetch-once.js";
export { authorizeRequest } from "../host/authorize.js";
export { describeError, discard, headerPairs, redirectOf } from "../host/exchange.js";
export { fallbackOf, fittingBehind } from "../host/secrets/occurrences.js";
export { readUrl, redactor, secretsOf, shownUrl } from "../host/secrets/redact.js";
