//! The methods that the shell calls in JavaScript: one object per run, `Shell` in `src/face/core/host/shell.ts`.
//!
//! The driver and [`super::request`] call them while no run is borrowed, so each of them may call the handle back at
//! once. Outputs that follow from such a call are performed when the drain that is at work reaches them. The methods
//! catch whatever your functions throw. If one throws all the same, the driver ends the run.

use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    /// The run's counterpart in JavaScript, which has everything that the run holds open there.
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

    /// Calls a tool. `texts` is the provider's id of the call, the tool's name and the input's JSON in a row, because
    /// cutting a string costs less than making one. The two numbers are the lengths of the first two in UTF-16 units.
    /// `checkpoint` is the JSON of the state from which the tool goes on, or empty.
    #[wasm_bindgen(method, catch, js_name = callTool)]
    pub fn call_tool(
        this: &Shell,
        call: u32,
        texts: &str,
        id_units: usize,
        name_units: usize,
        iteration: u32,
        agent: u32,
        profile: u32,
        once: bool,
        checkpoint: &str,
    ) -> Result<(), JsValue>;

    /// Hands a running tool the answer to its question of this number, as JSON.
    #[wasm_bindgen(method, catch, js_name = answerTool)]
    pub fn answer_tool(this: &Shell, call: u32, number: u32, answer: &str) -> Result<(), JsValue>;

    #[wasm_bindgen(method, catch, js_name = abortTool)]
    pub fn abort_tool(this: &Shell, call: u32, why: &str) -> Result<(), JsValue>;

    /// Asks a question. `ask` is the question's JSON.
    #[wasm_bindgen(method, catch)]
    pub fn ask(this: &Shell, question: u32, ask: &str) -> Result<(), JsValue>;

    /// Writes entries of the journal: JSON, one a line, of which the first has this number. The answer is the input
    /// `Saved`.
    ///
    /// Contract: hands the answer over later, not inside this call.
    #[wasm_bindgen(method, catch)]
    pub fn save(this: &Shell, save: u32, first_seq: f64, lines: &str) -> Result<(), JsValue>;

    /// Keeps an input that is about to reach the run: its moment, the number of outputs that were performed before
    /// it, and its JSON. The text is empty for the chunk that is being handed over.
    ///
    /// Contract: calls nothing.
    #[wasm_bindgen(method, catch)]
    pub fn record(this: &Shell, now_ms: f64, random: u64, performed: u32, text: &str) -> Result<(), JsValue>;

    /// Forgets a question whose answer has no effect any more.
    #[wasm_bindgen(method, catch)]
    pub fn withdraw(this: &Shell, question: u32, why: &str) -> Result<(), JsValue>;

    /// Reports the end: the outcome is set, and nothing follows.
    #[wasm_bindgen(method, catch)]
    pub fn done(this: &Shell) -> Result<(), JsValue>;

    /// Authorizes and fetches, in a microtask. `http` is the request's JSON. The method then calls
    /// [`super::request::headers_of`] and [`super::RunHandle::respond`], or hands over the reason why nothing was
    /// sent or nothing came.
    ///
    /// The body stands at `at` in linear memory and has `length` bytes.
    ///
    /// Contract: copies the body before it calls anything.
    #[wasm_bindgen(method, catch)]
    pub fn send(this: &Shell, request: u32, http: &str, at: usize, length: usize) -> Result<(), JsValue>;

    /// Removes the request's secrets from a failure, which is JSON, and hands it back as an input.
    #[wasm_bindgen(method, catch)]
    pub fn redact(this: &Shell, request: u32, failure: &str) -> Result<(), JsValue>;

    /// Stops a request and the pump of its body.
    #[wasm_bindgen(method, catch)]
    pub fn stop(this: &Shell, request: u32) -> Result<(), JsValue>;

    /// Stops every request and the timer.
    #[wasm_bindgen(method, catch)]
    pub fn release(this: &Shell) -> Result<(), JsValue>;

    /// The time in milliseconds since the epoch.
    #[wasm_bindgen(method, catch)]
    pub fn now(this: &Shell) -> Result<f64, JsValue>;

    /// A random number in `[0, 1)`.
    #[wasm_bindgen(method, catch)]
    pub fn random(this: &Shell) -> Result<f64, JsValue>;

    /// Sets the one timer, in place of an earlier one. The timer hands over the input `due`.
    #[wasm_bindgen(method, catch)]
    pub fn arm(this: &Shell, delay_ms: f64) -> Result<(), JsValue>;

    #[wasm_bindgen(method, catch)]
    pub fn disarm(this: &Shell) -> Result<(), JsValue>;
}
