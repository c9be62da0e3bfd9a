/** Skills: instructions that the model reads when it needs them. Only their names and descriptions are always there. */
import type { HookGroup, Tool } from "../../core/api/index.js";
import { tool } from "../../core/index.js";
import { frontmatterOf, isShort, unnamed } from "./frontmatter.js";
import type { SettingFiles } from "./settings.js";

export interface Skill {
  readonly name: string;
  /** When to use it. */
  readonly description: string;
  /** Its text. */
  content(): Promise<string> | string;
}

/** The skills in the folders of a folder: `<folder>/<name>/SKILL.md`. A note names a file that is not a skill. */
export async function skillsIn(files: SettingFiles, folder: string): Promise<Skill[]> {
  const skills: Skill[] = [];
  for (const own of (await files.list(folder)).filter((entry) => entry.endsWith("/"))) {
    const path = `${folder}/${own}SKILL.md`;
    const text = await files.text(path);
    if (text === undefined) continue;
    const { field, body } = frontmatterOf(text);
    const [name, description] = [field("name"), field("description")];
    if (isShort(name, description)) skills.push({ name, description, content: () => body });
    else files.note(unnamed(path, "skill"));
  }
  return skills;
}

/** The tool by which the model reads a skill. */
export function skillTool(skills: readonly Skill[]): Tool {
  const list = skills.map(({ name, description }) => `- ${name}: ${description}`).join("\n");
  return tool({
    description: `Reads the instructions of a skill. Use one when its description fits the task.\n${list}`,
    inputSchema: {
      type: "object",
      properties: {
        skill: { type: "string", enum: skills.map(({ name }) => name) },
        args: { type: "string", description: "What the skill is used for" },
      },
      required: ["skill"],
    },
    ruleSubject: "skill",
    readOnly: true,
    execute: async ({ skill, args }) => {
      const text = await skills.find(({ name }) => name === skill)!.content();
      return args === undefined ? text : `${text}\n\nUsed for: ${args}`;
    },
  }) as Tool;
}

/** Adds the text of a skill to a prompt of an agent, while it `isNew`. */
export function toldSkill(skill: Skill, isNew: () => boolean): HookGroup<"UserPromptSubmit"> {
  const told = async (): Promise<{ additionalContext: string } | undefined> =>
    isNew() ? { additionalContext: `The skill ${skill.name}:\n\n${await skill.content()}` } : undefined;
  return { hooks: [told] };
}
