//! The buffer for a response's bytes and short texts on their way into linear memory. All runs of the instance share
//! it.
//!
//! JavaScript copies bytes into it and immediately calls the function that reads them, so nothing can happen in
//! between. A chunk is copied once and allocates nothing. JavaScript first requests the space ([`inlet_for`]),
//! because the buffer moves when it grows.

use std::cell::RefCell;

use wasm_bindgen::prelude::*;

/// The longest piece in bytes. JavaScript hands a longer chunk in piece by piece.
const MAX_PIECE_BYTES: usize = 1 << 20;
const FIRST_CAPACITY_BYTES: usize = 32 << 10;

thread_local! {
    static INLET: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// The address of an inlet with room for `length` bytes, or for [`inlet_capacity`] bytes if that is less. It moves
/// only when it has to grow.
#[wasm_bindgen(js_name = inletFor)]
pub fn inlet_for(length: usize) -> usize {
    INLET.with_borrow_mut(|inlet| {
        if inlet.len() < length.min(MAX_PIECE_BYTES) {
            let capacity = length
                .next_power_of_two()
                .clamp(FIRST_CAPACITY_BYTES, MAX_PIECE_BYTES);
            inlet.resize(capacity, 0);
        }
        inlet.as_ptr() as usize
    })
}

/// The size of the inlet in bytes.
#[wasm_bindgen(js_name = inletCapacity)]
pub fn inlet_capacity() -> usize {
    INLET.with_borrow(Vec::len)
}

/// Calls a closure with the first `length` bytes.
pub fn with_inlet<R>(length: usize, read: impl FnOnce(&[u8]) -> R) -> R {
    INLET.with_borrow(|inlet| read(inlet.get(..length).unwrap_or(inlet)))
}

/// The linear memory of this instance.
#[wasm_bindgen(js_name = linearMemory)]
pub fn linear_memory() -> JsValue {
    wasm_bindgen::memory()
}
