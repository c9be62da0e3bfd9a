/** Texts as the platform reads them. Permission rules of the engine compare these, so that it needs no parser for them. */

/** One text and its normal forms. */
export interface Reading {
  text: string;
  /** A path's: NFC, without upper case. */
  folded?: string;
  /** None for a text that `URL` refuses, or whose scheme is not one of the web's. */
  address?: Address;
}

/** An address in normal form. */
export interface Address {
  scheme: string;
  /** Without a last dot. */
  host: string;
  /** The host with and, if the port is the usual one, without it. */
  places: string[];
  /** Path and query: as `URL` writes them and, if that differs, with escapes resolved. */
  paths: string[];
}

const PORTS: Readonly<Record<string, string>> = {
  "http:": "80",
  "https:": "443",
  "ws:": "80",
  "wss:": "443",
  "ftp:": "21",
};

/** No path and no address that anything takes is longer; texts of files are. */
const MAX_LENGTH = 4096;

/** The readings of these texts; none of a text that reads as it stands. */
export function readingsOf(texts: Iterable<string>): Reading[] {
  const readings: Reading[] = [];
  for (const text of new Set(texts)) {
    if (text.length > MAX_LENGTH) continue;
    const folded = foldedOf(text);
    const address = addressOf(text);
    if (folded !== undefined || address !== undefined)
      readings.push({ text, ...(folded && { folded }), ...(address && { address }) });
  }
  return readings;
}

/** Case by way of upper case, as file systems fold it: `ſ` is `s`. */
function foldedOf(text: string): string | undefined {
  const folded = text.toUpperCase().toLowerCase().normalize("NFC");
  return folded === text.toLowerCase() ? undefined : folded;
}

function addressOf(text: string): Address | undefined {
  if (!text.includes(":")) return undefined;
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return undefined;
  }
  const usual = PORTS[url.protocol];
  const host = url.hostname.replace(/\.+$/, "");
  if (usual === undefined || host === "") return undefined;
  const { search } = url;
  return {
    scheme: url.protocol.slice(0, -1),
    host,
    places: url.port === "" ? [`${host}:${usual}`, host] : [`${host}:${url.port}`],
    paths: [...new Set([url.pathname, resolvedPath(url)])].map((path) => path + search),
  };
}

/** A server may resolve escapes of plain characters before it looks for `..`. */
function resolvedPath(url: URL): string {
  const resolved = new URL(url.href);
  for (let before = ""; before !== resolved.pathname;) {
    before = resolved.pathname;
    // A setter writes `?`, `#` and what no path may hold as escapes again.
    resolved.pathname = before.replace(/%[2-7][0-9a-f]/gi, decodeURIComponent).replace(/\/{2,}/g, "/");
  }
  return resolved.pathname;
}

/** Rules in the form that their patterns are compared in. */
export function normalRules<Rule>(rules: readonly Rule[]): Rule[] {
  return rules.map((rule) => {
    if (typeof rule === "string") return rule.normalize("NFC") as Rule;
    const { ruleContent } = (rule ?? {}) as { ruleContent?: unknown };
    return typeof ruleContent === "string" ? { ...rule, ruleContent: ruleContent.normalize("NFC") } : rule;
  });
}

/** The rules of an answer's updates likewise. */
export function normalUpdates(updates: unknown): unknown {
  if (!Array.isArray(updates)) return updates;
  return updates.map((update: { rules?: unknown }) =>
    Array.isArray(update?.rules) ? { ...update, rules: normalRules(update.rules) } : update,
  );
}
