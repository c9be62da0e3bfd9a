// Devtools without a screen: what comes over a channel, played as it comes.
import { loadWasm } from "../../../../src/typescript/core/host/wasm.js";
import { Attachment, type Source } from "../../../../src/typescript/lab/devtools/live/attachment.js";
import type {
  DevtoolsChannel,
  ForkedFrom,
  LoopHead,
} from "../../../../src/typescript/lab/devtools/live/protocol.js";
import type { LoopInput } from "../../../../src/typescript/lab/replay/loop-file.js";
import { Playback } from "../../../../src/typescript/lab/replay/playback.js";

/** A run as devtools see it. */
export interface Seen {
  readonly source: Source;
  readonly playback: Playback;
  readonly processes: { readonly head: LoopHead; readonly inputs: LoopInput[] }[];
  readonly from: ForkedFrom | undefined;
}

export interface Viewer {
  readonly attachment: Attachment;
  readonly sources: Map<string, Source>;
  readonly gone: string[];
  /** By their ids. A run that two publishers tell is the one of the later. */
  readonly runs: Map<string, Seen>;
  /** Resolves with the publisher of this name when it has introduced itself. */
  source(name: string): Promise<Source>;
  /** Resolves with the run when everything that was told of it by now has come. */
  seen(id: string): Promise<Seen>;
  /** The `.loop` file of a run. */
  file(id: string): Promise<string>;
}

/** Attaches to the channel, and plays the runs that are told there. */
export async function view(channel: DevtoolsChannel): Promise<Viewer> {
  const wasm = await loadWasm();
  const sources = new Map<string, Source>();
  const runs = new Map<string, Seen>();
  const gone: string[] = [];
  const waiting: (() => void)[] = [];
  const attachment = new Attachment(channel, {
    onSource(source) {
      sources.set(source.name, source);
      for (const look of waiting) look();
    },
    onGone: (id) => void gone.push(id),
    onProcess(source, id, head, from) {
      const seen = runs.get(id) ?? { source, playback: new Playback(wasm), processes: [], from };
      runs.set(id, seen);
      const process = { head, inputs: [] };
      seen.processes.push(process);
      seen.playback.begin({ ...head, inputs: process.inputs });
    },
    onInputs(_, id, inputs) {
      const { playback, processes } = runs.get(id)!;
      processes.at(-1)!.inputs.push(...inputs);
      playback.advance();
    },
  });
  const file = async (id: string): Promise<string> => {
    for (const { id: source } of sources.values()) {
      const text = await attachment.ask(source, { type: "export", run: id }).catch(() => undefined);
      if (text !== undefined) return text;
    }
    throw new Error(`no publisher has the run ${id}`);
  };
  return {
    attachment,
    sources,
    gone,
    runs,
    file,
    source: (name) =>
      new Promise((resolve) => {
        const look = (): void => void (sources.has(name) && resolve(sources.get(name)!));
        waiting.push(look);
        look();
      }),
    async seen(id) {
      // A reply comes behind everything that was told before.
      await file(id);
      return runs.get(id)!;
    },
  };
}
