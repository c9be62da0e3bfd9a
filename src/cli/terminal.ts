/** The only place that writes to the terminal and asks its user. */
import process from "node:process";
import { createInterface, type Interface } from "node:readline";
import { harmless } from "../face/parts/replay/harmless.js";

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

  /** Writes a line to standard error: what goes on meanwhile, questions and errors. */
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

  /** Asks on standard error. The next line of standard input is the answer; undefined at its end. */
  async ask(question: string): Promise<string | undefined> {
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
