//! A run with a recording host, both on one side: what JavaScript does in `src/typescript/core/host/driver.ts` is
//! scripted here.

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::{Array, Function, Promise, Reflect, Uint8Array};
use looplet::shell::batch::outlet_at;
use looplet::shell::inlet::{inlet_for, linear_memory};
use looplet::shell::request::headers_of;
use looplet::shell::{AgentHandle, RunHandle, Shell};
use serde_json::{Value, json};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

#[wasm_bindgen(module = "/tests/wasm/host.js")]
extern "C" {
    #[wasm_bindgen(js_name = TestHost)]
    #[derive(Clone)]
    pub type TestHost;
    #[wasm_bindgen(constructor, js_class = "TestHost")]
    fn new() -> TestHost;
    #[wasm_bindgen(method, js_name = setMemory)]
    fn set_memory(this: &TestHost, memory: JsValue);
    #[wasm_bindgen(method, getter)]
    fn log(this: &TestHost) -> Array;
    #[wasm_bindgen(method, getter)]
    pub fn text(this: &TestHost) -> String;
    #[wasm_bindgen(method, getter)]
    pub fn timer(this: &TestHost) -> Option<f64>;
    #[wasm_bindgen(method, setter, js_name = now_ms)]
    fn set_now_ms(this: &TestHost, now_ms: f64);
    #[wasm_bindgen(method)]
    fn lent(this: &TestHost, outlet: usize, units: u32);
    #[wasm_bindgen(method)]
    fn disarm(this: &TestHost);
    #[wasm_bindgen(method, getter)]
    pub fn init(this: &TestHost) -> JsValue;
    #[wasm_bindgen(method, getter)]
    pub fn finished(this: &TestHost) -> Promise;
    #[wasm_bindgen(method, getter)]
    fn on(this: &TestHost) -> JsValue;

    #[wasm_bindgen(js_name = respondWith)]
    pub fn respond_with(host: &TestHost, chunks: Array, is_open_ended: bool);
    #[wasm_bindgen(js_name = respondDuck)]
    pub fn respond_duck(host: &TestHost, status: u16, chunks: Array);
    #[wasm_bindgen(js_name = respondThrowing)]
    pub fn respond_throwing(host: &TestHost, is_at_once: bool);
    #[wasm_bindgen(js_name = authorizeWith)]
    pub fn authorize_with(host: &TestHost, name: &str, value: &str);
    fn settled() -> Promise;
    /// The message of what the function throws; empty if it returns.
    #[wasm_bindgen(js_name = thrownBy)]
    pub fn thrown_by(call: &Function) -> String;
    #[wasm_bindgen(js_name = takeRejections)]
    pub fn take_rejections() -> Array;
}

/// A run and its host. Dropping it frees the handle, as `free()` does.
pub struct TestRun {
    pub host: TestHost,
    pub handle: Rc<RunHandle>,
    callbacks: RefCell<Vec<JsValue>>,
}

impl TestRun {
    pub fn new() -> TestRun {
        TestRun::with("{}")
    }

    /// `tools` is the JSON of the configuration's tools, or `{}` for none.
    pub fn with(tool: &str) -> TestRun {
        let host = TestHost::new();
        host.set_memory(linear_memory());
        let tools = if tool == "{}" { "" } else { tool };
        let config = format!(
            r#"{{"model":{{"vendor":"anthropic","model":"m","baseUrl":"https://api.test"}},"retry":{{"maxRetries":0}},"tools":[{tools}]}}"#
        );
        let agent = AgentHandle::new(&config).expect("a valid configuration");
        let callee: &JsValue = host.as_ref();
        let callee = callee.clone().unchecked_into::<Shell>();
        let handle = Rc::new(agent.open("{}", callee).expect("a run"));
        let run = TestRun {
            host,
            handle,
            callbacks: RefCell::default(),
        };
        let feeding = Rc::clone(&run.handle);
        let feeding_host = run.host.clone();
        run.method("feed", move |request, chunk| {
            let bytes = chunk.unchecked_into::<Uint8Array>();
            // The inlet may grow, and a view of the memory before that is detached.
            let place = inlet_for(bytes.length() as usize) as u32;
            let view = Uint8Array::new(&js_sys::WebAssembly::Memory::from(linear_memory()).buffer());
            view.set(&bytes, place);
            let units = feeding.chunk(number(&request), bytes.length() as usize, 1000.0);
            if units > 0 {
                feeding_host.lent(outlet_at(), units);
            }
        });
        let holding = Rc::clone(&run.handle);
        run.method("hold", move |_, _| holding.hold());
        let resuming = Rc::clone(&run.handle);
        run.method("resume", move |_, _| resuming.resume());
        let building = Closure::<dyn Fn(String) -> Result<web_sys::Headers, JsValue>>::own_assert_unwind_safe(
            |json: String| headers_of(&json),
        );
        Reflect::set(&run.host, &"headersOf".into(), &building.into_js_value()).expect("an object");
        let responding = Rc::clone(&run.handle);
        run.method("respond", move |request, response| {
            responding.respond(number(&request), response.unchecked_into());
        });
        let heading = Rc::clone(&run.handle);
        run.method("head", move |request, parts| {
            let [headers, status]: [Value; 2] =
                serde_json::from_str(&text(&parts)).expect("headers and a status");
            let request = number(&request);
            tell(
                &heading,
                json!({"head": {"request": request, "status": status, "headers": headers}}),
            );
        });
        let refusing = Rc::clone(&run.handle);
        run.method("notSent", move |request, why| {
            tell(
                &refusing,
                json!({"notSent": {"request": number(&request), "code": "config_invalid", "why": text(&why)}}),
            );
        });
        let redacting = Rc::clone(&run.handle);
        run.method("redact", move |request, failure| {
            let failure: Value = serde_json::from_str(&text(&failure)).expect("a failure");
            tell(
                &redacting,
                json!({"requestFailed": {"request": number(&request), "failure": failure}}),
            );
        });
        let ending = Rc::clone(&run.handle);
        run.method("end", move |request, _| {
            tell(&ending, json!({"end": {"request": number(&request)}}));
        });
        let failing = Rc::clone(&run.handle);
        run.method("fail", move |request, why| {
            tell(
                &failing,
                json!({"networkFailed": {"request": number(&request), "why": text(&why)}}),
            );
        });
        run
    }

