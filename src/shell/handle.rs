//! The handles for JavaScript: of a prepared agent and of a run. They are not part of the public API:
//! `src/typescript/core/host/instance.ts` and `shell.ts` wrap them.
//!
//! [`AgentHandle`] takes the configuration and opens runs. Everything that happens to a run enters through
//! [`RunHandle::handle_input`] as the JSON of an [`Input`], except a stream's chunks ([`RunHandle::chunk`]) and a
//! `Response`'s head ([`RunHandle::respond`]). [`RunHandle::outcome`], [`RunHandle::report`], [`RunHandle::text`] and
//! [`RunHandle::history`] read the run's results at any time. [`RunHandle::let_go`] must be called last, before
//! `free`. Only invalid JSON is rejected. An answer to a closed question returns false.

use std::rc::Rc;
use std::sync::Arc;

use serde::Serialize;
use serde_wasm_bindgen::Serializer;
use wasm_bindgen::prelude::*;

use super::batch::Wants;
use super::driver::{Driver, moment_of};
use super::javascript::Shell;
use super::panic::set_hook;
use super::request;
use crate::engine::agent::setup::Setup;
use crate::engine::model::config::RunOptions;
use crate::engine::model::config::permission::Reading;
use crate::engine::model::error::ConfigError;
use crate::engine::model::input::{Input, Moment};
use crate::engine::model::journal::{Checkpoint, JournalReader};
use crate::engine::model::json;
use crate::engine::model::message::Block;
use crate::engine::run::Run;

/// An agent, prepared for any number of runs. Its runs remain usable after the agent's handle is freed.
#[wasm_bindgen]
pub struct AgentHandle {
    setup: Arc<Setup>,
}

#[wasm_bindgen]
impl AgentHandle {
    /// Prepares an agent from the JSON of its [`Config`](crate::engine::model::config::Config).
    ///
    /// # Errors
    /// `{ field, problem }` for a configuration that cannot run.
    #[wasm_bindgen(constructor)]
    pub fn new(config: &str) -> Result<AgentHandle, JsValue> {
        set_hook();
        let setup = Setup::read(config);
        Ok(AgentHandle {
            setup: Arc::new(setup.map_err(thrown)?),
        })
    }

    /// Opens a run from the JSON of its [`RunOptions`].
    ///
    /// # Errors
    /// `{ field, problem }` for a history that is not legal.
    pub fn open(&self, options: &str, shell: Shell) -> Result<RunHandle, JsValue> {
        let options = json::read::<RunOptions>("", options);
        let run = options.and_then(|options| Run::new(Arc::clone(&self.setup), options));
        RunHandle::of(run, shell)
    }

    /// The JSON of the [`Bound`](crate::engine::model::usage::Bound) of a run with this prompt, the JSON of its
    /// blocks.
    ///
    /// # Errors
    /// `{ field, problem }` for a history that is not legal.
    pub fn bound(&self, prompt: &str, options: &str) -> Result<String, JsValue> {
        let prompt = json::read::<Vec<Block>>("prompt", prompt).map_err(thrown)?;
        let options = json::read::<RunOptions>("", options).map_err(thrown)?;
        Ok(json::write(&self.setup.bound(&prompt, &options)))
    }

    /// Opens the run of a journal, see [`Run::restore_journal`]. The input `"resume"` resumes it. `batch` returns
    /// entries by the number of their batch from 0, so that no copy has all of them: JSON, each with its line end, or
    /// `undefined` after the last. They are UTF-8, because wasm-bindgen copies text character by character.
    ///
    /// # Errors
    /// `{ field, problem }` for a journal of a newer format, or without a valid beginning.
    pub fn restore(&self, batch: &js_sys::Function, last: f64, shell: Shell) -> Result<RunHandle, JsValue> {
        let read = read_journal(JournalReader::default(), batch)?;
        let run = Run::restore_journal(Arc::clone(&self.setup), read, last as u64);
        RunHandle::of(run, shell)
    }
}

