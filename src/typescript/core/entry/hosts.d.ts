// Modules that the entries import from their platforms. They are declared here and not taken from @types/node, which
// would put Node's globals into every file of the TypeScript; a browser has none of them.

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
    readonly platform: string;
    getuid?(): number;
    kill(pid: number, signal: number): boolean;
  };
  export default process;
}

declare module "node:os" {
  export function hostname(): string;
  export function uptime(): number;
}

declare module "node:fs/promises" {
  interface FileHandle {
    read(bytes: Uint8Array, offset: number, length: number, position: number): Promise<{ bytesRead: number }>;
    write(bytes: Uint8Array): Promise<{ bytesWritten: number }>;
    readonly fd: number;
    stat(): Promise<Stats>;
    readFile(): Promise<Uint8Array<ArrayBuffer>>;
    writeFile(data: Uint8Array): Promise<void>;
    truncate(length: number): Promise<void>;
    sync(): Promise<void>;
    close(): Promise<void>;
  }
  export function lstat(path: string): Promise<Stats>;
  export function mkdir(folder: string, options?: { recursive: boolean; mode?: number }): Promise<unknown>;
  export function open(file: string, flags: string | number, mode?: number): Promise<FileHandle>;
  interface Dirent {
    readonly name: string;
    isDirectory(): boolean;
    isFile(): boolean;
  }
  interface Stats {
    readonly size: number;
    readonly mtimeMs: number;
    readonly birthtimeMs: number;
    readonly ino: number;
    readonly dev: number;
    isDirectory(): boolean;
    isFile(): boolean;
    isSymbolicLink(): boolean;
  }
  export function readdir(folder: string): Promise<string[]>;
  export function readdir(folder: string, options: { withFileTypes: true }): Promise<Dirent[]>;
  export function readFile(file: string | URL): Promise<Uint8Array<ArrayBuffer>>;
  export function readFile(file: string, encoding: "utf8"): Promise<string>;
  export function realpath(path: string): Promise<string>;
  export function rename(from: string, to: string): Promise<void>;
  export function rm(path: string, options: { recursive: boolean; force: boolean }): Promise<void>;
  export function stat(path: string): Promise<Stats>;
  export function unlink(file: string): Promise<void>;
  export function writeFile(
    file: string,
    data: string | Uint8Array,
    options?: { mode: number },
  ): Promise<void>;
}

declare module "node:crypto" {
  export function createHash(name: "sha256"): Hash;
  export function randomBytes(count: number): { toString(encoding: "base64url"): string };
  export function timingSafeEqual(one: Uint8Array, other: Uint8Array): boolean;
  interface Hash {
    update(text: string): Hash;
    digest(encoding: "base64url" | "hex"): string;
  }
}

declare module "node:http" {
  interface IncomingMessage extends AsyncIterable<Uint8Array<ArrayBuffer>> {
    readonly method?: string;
    readonly url?: string;
    readonly headers: { readonly [name: string]: string | undefined };
  }
  interface ServerResponse {
    readonly headersSent: boolean;
    readonly writableLength: number;
    writeHead(status: number, headers: { readonly [name: string]: string }): ServerResponse;
    write(text: string): boolean;
    end(body?: string | Uint8Array): ServerResponse;
    destroy(): ServerResponse;
    on(event: "close", listener: () => void): ServerResponse;
  }
  interface Server {
    listen(port: number, host: string, listener: () => void): Server;
    address(): { readonly port: number } | string | null;
    once(event: "error", listener: (error: Error) => void): Server;
    on(event: "connection", listener: (socket: { unref(): unknown }) => void): Server;
    unref(): Server;
    close(listener: () => void): Server;
    closeAllConnections(): void;
  }
  export function createServer(
    listener: (request: IncomingMessage, response: ServerResponse) => void,
  ): Server;
}

declare module "node:path" {
  export const sep: string;
  export function dirname(path: string): string;
  export function join(...parts: string[]): string;
  export function resolve(...parts: string[]): string;
}

declare module "node:fs" {
  /** Those that a system does not have are missing. */
  export const constants: {
    readonly O_RDONLY: number;
    readonly O_WRONLY: number;
    readonly O_CREAT: number;
    readonly O_NOFOLLOW?: number;
    readonly O_DIRECTORY?: number;
    readonly O_NONBLOCK?: number;
  };
  export function readFileSync(file: URL): Uint8Array<ArrayBuffer>;
  export function readFileSync(file: string, encoding: "utf8"): string;
  export function readlinkSync(path: string): string;
}

/** The package itself, by whose conditions a facade finds the engine. */
declare module "looplet" {}
