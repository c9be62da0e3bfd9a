/** Removes the secrets that `authorize` has added from errors, and from the answers that become errors. */
import type { PumpSink } from "./pump.js";

/** The shortest secret, in characters. Shorter values are not secrets, and removing them would garble texts. */
const MIN_SECRET_CHARS = 8;

const REDACTED = "[redacted]";

type Pair = readonly [name: string, value: string];

/** The values of `after` that `before` lacks, without a scheme such as `Bearer`, longest first. */
export function secretsOf(before: readonly Pair[], after: readonly Pair[]): string[] {
  const secrets: string[] = [];
  for (const [added, text] of after) {
    const name = added.toLowerCase();
    const value = text.trim();
    if (before.some(([known, given]) => known.toLowerCase() === name && given === text)) continue;
    secrets.push(value, value.replace(/^[A-Za-z][\w-]* +(?=\S+$)/, ""));
  }
  const long = secrets.filter((secret) => secret.length >= MIN_SECRET_CHARS);
  return long.sort((a, b) => b.length - a.length);
}

/** `text` without the secrets. */
export function redact(text: string, secrets: readonly string[]): string {
  return secrets.reduce((rest, secret) => rest.split(secret).join(REDACTED), text);
}

/** Removes secrets from a body on its way, even where a secret is split over two chunks. */
export class RedactedBody implements PumpSink {
  /** The end of the received bytes, one character a byte: it may be the beginning of a secret. */
  private held = "";
  private readonly longest: number;

  constructor(
    private readonly sink: PumpSink,
    private readonly secrets: readonly string[],
  ) {
    this.longest = secrets[0]?.length ?? 1;
  }

  feed(request: number, chunk: Uint8Array): void {
    const text = redact(
      this.held + Array.from(chunk, (byte) => String.fromCharCode(byte)).join(""),
      this.secrets,
    );
    const from = Math.max(0, text.length - this.longest + 1);
    this.held = text.slice(from);
    this.pass(request, text.slice(0, from));
  }

  end(request: number): void {
    this.pass(request, this.held);
    this.sink.end(request);
  }

  fail(request: number, error: unknown): void {
    this.pass(request, this.held);
    this.sink.fail(request, error);
  }

  private pass(request: number, text: string): void {
    if (text !== "")
      this.sink.feed(
        request,
        Uint8Array.from(text, (letter) => letter.charCodeAt(0)),
      );
  }
}
