/** A file of `host.vfs` for the program, which asks without the model. */
import { base64Of } from "../../../core/kit/tools.js";
import { resolvePath } from "../../../extras/vfs/paths.js";
import type { PlainOptions } from "../options/options.js";
import type { ReadFileResult } from "../types.js";

export async function readFile(
  { cwd = "/", host }: PlainOptions,
  path: string,
  { maxBytes = Infinity, encoding = "utf-8" }: { maxBytes?: number; encoding?: "utf-8" | "base64" } = {},
): Promise<ReadFileResult | null> {
  const absPath = resolvePath(path, resolvePath(cwd));
  const bytes = await host?.vfs?.read(absPath);
  if (bytes === undefined) return null;
  const part = bytes.length > maxBytes ? bytes.slice(0, maxBytes) : bytes;
  const isBase64 = encoding === "base64";
  return {
    contents: isBase64 ? base64Of(part) : new TextDecoder().decode(part),
    absPath,
    ...(part.length < bytes.length ? { truncated: true } : {}),
    ...(isBase64 ? { encoding } : {}),
  };
}
