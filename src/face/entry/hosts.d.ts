// Modules that the entries import from their platforms. They are declared here and not taken from @types/node, which
// would put Node's globals into every file of the face; a browser has none of them.

declare module "*.wasm" {
  const module: WebAssembly.Module;
  export default module;
}

declare module "*.wasm?module" {
  const module: WebAssembly.Module;
  export default module;
}

declare module "node:process" {
  const process: { readonly env: { readonly [name: string]: string | undefined }; getuid?(): number };
  export default process;
}

declare module "node:fs/promises" {
  interface FileHandle {
    appendFile(bytes: Uint8Array): Promise<void>;
    sync(): Promise<void>;
    close(): Promise<void>;
  }
  export function mkdir(folder: string, options: { recursive: boolean }): Promise<unknown>;
  export function open(file: string, flags: string): Promise<FileHandle>;
  export function readFile(file: string): Promise<Uint8Array<ArrayBuffer>>;
  export function stat(file: string): Promise<{ readonly size: number }>;
  export function truncate(file: string, bytes: number): Promise<void>;
}

declare module "node:path" {
  export function join(...parts: string[]): string;
}

declare module "node:fs" {
  export function readFileSync(file: URL): Uint8Array<ArrayBuffer>;
}
