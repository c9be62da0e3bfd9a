/** What devtools show: the runs that are open, the one that is looked at, and the publishers that are attached. */
import type { JournalEntry, QuestionAnswer } from "../../../core/api/index.js";
import { loadWasm, type LoadedWasm } from "../../../core/kit/engine.js";
import { readLoop, type LoopInput } from "../../replay/loop-file.js";
import { redact } from "../../replay/recorder.js";
import { Attachment, type AttachmentListener, type Source } from "../live/attachment.js";
import type { DevtoolsChannel, ForkChanges, ForkedFrom, LoopHead, OfferedAgent } from "../live/protocol.js";
import { OpenedRun, problemOf } from "./opened-run.js";
import { countUpTo } from "./ordered.js";
import { Search } from "./search.js";

/** A fork that the user requests. */
export interface ForkRequest {
  readonly run: OpenedRun;
  readonly step: number;
  /** The input that takes the place of the step's own. */
  readonly input?: LoopInput["input"] | undefined;
  readonly agent: string;
  readonly changes: ForkChanges;
}

/** A fork that a page makes in its own way. @beta */
export interface HostedFork {
  /** The id of the run, and the name under which devtools show it. */
  readonly run: string;
  readonly name: string;
  /** The index of the step after which it continues. */
  readonly step: number;
  /** The first prompt of the run. Empty if it had none. */
  readonly prompt: string;
  /** The journal up to the step, with the changed input, for `agent.resume`. */
  readonly journal: readonly JournalEntry[];
  /** The name of the agent that was chosen. */
  readonly agent: string;
  readonly changes: ForkChanges;
}

/** A page that continues runs in its own way, with agents that it names. @beta */
export interface DevtoolsHost {
  readonly agents: readonly OfferedAgent[];
  /** May throw: the error is shown in the form. */
  fork(fork: HostedFork): void;
}

/** The maximum number of runs in memory. The oldest live ones are closed first. */
const MAX_RUNS = 200;

/** Milliseconds of playing before the page gets its turn. */
const SLICE_MS = 30;

export class Lab implements AttachmentListener {
  readonly runs = new Map<string, OpenedRun>();
  readonly sources = new Map<string, Source>();
  /** The selected run, and the one next to it. */
  selected: OpenedRun | undefined;
  beside: OpenedRun | undefined;
  /** The steps that are looked at, by the key of the run. A live run without one is followed. */
  readonly #steps = new Map<string, number>();
  isEveryStep = false;
  search: Search | undefined;
  problem: string | undefined;
  /** The name of the file that is being played. */
  opening: string | undefined;
  host: DevtoolsHost | undefined;
  readonly #onChange: () => void;
  #wasm: LoadedWasm | undefined;
  #files = 0;
  /** A run that is shown as soon as its first input comes. */
  #awaited: string | undefined;
  /** Whether the user has selected a run. Until then the latest run is shown. */
  #isChosen = false;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** Shows a `.loop` file after playing it to its end. An invalid text becomes a `problem`. */
  async open(name: string, text: string): Promise<void> {
    try {
      const file = readLoop(text);
      const key = `file ${++this.#files}`;
      const run = new OpenedRun({ key, id: file.id, name, file: text }, await this.#engine());
      const pause = this.#pausing(name);
      for (const { inputs, ...head } of file.processes) {
        run.begin(head, inputs);
        while (!run.advance(pause.isDue)) await pause.take();
      }
      this.opening = undefined;
      if (run.steps.length === 0) throw new Error(run.problem ?? "The run has no steps.");
      this.problem = undefined;
      this.#keep(run);
      this.select(run);
    } catch (error) {
      this.opening = undefined;
      this.problem = `${name} cannot be opened. ${problemOf(error)}`;
      this.#onChange();
    }
  }

  /** Lets the page draw and handle input while a long file is played. */
  #pausing(name: string): { readonly isDue: () => boolean; take(): Promise<void> } {
    let startedMs = performance.now();
    return {
      isDue: () => performance.now() - startedMs > SLICE_MS,
      take: async () => {
        this.opening = name;
        this.#onChange();
        await new Promise((resolve) => setTimeout(resolve, 0));
        startedMs = performance.now();
      },
    };
  }

