/** The commands of settings files: prompts that begin with `/` and the name of a file. */
import { frontmatterOf } from "../frontmatter.js";
import type { SettingFiles } from "../settings.js";
import type { SlashCommand } from "./responses.js";

/** A file `commands/<name>.md`. */
export interface FileCommand extends Pick<SlashCommand, "name" | "description" | "argumentHint"> {
  /** The name with the folders that the file is in: `git:commit`. Undefined for a file at the top level. */
  readonly alias?: string;
  /** The file's text, with the places of its arguments. */
  readonly text: string;
}

/** A name that can be typed. */
const NAME = /^[\w.-]{1,64}$/;

/** The names of looplet's own commands. */
const OWN = ["clear", "compact"];

/** Folders below `commands` that are read. */
const DEPTH = 4;

/** Characters of a description that a file without one has of its first line. */
const DESCRIPTION_CHARS = 100;

/** Fields of a file that change nothing here. */
const IGNORED = ["allowed-tools", "disallowed-tools", "model", "hooks", "agent", "context", "effort"];

/** The commands in a folder and the folders below it. A note names what does not count of a file. */
export async function commandsIn(
  files: SettingFiles,
  folder: string,
  place: readonly string[] = [],
): Promise<FileCommand[]> {
  const commands: FileCommand[] = [];
  for (const entry of await files.list(folder)) {
    const path = `${folder}/${entry}`;
    if (entry.endsWith("/")) {
      const below = [...place, entry.slice(0, -1)];
      if (below.length <= DEPTH) commands.push(...(await commandsIn(files, path.slice(0, -1), below)));
    }
    if (!entry.endsWith(".md")) continue;
    const name = entry.slice(0, -".md".length);
    if (OWN.includes(name)) {
      files.note(`${path} does not count: looplet has the command /${name} itself.`);
      continue;
    }
    const text = NAME.test(name) ? await files.text(path) : undefined;
    if (text !== undefined) commands.push(commandIn(text, name, { files, path, place }));
    else if (!NAME.test(name))
      files.note(`${path} is not a command: its name needs 1 to 64 letters, digits, "_", "-" or ".".`);
  }
  return commands;
}

function commandIn(
  text: string,
  name: string,
  { files, path, place }: { files: SettingFiles; path: string; place: readonly string[] },
): FileCommand {
  const { field, body } = frontmatterOf(text);
  const ignored = IGNORED.filter((one) => field(one) !== "");
  if (ignored.length > 0) files.note(`${path}: these fields do not count here: ${ignored.join(", ")}`);
  if (/!`[^`]+`/.test(body))
    files.note(`${path}: looplet runs no command of a file, so the model reads its !\`…\` as it is.`);
  if (/(?:^|\s)@[\w~./]/.test(body))
    files.note(`${path}: looplet adds no file named with @, so the model reads the name only.`);
  return {
    name,
    description: field("description") || (body.split("\n")[0] ?? "").slice(0, DESCRIPTION_CHARS),
    argumentHint: field("argument-hint"),
    ...(place.length > 0 && { alias: [...place, name].join(":") }),
    text: body,
  };
}

/** The name and the arguments of a prompt that has the form of a command. */
export function calledBy(prompt: string): { readonly name: string; readonly args: string } | undefined {
  const [, name, args = ""] = /^\/([\w.:-]+)(?:\s+([^]*))?$/.exec(prompt.trim()) ?? [];
  return name === undefined ? undefined : { name, args: args.trim() };
}

/** The command of a name, or of a name with folders. Of two with one name, the later one counts. */
export function commandNamed(commands: readonly FileCommand[], name: string): FileCommand | undefined {
  const named = (one: FileCommand): boolean => one.alias === name || one.name === name;
  return [...commands].reverse().find(named);
}

/**
 * The prompt of a command. `$ARGUMENTS` is replaced by all arguments, `$1` and `$ARGUMENTS[0]` by the first one.
 * Quotes group the words of one argument. Arguments without a placeholder are appended.
 */
export function expanded({ text }: FileCommand, args: string): string {
  const words = [...args.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, plain]) => double ?? single ?? plain ?? "",
  );
  let hasPlace = false;
  // Placeholders inside arguments are not replaced.
  const filled = text.replace(
    /\$ARGUMENTS(?:\[(\d+)\])?|\$([1-9]\d*)/g,
    (_, index?: string, number?: string) => {
      hasPlace = true;
      if (index === undefined && number === undefined) return args;
      return words[index === undefined ? Number(number) - 1 : Number(index)] ?? "";
    },
  );
  return hasPlace || args === "" ? filled : `${filled}\n\nARGUMENTS: ${args}`;
}
