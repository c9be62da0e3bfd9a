/** The side of devtools on a channel: which publishers there are, and what they tell of their runs. */
import type { LoopInput } from "../../replay/loop-file.js";
import {
  messageIn,
  PROTOCOL,
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

/** Hears of publishers and their runs. Inputs come in their order, each once. */
export interface AttachmentListener {
  onSource(source: Source): void;
  onGone(sourceId: string): void;
  /** A run begins, or goes on in another process. */
  onProcess(source: Source, run: string, head: LoopHead, from: ForkedFrom | undefined): void;
  onInputs(source: Source, run: string, inputs: readonly LoopInput[]): void;
}

/** The processes of a run that were told, as the number of inputs of each. */
type Counts = number[];

/** An answer that has not come after this time is not waited for any longer: its publisher may be gone. */
const REPLY_MS = 10_000;

/** A question without what the attachment adds to it. */
type Question = Asked extends infer A ? (A extends { request: number } ? Omit<A, "request"> : never) : never;

export class Attachment {
  readonly #channel: DevtoolsChannel;
  readonly #listener: AttachmentListener;
  readonly #sources = new Map<string, Source>();
  readonly #runs = new Map<string, Counts>();
  readonly #replies = new Map<number, (reply: Extract<Told, { type: "reply" }>) => void>();
  /** A number that no other devtools on the channel are likely to use. */
  #request = Math.floor(Math.random() * 2 ** 40);

  constructor(channel: DevtoolsChannel, listener: AttachmentListener) {
    this.#channel = channel;
    this.#listener = listener;
    channel.addEventListener("message", this.#hear);
    channel.start?.();
    this.#post("", { type: "hello" });
  }

  /** Resolves with the value of the publisher's answer. Rejects with an `Error` that says why there is none. */
  ask(sourceId: string, question: Question): Promise<string | undefined> {
    const request = ++this.#request;
    return new Promise((resolve, reject) => {
      const over = setTimeout(() => {
        this.#replies.delete(request);
        reject(new Error("The other side does not answer: its page or process may be gone."));
      }, REPLY_MS);
      this.#replies.set(request, ({ value, problem }) => {
        clearTimeout(over);
        if (problem === undefined) resolve(value);
        else reject(new Error(problem));
      });
      this.#post(sourceId, { ...question, request } as Asked);
    });
  }

  detach(): void {
    this.#channel.removeEventListener("message", this.#hear);
  }

  #post(source: string, asked: Asked): void {
    this.#channel.postMessage({ ...asked, looplet: PROTOCOL, source } satisfies Message<Asked>);
  }

  readonly #hear = ({ data }: { readonly data: unknown }): void => {
    const told = messageIn<Told>(data);
    if (told === undefined) return;
    if (told.type === "reply") {
      this.#replies.get(told.request)?.(told);
      this.#replies.delete(told.request);
    } else if (told.type === "source") {
      const source = { id: told.source, name: told.name, agents: told.agents, attachment: this };
      this.#sources.set(told.source, source);
      this.#listener.onSource(source);
    } else if (told.type === "gone") {
      this.#sources.delete(told.source);
      this.#listener.onGone(told.source);
    } else this.#hearRun(told);
  };

  #hearRun(told: Message<Extract<Told, { type: "process" | "inputs" }>>): void {
    const source = this.#sources.get(told.source);
    if (source === undefined) return;
    const { run, process } = told;
    const key = `${told.source} ${run}`;
    const counts = this.#runs.get(key) ?? [];
    const known = counts[process];
    const at = told.type === "process" ? 0 : told.at;
    const isGap = known === undefined ? told.type === "inputs" || process > counts.length : at > known;
    // Devtools that came in the middle have missed something: all of it is told once more.
    if (isGap) return this.#post(told.source, { type: "hello" });
    if (known === undefined && told.type === "process") {
      this.#runs.set(key, counts);
      counts.push(0);
      this.#listener.onProcess(source, run, told.head, told.from);
    }
    const fresh = told.inputs.slice((known ?? 0) - at);
    if (fresh.length === 0 || process !== counts.length - 1) return;
    counts[process] = (known ?? 0) + fresh.length;
    this.#listener.onInputs(source, run, fresh);
  }
}
