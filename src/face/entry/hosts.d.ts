// What the entries import from their hosts. Declared here, not taken from @types/node: those would put Node's globals
// into every file of the face, where a browser has none.

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
