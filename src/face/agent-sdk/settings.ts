/** Settings files of Claude Code, in the files of a program: CLAUDE.md, settings.json, agents and skills. */
import type { PermissionMode } from "../api/permission.js";
import { isObject } from "../options/check.js";
import type { Vfs } from "../vfs/index.js";
import { agentsIn } from "./agents.js";
import { skillsIn, type Skill } from "./skills.js";
import type { AgentDefinition } from "./types.js";

export type SettingSource = "user" | "project" | "local";

/** What the files say. */
export interface Settings {
  /** Texts that go with every request. */
  instructions: string[];
  allow: string[];
  ask: string[];
  deny: string[];
  defaultMode?: PermissionMode;
  /** Folders beside the working folder in which files may be written. */
  additionalDirectories: string[];
  /** Variables of the commands of Bash. */
  env: { [name: string]: string };
  skills: Skill[];
  agents: { [name: string]: AgentDefinition };
  /** What was read and does not count, for people. */
  notes: string[];
}

/** The files below `home` (user) and below `cwd` (project, local). Of scalars, local wins over project and that over user. */
export async function readSettings(
  vfs: Vfs,
  sources: readonly SettingSource[],
  { cwd, home }: { readonly cwd: string; readonly home: string | undefined },
): Promise<Settings> {
  const settings: Settings = {
    instructions: [],
    allow: [],
    ask: [],
    deny: [],
    additionalDirectories: [],
    env: {},
    skills: [],
    agents: {},
    notes: [],
  };
  const note = (text: string): void => void settings.notes.push(text);
  const below = (folder: string, path: string): string => (folder === "/" ? path : folder + path);
  const read = async (folder: string, texts: readonly string[], json: string): Promise<void> => {
    for (const text of texts) await readInstructions(vfs, below(folder, text), settings);
    await readJson(vfs, below(folder, json), settings);
  };
  const folders = async (folder: string): Promise<void> => {
    for (const skill of await skillsIn(vfs, below(folder, "/.claude/skills"), note))
      settings.skills = [...settings.skills.filter(({ name }) => name !== skill.name), skill];
    Object.assign(settings.agents, await agentsIn(vfs, below(folder, "/.claude/agents"), note));
  };
  if (sources.includes("user")) {
    if (home === undefined)
      settings.notes.push("settingSources: host.home is missing, so no user's files were read.");
    else {
      await read(home, ["/.claude/CLAUDE.md"], "/.claude/settings.json");
      await folders(home);
    }
  }
  if (sources.includes("project")) {
    await read(cwd, ["/CLAUDE.md", "/.claude/CLAUDE.md"], "/.claude/settings.json");
    await folders(cwd);
  }
  if (sources.includes("local")) await read(cwd, ["/CLAUDE.local.md"], "/.claude/settings.local.json");
  return settings;
}

async function readInstructions(vfs: Vfs, path: string, settings: Settings): Promise<void> {
  const bytes = await vfs.read(path);
  const text = bytes === undefined ? "" : new TextDecoder().decode(bytes).trim();
  if (text !== "") settings.instructions.push(`Contents of ${path}:\n\n${text}`);
}

const LISTS = ["allow", "ask", "deny", "additionalDirectories"] as const;

async function readJson(vfs: Vfs, path: string, settings: Settings): Promise<void> {
  const bytes = await vfs.read(path);
  if (bytes === undefined) return;
  let said: unknown;
  try {
    said = JSON.parse(new TextDecoder().decode(bytes));
  } catch (error) {
    settings.notes.push(`${path} is no JSON and does not count: ${(error as Error).message}`);
    return;
  }
  const { permissions = {}, env = {}, ...others } = isObject(said) ? said : {};
  const texts = Object.entries(isObject(env) ? env : {}).filter(([, value]) => typeof value === "string");
  Object.assign(settings.env, Object.fromEntries(texts));
  const { defaultMode, ...more } = isObject(permissions) ? permissions : {};
  for (const list of LISTS) {
    const rules: unknown = more[list] ?? [];
    if (Array.isArray(rules)) settings[list].push(...rules.filter((rule) => typeof rule === "string"));
    delete more[list];
  }
  if (typeof defaultMode === "string") settings.defaultMode = defaultMode as PermissionMode;
  const left = [...Object.keys(others), ...Object.keys(more).map((name) => `permissions.${name}`)];
  if (left.length > 0) settings.notes.push(`${path}: these settings do not count here: ${left.join(", ")}`);
}
