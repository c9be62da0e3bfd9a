/**
 * `looplet/devtools/publish`: the side of devtools that stands beside your agents, in a page, a worker or a server.
 * It tells the inputs of recorded runs on a channel, and lets runs go on for devtools from any of their steps.
 */
import { LoopletError } from "../../core/api/errors.js";
import type { Agent, Recorder, Run } from "../../core/api/index.js";
import { checkOptions, describe, isObject } from "../../core/options/check.js";
import { madeOf } from "../../core/tools/made-agent.js";
import { recorder } from "../replay/recorder.js";
import { forked, offered } from "./live/fork.js";
import { LiveRecord } from "./live/live-record.js";
import {
  messageIn,
  PROTOCOL,
  type Asked,
  type DevtoolsChannel,
  type ForkedFrom,
  type Message,
  type Told,
} from "./live/protocol.js";

export type { DevtoolsChannel } from "./live/protocol.js";

export interface PublishOptions {
  /** The name that devtools show: `"checkout worker"`. Default: `"Agents"`. */
  name?: string | undefined;
  /** The number of latest runs that devtools can still ask for. Default 50. */
  keep?: number | undefined;
}

/** Tells the runs of agents to devtools. */
export interface Publisher {
  /** Give it to `createAgent({ record })`. It records as `recorder()` of `looplet/replay` does. */
  readonly record: Recorder;
  /**
   * Lets devtools go on with runs by these agents, with changed options: with their tools, their keys and their
   * models. A fork of them is another run, outside of the agents' store.
   *
   * @throws LoopletError `config_wrong_type`
   */
  offer(agents: { readonly [name: string]: Agent }): void;
  /** Says that nothing more comes. Runs go on. */
  close(): void;
}

interface Published {
  readonly record: LiveRecord;
  readonly from: ForkedFrom | undefined;
  /** A run that devtools have begun, whose questions they answer. */
  run: Run | undefined;
}

/**
 * Tells the runs of agents on a channel: `publish(new BroadcastChannel("looplet"))`. Runs that were recorded before
 * devtools came are told when they come. Whoever hears the channel can read the runs, without keys, and can let
 * offered agents run: publish in development only.
 *
 * @throws LoopletError `config_…`
 */
export function publish(channel: DevtoolsChannel, given: PublishOptions = {}): Publisher {
  const isChannel = isObject(channel) && "postMessage" in channel && "addEventListener" in channel;
  if (!isChannel) {
    const problem = `needs a BroadcastChannel, a MessagePort or an object like them, got ${describe(channel)}`;
    throw new LoopletError("config_wrong_type", "channel", problem);
  }
  const { name = "Agents", keep = 50 } = checkOptions(given, "", { name: "text", keep: "count" });
  return new ChannelPublisher(channel, name, keep);
}

class ChannelPublisher implements Publisher {
  readonly record: Recorder;
  readonly #source = `${Math.random().toString(36).slice(2)}${Date.now().toString(36)}`;
  readonly #runs = new Map<string, Published>();
  #agents: { readonly [name: string]: Agent } = {};

  constructor(
    private readonly channel: DevtoolsChannel,
    private readonly name: string,
    private readonly keep: number,
  ) {
    this.record = (id) => this.#publish(id).record;
    channel.addEventListener("message", this.#hear);
    channel.start?.();
    this.#introduce();
  }

  offer(agents: { readonly [name: string]: Agent }): void {
    for (const [name, agent] of Object.entries(agents))
      if (madeOf(agent) === undefined)
        throw new LoopletError(
          "config_wrong_type",
          name,
          `needs an agent of createAgent, got ${describe(agent)}`,
        );
    this.#agents = { ...this.#agents, ...agents };
    this.#introduce();
  }

  close(): void {
    this.channel.removeEventListener("message", this.#hear);
    this.#tell({ type: "gone" });
  }

  #publish(id: string, from?: ForkedFrom): Published {
    const record = new LiveRecord(recorder()(id), {
      onProcess: (process) => this.#tellProcess(id, process),
      onInputs: (process, at, inputs) => this.#tell({ type: "inputs", run: id, process, at, inputs }),
    });
    const published: Published = { record, from, run: undefined };
    this.#runs.delete(id);
    this.#runs.set(id, published);
    if (this.#runs.size > this.keep)
      for (const [oldest] of this.#runs) return this.#forget(oldest, published);
    return published;
  }

  #forget(oldest: string, newest: Published): Published {
    this.#runs.delete(oldest);
    return newest;
  }

  #introduce(): void {
    const agents = Object.entries(this.#agents).map(([name, agent]) => offered(name, agent));
    this.#tell({ type: "source", name: this.name, agents });
  }

  #tellProcess(run: string, process: number): void {
    const { record, from } = this.#runs.get(run) ?? {};
    const told = record?.processes[process];
    if (told !== undefined) this.#tell({ type: "process", run, process, ...told, from });
  }

  #tell(told: Told): void {
    this.channel.postMessage({ ...told, looplet: PROTOCOL, source: this.#source } satisfies Message<Told>);
  }

  readonly #hear = ({ data }: { readonly data: unknown }): void => {
    const asked = messageIn<Asked>(data);
    if (asked === undefined) return;
    if (asked.type === "hello") return this.#greet();
    if (asked.source !== this.#source || !("request" in asked)) return;
    const { request } = asked;
    try {
      const value = this.#done(asked);
      this.#tell({ type: "reply", request, ...(value !== undefined && { value }) });
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      this.#tell({ type: "reply", request, problem });
    }
  };

  #greet(): void {
    this.#introduce();
    for (const [run, { record }] of this.#runs) {
      record.flush();
      record.processes.forEach((_, process) => this.#tellProcess(run, process));
    }
  }

  #done(asked: Exclude<Message<Asked>, { type: "hello" }>): string | undefined {
    if (asked.type === "fork") return this.#fork(asked);
    const { record, run } = this.#runs.get(asked.run) ?? {};
    if (record === undefined) throw new Error("the run is no longer there");
    if (asked.type === "export") return record.text(asked.run, run?.outcome);
    if (run === undefined) throw new Error("the page of the run answers and ends it");
    if (asked.type === "abort") run.abort("aborted in devtools");
    else if (!run.answer(asked.questionId, asked.answer)) throw new Error("the question is no longer open");
    return undefined;
  }

  #fork({ agent: name, journal, changes, from }: Extract<Message<Asked>, { type: "fork" }>): string {
    const agent = Object.hasOwn(this.#agents, name) ? this.#agents[name] : undefined;
    if (agent === undefined) throw new Error(`there is no agent ${name}`);
    let published: Published | undefined;
    const run = forked(agent, journal, changes, (id) => (published = this.#publish(id, from)).record);
    published!.run = run;
    return run.id;
  }
}
