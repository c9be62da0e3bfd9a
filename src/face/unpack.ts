// Unpacks the engine that the `default` entry carries, with what every browser has.

/** The engine's WebAssembly. `engine`: its bytes, sorted, as gzip in base64; `joiner`: as for `join`, in base64. */
export async function unpack(engine: string, joiner: string): Promise<Uint8Array<ArrayBuffer>> {
  return join(await inflate(decode(engine)), decode(joiner));
}

/**
 * The engine's WebAssembly. `sorted`: its bytes, sorted by what they mean; `joiner`: the WebAssembly that puts them
 * together again (`join.wat`).
 */
export function join(sorted: Uint8Array, joiner: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const { memory, join: run } = new WebAssembly.Instance(new WebAssembly.Module(joiner)).exports as {
    memory: WebAssembly.Memory;
    join(out: number, length: number): void;
  };
  const out = room + sorted.length;
  const length = new DataView(sorted.buffer, sorted.byteOffset).getUint32(0, true);
  // A function moves by less than this when its size is known.
  memory.grow((out + length + 8) >>> 16);
  new Uint8Array(memory.buffer).set(sorted.subarray(4), room);
  run(out, length);
  return new Uint8Array(memory.buffer, out, length);
}

/** Where the joiner expects its input. */
const room = 256;

/** Neither `data:` URLs nor `Blob` are used: a strict CSP refuses the one, the other is slow. */
async function inflate(packed: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const stream = new DecompressionStream("gzip");
  const writer = stream.writable.getWriter();
  const written = writer.write(packed).then(() => writer.close());
  // The reader below reports a broken stream; unheard here, it would be reported twice.
  written.catch(() => {});
  const reader = stream.readable.getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    chunks.push(value);
    length += value.length;
  }
  const bytes = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}

function decode(base64: string): Uint8Array<ArrayBuffer> {
  const { fromBase64 } = Uint8Array as { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> };
  if (fromBase64) return fromBase64.call(Uint8Array, base64);
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}
