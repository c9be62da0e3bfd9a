/**
 * `looplet/devtools/publish`: the end of devtools next to your agents, in a page, a worker or a server. It sends the
 * inputs of recorded runs on a channel, and lets devtools continue runs from any of their steps.
 */
import { LoopletError } from "../../core/api/errors.js";
import type { Agent, Recorder, Run } from "../../core/api/index.js";
import { checkOptions, describe, isObject } from "../../core/kit/check.js";
import { internalsOf } from "../../core/kit/runs.js";
import type { LoopFile, LoopInput } from "../replay/loop-file.js";
import { recorder } from "../replay/recorder.js";
import { forked, offered, runUnderWay } from "./live/fork.js";
import { LiveRecord, type ToldProcess } from "./live/live-record.js";
import {
  askedIn,
  PROTOCOL,
  type Asked,
  type DevtoolsChannel,
  type ForkedFrom,
  type Message,
  type Told,
} from "./live/protocol.js";

export type { DevtoolsChannel } from "./live/protocol.js";

/** @beta */
export interface PublishOptions {
  /** The name that devtools show: `"checkout worker"`. Default: `"Agents"`. */
  name?: string | undefined;
  /** The number of latest runs that devtools can still ask for. Default 50. */
  keep?: number | undefined;
}

/** Publishes the runs of agents to devtools. @beta */
export interface Publisher {
  /** Give it to `createAgent({ record })`. It records as `recorder()` of `looplet/replay` does. */
  readonly record: Recorder;
  /**
   * Lets devtools continue runs with these agents and changed options: with their tools, their keys and their models.
   * A fork is a new run, outside of the agents' store. Devtools can also answer the open questions of these agents'
   * runs: approvals, calls to reconcile, and forms.
   *
   * @throws LoopletError `config_wrong_type`
   */
  offer(agents: { readonly [name: string]: Agent }): void;
  /** Ends publishing. Runs continue. */
  close(): void;
}

interface Published {
  readonly processes: ToldProcess[];
  /** One for each time that the run was started or resumed here. */
  readonly records: LiveRecord[];
  readonly from: ForkedFrom | undefined;
  /** A run that devtools started, and that they answer and abort. */
  run: Run | undefined;
}

/**
 * Publishes the runs of agents on a channel: `publish(new BroadcastChannel("looplet"))`. Devtools that connect later
 * also receive earlier runs. Anyone with access to the channel can read the runs, without keys, and can run offered
 * agents: publish in development only.
 *
 * @beta
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

/** Inputs of one message. A port of an extension takes 64 MiB, which a whole run may exceed. */
const MAX_INPUTS = 200;

class ChannelPublisher implements Publisher {
  readonly record: Recorder;
  readonly #source = `${Math.random().toString(36).slice(2)}${Date.now().toString(36)}`;
  readonly #runs = new Map<string, Published>();
  #agents: { readonly [name: string]: Agent } = {};
  #isClosed = false;

