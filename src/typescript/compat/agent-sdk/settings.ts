/** Settings files of Claude Code, in the files of a program: CLAUDE.md, settings.json, agents, skills and commands. */
import type { PermissionMode } from "../../core/api/permission.js";
import { PERMISSION_MODES } from "../../core/kit/tables.js";
import { isObject, isRule } from "../../core/kit/check.js";
import type { Vfs } from "../../extras/vfs/index.js";
import { resolvePath } from "../../extras/vfs/paths.js";
import { agentsIn } from "./agents/agents.js";
import { commandsIn, type FileCommand } from "./control/commands.js";
import { skillsIn, type Skill } from "./skills.js";
import type { AgentDefinition } from "./agents/definition.js";
import { wrong } from "./options/check.js";
import type { Options } from "./options/types.js";

export type SettingSource = "user" | "project" | "local";

/** What the files say. */
export interface Settings {
  /** Texts that go with every request. */
  instructions: string[];
  allow: string[];
  ask: string[];
  deny: string[];
  defaultMode?: PermissionMode;
  /** Further folders in which files may be written. */
  additionalDirectories: string[];
  /** Variables of the commands of Bash. */
  env: { [name: string]: string };
  skills: Skill[];
  agents: { [name: string]: AgentDefinition };
  /** Of two with one name, the later one counts. */
  commands: FileCommand[];
  /** The model that the option `settings` names. */
  model?: string;
  /** What was read and does not count, for people. */
  notes: string[];
}

/** The rights that a settings file of the project would add to those of the program. */
export interface ProjectGrants {
  /** The file. */
  readonly path: string;
  readonly allow: readonly string[];
  readonly additionalDirectories: readonly string[];
  readonly env: { readonly [name: string]: string };
  readonly defaultMode?: PermissionMode;
}

/** Whether the settings of a project may grant rights: yes, no, or a function that decides by the grants. */
export type TrustProject = boolean | ((grants: readonly ProjectGrants[]) => boolean | Promise<boolean>);

/** The settings that a program gives itself: an object, its JSON, or the path of a file. */
export type InlineSettings = string | { readonly [name: string]: unknown };

/** The places of the files, whether files of the project may grant rights, and the settings of the options. */
export interface SettingPlaces {
  /** Undefined where a program gives no files. */
  readonly vfs: Vfs | undefined;
  readonly cwd: string;
  readonly home: string | undefined;
  readonly trustProject?: TrustProject | undefined;
  /** They win over all files. */
  readonly settings?: InlineSettings | undefined;
  /** They only restrict. */
  readonly managedSettings?: { readonly [name: string]: unknown } | undefined;
}

/** What one settings.json says. */
interface SettingsFile extends ProjectGrants {
  readonly model?: string;
  readonly ask: readonly string[];
  readonly deny: readonly string[];
}

/** Bytes of a settings file. A longer one does not count. */
const MOST_BYTES = 262_144;

/**
 * The settings of options and files: the files below `home` (user) and below `cwd` (project, local). For scalars,
 * `settings` overrides local, which overrides project, which overrides user. The project may be untrusted, so without
 * trust its files can only restrict.
 *
 * @throws TypeError for `settings` that cannot be read
 */
