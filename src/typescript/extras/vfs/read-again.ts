/** Files of a browser that are replaced while they are read. */

/** The attempts after which a file counts as one that cannot be read. */
const ATTEMPTS = 20;

/**
 * Reads a file, and retries once if it was replaced since it was opened: Chromium then fails with `NotReadableError`.
 * <https://w3c.github.io/FileAPI/#dfn-error-codes>
 */
export async function readAgain<T>(read: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await read();
    } catch (error) {
      if ((error as { name?: string }).name !== "NotReadableError" || attempt === ATTEMPTS) throw error;
    }
  }
}
