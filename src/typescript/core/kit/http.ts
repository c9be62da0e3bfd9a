/** Reads and redacts requests and responses. `send.ts` sends them. */
export {
  /** Calls `fetch`, the platform's by default. It follows no redirect. */
  fetchOnce,
} from "../fetch-once.js";
export {
  /** Adds the key of a model to the headers of a request. */
  authorizeRequest,
} from "../host/authorize.js";
export {
  /** One line about a thrown value, with its causes. */
  describeError,
  /** Cancels the body of a response. */
  cancelBody,
  /** The fields of a `Headers` or of anything like it. */
  headerPairs,
  /** The head of a redirect; undefined for any other response. */
  redirectOf,
} from "../host/exchange.js";
export {
  /** The table of a search by Knuth, Morris and Pratt. */
  fallbackOf,
  /** One step of that search. */
  fittingBehind,
} from "../host/secrets/occurrences.js";
export {
  /** Parses an address; undefined for one that `fetch` refuses. */
  readUrl,
  /** A function that replaces secrets in texts. */
  redactor,
  /** The secrets among the headers of a request. */
  secretsOf,
  /** An address without its secrets, for an error message. */
  shownUrl,
} from "../host/secrets/redact.js";
