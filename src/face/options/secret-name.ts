/** The names that fields and headers with secrets have. */

const SECRET =
  /secret|passw(or)?d|passphrase|api[-_]?key|private[-_]?key|token|auth|credential|cookie|signature/i;

/** Whether a field or a header with this name holds a secret, to judge by its name. */
export function soundsSecret(name: string): boolean {
  return SECRET.test(name);
}
