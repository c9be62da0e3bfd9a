// What every script knows about this machine: the clone, the cache outside it, the pins, and how to run a command.
// Tools live in `${LOOPLET_CACHE:-${XDG_CACHE_HOME:-~/.cache}/looplet}`, each in a folder that carries its version.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
export const cache =
  process.env.LOOPLET_CACHE || join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "looplet");
export const versions = JSON.parse(readFileSync(join(root, "scripts/versions.json"), "utf8"));
export const isCi = process.env.CI === "true" || process.env.CI === "1";
export const isRoot = process.getuid?.() === 0;

/** Whether a script was started by its name, and not imported. */
export const isMain = (url) =>
  process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(url);

/** A problem that the developer at the terminal can solve: printed without a stack. */
export class SetupError extends Error {}

/** The first file of that name on `path`, or undefined. */
export function which(name, path = process.env.PATH ?? "") {
  return path
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((file) => existsSync(file) && statSync(file).isFile());
}

/** Standard output of a short command, or undefined when it fails. */
export function output(command, args, options = {}) {
  const done = spawnSync(command, args, { encoding: "utf8", timeout: 60_000, ...options });
  return done.status === 0 ? done.stdout.trim() : undefined;
}

/** Runs a command with its output on this terminal. Resolves with its exit code and, with `capture`, its output. */
export function run(command, args, { capture = false, ...options } = {}) {
  return new Promise((resolve, reject) => {
    const stdio = capture ? ["ignore", "pipe", "pipe"] : ["ignore", "inherit", "inherit"];
    const child = spawn(command, args, { cwd: root, stdio, ...options });
    let text = "";
    child.stdout?.on("data", (bytes) => ((text += bytes), process.stdout.write(bytes)));
    child.stderr?.on("data", (bytes) => ((text += bytes), process.stderr.write(bytes)));
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ code: code ?? 1, signal, text }));
  });
}

/** Runs a command quietly: its output is shown only when it fails. */
export async function runQuietly(what, command, args, options = {}) {
  const child = spawn(command, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"], ...options });
  let text = "";
  child.stdout.on("data", (bytes) => (text += bytes));
  child.stderr.on("data", (bytes) => (text += bytes));
  const code = await new Promise((resolve) => {
    child.on("error", (error) => ((text += error.message), resolve(127)));
    child.on("close", (status) => resolve(status ?? 1));
  });
  if (code !== 0) throw new SetupError(`${what} failed:\n${text.split("\n").slice(-30).join("\n")}`);
  return text;
}

/** Prints what is done before it is done, and how long it took. */
export async function step(what, work) {
  const startedMs = Date.now();
  console.log(`• ${what} …`);
  const value = await work();
  console.log(`  done in ${((Date.now() - startedMs) / 1000).toFixed(1)} s`);
  return value;
}

/** Two parallel set-ups on one cache would write the same folders: the second waits for the first. */
export async function withCacheLock(work) {
  mkdirSync(cache, { recursive: true });
  const lock = join(cache, "lock");
  for (let told = false; ;) {
    try {
      writeFileSync(lock, String(process.pid), { flag: "wx" });
      break;
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
      if (!isAlive(lock)) rmSync(lock, { force: true });
      else if (!told)
        told = console.log("• another set-up is at work on this cache, waiting for it …") ?? true;
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
  }
  try {
    return await work();
  } finally {
    rmSync(lock, { force: true });
  }
}

function isAlive(lock) {
  try {
    const pid = Number(readFileSync(lock, "utf8"));
    if (!pid) return Date.now() - statSync(lock).mtimeMs < 2000;
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

/** Installs Debian packages as root. False where that is not possible. */
export async function aptInstall(what, packages) {
  if (!isRoot || !which("apt-get")) return false;
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  return step(`installing ${what} with apt: ${packages.join(" ")}`, async () => {
    try {
      await runQuietly("apt-get update", "apt-get", ["update", "-q"], { env });
      await runQuietly(
        "apt-get install",
        "apt-get",
        ["install", "-y", "-q", "--no-install-recommends", ...packages],
        { env },
      );
      return true;
    } catch (error) {
      console.log(`  not possible: ${error.message.split("\n").slice(-3).join(" ")}`);
      return false;
    }
  });
}

/** Ends the script: prints a SetupError as its message only, anything else with its stack. */
export function fail(error) {
  console.error(error instanceof SetupError ? `\n${error.message}` : error);
  process.exit(1);
}
