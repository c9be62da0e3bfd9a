//! A panic leaves the call into WebAssembly as an error that says what and where. What its instance's runs come to is
//! tested in `tests/typescript/core/lost-instance.test.ts` and `tests/package`.

use wasm_bindgen::prelude::*;
use wasm_bindgen_test::wasm_bindgen_test;

use crate::kit::{TestRun, thrown_by};

#[wasm_bindgen_test]
fn a_panic_while_the_run_is_borrowed_says_what_and_where() {
    let run = TestRun::new();
    let panicking = std::rc::Rc::clone(&run.handle);
    let call = Closure::<dyn Fn()>::own_assert_unwind_safe(move || panicking.panic_now());
    let message = thrown_by(&call.into_js_value().unchecked_into());
    assert!(message.contains("made by a test"), "{message}");
    assert!(message.contains("src/shell/driver.rs:"), "{message}");
}