  constructor(
    private readonly channel: DevtoolsChannel,
    private readonly name: string,
    private readonly keep: number,
  ) {
    this.record = (id) => this.#recorded(id, this.#runs.get(id));
    channel.addEventListener("message", this.#hear);
    channel.start?.();
    // The agents of a page end with it, and come back if the browser restores it from its cache.
    globalThis.addEventListener?.("pagehide", this.#leave);
    globalThis.addEventListener?.("pageshow", this.#introduce);
    this.#introduce();
  }

  offer(agents: { readonly [name: string]: Agent }): void {
    for (const [name, agent] of Object.entries(agents))
      if (internalsOf(agent) === undefined)
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
    globalThis.removeEventListener?.("pagehide", this.#leave);
    globalThis.removeEventListener?.("pageshow", this.#introduce);
    this.#leave();
    this.#isClosed = true;
  }

  /** The record of a run that begins, or that is resumed: it has the id that it had before. */
  #recorded(id: string, before: Published | undefined, from?: ForkedFrom): LiveRecord {
    const published = before ?? { processes: [], records: [], from, run: undefined };
    const record = new LiveRecord(recorder()(id), published.processes, {
      onProcess: (process) => this.#tellProcess(id, published, process),
      onInputs: (process, at, inputs) => this.#tellInputs(id, process, at, inputs),
    });
    published.records.push(record);
    this.#runs.delete(id);
    this.#runs.set(id, published);
    if (this.#runs.size > this.keep) this.#runs.delete([...this.#runs.keys()][0]!);
    return record;
  }

  readonly #introduce = (): void => {
    const agents = Object.entries(this.#agents).map(([name, agent]) => offered(name, agent));
    this.#tell({ type: "source", name: this.name, agents });
  };

  readonly #leave = (): void => this.#tell({ type: "gone" });

  #tellProcess(run: string, { processes, from }: Published, process: number): void {
    this.#tell({ type: "process", run, process, head: processes[process]!.head, from });
  }

  #tellInputs(run: string, process: number, first: number, all: readonly LoopInput[]): void {
    for (let start = 0; start < all.length; start += MAX_INPUTS) {
      const inputs = all.slice(start, start + MAX_INPUTS);
      this.#tell({ type: "inputs", run, process, at: first + start, inputs });
    }
  }

  /** A run continues even if its channel fails. */
  #tell(told: Told): void {
    if (this.#isClosed) return;
    try {
      this.channel.postMessage({ ...told, looplet: PROTOCOL, source: this.#source } satisfies Message<Told>);
    } catch {
      // Devtools notice what they have missed.
    }
  }

  readonly #hear = ({ data }: { readonly data: unknown }): void => {
    const asked = askedIn(data);
    if (asked?.source !== this.#source && !(asked?.type === "hello" && asked.source === "")) return;
    if (asked.type === "hello") return this.#greet();
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
    for (const [run, published] of this.#runs) {
      for (const record of published.records) record.flush();
      published.processes.forEach(({ inputs }, process) => {
        this.#tellProcess(run, published, process);
        this.#tellInputs(run, process, 0, inputs);
      });
    }
  }

  #done(asked: Exclude<Message<Asked>, { type: "hello" }>): string | undefined {
    if (asked.type === "fork") return this.#fork(asked);
    const { records, run } = this.#runs.get(asked.run) ?? {};
    if (records === undefined) throw new Error("the run no longer exists");
    if (asked.type === "export")
      return joinedLoops(records.map((record) => record.text(asked.run, run?.outcome)));
    if (asked.type === "answer") return this.#answer(asked, run);
    if (run === undefined) throw new Error("only the run's own page can abort it");
    run.abort("aborted in devtools");
    return undefined;
  }

  #answer(
    { run: id, questionId, answer }: Extract<Asked, { type: "answer" }>,
    fork: Run | undefined,
  ): undefined {
    const run = fork ?? runUnderWay(Object.values(this.#agents), id);
    if (run === undefined)
      throw new Error("no offered agent performs this run. To answer questions here, `offer` its agent");
    if (!run.answer(questionId, answer)) throw new Error("the question is no longer open");
  }

  #fork({ agent: name, journal, changes, from }: Extract<Message<Asked>, { type: "fork" }>): string {
    const agent = Object.hasOwn(this.#agents, name) ? this.#agents[name] : undefined;
    if (agent === undefined) throw new Error(`there is no agent ${name}`);
    const run = forked(agent, journal, changes, (id) => this.#recorded(id, undefined, from));
    this.#runs.get(run.id)!.run = run;
    // Devtools see how it ends.
    run.result.catch(() => {});
    return run.id;
  }
}

/** Merges the files of a resumed run, one for each process. */
function joinedLoops(texts: readonly string[]): string {
  if (texts.length === 1) return texts[0]!;
  const files = texts.map((text) => JSON.parse(text) as LoopFile);
  return JSON.stringify({ ...files.at(-1), processes: files.flatMap(({ processes }) => processes) });
}
