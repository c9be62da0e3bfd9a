/**
 * The words for a client whose request cannot be done. A mistake of the request is told in words. Everything else
 * is the matter of the server: its words may name a key's variable, a path or a table, so they go to the log alone.
 */
/** An error that the request has made, with the status that says so. */
export class BadRequest extends Error {
  readonly status: number;
  /** The code of looplet, and what else the error has for a client that makes it anew. */
  readonly more: { readonly code?: string; readonly field?: string; readonly problem?: string };

  /** `cause` is the mistake of looplet that it tells of. */
  constructor(message: string, status = 400, more: BadRequest["more"] = {}, cause?: unknown) {
    super(message, { cause });
    this.status = status;
    this.more = more;
  }
}

/**
 * What `work` returns. A misuse of looplet in it is a mistake of the request, and with `isAllOfIt` each error of an
 * option, because the request has given all of them.
 */
export async function ofRequest<T>(work: () => T | Promise<T>, isAllOfIt = false): Promise<T> {
  try {
    return await work();
  } catch (error) {
    // The class may be that of another bundle.
    const { name, message, code, field, problem } = Object(error) as { [field: string]: string | undefined };
    const isMistake =
      code?.startsWith("misuse_") === true || (isAllOfIt && code?.startsWith("config_") === true);
    if (name !== "LoopletError" || !isMistake) throw error;
    const more = { code, ...(field && { field }), ...(problem && { problem }) };
    throw new BadRequest(String(message), 400, more, error);
  }
}
