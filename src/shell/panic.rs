//! A panic is a bug in looplet and ends the instance, like a stack overflow.
//!
//! Nothing unwinds, so borrows remain after a panic. The TypeScript treats every error that WebAssembly throws
//! unexpectedly as a lost instance (`src/typescript/core/host/instance.ts`), and the next run gets a new instance.
//! The state of each run is lost with it: its answers, calls, usage and number of iterations. JavaScript has only the
//! text of the latest answer that a listener has received. The constructor of the handle sets the hook.

use std::panic::set_hook as set_panic_hook;
use std::sync::Once;

/// Words a panic and its place in the error that leaves the call. A bare trap would say "unreachable".
pub fn set_hook() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| set_panic_hook(Box::new(|info| wasm_bindgen::throw_str(&info.to_string()))));
}
