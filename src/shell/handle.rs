//! The handle of a run that JavaScript holds. `src/face/host/driver.ts` wraps it; it is not part of the public API.

use std::borrow::Cow;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::rc::Rc;

use js_sys::{Object, Reflect};
use wasm_bindgen::prelude::*;

use super::batch::Wants;
use super::driver::Driver;
use super::host::Host;
use super::inlet::with_inlet;
use super::panic::set_hook;
use super::request;
use crate::engine::model::config::{Config, ModelConfig};
use crate::engine::model::error::ConfigError;
use crate::engine::model::event::ToolFault;
use crate::engine::model::input::{AddedBudget, Input, ToolReturn};
use crate::engine::model::json;
use crate::engine::model::message::{Block, Json};
use crate::engine::model::outcome::RunResult;
use crate::engine::model::question::Answer;
use crate::engine::run::Run;

/// A run. Methods take `&self`: any of them may be called from inside a callback of another.
#[wasm_bindgen]
pub struct RunHandle {
    driver: Rc<Driver>,
}

// Every entry catches panics and ends the run then, which is what keeps its state from being seen half changed.
impl UnwindSafe for RunHandle {}
impl RefUnwindSafe for RunHandle {}

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

    /// `length` bytes of a response's body stand in the inlet. Returns 0, or how many UTF-16 units the delta has that
    /// stands in the outlet then: it is to be read at once and handed on.
    pub fn chunk(&self, request: u32, length: usize, now_ms: f64) -> u32 {
        self.driver.chunk(request, length, now_ms)
    }

    /// A request was answered.
    pub fn respond(&self, request: u32, response: web_sys::Response) {
        request::respond(&self.driver, request, response);
    }

    /// What `result` leaves out but for the text, as the bytes of JSON: long, and often not looked at.
    pub fn history(&self) -> Vec<u8> {
        self.driver.ask(|run| {
            let result = RunResult {
                text: String::new(),
                ..run.result()
            };
            json::write(&result).into_bytes()
        })
    }

    /// The same as `tell`, of the first `length` bytes of the inlet: what goes this way needs no memory of its own.
    ///
    /// # Errors
    /// As `start`.
    pub fn told(&self, what: u32, id: u32, length: usize) -> Result<Option<String>, JsValue> {
        // What is told makes JavaScript tell more, for which it needs the inlet.
        let text = with_inlet(length, |bytes| String::from_utf8_lossy(bytes).into_owned());
        self.tell(what, id, &text)
    }

    /// Everything else, through one way in because each costs its glue: calls the method of that number, and gives back
    /// its text, or an empty one for true.
    ///
    /// # Errors
    /// As `start`.
    pub fn tell(&self, what: u32, id: u32, text: &str) -> Result<Option<String>, JsValue> {
        let is_true = |is: bool| is.then(String::new);
        match what {
            0 => self.start(text)?,
            1 => self.steer(id, text)?,
            2 => self.follow_up(id, text)?,
            3 => return Ok(is_true(self.withdraw(id))),
            4 => self.abort(text),
            5 => self.hold(),
            6 => self.resume(),
            7 => self.head(id, text),
            8 => self.end(id),
            9 => self.not_sent(id, text),
            10 => self.network_failed(id, text),
            11 => self.tool_finished(id, text),
            12 => self.tool_progress(id, text),
            13 => return Ok(is_true(self.answer(id, text))),
            14 => self.due(),
            15 => self.want(id),
            16 => return Ok(self.outcome()),
            17 => return Ok(Some(self.result())),
            18 => return Ok(Some(self.text())),
            19 => self.set_mode(text),
            20 => self.set_model(text)?,
            21 => return Ok(Some(self.agent(id))),
            22 => self.compact(text),
            23 => return Ok(is_true(self.add_budget(text)?)),
            _ => self.let_go(),
        }
        Ok(None)
    }
}

/// What [`RunHandle::tell`] calls; `Tell` in `src/face/host/wasm.ts` has its numbers.
impl RunHandle {
    /// Starts the run. `content` is a JSON array of blocks; so it is in `steer` and `followUp`.
    ///
    /// # Errors
    /// `{ field, problem }` when it is not.
    pub fn start(&self, content: &str) -> Result<(), JsValue> {
        let content = blocks(content)?;
        self.driver.tell(Input::Prompt { content });
        Ok(())
    }

    /// # Errors
    /// As `start`.
    pub fn steer(&self, id: u32, content: &str) -> Result<(), JsValue> {
        let content = blocks(content)?;
        self.driver.tell(Input::Steer { id, content });
        Ok(())
    }

    /// # Errors
    /// As `start`.
    pub fn follow_up(&self, id: u32, content: &str) -> Result<(), JsValue> {
        let content = blocks(content)?;
        self.driver.tell(Input::FollowUp { id, content });
        Ok(())
    }

    /// Whether the steer or follow-up was still undelivered.
    pub fn withdraw(&self, id: u32) -> bool {
        let undelivered = || self.driver.ask(|run| run.result().undelivered.len());
        let before = undelivered();
        self.driver.tell(Input::Withdraw { id });
        undelivered() < before
    }

    /// Cancels the run: `outcome` is set on return.
    pub fn abort(&self, why: &str) {
        self.driver.tell(Input::Cancel { why: why.to_owned() });
    }

    /// Switches the permission mode, given as its word.
    pub fn set_mode(&self, mode: &str) {
        let mode = json::named(mode).unwrap_or_default();
        self.driver.tell(Input::SetMode { mode });
    }

