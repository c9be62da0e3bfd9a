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
  const process: {
    readonly env: { readonly [name: string]: string | undefined };
    readonly pid: number;
    getuid?(): number;
    kill(pid: number, signal: number): boolean;
  };
  export default process;
}

declare module "node:os" {
  export function hostname(): string;
}

declare module "node:fs/promises" {
  interface FileHandle {
    read(bytes: Uint8Array, offset: number, length: number, position: number): Promise<{ bytesRead: number }>;
    write(bytes: Uint8Array): Promise<{ bytesWritten: number }>;
    stat(): Promise<{ readonly size: number; readonly ino: number; readonly birthtimeMs: number }>;
    sync(): Promise<void>;
    close(): Promise<void>;
  }
  export function mkdir(folder: string, options: { recursive: boolean }): Promise<unknown>;
  export function open(file: string, flags: string): Promise<FileHandle>;
  interface Dirent {
    readonly name: string;
    isDirectory(): boolean;
  }
  interface Stats {
    readonly size: number;
    readonly mtimeMs: number;
    isDirectory(): boolean;
  }
  export function readdir(folder: string): Promise<string[]>;
  export function readdir(folder: string, options: { withFileTypes: true }): Promise<Dirent[]>;
  export function readFile(file: string): Promise<Uint8Array<ArrayBuffer>>;
  export function readFile(file: string, encoding: "utf8"): Promise<string>;
  export function realpath(path: string): Promise<string>;
  export function rename(from: string, to: string): Promise<void>;
  export function rm(path: string, options: { recursive: boolean; force: boolean }): Promise<void>;
  export function stat(path: string): Promise<Stats>;
  export function unlink(file: string): Promise<void>;
  export function writeFile(file: string, data: string | Uint8Array): Promise<void>;
}

declare module "node:path" {
  export const sep: string;
  export function dirname(path: string): string;
  export function join(...parts: string[]): string;
}

declare module "node:fs" {
  export function readFileSync(file: URL): Uint8Array<ArrayBuffer>;
  export function readlinkSync(path: string): string;
}
