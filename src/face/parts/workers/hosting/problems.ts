/**
 * The words for a client whose request cannot be done. A mistake of the request is told in words. Everything else
 * is the matter of the server: its words may name a key's variable, a path or a table, so they go to the log alone.
 */
/** An error that the request has made, with the status that says so. */
export class BadRequest extends Error {
  readonly status: number;
  /** The code of looplet, and what else the error has for a client that makes it anew. */
  readonly more: { readonly code?: string; readonly field?: string; readonly problem?: string };

  constructor(message: string, status = 400, more: BadRequest["more"] = {}) {
    super(message);
    this.status = status;
    this.more = more;
  }
}

/** What `work` returns. A misuse of looplet in it is a mistake of the request. */
export async function ofRequest<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    // The class may be that of another bundle.
    const { name, message, code, field, problem } = Object(error) as { [field: string]: string | undefined };
    if (name !== "LoopletError" || !code?.startsWith("misuse_")) throw error;
    throw new BadRequest(String(message), 400, {
      code,
      ...(field && { field }),
      ...(problem && { problem }),
    });
  }
}

/** An error in the words for a client. */
export function wordsFor(error: unknown): { error: string } & BadRequest["more"] {
  if (!(error instanceof BadRequest)) {
    console.error("looplet: a request to a session has failed.", error);
    return { error: "The server cannot do this. Its log says why." };
  }
  return { error: error.message, ...error.more };
}