    /// The root's history is summarised before its next request. `instructions`: empty for none.
    pub fn compact(&self, instructions: &str) {
        let instructions = (!instructions.is_empty()).then(|| instructions.to_owned());
        self.driver.tell(Input::Compact { instructions });
    }

    /// Whether the agent is at work: `{"agentPath":…,"maxIterations":…,…,"timeMs":…}`, how much more.
    ///
    /// # Errors
    /// As `start`.
    pub fn add_budget(&self, budget: &str) -> Result<bool, JsValue> {
        let added: AddedBudget = json::read("", budget).map_err(thrown)?;
        let AddedBudget { agent_path, more } = added;
        let found = self.driver.ask(|run| run.at_work(&agent_path).is_some());
        self.driver.tell(Input::AddBudget { agent_path, more });
        Ok(found)
    }

    /// The root asks this model from its next request on.
    ///
    /// # Errors
    /// `{ field, problem }` for one that it cannot ask.
    pub fn set_model(&self, model: &str) -> Result<(), JsValue> {
        let model = json::read::<ModelConfig>("model", model).map_err(thrown)?;
        self.driver.ask(|run| run.check_model(&model)).map_err(thrown)?;
        let model = Box::new(model);
        self.driver.tell(Input::SetModel { model });
        Ok(())
    }

    /// The path of an agent, and in a second line the provider's id of the call that it answers.
    pub fn agent(&self, agent: u32) -> String {
        self.driver
            .ask(|run| [run.agent_path(agent), "\n", run.agent_call(agent)].concat())
    }

    /// Before anything that is told while a lent delta is handed on.
    pub fn hold(&self) {
        self.driver.hold();
    }

    /// After a lent delta has been handed on, if `hold` was called.
    pub fn resume(&self) {
        self.driver.resume();
    }

    /// A request was answered by something that is no `Response`: its headers' names and values in turn, as JSON, and
    /// behind them the status.
    pub fn head(&self, request: u32, parts: &str) {
        request::respond_with(&self.driver, request, parts);
    }

    /// A response's body has ended.
    pub fn end(&self, request: u32) {
        self.driver.tell(Input::End { request });
    }

    /// A request was not sent, by the fault of what should have sent it.
    pub fn not_sent(&self, request: u32, why: &str) {
        let why = why.to_owned();
        self.driver.tell(Input::NotSent { request, why });
    }

    /// A request failed on its way, or its response's body broke off.
    pub fn network_failed(&self, request: u32, why: &str) {
        let why = why.to_owned();
        self.driver.tell(Input::NetworkFailed { request, why });
    }

    /// `result` is `{"value": …}`, `{"content": [blocks]}` or `{"fault": {…}}`; anything else becomes a fault.
    pub fn tool_finished(&self, call: u32, result: &str) {
        let result = json::read("", result).unwrap_or_else(|error| {
            ToolReturn::Fault(ToolFault {
                code: "tool_failed".to_owned(),
                message: error.to_text(),
                hint: String::new(),
                recoverable: true,
            })
        });
        self.driver.tell(Input::ToolFinished { call, result });
    }

    /// `data` is JSON text; anything else is dropped.
    pub fn tool_progress(&self, call: u32, data: &str) {
        if let Ok(data) = Json::parse(data) {
            self.driver.tell(Input::ToolProgress { call, data });
        }
    }

    /// Whether the question was still open, and the answer of its kind. `answer` is `{"prepared": […]}` or `{"failed": {"why": …}}`.
    pub fn answer(&self, question: u32, answer: &str) -> bool {
        let answer = json::read("", answer).unwrap_or_else(|error| Answer::Failed { why: error.to_text() });
        let is_taken = self.driver.ask(|run| run.takes(question, &answer));
        self.driver.tell(Input::Answered { question, answer });
        is_taken
    }

    /// The timer has fired.
    pub fn due(&self) {
        self.driver.due();
    }

    /// What is worth crossing the boundary: 1 for text, 2 for reasoning, 4 for tool input, 8 for other events.
    pub fn want(&self, kinds: u32) {
        self.driver.set_wants(Wants {
            text: kinds & 1 != 0,
            reasoning: kinds & 2 != 0,
            tool_input: kinds & 4 != 0,
            events: kinds & 8 != 0,
        });
    }

    /// How the run ended, as JSON; undefined while it runs.
    pub fn outcome(&self) -> Option<String> {
        self.driver.outcome_json()
    }

    /// Everything that the run has to show, as JSON, at any time, but for what `text` and `history` give.
    pub fn result(&self) -> String {
        self.driver.ask(|run| {
            let result = RunResult {
                text: String::new(),
                tool_calls: Cow::Borrowed(&[]),
                messages: Cow::Borrowed(&[]),
                subagents: &[],
                ..run.result()
            };
            json::write(&result)
        })
    }

    /// The text of the result.
    pub fn text(&self) -> String {
        self.driver.ask(|run| run.result().text)
    }

    /// Ends everything that is open in JavaScript, silently. To be called before `free`.
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

fn blocks(json: &str) -> Result<Vec<Block>, JsValue> {
    json::read("content", json).map_err(thrown)
}

fn thrown(error: ConfigError) -> JsValue {
    let object = Object::new();
    for (name, text) in [("field", &error.field), ("problem", &error.problem)] {
        let _ = Reflect::set(&object, &JsValue::from_str(name), &JsValue::from_str(text));
    }
    object.into()
}
