//! The shell in a real browser: `wasm-pack test --headless --chrome`.
#![cfg(target_arch = "wasm32")]
// The helpers of a test may fail it.
#![allow(clippy::expect_used, clippy::indexing_slicing)]

mod kit;
mod panics;
mod reentry;
mod requests;

wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_browser);
