/** The devtools' end of a channel: the known publishers, and what they report about their runs. */
import type { LoopInput } from "../../replay/loop-file.js";
import {
  PROTOCOL,
  toldIn,
  type Asked,
  type DevtoolsChannel,
  type ForkedFrom,
  type LoopHead,
  type Message,
  type OfferedAgent,
  type Told,
} from "./protocol.js";

/** A publisher on the channel. */
export interface Source {
  readonly id: string;
  readonly name: string;
  readonly agents: readonly OfferedAgent[];
  readonly attachment: Attachment;
}

/** Receives publishers and their runs. Inputs arrive in order, each once. */
export interface AttachmentListener {
  onSource(source: Source): void;
  onGone(sourceId: string): void;
  /** A run starts, or resumes in another process. */
  onProcess(source: Source, run: string, head: LoopHead, from: ForkedFrom | undefined): void;
  onInputs(source: Source, run: string, inputs: readonly LoopInput[]): void;
}

/** The received processes of a run, as the number of inputs of each. */
type Counts = number[];

/** The time to wait for an answer, in milliseconds. After it, its publisher may be gone. */
const REPLY_MS = 10_000;
const UNANSWERED = "The run's page or process does not answer. It may have been closed.";

/** A question without what the attachment adds to it. */
type Question = Asked extends infer A ? (A extends { request: number } ? Omit<A, "request"> : never) : never;

type Reply = Extract<Told, { type: "reply" }>;

/** A question that waits for the reply of a source. */
interface Pending {
  readonly source: string;
  settle(reply: Pick<Reply, "value" | "problem">): void;
}

export class Attachment {
  readonly #channel: DevtoolsChannel;
  readonly #listener: AttachmentListener;
  readonly #sources = new Map<string, Source>();
  readonly #runs = new Map<string, Counts>();
  /** The runs of which something is missing, and was asked for. */
  readonly #missing = new Set<string>();
  readonly #pending = new Map<number, Pending>();
  /** A number that no other devtools on the channel are likely to use. */
  #request = Math.floor(Math.random() * 2 ** 40);

  constructor(channel: DevtoolsChannel, listener: AttachmentListener) {
    this.#channel = channel;
    this.#listener = listener;
    channel.addEventListener("message", this.#hear);
    channel.start?.();
    this.#post("", { type: "hello" });
  }

  /** Resolves with the value of the publisher's answer. Rejects with an `Error` that gives the reason. */
  ask(sourceId: string, question: Question): Promise<string | undefined> {
    const request = ++this.#request;
    return new Promise((resolve, reject) => {
      const over = setTimeout(() => this.#settle(request, { problem: UNANSWERED }), REPLY_MS);
      const settle: Pending["settle"] = ({ value, problem }) => {
        clearTimeout(over);
        if (problem === undefined) resolve(value);
        else reject(new Error(problem));
      };
      this.#pending.set(request, { source: sourceId, settle });
      try {
        this.#post(sourceId, { ...question, request } as Asked);
      } catch (error) {
        this.#settle(request, { problem: error instanceof Error ? error.message : String(error) });
      }
    });
  }

  detach(): void {
    this.#channel.removeEventListener("message", this.#hear);
    for (const request of this.#pending.keys()) this.#settle(request, { problem: "Devtools were detached." });
  }

  #settle(request: number, reply: Parameters<Pending["settle"]>[0]): void {
    const pending = this.#pending.get(request);
    this.#pending.delete(request);
    pending?.settle(reply);
  }

  #post(source: string, asked: Asked): void {
    this.#channel.postMessage({ ...asked, looplet: PROTOCOL, source } satisfies Message<Asked>);
  }

  readonly #hear = ({ data }: { readonly data: unknown }): void => {
    const told = toldIn(data);
    if (told === undefined) return;
    if (told.type === "reply") {
      if (this.#pending.get(told.request)?.source === told.source) this.#settle(told.request, told);
    } else if (told.type === "source") {
      const source = { id: told.source, name: told.name, agents: told.agents, attachment: this };
      this.#sources.set(told.source, source);
      this.#listener.onSource(source);
    } else if (told.type === "gone") {
      if (this.#sources.delete(told.source)) this.#listener.onGone(told.source);
    } else this.#hearRun(told);
  };

  #hearRun(told: Message<Extract<Told, { type: "process" | "inputs" }>>): void {
    const source = this.#sources.get(told.source);
    if (source === undefined) return;
    const { run, process } = told;
    const key = `${told.source} ${run}`;
    const counts = this.#runs.get(key) ?? [];
    const known = counts[process];
    if (told.type === "process") {
      if (process > counts.length) return this.#askAgain(told.source, key);
      this.#missing.delete(key);
      if (known !== undefined) return;
      this.#runs.set(key, counts);
      counts.push(0);
      return this.#listener.onProcess(source, run, told.head, told.from);
    }
    if (known === undefined || told.at > known) return this.#askAgain(told.source, key);
    const fresh = told.inputs.slice(known - told.at);
    if (fresh.length === 0 || process !== counts.length - 1) return;
    counts[process] = known + fresh.length;
    this.#listener.onInputs(source, run, fresh);
  }

  /** Devtools that connected late have missed inputs: they request all of them again, if the publisher has them. */
  #askAgain(sourceId: string, key: string): void {
    if (this.#missing.has(key)) return;
    this.#missing.add(key);
    this.#post(sourceId, { type: "hello" });
  }
}