  /** Shows the runs of the publishers on a channel. Returns a function that ends it. */
  attach(channel: DevtoolsChannel): () => void {
    let attachment: Attachment | undefined;
    let isOver = false;
    void this.#engine().then(
      () => {
        if (!isOver) attachment = new Attachment(channel, this);
      },
      (error: unknown) => {
        this.problem = problemOf(error);
        this.#onChange();
      },
    );
    return () => {
      isOver = true;
      attachment?.detach();
      for (const source of [...this.sources.values()])
        if (source.attachment === attachment) this.onGone(source.id);
    };
  }

  onSource(source: Source): void {
    this.sources.set(source.id, source);
    this.#onChange();
  }

  onGone(sourceId: string): void {
    this.sources.delete(sourceId);
    this.#onChange();
  }

  onProcess(source: Source, id: string, head: LoopHead, from: ForkedFrom | undefined): void {
    const key = `${source.id} ${id}`;
    const run = this.runs.get(key) ?? new OpenedRun({ key, id, name: id, source, from }, this.#wasm!);
    run.begin(head);
    this.#keep(run);
    if (this.selected === undefined || !this.#isChosen || this.#awaited === key) this.#show(run);
    this.#onChange();
  }

  onInputs(source: Source, id: string, inputs: readonly LoopInput[]): void {
    const run = this.runs.get(`${source.id} ${id}`);
    run?.add(inputs);
    this.#onChange();
  }

  select(run: OpenedRun): void {
    this.#isChosen = true;
    this.#show(run);
  }

  #show(run: OpenedRun): void {
    if (this.#awaited === run.facts.key) this.#awaited = undefined;
    this.selected = run;
    if (this.beside === run) this.beside = undefined;
    this.look("");
    this.#onChange();
  }

  /** Shows another run next to the selected one, or none. */
  place(run: OpenedRun | undefined): void {
    this.#isChosen = true;
    this.beside = run === this.selected ? undefined : run;
    this.#onChange();
  }

  close(run: OpenedRun): void {
    this.runs.delete(run.facts.key);
    run.close();
    if (this.beside === run) this.beside = undefined;
    if (this.selected === run) {
      this.selected = undefined;
      this.look("");
      const [next] = [...this.runs.values()].reverse();
      if (next !== undefined) this.select(next);
    }
    this.#onChange();
  }

  /** The step that is looked at: the last one of a run that is followed. */
  stepOf(run: OpenedRun): number {
    const last = run.steps.length - 1;
    return Math.min(this.#steps.get(run.facts.key) ?? last, last);
  }

  go(run: OpenedRun, step: number): void {
    this.#isChosen = true;
    const last = run.steps.length - 1;
    if (step >= last) this.#steps.delete(run.facts.key);
    else this.#steps.set(run.facts.key, Math.max(0, step));
    this.#onChange();
  }

  /** The steps of a run in the list, as their indexes: all of them, or only those with events. */
  rowsOf(run: OpenedRun): { readonly length: number; at(row: number): number; rowOf(step: number): number } {
    const { telling, steps } = run;
    if (this.isEveryStep || telling.length === 0)
      return { length: steps.length, at: (row) => row, rowOf: (step) => step };
    return {
      length: telling.length,
      at: (row) => telling[row]!,
      rowOf: (step) => Math.max(0, countUpTo(telling, step, (told) => told) - 1),
    };
  }

  /** Goes to a row of the list. A row beyond its ends is the first or last one. A run at its last row is followed. */
  goRow(run: OpenedRun, row: number): void {
    const rows = this.rowsOf(run);
    this.go(run, row < rows.length - 1 ? rows.at(Math.max(0, row)) : run.steps.length - 1);
  }

  /** Moves by so many rows from the current one: keys may be faster than frames. */
  walk(run: OpenedRun, rows: number): void {
    this.goRow(run, this.rowsOf(run).rowOf(this.stepOf(run)) + rows);
  }

  showEvery(isEvery: boolean): void {
    this.isEveryStep = isEvery;
    this.#onChange();
  }

  /** Searches the selected run. */
  look(words: string): void {
    if (words !== "") this.#isChosen = true;
    this.search?.stop();
    this.search = undefined;
    if (words !== "" && this.selected !== undefined)
      this.search = new Search(this.selected.steps, words, this.#onChange);
    this.#onChange();
  }

  /** Goes to the next or previous search result. */
  goFound(way: 1 | -1): void {
    const run = this.selected;
    const found = this.search?.found ?? [];
    if (run === undefined || found.length === 0) return;
    const here = this.stepOf(run);
    const next =
      way > 0 ? found.find((step) => step > here) : [...found].reverse().find((step) => step < here);
    this.go(run, next ?? (way > 0 ? found[0]! : found.at(-1)!));
  }

  /** The agents that can continue a run. Those of its own publisher come first. */
  agentsFor(run: OpenedRun): readonly OfferedAgent[] {
    if (this.host !== undefined) return this.host.agents;
    const own = run.facts.source?.id;
    const sources = [...this.sources.values()].sort((one, other) => +(other.id === own) - +(one.id === own));
    return sources.flatMap(({ agents }) => agents);
  }

  /** Continues a run. Rejects with the reason if it cannot. */
  async fork(request: ForkRequest): Promise<void> {
    const { run, step, input, agent, changes } = request;
    const journal = run.playback.journalAt(step, input);
    if (journal.length === 0)
      throw new Error("Nothing of the run is saved at this step yet. Choose a later step.");
    const { id: runId, name: runName } = run.facts;
    if (this.host !== undefined)
      return this.host.fork({ run: runId, name: runName, step, prompt: run.prompt, journal, agent, changes });
    const isOffered = ({ agents }: Source): boolean => agents.some(({ name }) => name === agent);
    const own = this.sources.get(run.facts.source?.id ?? "");
    const source =
      own !== undefined && isOffered(own) ? own : [...this.sources.values()].find((one) => isOffered(one));
    if (source === undefined) throw new Error(`The agent ${agent} is no longer available.`);
    const from = { run: runId, step };
    const id = await source.attachment.ask(source.id, { type: "fork", agent, from, journal, changes });
    const key = `${source.id} ${id}`;
    const fork = this.runs.get(key);
    if (fork === undefined) this.#awaited = key;
    else this.select(fork);
  }

  /** Whether devtools may answer questions of the run: they started it, or its publisher offers agents. */
  canAnswer({ facts, outcome }: OpenedRun): boolean {
    if (outcome !== undefined || facts.source === undefined) return false;
    return facts.from !== undefined || (this.sources.get(facts.source.id)?.agents.length ?? 0) > 0;
  }

  /** Answers a question of a run that is under way. Rejects with the reason why it does not. */
  async answer(run: OpenedRun, questionId: number, answer: QuestionAnswer): Promise<void> {
    const { source, id } = run.facts;
    await source?.attachment.ask(source.id, { type: "answer", run: id, questionId, answer });
  }

  async abort(run: OpenedRun): Promise<void> {
    const { source, id } = run.facts;
    await source?.attachment.ask(source.id, { type: "abort", run: id });
  }

  /**
   * The run as a `.loop` file, without the texts that the user names. Rejects with the reason if there is no file.
   */
  async fileOf({ facts }: OpenedRun, hidden: readonly string[]): Promise<string> {
    const { source, id, file } = facts;
    const text = file ?? (await source?.attachment.ask(source.id, { type: "export", run: id })) ?? "";
    const hide = (told: string): string =>
      hidden.reduce((rest, word) => rest.replaceAll(word, "*".repeat(word.length)), told);
    return hidden.length === 0 ? text : redact(text, { redact: hide });
  }

  #keep(run: OpenedRun): void {
    this.runs.set(run.facts.key, run);
    if (this.runs.size <= MAX_RUNS) return;
    for (const old of this.runs.values())
      if (old !== this.selected && old !== this.beside && old !== run) return this.close(old);
  }

  async #engine(): Promise<LoadedWasm> {
    return (this.#wasm ??= await loadWasm());
  }
}
