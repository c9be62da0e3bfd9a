/**
 * Error responses for clients. A client sees the text of its own mistakes. Any other error concerns the server. Its
 * text may contain the variable of a key, a path or a table, so it is only logged.
 */
/** An error that the request caused, with its status. */
export class BadRequest extends Error {
  readonly status: number;
  /** The code of looplet, and other fields with which a client recreates the error. */
  readonly more: { readonly code?: string; readonly field?: string; readonly problem?: string };

  /** `cause` is the looplet error that it reports. */
  constructor(message: string, status = 400, more: BadRequest["more"] = {}, cause?: unknown) {
    super(message, { cause });
    this.status = status;
    this.more = more;
  }
}

/** The refusal of an order for a session that another process is performing. */
export function heldElsewhere(): BadRequest {
  return new BadRequest("Another process is running this session. Try again later.", 409);
}

/**
 * Returns the result of `work`. A misuse of looplet in it counts as a mistake of the request. So does a configuration
 * error of an option from the request: any with `given` true, or those with a field that begins with a name in the
 * list.
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
