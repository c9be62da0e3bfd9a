/** Paths and addresses of files, with `/` between their parts. */

/** The folder of a file; `""` for the folder that relative paths begin in. */
export function folderOf(path: string): string {
  const end = path.lastIndexOf("/");
  return end === 0 ? "/" : path.slice(0, Math.max(0, end));
}

/** `relative` from a folder, without `.` and `..`. A path that is absolute stays. */
export function joinPath(folder: string, relative: string): string {
  const path = relative.replaceAll("\\", "/");
  const isAbsolute = /^([a-z][a-z0-9+.-]*:)?\//i.test(path) || /^[a-z]:/i.test(path);
  return normalized(isAbsolute || folder === "" ? path : `${folder}/${path}`);
}

/** Whether a path is a folder or below it, for a reader of paths and for one of addresses. */
export function isInside(path: string, folder: string): boolean {
  if (hidesPath(path)) return false;
  const [target, root] = [normalized(path), normalized(folder)];
  if (root === "" || root === ".")
    return !target.startsWith("/") && !/^\.\.(\/|$)|^[a-z][\w+.-]*:/i.test(target) && isBelow(target, "");
  const start = root.endsWith("/") ? root : `${root}/`;
  return target === root || (target.startsWith(start) && isBelow(target, start));
}

/** Whether a server or a `URL` could read the path as another one. */
export function hidesPath(path: string): boolean {
  return HIDDEN.test(path);
}

/** Dots, slashes and percent signs in the spelling of addresses, and characters that an address loses. */
const HIDDEN = /%(?:2[ef5]|5c|[01][0-9a-f]|7f)|[\0-\x1f\x7f]/i;

/** The same, as a `URL` reads it. */
function isBelow(path: string, folder: string): boolean {
  try {
    const base = new URL(folder, ANY_PAGE);
    const target = new URL(path, ANY_PAGE);
    return target.origin === base.origin && target.pathname.startsWith(base.pathname);
  } catch {
    return false;
  }
}

const ANY_PAGE = "https://page.invalid/folder/";

function normalized(path: string): string {
  const [, start, rest] = /^((?:[a-z][a-z0-9+.-]*:)?\/*)(.*)$/is.exec(path.replaceAll("\\", "/"))!;
  const parts: string[] = [];
  for (const part of rest!.split("/")) {
    if (part === "" || part === ".") continue;
    if (part === ".." && parts.length > 0 && parts.at(-1) !== "..") parts.pop();
    else if (part !== ".." || start === "") parts.push(part);
  }
  return (start!.startsWith("/") ? "/" : start) + parts.join("/");
}
