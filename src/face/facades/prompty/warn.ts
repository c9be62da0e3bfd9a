import type { PromptyHost } from "./types.js";

/** Gives a warning to the logger of the host, or to the console. A logger that throws does not end the turn. */
export function warn({ logger = console }: Pick<PromptyHost, "logger">, message: string): void {
  try {
    logger.warn(message);
  } catch {
    // The warning is lost, as with every logger that fails.
  }
}
