//! The methods that the shell calls in JavaScript: one object per run, `Shell` in
//! `src/typescript/core/host/shell.ts`.
//!
//! The driver and [`super::request`] call them while no run is borrowed, so each of them may immediately call the
//! handle. The current drain performs the outputs of such a call. The methods catch everything that your functions
//! throw. If one throws anyway, the driver ends the run.

use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    /// The run's counterpart in JavaScript, which has everything that the run has open there.
    pub type Shell;

    /// Contract: reads the records (see [`super::batch::Batch`]) before it calls anything that could change them.
    #[wasm_bindgen(method, catch)]
    pub fn deliver(
        this: &Shell,
        words: usize,
        records: usize,
        text: usize,
        text_length: usize,
    ) -> Result<(), JsValue>;

    /// Performs an output without its own method. `output` is the JSON of an
    /// [`Output`](crate::engine::model::output::Output).
    #[wasm_bindgen(method, catch)]
    pub fn perform(this: &Shell, output: &str) -> Result<(), JsValue>;

    /// Writes entries of the journal, the JSON of each. The first has this number. The answer is the input `Saved`.
    ///
    /// Contract: hands the answer over later, not inside this call.
    #[wasm_bindgen(method, catch)]
    pub fn save(this: &Shell, save: u32, first_seq: f64, entries: Vec<String>) -> Result<(), JsValue>;

    /// Records an input that is about to reach the run: its moment, the number of outputs that were performed before
    /// it, and its JSON. The text is empty for the current chunk.
    ///
    /// Contract: calls nothing.
    #[wasm_bindgen(method, catch)]
    pub fn record(this: &Shell, now_ms: f64, random: u64, performed: u32, text: &str) -> Result<(), JsValue>;

    /// Reports the end: the outcome is set, and nothing follows.
    #[wasm_bindgen(method, catch)]
    pub fn done(this: &Shell) -> Result<(), JsValue>;

    /// Authorizes and fetches, in a microtask. `http` is the request's JSON. The method then calls
    /// [`super::request::headers_of`] and [`super::RunHandle::respond`], or passes the reason why nothing was sent or
    /// received.
    ///
    /// The body is at `at` in linear memory and has `length` bytes.
    ///
    /// Contract: copies the body before it calls anything.
    #[wasm_bindgen(method, catch)]
    pub fn send(this: &Shell, request: u32, http: &str, at: usize, length: usize) -> Result<(), JsValue>;

    /// Stops every request and the timer.
    #[wasm_bindgen(method, catch)]
    pub fn release(this: &Shell) -> Result<(), JsValue>;

    /// The time in milliseconds since the epoch.
    #[wasm_bindgen(method, catch)]
    pub fn now(this: &Shell) -> Result<f64, JsValue>;

    /// A random number in `[0, 1)`.
    #[wasm_bindgen(method, catch)]
    pub fn random(this: &Shell) -> Result<f64, JsValue>;

    /// Sets the one timer, which replaces an earlier one. When it fires, it passes the input `due`.
    #[wasm_bindgen(method, catch)]
    pub fn arm(this: &Shell, delay_ms: f64) -> Result<(), JsValue>;

    #[wasm_bindgen(method, catch)]
    pub fn disarm(this: &Shell) -> Result<(), JsValue>;
}
