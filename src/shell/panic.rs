//! A panic is a defect of looplet and ends the instance, as a stack overflow does.
//!
//! Nothing unwinds: what a panic leaves borrowed stays so. The face takes whatever leaves a call into WebAssembly
//! unasked as the loss of the instance (`src/face/instance.ts`), and the next run gets a fresh one.

use std::panic::set_hook as set_panic_hook;
use std::sync::Once;

/// Words a panic and its place in the error that leaves the call: a bare trap would say "unreachable".
pub fn set_hook() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| set_panic_hook(Box::new(|info| wasm_bindgen::throw_str(&info.to_string()))));
}
