/**
 * The machine and PID namespace of a process, so that another process in the same place can check whether it has
 * ended. Nothing is read before a lease is acquired. In Deno nothing is read without a granted permission. A lease
 * without a place expires by its time.
 */
import { readFileSync, readlinkSync } from "node:fs";
import { hostname, uptime } from "node:os";
import process from "node:process";

const PROCESS_TABLE = "/proc/self/ns/pid";
/** Two machines may have the same host name and the same number of their table. */
const BOOT = "/proc/sys/kernel/random/boot_id";

let place: string | undefined;
let isKnown = false;

/** A text that differs between two containers with the same host name. Undefined if it cannot be read. */
export function placeOfProcess(): string | undefined {
  if (!isKnown) place = readPlace();
  isKnown = true;
  return place;
}

/** Whether a process of this machine has ended. False for a process in another place. */
export function hasProcessEnded(of: unknown, pid: unknown): boolean {
  if (typeof of !== "string" || of !== placeOfProcess() || typeof pid !== "number") return false;
  if (!isGranted({ name: "run" })) return false;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as { code?: string }).code === "ESRCH";
  }
}

/** The time since this machine started, which does not depend on the system clock. Undefined if it cannot be read. */
export function uptimeMs(): number | undefined {
  try {
    return isGranted({ name: "sys", kind: "osUptime" }) ? uptime() * 1000 : undefined;
  } catch {
    return undefined;
  }
}

function readPlace(): string | undefined {
  if (!isGranted({ name: "sys", kind: "hostname" })) return undefined;
  try {
    return [hostname(), read(PROCESS_TABLE, readlinkSync), read(BOOT, readFileSync)].join(" ").trim();
  } catch {
    return undefined;
  }
}

function read(path: string, reader: (path: string, encoding: "utf8") => string): string {
  try {
    return isGranted({ name: "read", path }) ? reader(path, "utf8") : "";
  } catch {
    return "";
  }
}

interface Permission {
  readonly name: string;
  readonly kind?: string;
  readonly path?: string;
}

/** Otherwise Deno would ask the user for the permission in the middle of a program. */
function isGranted(permission: Permission): boolean {
  const { Deno: deno } = globalThis as {
    Deno?: { permissions?: { querySync?(permission: Permission): { readonly state: string } } };
  };
  if (deno === undefined) return true;
  try {
    return deno.permissions?.querySync?.(permission).state === "granted";
  } catch {
    return false;
  }
}
