/**
 * The words for a client whose request cannot be done. A mistake of the request is told in words. Everything else
 * is the matter of the server: its words may name a key's variable, a path or a table, so they go to the log alone.
 */
import type { HostResponse } from "../../core/api/platform.js";
import { json } from "./host.js";

/** An error that the request has made, with the status that says so. */
export class BadRequest extends Error {
  readonly status: number;
  /** The code of looplet, if the error has one. */
  readonly code: string | undefined;

  constructor(message: string, status = 400, code?: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** What `work` returns. A misuse of looplet in it is a mistake of the request. */
export async function ofRequest<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    // The class may be that of another bundle.
    const { name, message, code } = Object(error) as { name?: string; message?: string; code?: string };
    if (name !== "LoopletError" || !code?.startsWith("misuse_")) throw error;
    throw new BadRequest(String(message), 400, code);
  }
}

/** An error in the words for a client. */
export function wordsFor(error: unknown): { error: string; code?: string } {
  if (!(error instanceof BadRequest)) {
    console.error("looplet: a session of AgentObject has failed.", error);
    return { error: "The server cannot do this. Its log says why." };
  }
  const { message, code } = error;
  return code === undefined ? { error: message } : { error: message, code };
}

export function problem(error: unknown): HostResponse {
  return json(wordsFor(error), error instanceof BadRequest ? error.status : 500);
}
