//! What the shell calls in JavaScript: one object per run, `Shell` in `src/face/host/driver.ts`.
//!
//! Its methods catch whatever your functions throw. An error that one of them throws all the same is caught here. They may call back at once; what follows of that is performed
//! when the drain that is going on comes to it.

use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    /// The run's counterpart in JavaScript.
    pub type Host;

    /// Contract: reads the records (see [`super::batch::Batch`]) before it calls anything that could change them.
    #[wasm_bindgen(method, catch)]
    pub fn deliver(
        this: &Host,
        words: usize,
        records: usize,
        text: usize,
        text_length: usize,
    ) -> Result<(), JsValue>;

    /// `texts`: the provider's id of the call, the tool's name and the input's JSON, one behind the other, because to
    /// make a string costs more than to cut one. The first two have so many UTF-16 units.
    #[wasm_bindgen(method, catch, js_name = callTool)]
    pub fn call_tool(
        this: &Host,
        call: u32,
        texts: &str,
        id_units: usize,
        name_units: usize,
        iteration: u32,
        agent: u32,
        profile: u32,
    ) -> Result<(), JsValue>;

    #[wasm_bindgen(method, catch, js_name = abortTool)]
    pub fn abort_tool(this: &Host, call: u32, why: &str) -> Result<(), JsValue>;

    /// `ask` is the question's JSON.
    #[wasm_bindgen(method, catch)]
    pub fn ask(this: &Host, question: u32, ask: &str) -> Result<(), JsValue>;

    /// The outcome is set; nothing follows.
    #[wasm_bindgen(method, catch)]
    pub fn done(this: &Host) -> Result<(), JsValue>;

    /// Authorizes and fetches, a task later; `http` is the request's JSON. Then tells [`super::request::headers_of`] and
    /// [`super::RunHandle::respond`], or why nothing was sent or nothing came. The body stands at `at`, `length` bytes of
    /// which the first `steady` are those of the agent's other bodies of the same `name`, unless that is 0.
    ///
    /// Contract: reads the body before it calls anything.
    #[wasm_bindgen(method, catch)]
    pub fn send(
        this: &Host,
        request: u32,
        http: &str,
        agent: u32,
        name: u32,
        at: usize,
        steady: usize,
        length: usize,
    ) -> Result<(), JsValue>;

    /// Starts to pump `body` into [`super::RunHandle::chunk`].
    #[wasm_bindgen(method, catch)]
    pub fn read(this: &Host, request: u32, body: &JsValue) -> Result<(), JsValue>;

    /// Stops a request, and the pump of its body.
    #[wasm_bindgen(method, catch)]
    pub fn stop(this: &Host, request: u32) -> Result<(), JsValue>;

    /// Stops every request and the timer.
    #[wasm_bindgen(method, catch)]
    pub fn release(this: &Host) -> Result<(), JsValue>;

    /// Milliseconds since the epoch.
    #[wasm_bindgen(method, catch)]
    pub fn now(this: &Host) -> Result<f64, JsValue>;

    /// In `[0, 1)`.
    #[wasm_bindgen(method, catch)]
    pub fn random(this: &Host) -> Result<f64, JsValue>;

    /// Sets the one timer, in place of an earlier one. It calls [`super::RunHandle::due`].
    #[wasm_bindgen(method, catch)]
    pub fn arm(this: &Host, delay_ms: f64) -> Result<(), JsValue>;

    #[wasm_bindgen(method, catch)]
    pub fn disarm(this: &Host) -> Result<(), JsValue>;
}
