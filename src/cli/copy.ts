/** Copies files of the package into a project of the user. */
import { mkdir, readFile, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { UsageError } from "./command.js";
import { written } from "./files.js";

/** The folder of the package, from `dist/cli.js`. */
const packageFolder = new URL("../", import.meta.url);

/** A file to write. */
export interface Copy {
  /** The file in the package, for example `examples/components/chat.css`. */
  readonly from: string;
  /** The file to write. Folders that do not exist are created. */
  readonly to: string;
  /** Changes the text. */
  readonly change?: (text: string) => string;
}

/**
 * Copies text files. Writes nothing if one of the files exists and `overwrite` is not set.
 *
 * @throws UsageError
 */
export async function copyFiles(copies: readonly Copy[], overwrite: boolean): Promise<void> {
  const found: string[] = [];
  for (const { to } of copies) if (await exists(to)) found.push(to);
  if (found.length > 0 && !overwrite)
    throw new UsageError(
      `nothing was written, because these files exist: ${found.join(", ")}. Add --overwrite to replace them.`,
    );
  for (const { from, to, change } of copies) {
    const text = await readFile(new URL(from, packageFolder), "utf8");
    await mkdir(dirname(to), { recursive: true });
    await written(to, change === undefined ? text : change(text));
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
