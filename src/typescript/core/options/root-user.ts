/** Whether the process has all rights of its machine. An entry whose platform has users says how to find out. */

let check = (): boolean => false;

export function setRootCheck(isRoot: () => boolean): void {
  check = isRoot;
}

export function runsAsRoot(): boolean {
  return check();
}