/// The journal that `batch` gives.
fn read_journal(mut reader: JournalReader, batch: &js_sys::Function) -> Result<(Checkpoint, usize), JsValue> {
    loop {
        for at in 0_u32.. {
            let lines = batch.call1(&JsValue::UNDEFINED, &at.into())?;
            if lines.is_undefined() {
                break;
            }
            let bytes = lines.unchecked_into::<js_sys::Uint8Array>().to_vec();
            let lines = String::from_utf8_lossy(&bytes);
            lines
                .lines()
                .try_for_each(|line| reader.take(line))
                .map_err(thrown)?;
        }
        if let Some(read) = reader.finish().map_err(thrown)? {
            return Ok(read);
        }
    }
}

/// A run. Its methods take `&self`, because any of them may be called from inside a callback of another.
#[wasm_bindgen]
pub struct RunHandle {
    driver: Rc<Driver>,
}

impl RunHandle {
    fn of(run: Result<Run, ConfigError>, shell: Shell) -> Result<RunHandle, JsValue> {
        Ok(RunHandle {
            driver: Rc::new(Driver::new(run.map_err(thrown)?, shell)),
        })
    }
}

#[wasm_bindgen]
impl RunHandle {
    /// Hands the JSON of an [`Input`] to the run, for example `{"cancel":{"why":"user"}}`. Returns false for an
    /// answer that no open question takes, for the withdrawal of a steer that was delivered, and for a budget of an
    /// agent that is not at work. Every other input returns true.
    ///
    /// # Errors
    /// `{ field, problem }` for text that is not an [`Input`], or for a model that cannot be asked. Nothing has
    /// happened then.
    #[wasm_bindgen(js_name = handleInput)]
    pub fn handle_input(&self, text: &str) -> Result<bool, JsValue> {
        let input = read_input(text)?;
        self.driver.with_run(|run| run.check(&input)).map_err(thrown)?;
        let recorded = self.driver.is_recorded().then_some(text);
        Ok(self.driver.handle_input(input, recorded))
    }

    /// Makes `history` show the results of the open round, see [`Run::recall`]. Afterwards the run can only be read.
    pub fn recall(&self) {
        self.driver.with_run(Run::recall);
    }

    /// Continues the journal of a chat, see [`Run::follow`]. It must precede the first input.
    ///
    /// # Errors
    /// `{ field, problem }` for text that is not the JSON of a
    /// [`JournalTail`](crate::engine::model::journal::JournalTail).
    pub fn follow(&self, tail: &str, id: String) -> Result<(), JsValue> {
        let tail = json::read("tail", tail).map_err(thrown)?;
        self.driver.with_run(|run| run.follow(tail, id));
        Ok(())
    }

    /// The JSON of the [`AgentTranscript`](crate::engine::model::journal::AgentTranscript)s of a journal, as bytes.
    /// `batch` gives its entries as `restore` takes them.
    ///
    /// # Errors
    /// Those of `restore`.
    pub fn transcripts(&self, batch: &js_sys::Function) -> Result<Vec<u8>, JsValue> {
        let (checkpoint, _) = read_journal(JournalReader::with_transcripts(), batch)?;
        Ok(json::write(&checkpoint.transcripts()).into_bytes())
    }

    /// The JSON of the [`JournalTail`](crate::engine::model::journal::JournalTail) of the run's journal.
    pub fn tail(&self) -> String {
        self.driver.with_run(|run| json::write(&run.tail()))
    }

    /// Hands each input from now on to `Shell.record` before the run gets it.
    pub fn record(&self) {
        self.driver.start_record();
    }

    /// Passes `length` bytes of a response's body, which are in the inlet. Returns 0, or the number of UTF-16 units
    /// of the delta in the outlet. JavaScript then reads that delta immediately and delivers it.
    pub fn chunk(&self, request: u32, length: usize, now_ms: f64) -> u32 {
        self.driver.chunk(request, length, now_ms)
    }

    /// Passes the head of a response.
    pub fn respond(&self, request: u32, response: web_sys::Response) {
        request::respond(&self.driver, request, response);
    }

    /// Holds outputs. JavaScript calls it before it passes an input while it delivers the delta in the outlet.
    pub fn hold(&self) {
        self.driver.hold();
    }

    /// Performs the outputs that `hold` has held, after the delta in the outlet was delivered.
    pub fn resume(&self) {
        self.driver.resume();
    }

