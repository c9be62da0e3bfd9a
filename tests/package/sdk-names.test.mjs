// looplet/agent-sdk has every name of the Claude Agent SDK: its exports, their fields and literals, and the kinds of
// messages. LOOPLET_CLAUDE_SDK is a node_modules folder with the SDK: the version of scripts/versions.json here, and
// the newest one of the registry in `npm run test:long -- hosts`.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { missingNames } from "./sdk-names.mjs";
import { installPacked } from "./install.mjs";

const sdk = process.env.LOOPLET_CLAUDE_SDK;
const skip = sdk ? false : "no LOOPLET_CLAUDE_SDK, a node_modules folder with @anthropic-ai/claude-agent-sdk";
const modules = fileURLToPath(new URL("../../node_modules", import.meta.url));

/** What looplet leaves out, with the reason. A line whose name is no longer missing fails too. */
const LEFT_OUT = {
  // Tools that looplet does not have. `init` and the constant name those of a query.
  BUILTIN_TOOL_NAMES: /./,
  // `createSdkMcpServer` returns looplet's own tools: there is no McpServer of another library.
  "createSdkMcpServer().instance": /^$/,
  "createSdkMcpServer().tools.permission_policy": /^$/,
  "createSdkMcpServer().tools.org_max_permission": /^$/,
  "McpSdkServerConfig.tools": /^$/,
  "McpServerConfig.instance": /^$/,
  // Folders are options: a run does not change them.
  "PermissionResult.updatedPermissions.directories": /^$/,
  "prewarm(0).options.canUseTool(2).suggestions.directories": /^$/,
  // The index of summaries is a store's own.
  "InMemorySessionStore.listSessionSummaries": /^$/,
};

/** Nothing is started, so that a process of any shape is one. */
const OF_PROCESSES = /\.spawnClaudeCodeProcess\(\)\./;

let installed;
before(async () => {
  if (skip) return;
  installed = await installPacked();
  const { folder } = installed;
  mkdirSync(join(folder, "node_modules/@anthropic-ai"), { recursive: true });
  symlinkSync(
    join(sdk, "@anthropic-ai/claude-agent-sdk"),
    join(folder, "node_modules/@anthropic-ai/claude-agent-sdk"),
  );
  mkdirSync(join(folder, "node_modules/@types"), { recursive: true });
  symlinkSync(join(modules, "@types/node"), join(folder, "node_modules/@types/node"));
});
after(() => installed?.remove());

const known = (entries) => entries.filter(({ at }) => !(at in LEFT_OUT) && !OF_PROCESSES.test(at));

test("looplet/agent-sdk has the names, fields and messages of the Claude Agent SDK", { skip }, () => {
  const missing = missingNames(installed.folder, "@anthropic-ai/claude-agent-sdk");
  const { version } = JSON.parse(
    readFileSync(join(sdk, "@anthropic-ai/claude-agent-sdk/package.json"), "utf8"),
  );
  assert.deepEqual(
    known(missing).map(({ at, what }) => [at, what].join(" ").trim()),
    [],
    `looplet/agent-sdk lacks names of the Claude Agent SDK ${version}`,
  );
  assert.deepEqual(
    Object.keys(LEFT_OUT).filter((name) => !missing.some(({ at }) => at === name)),
    [],
    "names that are not left out any more",
  );
});

test("a name, a field, a literal, a parameter and a message that are new are found", { skip }, () => {
  writeFileSync(
    join(installed.folder, "newer-sdk.d.ts"),
    `import type * as Sdk from "@anthropic-ai/claude-agent-sdk";
export * from "@anthropic-ai/claude-agent-sdk";
export type NewType = { a: 1 };
export declare function newFunction(): void;
export interface Options extends Sdk.Options { newOption?: string; sandbox?: { newSetting?: { deep: 1 } } & Sdk.Options["sandbox"] }
export type PermissionMode = Sdk.PermissionMode | "newMode";
export declare function tagSession(id: string, tag: string | null, options?: { newPlace?: string }, more?: 1): Promise<void>;
export type SDKMessage = Sdk.SDKMessage | { type: "system"; subtype: "new_subtype"; uuid: string; session_id: string };
`,
  );
  const found = known(missingNames(installed.folder, "./newer-sdk")).map(({ at, what }) =>
    [at, what].join(" ").trim(),
  );
  for (const name of [
    "NewType",
    "newFunction",
    "Options.newOption",
    "PermissionMode newMode",
    "SDKMessage system/new_subtype",
    "tagSession(2).newPlace",
    "tagSession(3)",
  ])
    assert.ok(found.includes(name), `${name} was not found among:\n${found.join("\n")}`);
});
