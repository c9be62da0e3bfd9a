/** The tool Agent: each call runs a separate agent, which sees only its prompt. */
import { ToolError } from "../../../core/api/errors.js";
import type { Agent, PermissionMode, Run, RunEvent, RunResult, Tool } from "../../../core/api/index.js";
import { tool } from "../../../core/index.js";
import { frontmatterOf, isShort, namesOf, unnamed } from "../frontmatter.js";
import type { SettingFiles } from "../settings.js";
import type { AgentDefinition } from "./definition.js";

/** The query under way, as its agents see it. `id` is that of the call that asks an agent. */
export interface Tasks {
  /** What is left of `maxBudgetUsd`; undefined without a limit. */
  usdLeft(): number | undefined;
  /** `modeOf` is the mode of the agent in a mode of the query. */
  onBegin(id: string, description: string, run: Run, modeOf: ModeOf): void;
  onEvent(event: RunEvent, id: string): void;
  onEnd(result: RunResult, id: string): void;
}

/** The mode in which an agent works, by that of the query. */
export type ModeOf = (mode: PermissionMode) => PermissionMode;

/** An agent with its description. */
export interface NamedAgent extends Pick<AgentDefinition, "description"> {
  /** Makes the agent for the call of this id, with another model if its name is given. */
  make(id: string, model?: string): Agent;
  readonly modeOf: ModeOf;
}

export function agentTool(agents: { readonly [name: string]: NamedAgent }, tasks: Tasks): Tool {
  const names = Object.keys(agents);
  const list = Object.entries(agents).map(([name, { description }]) => `- ${name}: ${description}`);
  return tool({
    description: `Asks an agent to do a task on its own. It sees only the prompt, and its answer is the result.\n${list.join("\n")}`,
    inputSchema: {
      type: "object",
      properties: {
        description: { type: "string", description: "The task in three to five words" },
        prompt: { type: "string", description: "All that the agent has to know" },
        subagent_type: { type: "string", enum: names },
        model: { type: "string", description: "The name of another model" },
      },
      required: ["description", "prompt", "subagent_type"],
    },
    ruleSubject: "subagent_type",
    // Agents run in parallel. What their tools change needs its own permissions.
    readOnly: true,
    execute: async ({ description, prompt, subagent_type, model }, { signal, toolCallId }) => {
      if ((tasks.usdLeft() ?? 1) <= 0) throw failed("The budget of the query is spent.");
      const onEvent = (event: RunEvent): void => tasks.onEvent(event, toolCallId);
      const { make, modeOf } = agents[subagent_type]!;
      const run = make(toolCallId, model).run(prompt, { signal, onEvent });
      tasks.onBegin(toolCallId, description, run, modeOf);
      const result = await run.result;
      tasks.onEnd(result, toolCallId);
      if (result.outcome === "completed") return result.text;
      const why = result.outcome === "failed" ? result.error.message : `It was ${result.outcome}.`;
      throw failed(`${why}\n${result.text}`.trim());
    },
  }) as Tool;
}

function failed(message: string): ToolError {
  return new ToolError({ code: "agent_failed", message, recoverable: true });
}

/** Fields of an agent's file that do nothing here. A file grants no mode, no hooks, and no servers. */
const FIELDS_WITHOUT_EFFECT = [
  "permissionMode",
  "hooks",
  "mcpServers",
  "memory",
  "background",
  "effort",
  "isolation",
  "initialPrompt",
];

/** The agents of the files in a folder, by their names. A note names a file that is not an agent. */
export async function agentsIn(
  files: SettingFiles,
  folder: string,
): Promise<{ [name: string]: AgentDefinition }> {
  const agents: { [name: string]: AgentDefinition } = {};
  for (const file of (await files.list(folder)).filter((name) => name.endsWith(".md"))) {
    const path = `${folder}/${file}`;
    const text = await files.text(path);
    if (text === undefined) continue;
    const { field, body } = frontmatterOf(text);
    const [name, description, model] = ["name", "description", "model"].map(field);
    if (!isShort(name, description)) {
      files.note(unnamed(path, "agent"));
      continue;
    }
    const [tools, without, skills] = ["tools", "disallowedTools", "skills"].map((list) =>
      namesOf(field(list)),
    );
    const rounds = Number(field("maxTurns"));
    agents[name!] = {
      description: description!,
      prompt: body,
      ...(field("tools") && { tools }),
      ...(without!.length > 0 && { disallowedTools: without }),
      ...(skills!.length > 0 && { skills }),
      ...(rounds >= 1 && { maxTurns: Math.floor(rounds) }),
      ...(model && { model }),
    };
    const left = FIELDS_WITHOUT_EFFECT.filter((other) => field(other) !== "");
    if (left.length > 0) files.note(`${path}: these fields do not count here: ${left.join(", ")}`);
  }
  return agents;
}