export async function readSettings(
  sources: readonly SettingSource[],
  { vfs, cwd, home, trustProject = false, settings: inline, managedSettings }: SettingPlaces,
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
    commands: [],
    notes: [],
  };
  const note = (text: string): void => void settings.notes.push(text);
  const files = vfs === undefined ? NO_FILES : boundedFiles(vfs, note);
  const below = (folder: string, path: string): string => (folder === "/" ? path : folder + path);
  const read = async (folder: string, texts: readonly string[], json: string): Promise<SettingsFile[]> => {
    for (const text of texts) await readInstructions(files, below(folder, text), settings);
    return readJson(files, below(folder, json), { notes: settings.notes, cwd });
  };
  const isKnown = (name: string, place: string, has: boolean): boolean => {
    if (has) note(`${place}: without trustProject the user's "${name}" counts, and not that of the project`);
    return has;
  };
  /** What has a name already stays, unless the folder `replaces` it. */
  const folders = async (folder: string, replaces: boolean): Promise<void> => {
    const [ofSkills, ofAgents, ofCommands] = ["skills", "agents", "commands"].map((kind) =>
      below(folder, `/.claude/${kind}`),
    );
    for (const skill of await skillsIn(files, ofSkills!)) {
      const others = settings.skills.filter(({ name }) => name !== skill.name);
      const has = others.length < settings.skills.length && !replaces;
      if (!isKnown(skill.name, ofSkills!, has)) settings.skills = [...others, skill];
    }
    for (const [name, agent] of Object.entries(await agentsIn(files, ofAgents!)))
      if (!isKnown(name, ofAgents!, !replaces && Object.hasOwn(settings.agents, name)))
        settings.agents[name] = agent;
    const names = settings.commands.map(({ name }) => name);
    for (const command of await commandsIn(files, ofCommands!))
      if (!isKnown(command.name, ofCommands!, !replaces && names.includes(command.name)))
        settings.commands.push(command);
  };
  if (sources.includes("user")) {
    if (home === undefined)
      settings.notes.push("settingSources: host.home is missing, so no user's files were read.");
    else {
      for (const said of await read(home, ["/.claude/CLAUDE.md"], "/.claude/settings.json"))
        take(said, settings);
      await folders(home, true);
    }
  }
  const ofProject: SettingsFile[] = [];
  if (sources.includes("project"))
    ofProject.push(...(await read(cwd, ["/CLAUDE.md", "/.claude/CLAUDE.md"], "/.claude/settings.json")));
  if (sources.includes("local"))
    ofProject.push(...(await read(cwd, ["/CLAUDE.local.md"], "/.claude/settings.local.json")));
  const isTrusted = await areTrusted(ofProject, trustProject);
  if (sources.includes("project")) await folders(cwd, isTrusted);
  for (const said of ofProject)
    take(isTrusted ? said : restricted(said, settings.notes, "without trustProject"), settings);
  const reading = { notes: settings.notes, cwd, isOption: true };
  if (inline !== undefined) {
    const said = saidBy(await wholeOf(inline, files, cwd), "settings", reading);
    take(said, settings);
    if (said.model !== undefined) settings.model = said.model;
  }
  if (managedSettings !== undefined)
    take(
      restricted(saidBy(managedSettings, "managedSettings", reading), settings.notes, "only restricting"),
      settings,
    );
  return settings;
}

const NO_FILES: SettingFiles = { text: async () => undefined, list: async () => [], note: () => {} };

/** The path of the settings file in the option. Undefined if the option contains the settings. */
export function settingsPath({ settings, cwd = "/" }: Pick<Options, "settings" | "cwd">): string | undefined {
  const isPath = typeof settings === "string" && !settings.trimStart().startsWith("{");
  return isPath ? resolvePath(settings, resolvePath(cwd)) : undefined;
}

/** @throws TypeError if a restriction could be lost */
async function wholeOf(settings: InlineSettings, files: SettingFiles, cwd: string): Promise<unknown> {
  if (typeof settings !== "string") return settings;
  const path = settingsPath({ settings, cwd });
  const text = path === undefined ? settings : await files.text(path);
  if (text === undefined) wrong("options.settings", `names a file that cannot be read: ${path}`);
  try {
    return JSON.parse(text);
  } catch (error) {
    return wrong("options.settings", `is not JSON: ${(error as Error).message}`);
  }
}

/** The names of the settings by which a file grants rights. */
function granted({ allow, additionalDirectories, env, defaultMode }: ProjectGrants): string[] {
  return [
    ...(allow.length > 0 ? ["permissions.allow"] : []),
    ...(additionalDirectories.length > 0 ? ["permissions.additionalDirectories"] : []),
    ...(Object.keys(env).length > 0 ? ["env"] : []),
    ...(defaultMode === undefined ? [] : ["permissions.defaultMode"]),
  ];
}

async function areTrusted(files: readonly SettingsFile[], trust: TrustProject): Promise<boolean> {
  const grants = files
    .filter((said) => granted(said).length > 0)
    .map(({ ask: _, deny: __, ...granting }) => granting);
  return typeof trust === "function" ? grants.length > 0 && (await trust(grants)) === true : trust;
}

/** The file with nothing that it grants. */
function restricted(said: SettingsFile, notes: string[], why: string): SettingsFile {
  const lost = granted(said);
  if (lost.length > 0) notes.push(`${said.path}: ${why} these settings do not count: ${lost.join(", ")}`);
  return { path: said.path, allow: [], additionalDirectories: [], env: {}, ask: said.ask, deny: said.deny };
}

function take(said: SettingsFile, settings: Settings): void {
  for (const list of LISTS) settings[list].push(...said[list]);
  Object.assign(settings.env, said.env);
  if (said.defaultMode !== undefined) settings.defaultMode = said.defaultMode;
}

