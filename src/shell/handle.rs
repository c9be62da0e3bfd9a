//! The handle of a run that JavaScript holds. `src/face/host/driver.ts` wraps it; it is not part of the public API.
//!
//! Everything that happens to a run enters as the JSON of an [`Input`], through [`RunHandle::tell`]; only what comes for
//! each chunk of a stream ([`RunHandle::chunk`]) and the head of a `Response` ([`RunHandle::respond`]) have ways of their
//! own. What a run has to show is read by [`RunHandle::outcome`], [`RunHandle::usage`], [`RunHandle::report`],
//! [`RunHandle::text`] and [`RunHandle::history`], at any time.

use std::rc::Rc;

use serde::Serialize;
use serde_wasm_bindgen::Serializer;
use wasm_bindgen::prelude::*;

use super::batch::Wants;
use super::driver::Driver;
use super::host::Host;
use super::panic::set_hook;
use super::request;
use crate::engine::model::config::Config;
use crate::engine::model::error::ConfigError;
use crate::engine::model::input::Input;
use crate::engine::model::json;
use crate::engine::run::Run;

/// A run. Methods take `&self`: any of them may be called from inside a callback of another.
#[wasm_bindgen]
pub struct RunHandle {
    driver: Rc<Driver>,
}

#[wasm_bindgen]
impl RunHandle {
    /// # Errors
    /// `{ field, problem }` for a configuration that cannot run.
    #[wasm_bindgen(constructor)]
    pub fn new(config_json: &str, host: Host) -> Result<RunHandle, JsValue> {
        set_hook();
        let config = json::read::<Config>("config", config_json).map_err(thrown)?;
        let run = Run::new(config).map_err(thrown)?;
        Ok(RunHandle {
            driver: Rc::new(Driver::new(run, host)),
        })
    }

    /// Takes an input in: the JSON of an [`Input`], for example `{"cancel":{"why":"user"}}`. True if there was what it is
    /// for: an open question of its answer's kind, a steer that was still undelivered, an agent at work.
    ///
    /// # Errors
    /// `{ field, problem }` for text that is not one, or a model that cannot be asked; nothing has happened then.
    pub fn tell(&self, input: &str) -> Result<bool, JsValue> {
        let input: Input<'static> = json::read("", input).map_err(|error| {
            // Nobody outside knows the names of inputs.
            let (_, field) = error.field.split_once('.').unwrap_or_default();
            thrown(ConfigError::new(field, error.problem))
        })?;
        let is_for_something = self.driver.ask(|run| run.takes(&input)).map_err(thrown)?;
        self.driver.tell(input);
        Ok(is_for_something)
    }

    /// `length` bytes of a response's body stand in the inlet. Returns 0, or how many UTF-16 units the delta has that
    /// stands in the outlet then: it is to be read at once and handed on.
    pub fn chunk(&self, request: u32, length: usize, now_ms: f64) -> u32 {
        self.driver.chunk(request, length, now_ms)
    }

    /// A request was answered.
    pub fn respond(&self, request: u32, response: web_sys::Response) {
        request::respond(&self.driver, request, response);
    }

    /// Before anything that is told while a lent delta is handed on.
    pub fn hold(&self) {
        self.driver.hold();
    }

    /// After a lent delta has been handed on, if `hold` was called.
    pub fn resume(&self) {
        self.driver.resume();
    }

    /// The kinds of events that are worth crossing the boundary. The numbering of events does not depend on it.
    pub fn want(&self, text: bool, reasoning: bool, tool_input: bool, events: bool) {
        self.driver.set_wants(Wants {
            text,
            reasoning,
            tool_input,
            events,
        });
    }

    /// How the run ended, an [`Outcome`](crate::engine::model::outcome::Outcome); undefined while it runs.
    pub fn outcome(&self) -> JsValue {
        self.driver
            .ask(|run| run.outcome().map_or(JsValue::UNDEFINED, object))
    }

    /// Tokens and money so far, a [`Usage`](crate::engine::model::usage::Usage).
    pub fn usage(&self) -> JsValue {
        object(&self.driver.ask(|run| run.usage()))
    }

    /// The JSON of a [`Report`](crate::engine::model::outcome::Report).
    pub fn report(&self) -> String {
        self.driver.ask(|run| json::write(&run.report()))
    }

    /// The text of the last answer.
    pub fn text(&self) -> String {
        self.driver.ask(|run| run.text())
    }

    /// The bytes of the JSON of a [`History`](crate::engine::model::outcome::History): long, and often not looked at.
    pub fn history(&self) -> Vec<u8> {
        self.driver.ask(|run| json::write(&run.history()).into_bytes())
    }

    /// The path of an agent, and in a second line the provider's id of the call that it answers.
    pub fn agent(&self, agent: u32) -> String {
        self.driver
            .ask(|run| [run.agent_path(agent), "\n", run.agent_call(agent)].concat())
    }

    /// Ends everything that is open in JavaScript, silently. To be called before `free`.
    #[wasm_bindgen(js_name = letGo)]
    pub fn let_go(&self) {
        self.driver.let_go();
    }
}

#[cfg(feature = "test-panics")]
#[wasm_bindgen]
impl RunHandle {
    /// Panics while the run is borrowed.
    #[wasm_bindgen(js_name = panicNow)]
    pub fn panic_now(&self) {
        self.driver.panic_while_borrowed();
    }
}

fn thrown(error: ConfigError) -> JsValue {
    object(&error)
}

/// A small value of our own as a JavaScript object.
fn object<T: Serialize>(value: &T) -> JsValue {
    // It refuses numbers beyond what JavaScript counts exactly, which our types do not let in.
    value
        .serialize(&Serializer::json_compatible())
        .unwrap_or(JsValue::UNDEFINED)
}
