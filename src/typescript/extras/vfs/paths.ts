/** Paths of files: absolute, with `/`, without `.` and `..`. */

/**
 * The absolute path of a path that may be relative to `cwd`.
 *
 * @throws Error for a path that leads out of `/`
 */
export function resolvePath(path: string, cwd = "/"): string {
  const parts: string[] = [];
  for (const part of (path.startsWith("/") ? path : `${cwd}/${path}`).split("/")) {
    if (part === "..") {
      if (parts.pop() === undefined) throw new Error(`The path ${path} leads out of the files.`);
    } else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}

/** True for a path that is `folder` or below it. */
export function isBelow(path: string, folder: string): boolean {
  return folder === "/" || path === folder || path.startsWith(`${folder}/`);
}

/** The names in a folder, made of the paths below it: each once, sorted, those of folders with a `/`. */
export function namesBelow(folder: string, paths: readonly string[]): string[] {
  const from = folder === "/" ? 1 : folder.length + 1;
  const names = paths.map((path) => {
    const rest = path.slice(from);
    const end = rest.indexOf("/");
    return end < 0 ? rest : rest.slice(0, end + 1);
  });
  return [...new Set(names)].filter((name) => name !== "" && name !== "/").sort();
}

/** Names that Windows gives to devices in every folder, with any ending. */
const DEVICE = /^(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?$/i;

/** The reason why a name of a disk's file is refused. Windows reads some names as other ones. */
export function flawOfName(name: string, isWindows: boolean): string | undefined {
  if (name.includes("\0")) return "a zero byte";
  if (!isWindows) return undefined;
  if (/[\\:]/.test(name)) return "\\ or :, which lead elsewhere";
  if (/~\d/.test(name)) return "~ and a digit: it may be the short form of another name";
  if (/[. ]$/.test(name)) return "a dot or a blank at its end, which Windows leaves out";
  return DEVICE.test(name.trimEnd()) ? "a special meaning: it is a device" : undefined;
}
