/** `looplet doctor`: checks what this machine is missing. */
import { existsSync, readdirSync, realpathSync } from "node:fs";
import { access, constants, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import process from "node:process";
import type { Command } from "../command.js";
import { terminal } from "../terminal.js";

/** A look at one thing. */
interface Finding {
  readonly about: string;
  readonly state: "fine" | "missing" | "note";
  readonly words: string;
}

export const doctor: Command = {
  about: "check what this machine is missing",
  arguments: [],
  help: "It sends nothing. It lists variables with keys, and never shows a value.",
  options: {},
  json: "print the findings as JSON",
  async run(_, { json }) {
    const findings = [
      runtime(),
      ...globals(),
      await engine(),
      ...(await places()),
      keys(),
      ...(await copies()),
    ];
    if (json === true) terminal.print(JSON.stringify(findings));
    else for (const { about, state, words } of findings) terminal.print(`${MARKS[state]} ${about}: ${words}`);
    return findings.some(({ state }) => state === "missing") ? 1 : 0;
  },
};

const MARKS = { fine: "✓", missing: "✗", note: "·" };

const LEAST_NODE = 20;

function runtime(): Finding {
  const about = "runtime";
  const versions: { readonly [name: string]: string | undefined } = process.versions;
  const other = versions["deno"]
    ? `Deno ${versions["deno"]}`
    : versions["bun"]
      ? `Bun ${versions["bun"]}`
      : undefined;
  if (other !== undefined) return { about, state: "fine", words: other };
  const isOld = Number(process.versions.node.split(".")[0]) < LEAST_NODE;
  const words = `Node ${process.versions.node}${isOld ? `; looplet needs ${LEAST_NODE} or newer` : ""}`;
  return { about, state: isOld ? "missing" : "fine", words };
}

/** What looplet takes from the platform, and what it is for. */
const GLOBALS: { readonly [name: string]: string } = {
  WebAssembly: "no run can start without it",
  fetch: "pass your own fetch to your agents",
  ReadableStream: "answers cannot be streamed",
  DecompressionStream: "looplet/inline cannot unpack the engine",
  "crypto.subtle": "requests to Bedrock cannot be signed",
};

function globals(): Finding[] {
  return Object.entries(GLOBALS).map(([about, need]) => {
    const isThere =
      about.split(".").reduce<unknown>((value, name) => (value as never)?.[name], globalThis) !== undefined;
    return { about, state: isThere ? "fine" : "missing", words: isThere ? "there" : `missing; ${need}` };
  });
}

async function engine(): Promise<Finding> {
  const about = "engine";
  try {
    const { createAgent, custom } = await import("looplet");
    const { outcome, text } = await createAgent({ model: custom(() => "ready") }).run("Hello").result;
    if (outcome === "completed" && text === "ready")
      return { about, state: "fine", words: "a run completes" };
    return { about, state: "missing", words: `a run of a custom model is ${outcome}` };
  } catch (error) {
    return { about, state: "missing", words: (error as Error).message };
  }
}

async function places(): Promise<Finding[]> {
  const folder = process.cwd();
  const canWrite = await access(folder, constants.W_OK).then(
    () => true,
    () => false,
  );
  const isSqlite = createRequire(import.meta.url).resolve !== undefined && hasModule("node:sqlite");
  return [
    {
      about: "fileStore",
      state: canWrite ? "fine" : "note",
      words: canWrite ? "this folder is writable" : "this folder is not writable: use another one",
    },
    {
      about: "sqlStore",
      state: isSqlite ? "fine" : "note",
      words: isSqlite
        ? "node:sqlite is available"
        : "node:sqlite is not available; install a database driver",
    },
  ];
}

function hasModule(name: string): boolean {
  try {
    createRequire(import.meta.url)(name);
    return true;
  } catch {
    return false;
  }
}

/** Names of variables that have keys of vendors. */
const KEYS =
  /^(?!npm_|GITHUB_).*(?:_API_KEY|_API_TOKEN)$|^AWS_(?:ACCESS_KEY_ID|SECRET_ACCESS_KEY|BEARER_TOKEN_BEDROCK)$/;

function keys(): Finding {
  const names = Object.keys(process.env)
    .filter((name) => KEYS.test(name) && process.env[name] !== "")
    .sort();
  const words = names.length === 0 ? "none in the environment; looplet does not read them" : names.join(", ");
  return { about: "keys", state: "note", words };
}

/** The copies of looplet that modules in this folder can reach: an agent of one is no agent for another. */
async function copies(): Promise<Finding[]> {
  const found = new Map<string, string>();
  for (let folder = process.cwd(); ; folder = dirname(folder)) {
    for (const place of placesBelow(join(folder, "node_modules"))) {
      const path = join(place, "package.json");
      const { version } = JSON.parse(await readFile(path, "utf8")) as { version: string };
      found.set(realpathSync(place), version);
    }
    if (dirname(folder) === folder) break;
  }
  const told = Array.from(found, ([place, version]) => `${version} in ${place}`);
  if (told.length === 0)
    return [{ about: "package", state: "note", words: "not installed; run npm install looplet" }];
  if (told.length === 1) return [{ about: "package", state: "fine", words: told[0]! }];
  return [
    { about: "package", state: "missing", words: `${told.length} copies; npm dedupe: ${told.join(", ")}` },
  ];
}

/** The folders of looplet in this `node_modules`, and in those of the packages in it. */
function placesBelow(modules: string): string[] {
  if (!existsSync(modules)) return [];
  const packages = readdirSync(modules).flatMap((name) =>
    name.startsWith("@") ? readdirSync(join(modules, name)).map((inner) => `${name}/${inner}`) : [name],
  );
  const inside = packages.map((name) => join(modules, name, "node_modules/looplet"));
  return [join(modules, "looplet"), ...inside]
    .map((place) => resolve(place))
    .filter((place) => existsSync(place));
}
