//! What the shell calls in JavaScript: one object per run, `ShellHost` in `src/face/driver.ts`.
//!
//! Its methods catch what the user's functions throw. Only `authorize` and `fetch` hand such an error on, because it
//! is an answer to the request.

use js_sys::{Array, Promise, Uint8Array};
use wasm_bindgen::prelude::*;
use web_sys::AbortSignal;

#[wasm_bindgen]
extern "C" {
    /// The run's counterpart in JavaScript.
    pub type Host;

    /// Contract: reads the records (see [`super::batch::Batch`]) before it calls anything that could change them.
    #[wasm_bindgen(method)]
    pub fn deliver(this: &Host, words: usize, records: usize, text: usize, text_length: usize);

    #[wasm_bindgen(method, js_name = callTool)]
    pub fn call_tool(
        this: &Host,
        call: u32,
        tool_call_id: &str,
        tool_name: &str,
        input: &str,
        iteration: u32,
    );

    #[wasm_bindgen(method, js_name = abortTool)]
    pub fn abort_tool(this: &Host, call: u32, why: &str);

    /// `ask` is the question's JSON.
    #[wasm_bindgen(method)]
    pub fn ask(this: &Host, question: u32, ask: &str);

    /// The outcome is set; nothing follows.
    #[wasm_bindgen(method)]
    pub fn done(this: &Host);

    /// `headers` alternates names and values; so does what comes back, directly or as a promise.
    #[wasm_bindgen(method, catch)]
    pub fn authorize(
        this: &Host,
        method: &str,
        url: &str,
        headers: &Array,
        auth_header: &str,
        auth_prefix: &str,
        body: &Uint8Array,
    ) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(method, catch)]
    pub fn fetch(this: &Host, url: &str, init: &JsValue) -> Result<JsValue, JsValue>;

    /// Settles as `value` does, or with undefined when `signal` aborts, whatever is first.
    #[wasm_bindgen(method)]
    pub fn race(this: &Host, value: &JsValue, signal: &AbortSignal) -> Promise;

    /// For a response that is no `Response` of this realm: `[status, body, name, value, name, value, …]`.
    #[wasm_bindgen(method, catch)]
    pub fn head(this: &Host, response: &JsValue) -> Result<Array, JsValue>;

    /// Starts to pump `body` into [`super::RunHandle::chunk`].
    #[wasm_bindgen(method)]
    pub fn read(this: &Host, request: u32, body: &JsValue);

    /// Stops the pump of a request, if there is one.
    #[wasm_bindgen(method)]
    pub fn stop(this: &Host, request: u32);

    /// One line about anything that was thrown.
    #[wasm_bindgen(method)]
    pub fn describe(this: &Host, error: &JsValue) -> String;

    /// Milliseconds since the epoch.
    #[wasm_bindgen(method)]
    pub fn now(this: &Host) -> f64;

    /// In `[0, 1)`.
    #[wasm_bindgen(method)]
    pub fn random(this: &Host) -> f64;

    /// Sets the one timer, in place of an earlier one. It calls [`super::RunHandle::due`].
    #[wasm_bindgen(method)]
    pub fn arm(this: &Host, delay_ms: f64);

    #[wasm_bindgen(method)]
    pub fn disarm(this: &Host);
}
