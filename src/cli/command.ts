/** A command of the program. */

/** The values of a command's options, by their names. */
export interface Options {
  readonly [name: string]: string | boolean | undefined;
}

export interface Command {
  /** What it does, in a few words. */
  readonly about: string;
  /** The names of its arguments. The last may end in `…`: one or more. */
  readonly arguments: readonly string[];
  /** A paragraph for `--help`. */
  readonly help: string;
  readonly options: {
    readonly [name: string]: {
      readonly type: "string" | "boolean";
      readonly about: string;
      /** The word for the value of a text. */
      readonly value?: string;
    };
  };
  /** What `--json` prints. */
  readonly json: string;
  /** Performs it. Returns the exit code. */
  readonly run: (args: readonly string[], options: Options) => Promise<number>;
}

/** A wrong call of the program: exit code 2. */
export class UsageError extends Error {}