    pub fn start(&self) {
        start(&self.handle);
    }

    /// Calls back when the host sees `what`: "text", an event's type, "callTool" or "done".
    pub fn on(&self, what: &str, callback: impl Fn(&RunHandle, JsValue) + 'static) {
        let handle = Rc::clone(&self.handle);
        let function = self.keep(move |value, _| callback(&handle, value));
        Reflect::set(&self.host.on(), &what.into(), &function).expect("a plain object");
    }

    /// Lets the timer fire at a time of the host's clock.
    pub fn fire_at(&self, now_ms: f64) {
        self.host.set_now_ms(now_ms);
        self.host.disarm();
        tell(&self.handle, json!("due"));
    }

    /// Waits until the run is done.
    pub async fn finished(&self) {
        JsFuture::from(self.host.finished()).await.expect("never rejects");
    }

    pub fn log(&self) -> Vec<String> {
        self.host
            .log()
            .iter()
            .filter_map(|line| line.as_string())
            .collect()
    }

    /// The outcome's JSON, empty while there is none.
    pub fn outcome(&self) -> String {
        outcome_of(&self.handle)
    }

    fn method(&self, name: &str, body: impl Fn(JsValue, JsValue) + 'static) {
        let function = self.keep(body);
        Reflect::set(&self.host, &name.into(), &function).expect("an object");
    }

    fn keep(&self, body: impl Fn(JsValue, JsValue) + 'static) -> Function {
        let closure = Closure::<dyn Fn(JsValue, JsValue)>::own_assert_unwind_safe(body);
        let function: Function = closure.into_js_value().unchecked_into();
        self.callbacks.borrow_mut().push(function.clone().into());
        function
    }
}

/// Tells a run an input, which must be one.
pub fn tell(handle: &RunHandle, input: Value) -> bool {
    handle.handle_input(&input.to_string()).expect("an input")
}

pub fn start(handle: &RunHandle) {
    tell(
        handle,
        json!({"prompt": {"content": [{"type": "text", "text": "Hi"}]}}),
    );
}

pub fn abort(handle: &RunHandle, why: &str) {
    tell(handle, json!({"cancel": {"why": why}}));
}

/// The outcome as JSON, empty while there is none.
pub fn outcome_of(handle: &RunHandle) -> String {
    let json = js_sys::JSON::stringify(&handle.outcome()).expect("an object or nothing");
    json.as_string().unwrap_or_default()
}

fn text(value: &JsValue) -> String {
    value.as_string().unwrap_or_default()
}

pub const WEATHER: &str = r#"{"name":"weather","inputSchema":{"type":"object"}}"#;

/// The chunks of an answer with these pieces of text, one event each.
pub fn answer(pieces: &[&str]) -> Array {
    let chunks = Array::new();
    chunks.push(&sse(
        "message_start",
        r#""message":{"id":"msg_1","model":"m","usage":{"input_tokens":3,"output_tokens":1}}"#,
    ));
    chunks.push(&sse(
        "content_block_start",
        r#""index":0,"content_block":{"type":"text","text":""}"#,
    ));
    for piece in pieces {
        let delta = format!(r#""index":0,"delta":{{"type":"text_delta","text":"{piece}"}}"#);
        chunks.push(&sse("content_block_delta", &delta));
    }
    chunks.push(&sse("content_block_stop", r#""index":0"#));
    chunks.push(&sse(
        "message_delta",
        r#""delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}"#,
    ));
    chunks.push(&sse("message_stop", r#""x":0"#));
    chunks
}

/// The chunks of an answer that calls `weather`.
pub fn call() -> Array {
    let chunks = Array::new();
    chunks.push(&sse(
        "message_start",
        r#""message":{"id":"msg_1","model":"m","usage":{"input_tokens":3,"output_tokens":1}}"#,
    ));
    chunks.push(&sse(
        "content_block_start",
        r#""index":0,"content_block":{"type":"tool_use","id":"t1","name":"weather","input":{}}"#,
    ));
    chunks.push(&sse("content_block_stop", r#""index":0"#));
    chunks.push(&sse(
        "message_delta",
        r#""delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":5}"#,
    ));
    chunks.push(&sse("message_stop", r#""x":0"#));
    chunks
}

fn sse(name: &str, fields: &str) -> JsValue {
    JsValue::from_str(&format!(
        "event: {name}\ndata: {{\"type\":\"{name}\",{fields}}}\n\n"
    ))
}

/// Lets every promise that can settle do so.
pub async fn settle() {
    JsFuture::from(settled()).await.expect("never rejects");
}

fn number(value: &JsValue) -> u32 {
    value.as_f64().unwrap_or_default() as u32
}
