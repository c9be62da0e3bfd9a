/** A walk through the files of a search, with the bounds of one call. */
import type { ToolContext } from "../../core/api/index.js";
import type { Vfs } from "../vfs/index.js";
import { failed } from "./files.js";
import { Steps, type Pattern, type Span } from "./pattern.js";

/** Steps of the matching of one call, a few seconds of work. */
const MOST_STEPS = 40_000_000;

/** The maximum number of names that one call reads. */
const MOST_NAMES = 100_000;

/** Characters of a path that is looked at. */
const PATH_CHARS = 4096;

/** Names between two checks of the signal. */
const NAMES_AT_ONCE = 500;

/** Folders that no search enters unless it starts there. */
const SKIPPED = [".git/", "node_modules/"];

type Watched = Pick<ToolContext, "signal" | "mayRead">;

export class Walk {
  /** What the result omits, for the model. */
  readonly notes = new Set<string>();
  readonly #vfs: Vfs;
  readonly #context: Watched;
  readonly #steps = new Steps(MOST_STEPS);
  #names = 0;

  constructor(vfs: Vfs, context: Watched) {
    this.#vfs = vfs;
    this.#context = context;
  }

  /**
   * The files below a folder that match the pattern by their path in it, or the file itself. Files that a rule
   * withholds are skipped.
   */
  async *files(from: string, pattern: Pattern): AsyncGenerator<string> {
    const found = await this.#vfs.stat(from);
    if (found === undefined) throw failed("file_not_found", `There is no folder ${from}.`);
    if (!found.isDirectory) return yield from;
    const base = from === "/" ? "/" : `${from}/`;
    const folders = [base];
    for (let folder = folders.pop(); folder !== undefined; folder = folders.pop())
      for (const name of await this.#vfs.list(folder === "/" ? "/" : folder.slice(0, -1))) {
        if ((this.#names += 1) % NAMES_AT_ONCE === 0) await this.#rest();
        if (this.#names > MOST_NAMES)
          return void this.notes.add(
            `Only the first ${MOST_NAMES} names were looked at: search in a folder.`,
          );
        const path = folder + name;
        if (name.endsWith("/")) {
          if (!SKIPPED.includes(name) && path.length < PATH_CHARS) folders.push(path);
        } else if ((await this.find(pattern, path, base.length)) === undefined) continue;
        else if (this.#context.mayRead(path)) yield path;
        else this.notes.add("Files that a rule withholds were left out.");
      }
  }

  /** The first match of a pattern in a part of a text. A pattern for whole texts gets the text after `from`. */
  async find(pattern: Pattern, text: string, from: number, to?: number): Promise<Span | undefined> {
    const [searched, begin] = to === undefined ? [text.slice(from), 0] : [text, from];
    const search = pattern.find(searched, begin, to ?? searched.length, this.#steps);
    try {
      for (;;) {
        const step = search.next();
        if (step.done === true) return step.value;
        await this.#rest();
      }
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw failed(
        "too_much_work",
        `${error.message} Use a simpler pattern, or search in fewer files with path and glob.`,
      );
    }
  }

  /** Lets others run, including an abort of the call. */
  async #rest(): Promise<void> {
    await new Promise<void>((resolve) => setTimeout(resolve, 0));
    this.#context.signal.throwIfAborted();
  }
}
