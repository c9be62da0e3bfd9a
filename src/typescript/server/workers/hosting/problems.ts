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

/** The refusal of an order for a session with which another process goes on. */
export function heldElsewhere(): BadRequest {
  return new BadRequest("Another process goes on with this session. Try again later.", 409);
}

/**
 * What `work` returns. A misuse of looplet in it is a mistake of the request. So is the error of an option that the
 * request has given: each with `given` true, or those whose field begins with a name in the list.
 */
export async function ofRequest<T>(
  work: () => T | Promise<T>,
  given: boolean | readonly string[] = false,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    // The class may be that of another bundle.
    const { name, message, code, field, problem } = Object(error) as { [field: string]: string | undefined };
    const isGiven = typeof given === "boolean" ? given : given.includes(/^\w*/.exec(String(field))![0]);
    const isMistake =
      code?.startsWith("misuse_") === true || (isGiven && code?.startsWith("config_") === true);
    if (name !== "LoopletError" || !isMistake) throw error;
    const more = { code, ...(field && { field }), ...(problem && { problem }) };
    throw new BadRequest(String(message), 400, more, error);
  }
}