    /// Selects the kinds of events that cross the boundary. The numbering of events does not depend on it.
    pub fn want(&self, text: bool, reasoning: bool, tool_input: bool, events: bool) {
        self.driver.set_wants(Wants {
            text,
            reasoning,
            tool_input,
            events,
        });
    }

    /// The end of the run, an [`Outcome`](crate::engine::model::outcome::Outcome); undefined while the run is at
    /// work.
    pub fn outcome(&self) -> JsValue {
        self.driver
            .with_run(|run| run.outcome().map_or(JsValue::UNDEFINED, object))
    }

    /// The JSON of a [`Report`](crate::engine::model::outcome::Report), as bytes. A text that is too long for
    /// JavaScript would throw inside this call, which counts as a lost instance.
    pub fn report(&self) -> Vec<u8> {
        self.driver
            .with_run(|run| json::write(&run.report()).into_bytes())
    }

    /// The text of the last answer, as bytes.
    pub fn text(&self) -> Vec<u8> {
        self.driver.with_run(|run| run.text().into_bytes())
    }

    /// The JSON of a [`History`](crate::engine::model::outcome::History), as bytes, because it is long and often not
    /// read.
    pub fn history(&self) -> Vec<u8> {
        self.driver
            .with_run(|run| json::write(&run.history()).into_bytes())
    }

    /// The path of an agent, and in a second line the provider's id of the call that it answers.
    pub fn agent(&self, agent: u32) -> String {
        self.driver
            .with_run(|run| [run.agent_path(agent), "\n", run.agent_call(agent)].concat())
    }

    /// True when a rule withholds a path from a running call. `composed` is the path in Unicode's NFC, if it differs.
    pub fn withholds(&self, call: u32, path: String, composed: Option<String>) -> bool {
        let place = Reading {
            text: path,
            composed,
            address: None,
        };
        self.driver.with_run(|run| run.withholds(call, &place))
    }

    /// Ends everything that is open in JavaScript, silently. JavaScript calls it before `free`.
    #[wasm_bindgen(js_name = letGo)]
    pub fn let_go(&self) {
        self.driver.let_go();
    }
}

/// Plays an input of a record, and performs the outputs before the next one. `before_next` is their number from the
/// beginning, without events. The calls that perform them must not call back. A time that is not a number is unknown.
/// The functions of a replay are not methods, so that a page without replays does not load them.
///
/// # Errors
/// `{ field, problem }` for text that is not an [`Input`]. It changes nothing.
#[wasm_bindgen(js_name = playInput)]
pub fn play_input(
    run: &RunHandle,
    text: &str,
    now_ms: f64,
    random: u64,
    before_next: u32,
) -> Result<(), JsValue> {
    let now_ms = moment_of(now_ms, 0.0).now_ms;
    let moment = Moment { now_ms, random };
    run.driver.play(read_input(text)?, moment, before_next);
    Ok(())
}

/// Plays a chunk of a record, with `length` bytes in the inlet.
#[wasm_bindgen(js_name = playChunk)]
pub fn play_chunk(run: &RunHandle, request: u32, length: usize, now_ms: f64, random: u64, before_next: u32) {
    let now_ms = moment_of(now_ms, 0.0).now_ms;
    let moment = Moment { now_ms, random };
    run.driver.play_chunk(request, length, moment, before_next);
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

/// Reads the JSON of an [`Input`].
#[inline(never)]
fn read_input(text: &str) -> Result<Input<'static>, JsValue> {
    json::read("", text).map_err(|error| {
        // Your code does not know the names of inputs, so the path starts below them.
        let (_, field) = error.field.split_once('.').unwrap_or_default();
        thrown(ConfigError::new(field, error.problem))
    })
}

fn thrown(error: ConfigError) -> JsValue {
    object(&error)
}

/// One of our small values as a JavaScript object.
fn object<T: Serialize>(value: &T) -> JsValue {
    // The conversion rejects only integers beyond 2^53, which our types never contain.
    value
        .serialize(&Serializer::json_compatible())
        .unwrap_or(JsValue::UNDEFINED)
}
