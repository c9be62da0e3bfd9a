//! The wasm shell: performs what the engine asks for with web APIs, and decides nothing.
