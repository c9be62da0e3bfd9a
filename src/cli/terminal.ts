/** The only place that writes to the terminal and asks its user. */
import process from "node:process";
import { createInterface, type Interface } from "node:readline";
import { harmless } from "../typescript/lab/replay/harmless.js";

class Terminal {
  #lines: string[] = [];
  #waiting: ((line: string | undefined) => void)[] = [];
  #input: Interface | undefined;
  #isOver = false;

  /** Writes a line to standard output: what the command is for. */
  print(text: string): void {
    process.stdout.write(`${harmless(text)}\n`);
  }

  /** Writes a piece of text to standard output. */
  write(text: string): void {
    process.stdout.write(harmless(text));
  }

  /** Writes a line to standard error: progress, questions and errors. */
  tell(text: string): void {
    process.stderr.write(`${harmless(text)}\n`);
  }

  /** The text in a quieter colour, on a terminal that shows colours. */
  faint(text: string): string {
    return process.stderr.isTTY && !process.env["NO_COLOR"] ? `\u001b[2m${harmless(text)}\u001b[22m` : text;
  }

  /** Writes a faint line to standard error. */
  note(text: string): void {
    process.stderr.write(`${this.faint(harmless(text))}\n`);
  }

  /**
   * Asks on standard error. The next line of standard input is the answer; undefined at its end. A line that was
   * typed before the question is no answer to it. The lines of a pipe or a file are answers in their order.
   */
  async ask(question: string): Promise<string | undefined> {
    if (process.stdin.isTTY) await this.#forget();
    process.stderr.write(`${harmless(question)} `);
    return this.line();
  }

  /** The next line of standard input; undefined at its end. */
  line(): Promise<string | undefined> {
    this.#open();
    const line = this.#lines.shift();
    if (line !== undefined || this.#isOver) return Promise.resolve(line);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Lets go of standard input, so that the process can end. */
  close(): void {
    this.#input?.close();
    process.stdin.pause();
    process.stdin.unref?.();
  }

  /** Drops the lines that were typed until now, including those that the system has not delivered yet. */
  async #forget(): Promise<void> {
    this.#open();
    // Reading the available input takes a turn or two of the event loop.
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setTimeout(resolve, 5));
    const dropped = this.#lines.splice(0).length;
    if (dropped > 0)
      this.note(`ignored ${dropped === 1 ? "a line" : `${dropped} lines`} typed before the question`);
  }

  #open(): void {
    if (this.#input !== undefined) return;
    this.#input = createInterface({ input: process.stdin });
    this.#input.on("line", (line) => {
      const waiting = this.#waiting.shift();
      if (waiting === undefined) this.#lines.push(line);
      else waiting(line);
    });
    this.#input.on("close", () => {
      this.#isOver = true;
      for (const waiting of this.#waiting.splice(0)) waiting(undefined);
    });
  }
}

export const terminal = new Terminal();
