//! A panic is a defect of looplet, and ends the run that it happened in and nothing else.
//!
//! Every way into the shell goes through [`catch`]: the build unwinds, so the shell's borrows are released. What the
//! engine's own frames hold leaks: the release build has no code to drop it (`scripts/lib/trim-wasm.mjs`). Only a stack overflow or running out of memory end the instance.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::engine::json::writer::decimal;
use wasm_bindgen::handler::{schedule_reinit, set_on_abort};
use wasm_bindgen::prelude::*;

thread_local! {
    static PLACE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Not 0 once a trap has ended this instance.
static LOST: AtomicU32 = AtomicU32::new(0);

/// Address of a word that is not 0 once a trap has ended this instance. A call with a handle of it would then reach the
/// fresh one, whose memory the handle does not belong to: JavaScript looks here first.
#[wasm_bindgen(js_name = lostFlag)]
pub fn lost_flag() -> usize {
    LOST.as_ptr() as usize
}

/// Keeps the place of a panic, which the payload does not tell, and has a lost instance replaced by a fresh one at the
/// next call from JavaScript.
pub fn prepare() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        set_on_abort(|| {
            LOST.store(1, Ordering::Relaxed);
            schedule_reinit();
        });
        set_hook(Box::new(|info| {
            if let Some(place) = info.location() {
                let mut text = String::from(place.file());
                text.push(':');
                text.push_str(&decimal(place.line() as usize));
                PLACE.set(text);
            }
        }));
    });
}

/// # Errors
/// What the panic said, and where it happened.
pub fn catch(enter: &mut dyn FnMut()) -> Result<(), String> {
    catch_unwind(AssertUnwindSafe(enter)).map_err(|payload| {
        let said = payload
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
            // The release build does not format: `isDead` in `scripts/build.mjs`.
            .filter(|said| !said.is_empty())
            .unwrap_or("panic");
        let mut message = String::from(said);
        let place = PLACE.take();
        if !place.is_empty() {
            message.push_str(" (");
            message.push_str(&place);
            message.push(')');
        }
        message
    })
}
