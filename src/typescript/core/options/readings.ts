/**
 * Texts as the platform reads them. The engine's permission rules compare these readings, so that the engine needs no
 * parser for paths and addresses.
 */

import type { Address, Reading } from "../generated/input.js";

const PORTS: Readonly<Record<string, string>> = {
  "http:": "80",
  "https:": "443",
  "ws:": "80",
  "wss:": "443",
  "ftp:": "21",
};

/** The longest text that is read. A path or an address is never longer; the text of a file is. */
const MAX_LENGTH = 4096;

/** The readings of these texts. A text whose reading is itself has none. */
export function readingsOf(texts: Iterable<string>): Reading[] {
  const readings: Reading[] = [];
  for (const text of new Set(texts)) {
    if (text.length > MAX_LENGTH) continue;
    const composed = text.normalize("NFC");
    const address = addressOf(text);
    if (composed !== text || address !== undefined)
      readings.push({ text, ...(composed !== text && { composed }), ...(address && { address }) });
  }
  return readings;
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

/** The path with its plain characters unescaped, because a server may resolve them before it looks for `..`. */
function resolvedPath(url: URL): string {
  const resolved = new URL(url.href);
  for (let before = ""; before !== resolved.pathname;) {
    before = resolved.pathname;
    // The setter escapes `?`, `#` and every character that no path may hold.
    resolved.pathname = before.replace(/%[2-7][0-9a-f]/gi, decodeURIComponent).replace(/\/{2,}/g, "/");
  }
  return resolved.pathname;
}

/** The rules in the form in which their patterns are compared. */
export function normalRules<Rule>(rules: readonly Rule[]): Rule[] {
  return rules.map((rule) => {
    if (typeof rule === "string") return rule.normalize("NFC") as Rule;
    const { ruleContent } = (rule ?? {}) as { ruleContent?: unknown };
    return typeof ruleContent === "string" ? { ...rule, ruleContent: ruleContent.normalize("NFC") } : rule;
  });
}

/** The updates of an answer, with their rules in that form. */
export function normalUpdates(updates: unknown): unknown {
  if (!Array.isArray(updates)) return updates;
  return updates.map((update: { rules?: unknown }) =>
    Array.isArray(update?.rules) ? { ...update, rules: normalRules(update.rules) } : update,
  );
}
