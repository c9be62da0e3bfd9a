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

/** Whether a path is a folder or below it. */
export function isInside(path: string, folder: string): boolean {
  const [target, root] = [normalized(path), normalized(folder)];
  if (root === "" || root === ".")
    return !target.startsWith("/") && !/^\.\.(\/|$)|^[a-z][\w+.-]*:/i.test(target);
  return target === root || target.startsWith(root.endsWith("/") ? root : `${root}/`);
}

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