/** Files of settings. A project may be untrusted, so the size of each file is limited. */
export interface SettingFiles {
  text(path: string): Promise<string | undefined>;
  list(path: string): Promise<readonly string[]>;
  note(text: string): void;
}

function boundedFiles(vfs: Vfs, note: (text: string) => void): SettingFiles {
  const attempt = async <T>(path: string, act: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await act();
    } catch (error) {
      note(`${path} cannot be read and does not count: ${(error as Error)?.message ?? String(error)}`);
      return undefined;
    }
  };
  return {
    note,
    text: (path) =>
      attempt(path, async () => {
        const { size = 0 } = (await vfs.stat(path)) ?? {};
        const bytes = size > MOST_BYTES ? undefined : await vfs.read(path);
        if (Math.max(size, bytes?.length ?? 0) > MOST_BYTES)
          throw new Error(`it is longer than ${MOST_BYTES} bytes.`);
        return bytes && new TextDecoder().decode(bytes);
      }),
    async list(path) {
      const names = (await attempt(path, () => vfs.list(path))) ?? [];
      if (names.length > MOST_NAMES) note(`${path} has more than ${MOST_NAMES} names, and only these count.`);
      return names.slice(0, MOST_NAMES);
    },
  };
}

/** Names of a folder that are looked at. */
const MOST_NAMES = 200;

async function readInstructions(files: SettingFiles, path: string, settings: Settings): Promise<void> {
  const text = ((await files.text(path)) ?? "").trim();
  if (text !== "") settings.instructions.push(`Contents of ${path}:\n\n${text}`);
}

const LISTS = ["allow", "ask", "deny", "additionalDirectories"] as const;

interface Reading {
  readonly notes: string[];
  readonly cwd: string;
  /** Whether an option says it, which may name a model. */
  readonly isOption?: boolean;
}

async function readJson(files: SettingFiles, path: string, reading: Reading): Promise<SettingsFile[]> {
  const text = await files.text(path);
  if (text === undefined) return [];
  let whole: unknown;
  try {
    whole = JSON.parse(text);
  } catch (error) {
    reading.notes.push(`${path} is not JSON and does not count: ${(error as Error).message}`);
    return [];
  }
  return [saidBy(whole, path, reading)];
}

function saidBy(whole: unknown, path: string, { notes, cwd, isOption = false }: Reading): SettingsFile {
  const { permissions = {}, env = {}, $schema: _, ...others } = isObject(whole) ? whole : {};
  const model = isOption && typeof others["model"] === "string" ? others["model"] : undefined;
  if (model !== undefined) delete others["model"];
  const { defaultMode, ...more } = isObject(permissions) ? permissions : {};
  const texts = (name: (typeof LISTS)[number]): string[] => {
    const list: unknown = more[name];
    delete more[name];
    const all = Array.isArray(list) ? list.filter((rule) => typeof rule === "string") : [];
    const isFine = (text: string): boolean =>
      name === "additionalDirectories" ? isFolder(text, cwd) : isRule(text);
    const broken = all.filter((text) => !isFine(text)).map((text) => text.slice(0, 100));
    if (broken.length > 0)
      notes.push(
        `${path}: permissions.${name} has what does not count here: ${broken.slice(0, 10).join(", ")}`,
      );
    return all.filter(isFine);
  };
  const lists = { allow: texts("allow"), ask: texts("ask"), deny: texts("deny") };
  const said: SettingsFile = {
    path,
    ...lists,
    additionalDirectories: texts("additionalDirectories"),
    env: Object.fromEntries(
      Object.entries(isObject(env) ? env : {}).filter((pair): pair is [string, string] => {
        return typeof pair[1] === "string";
      }),
    ),
    ...(model !== undefined && { model }),
    ...(PERMISSION_MODES.includes(defaultMode as PermissionMode) && {
      defaultMode: defaultMode as PermissionMode,
    }),
  };
  const left = [...Object.keys(others), ...Object.keys(more).map((name) => `permissions.${name}`)];
  if (defaultMode !== undefined && said.defaultMode === undefined) left.push("permissions.defaultMode");
  if (left.length > 0) notes.push(`${path}: these settings do not count here: ${left.join(", ")}`);
  return said;
}

/** False for a folder that leads out of the files. */
function isFolder(path: string, cwd: string): boolean {
  try {
    return resolvePath(path, cwd) !== "";
  } catch {
    return false;
  }
}
