/** The settings of a query as one record, for programs that show or check them. */
import type { PermissionMode } from "../../../core/api/permission.js";
import { isObject, joined } from "../../../core/kit/check.js";
import type { Vfs } from "../../../extras/vfs/index.js";
import { resolvePath } from "../../../extras/vfs/paths.js";
import type { SettingSource } from "../settings.js";

/** Settings in the form of `settings.json`. A query reads the named fields, and a note names the others. */
export interface Settings {
  readonly permissions?: {
    readonly allow?: string[];
    readonly ask?: string[];
    readonly deny?: string[];
    readonly defaultMode?: PermissionMode;
    readonly additionalDirectories?: string[];
    readonly [setting: string]: unknown;
  };
  readonly env?: Record<string, string>;
  /** Only the option `settings` may name it. */
  readonly model?: string;
  readonly [setting: string]: unknown;
}

/** Where a setting is from: a file, the option `managedSettings`, or the option `settings` (`flag`). */
export type ResolvedSettingSource = SettingSource | "managed" | "flag";

/** How a policy was installed on a machine. looplet only knows `parent`: the program. */
export type PolicySettingsOrigin = "helper" | "remote" | "plist" | "hklm" | "file" | "parent" | "hkcu";

/** The scope of a written setting. looplet writes none. */
export type ConfigScope = "local" | "user" | "project";

export interface ProvenanceEntry {
  source: ResolvedSettingSource;
  /** The file. */
  path?: string;
  policyOrigin?: PolicySettingsOrigin;
}

/** All settings, each with its source. */
export interface ResolvedSettings {
  effective: Settings;
  provenance: { [name in keyof Settings]?: ProvenanceEntry };
  /** From the weakest to the strongest. */
  sources: (ProvenanceEntry & { settings: Settings })[];
  /** Not set: looplet reads no policy of a machine. */
  machinePolicy?: {
    didNotLoad: false | ("profile" | "registry" | "file")[];
    registryPolicyDifferedFromFingerprint?: true;
  };
}

export interface ResolveSettingsOptions {
  /** The folder of the project. Default `"/"`. */
  cwd?: string;
  /** The files to read. Default: all three with `host.vfs`, none without it. */
  settingSources?: readonly SettingSource[];
  managedSettings?: Settings;
  /** The same as `managedSettings`, and stronger. */
  serverManagedSettings?: Settings;
  /** Does nothing: there is no registry. */
  registryPolicyFingerprint?: () => { hklm: string | null; hkcu: string | null } | undefined;
  /** looplet's own: the files, and the folder of the user's settings. */
  host?: { readonly vfs?: Vfs | undefined; readonly home?: string | undefined };
}

/**
 * The settings of files and options, merged: fields of a stronger source win, and lists of `permissions` are joined.
 * A query applies fewer of them: it takes grants of a project only with `trustProject`.
 *
 * @throws TypeError for `settingSources` without `host.vfs`, and for a file that is not JSON
 */
export async function resolveSettings(options: ResolveSettingsOptions = {}): Promise<ResolvedSettings> {
  const { cwd = "/", host: { vfs, home } = {}, managedSettings, serverManagedSettings } = options;
  const { settingSources = vfs === undefined ? [] : ALL } = options;
  if (settingSources.length > 0 && vfs === undefined)
    throw new TypeError(
      "resolveSettings: settingSources needs host.vfs, the files of your program: { host: { vfs } }",
    );
  const sources: ResolvedSettings["sources"] = [];
  for (const source of ALL.filter((name) => settingSources.includes(name))) {
    const folder = source === "user" ? home : cwd;
    if (folder === undefined) continue;
    const name = source === "local" ? "settings.local.json" : "settings.json";
    const path = resolvePath(`.claude/${name}`, resolvePath(folder));
    const bytes = await vfs!.read(path);
    if (bytes !== undefined) sources.push({ source, path, settings: settingsIn(bytes, path) });
  }
  for (const settings of [managedSettings, serverManagedSettings])
    if (settings !== undefined) sources.push({ source: "managed", policyOrigin: "parent", settings });
  const effective: { [name: string]: unknown } = {};
  const provenance: { [name: string]: ProvenanceEntry } = {};
  for (const { settings, ...from } of sources)
    for (const [name, value] of fieldsOf(joined(settings))) {
      effective[name] = isObject(value) ? merged(effective[name], value) : value;
      provenance[name] = from;
    }
  return { effective, provenance, sources };
}

const ALL: readonly SettingSource[] = ["user", "project", "local"];

/** Modes in which calls run without a question to the user. */
const ESCALATING = ["bypassPermissions", "auto", "acceptEdits"];

/**
 * The settings without a `permissions.defaultMode` from files of the project that would let calls run without a
 * question to the user.
 */
export function filterEscalatingDefaultMode({ effective, sources }: ResolvedSettings): Settings {
  const { defaultMode, ...permissions } = effective.permissions ?? {};
  const chosenBy = sources.filter(({ settings }) => settings.permissions?.defaultMode !== undefined).at(-1);
  const isFine =
    !ESCALATING.includes(String(defaultMode)) || !/^(?:project|local)$/.test(chosenBy?.source ?? "");
  return isFine ? effective : { ...effective, permissions };
}

export interface DeniedModelsMatch {
  /** For each model, whether an entry of the list names it. */
  denied: boolean[];
  /** What was left out because it is not a text. */
  warnings: string[];
}

/** Which models a list of names denies. A name with `*` at its end denies all that begin with it. Throws nothing. */
export async function matchDeniedModels(
  models: readonly string[],
  deniedModels: readonly string[] | undefined,
): Promise<DeniedModelsMatch> {
  const warnings: string[] = [];
  const texts = (list: unknown, place: string): unknown[] => {
    if (Array.isArray(list)) return list;
    if (list !== undefined) warnings.push(`${place} is not a list, so it does not count.`);
    return [];
  };
  const isText = (place: string) => (entry: unknown) => {
    if (typeof entry !== "string") warnings.push(`${place} has an entry that is not a text.`);
    return typeof entry === "string";
  };
  const rules = texts(deniedModels, "deniedModels").filter(isText("deniedModels")) as string[];
  const denies = (model: string) => (rule: string) =>
    rule.endsWith("*") ? model.startsWith(rule.slice(0, -1)) : model === rule;
  const isDenied = (model: unknown): boolean =>
    isText("models")(model) && rules.some(denies(model as string));
  return { denied: texts(models, "models").map(isDenied), warnings };
}

function settingsIn(bytes: Uint8Array, path: string): Settings {
  try {
    const settings: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return isObject(settings) ? (settings as Settings) : {};
  } catch (error) {
    throw new TypeError(`resolveSettings: ${path} is not JSON: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

/** The fields of an object of JSON, without `__proto__`, which would change the object that gets it. */
function fieldsOf(object: object): [string, unknown][] {
  return Object.entries(object).filter(([name]) => name !== "__proto__");
}

/** The fields of both; the second one wins, and lists are joined. */
function merged(one: unknown, other: { [name: string]: unknown }): { [name: string]: unknown } {
  const all: { [name: string]: unknown } = isObject(one) ? { ...one } : {};
  for (const [name, value] of fieldsOf(other)) {
    const before = Object.hasOwn(all, name) ? all[name] : undefined;
    all[name] = Array.isArray(before) && Array.isArray(value) ? [...new Set([...before, ...value])] : value;
  }
  return all;
}
