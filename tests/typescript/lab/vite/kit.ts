/** A module whose text a test changes: each version makes an agent anew, as a bundler does that runs the module again. */
import { onTestFinished, vi } from "vitest";
import { createAgent, custom, tool } from "looplet";
import type { Agent, AgentOptions, Message, Run, RunEvent } from "looplet";
import { hotAgent } from "looplet/vite";
import { nextTask } from "../../support/fake-driver.js";

export type Step = Awaited<ReturnType<Parameters<typeof custom>[0]>>;

export const schema = { type: "object", properties: {} } as const;

/** The answer with a call of this tool, whose id is its name. */
export function calls(...names: string[]) {
  return names.map((name) => ({ type: "tool_call" as const, id: name, name, input: {} }));
}

export class Module {
  /** Each answer of the model and each call of a tool, with the version that has made it. */
  readonly log: string[] = [];
  readonly said: string[] = [];
  readonly #hot = { data: {} };

  /** `turns` are the answers of the model. */
  constructor(private readonly turns: readonly (() => Step | Promise<Step>)[]) {
    for (const how of ["info", "warn"] as const) {
      const spy = vi.spyOn(console, how).mockImplementation((text) => void this.said.push(text as string));
      onTestFinished(() => spy.mockRestore());
    }
  }

  /** Runs the text of this version: its agent is what the module exports. */
  run(version: number, options: Partial<AgentOptions> = {}): Agent {
    return hotAgent(createAgent({ ...this.options(version), ...options }), this.#hot);
  }

  options(version: number): AgentOptions {
    const answer = ({ messages, system }: { messages: readonly Message[]; system?: unknown }) => {
      this.log.push(`model ${version}: ${String(system)}`);
      return this.turns[messages.filter(({ role }) => role === "assistant").length]!();
    };
    return {
      system: `prompt ${version}`,
      model: custom(answer),
      tools: { look: this.tool("look", version), pay: this.tool("pay", version, { needsApproval: true }) },
    };
  }

  tool(name: string, version: number, more: object = {}) {
    const execute = (): string => {
      this.log.push(`${name} ${version}`);
      return `${name} of ${version}`;
    };
    return tool({ description: name, inputSchema: schema, execute, ...more });
  }
}

/** A run that is begun with a listener. */
export function begun(agent: Agent, options: object = {}): { run: Run; events: RunEvent[] } {
  const events: RunEvent[] = [];
  const run = agent.run("Go.", { onEvent: (event) => void events.push(event), ...options });
  return { run, events };
}

export async function until(holds: () => unknown): Promise<void> {
  for (let task = 0; !holds(); task++) {
    if (task > 1000) throw new Error("it never comes to hold");
    await nextTask();
  }
}

/** Lets everything happen that waits for no one. */
export async function settled(): Promise<void> {
  for (let task = 0; task < 6; task++) await nextTask();
}

export const waits = (events: readonly RunEvent[]) => events.some(({ type }) => type === "waiting");

/** The codes of warnings, and the types of all other events. */
export function told(events: readonly RunEvent[]): string[] {
  return events.map((event) => (event.type === "warning" ? event.code : event.type));
}

export function questionOf(events: readonly RunEvent[]): number {
  for (const event of events) if (event.type === "question") return event.questionId;
  throw new Error("nobody was asked");
}

/** Events but warnings whose facts have been told before, by their types. */
export function twice(events: readonly RunEvent[]): string[] {
  const texts = events.map((event) => JSON.stringify({ ...event, seq: 0 }));
  const isTold = ({ type }: RunEvent, at: number) => type !== "warning" && texts.indexOf(texts[at]!) !== at;
  return told(events.filter(isTold));
}
