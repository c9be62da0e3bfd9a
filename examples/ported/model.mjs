// @ts-check
import { realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { anthropic } from "looplet";
import { scripted } from "looplet/practice";
import { prices } from "looplet/prices";

/** @param {Parameters<typeof scripted>[0]} turns The model's answers when there is no key. */
export function claude(turns) {
  const apiKey = process.env.ANTHROPIC_API_KEY;
  return anthropic("claude-sonnet-4-6", {
    price: prices,
    ...(apiKey ? { apiKey } : { fetch: scripted(turns) }),
  });
}

/** Whether a module was started by its name. @param {string} url */
export const isMain = (url) =>
  process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(url);
