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

declare module "node:fs" {
  export function readFileSync(file: URL): Uint8Array<ArrayBuffer>;
}
