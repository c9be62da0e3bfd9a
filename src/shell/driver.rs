//! Takes every input of a run in and performs its outputs, in order.
//!
//! [`Driver::tell`] borrows the run, hands the input over, collects what the run wants, lets go of the run, and only
//! then calls JavaScript. What JavaScript tells from inside such a call is taken in at once (so `outcome` is set when
//! `abort()` returns), but its outputs queue up behind those that are being performed.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use super::batch::{Batch, Wants, lend, utf16_length};
use super::guard::catch;
use super::host::Host;
use super::inlet::with_inlet;
use super::request;
use crate::engine::model::error::{Failure, FailureCode};
use crate::engine::model::input::Input;
use crate::engine::model::moment::Moment;
use crate::engine::model::outcome::{Outcome, OutcomeKind};
use crate::engine::model::output::{EffectId, Output};
use crate::engine::run::Run;

/// Longest delay that a timer takes, in milliseconds; a later deadline is armed again when this one fires.
const MAX_TIMER_MS: u64 = i32::MAX as u64;

/// Where a request's body stands until the run is told the next thing, and how much of it the agent's later bodies of
/// that name begin with. In bytes.
#[derive(Clone, Copy, Debug)]
pub struct Body {
    pub at: usize,
    pub length: usize,
    pub agent: u32,
    pub name: EffectId,
    pub steady: usize,
}

/// A run and what is open for it in JavaScript.
pub struct Driver {
    pub host: Host,
    run: RefCell<Run>,
    outputs: RefCell<VecDeque<Output>>,
    batch: RefCell<Batch>,
    wants: Cell<Wants>,
    is_draining: Cell<bool>,
    is_delivering: Cell<bool>,
    is_done: Cell<bool>,
    armed_for_ms: Cell<Option<u64>>,
    seed: Cell<u64>,
    now_ms: Cell<u64>,
    /// JavaScript has run since the clock was read.
    has_called: Cell<bool>,
    /// The end of a run that cannot even say itself that it has failed.
    wreck: RefCell<Option<Outcome>>,
    #[cfg(feature = "test-panics")]
    pub panic_in_response: Cell<bool>,
    #[cfg(feature = "test-panics")]
    pub panic_in_failing: Cell<bool>,
}

impl Driver {
    pub fn new(run: Run, host: Host) -> Driver {
        Driver {
            host,
            run: RefCell::new(run),
            outputs: RefCell::default(),
            batch: RefCell::default(),
            wants: Cell::new(Wants {
                text: true,
                reasoning: true,
                tool_input: true,
                events: true,
            }),
            is_draining: Cell::new(false),
            is_delivering: Cell::new(false),
            is_done: Cell::new(false),
            armed_for_ms: Cell::new(None),
            seed: Cell::new(0),
            now_ms: Cell::new(0),
            has_called: Cell::new(false),
            wreck: RefCell::default(),
            #[cfg(feature = "test-panics")]
            panic_in_response: Cell::new(false),
            #[cfg(feature = "test-panics")]
            panic_in_failing: Cell::new(false),
        }
    }

    /// Takes an input in with the host's time and performs what follows from it.
    pub fn tell(self: &Rc<Self>, input: Input<'_>) {
        let moment = self.moment();
        self.tell_at(input, moment);
    }

    /// The same, with the time that the caller has read.
    pub fn tell_at(self: &Rc<Self>, input: Input<'_>, moment: Moment) {
        let mut input = Some(input);
        self.guard(&mut || {
            if let Some(input) = input.take() {
                self.take_in(input, moment);
            }
            self.drain();
        });
    }

    /// Takes a chunk in. A lone short delta that comes of it is lent (see [`lend`]), and how many UTF-16 units it has is
    /// returned; all else is performed.
    #[cfg_attr(looplet_speed, optimize(speed))]
    pub fn chunk(self: &Rc<Self>, request: EffectId, length: usize, now_ms: f64) -> u32 {
        let mut units = 0;
        self.guard(&mut || {
            if self.wreck.borrow().is_some() {
                return;
            }
            let moment = self.moment_at(moment_of(now_ms, 0.0).now_ms);
            self.note(moment);
            let is_behind = self.is_draining.get() || !self.outputs.borrow().is_empty();
            {
                let mut run = self.run.borrow_mut();
                with_inlet(length, |bytes| {
                    run.handle_input(Input::Chunk { request, bytes }, moment)
                });
                if !is_behind && self.batch.borrow().is_empty() {
                    units = self.tell_delta(&mut run);
                }
                if !run.is_quiet() {
                    self.collect(&mut run);
                }
            }
            if is_behind || !self.outputs.borrow().is_empty() || !self.batch.borrow().is_empty() {
                self.drain();
            } else {
                self.arm();
            }
        });
        units
    }

    /// Lends the delta that is the next output, or puts it into the batch.
    #[cfg_attr(looplet_speed, optimize(speed))]
    fn tell_delta(&self, run: &mut Run) -> u32 {
        let is_alone = run.has_one_output();
        let Some(delta) = run.poll_delta() else { return 0 };
        if !self.wants.get().delta(delta.kind) {
            return 0;
        }
        let units = if is_alone { lend(&delta) } else { 0 };
        if units == 0 {
            self.batch.borrow_mut().push_delta(&delta);
        }
        units
    }

    /// JavaScript tells something while it hands a lent delta on: what follows waits for [`Driver::resume`].
    pub fn hold(&self) {
        self.is_draining.set(true);
        self.is_delivering.set(true);
    }

    /// The lent delta has been handed on.
    pub fn resume(self: &Rc<Self>) {
        self.is_draining.set(false);
        self.is_delivering.set(false);
        self.guard(&mut || self.drain());
    }

    /// The timer has fired.
    pub fn due(self: &Rc<Self>) {
        self.armed_for_ms.set(None);
        self.tell(Input::Due);
    }

    /// Reads the run. `None` after a panic that even its failing did not survive.
    pub fn ask<R>(self: &Rc<Self>, read: impl FnOnce(&mut Run) -> R) -> Option<R> {
        if self.wreck.borrow().is_some() {
            return None;
        }
        let (mut read, mut answer) = (Some(read), None);
        self.guard(&mut || {
            if let Some(read) = read.take() {
                answer = Some(read(&mut self.run.borrow_mut()));
            }
        });
        answer
    }

    /// How the run ended, as JSON.
    pub fn outcome_json(self: &Rc<Self>) -> Option<String> {
        let told = self.ask(|run| run.outcome().map(Outcome::to_json));
        told.unwrap_or_else(|| self.wreck.borrow().as_ref().map(Outcome::to_json))
    }

    pub fn set_wants(self: &Rc<Self>, wants: Wants) {
        self.wants.set(wants);
        self.ask(|run| run.set_heard(wants.tool_input || wants.events));
    }

    /// An open request's body, where it stands.
    pub fn body_of(&self, request: EffectId) -> Body {
        let mut run = self.run.borrow_mut();
        let bytes = run.request_body(request).unwrap_or_default();
        let (at, length) = (bytes.as_ptr() as usize, bytes.len());
        let (agent, steady) = run.steady(request).unwrap_or_default();
        Body {
            at,
            length,
            agent,
            name: steady.name,
            steady: steady.bytes.min(length),
        }
    }

    /// Nothing may come back from JavaScript any more: the handle is about to be freed.
    pub fn let_go(&self) {
        self.is_done.set(true);
        self.release();
    }

    /// Runs `enter`; a panic in it ends the run as failed.
    #[cfg_attr(looplet_speed, optimize(speed))]
    pub fn guard(self: &Rc<Self>, enter: &mut dyn FnMut()) {
        if let Err(message) = catch(enter) {
            self.fail(&message);
        }
    }

    /// Ends the run as failed with code `bug`.
    pub fn fail(self: &Rc<Self>, message: &str) {
        let ended = catch(&mut || {
            {
                let mut run = self.run.borrow_mut();
                #[cfg(feature = "test-panics")]
                assert!(!self.panic_in_failing.take(), "made by a test");
                run.fail_as_bug(message);
                self.collect(&mut run);
            }
            self.drain();
        });
        if ended.is_err() && !self.is_done.get() {
            *self.wreck.borrow_mut() = Some(Outcome {
                outcome: OutcomeKind::Failed,
                stopped_by: None,
                abort_reason: None,
                error: Some(Failure::new(FailureCode::Bug, message)),
            });
            self.outputs.borrow_mut().clear();
            self.finish();
        }
    }

    pub fn moment(&self) -> Moment {
        moment_of(self.host.now(), self.host.random())
    }

    /// For an input of the shell's own: the clock is read again only when JavaScript may have taken its time.
    fn moment_within(&self) -> Moment {
        let now_ms = if self.has_called.get() {
            moment_of(self.host.now(), 0.0).now_ms
        } else {
            self.now_ms.get()
        };
        self.moment_at(now_ms)
    }

    /// With what the host has drawn for an earlier input, stretched: a draw for each costs more than it is worth.
    #[cfg_attr(looplet_speed, optimize(speed))]
    fn moment_at(&self, now_ms: u64) -> Moment {
        let random = next_seed(self.seed.get());
        Moment { now_ms, random }
    }

    #[cfg_attr(looplet_speed, optimize(speed))]
    fn note(&self, moment: Moment) {
        self.seed.set(moment.random);
        self.now_ms.set(moment.now_ms);
        self.has_called.set(false);
    }

    fn take_in(&self, input: Input<'_>, moment: Moment) {
        if self.wreck.borrow().is_some() {
            return;
        }
        self.note(moment);
        let mut run = self.run.borrow_mut();
        run.handle_input(input, moment);
        self.collect(&mut run);
    }

    #[cfg_attr(looplet_speed, optimize(speed))]
    fn collect(&self, run: &mut Run) {
        let mut outputs = self.outputs.borrow_mut();
        while let Some(output) = run.poll_output() {
            match output {
                // Straight into the batch, unless something must come before or JavaScript is reading it.
                Output::Emit(event) if outputs.is_empty() && !self.is_delivering.get() => self
                    .batch
                    .borrow_mut()
                    .push(&event, run.agent_path(event.agent), self.wants.get()),
                output => outputs.push_back(output),
            }
        }
    }

    fn drain(self: &Rc<Self>) {
        if self.is_draining.get() {
            return;
        }
        let _draining = Raised::new(&self.is_draining);
        loop {
            let next = self.outputs.borrow_mut().pop_front();
            match next {
                Some(Output::Emit(event)) => {
                    let run = self.run.borrow();
                    let path = run.agent_path(event.agent);
                    self.batch.borrow_mut().push(&event, path, self.wants.get());
                }
                Some(Output::HandOver { handover }) => {
                    self.deliver();
                    self.take_in(Input::HandedOver { handover }, self.moment_within());
                }
                Some(Output::Save { save, .. }) => {
                    self.take_in(Input::Saved { save, ok: true }, self.moment_within());
                }
                Some(effect) => {
                    self.deliver();
                    self.perform(effect);
                }
                None if self.batch.borrow().is_empty() => break,
                None => self.deliver(),
            }
        }
        self.arm();
    }

    /// Hands the batch over. Nothing changes it until JavaScript has returned.
    fn deliver(&self) {
        if self.batch.borrow().is_empty() {
            return;
        }
        {
            let _delivering = Raised::new(&self.is_delivering);
            self.has_called.set(true);
            let parts = self.batch.borrow().parts();
            self.host
                .deliver(parts.words, parts.records, parts.text, parts.text_bytes);
        }
        self.batch.borrow_mut().clear();
    }

    fn perform(self: &Rc<Self>, effect: Output) {
        self.has_called.set(true);
        match effect {
            Output::Send { request, http } if self.is_live(request) => request::send(self, request, &http),
            Output::CallTool(call) if self.is_live(call.call) => {
                let (id, name) = (&call.tool_call_id, &call.tool_name);
                self.host.call_tool(
                    call.call,
                    &[id, name, call.input.as_str()].concat(),
                    utf16_length(id.as_bytes()),
                    utf16_length(name.as_bytes()),
                    call.iteration,
                    call.agent,
                    call.profile,
                );
            }
            Output::Ask { question, ask } if self.is_live(question) => {
                self.host.ask(question, ask.to_json().as_str());
            }
            Output::Abort { request } => self.host.stop(request),
            Output::AbortTool { call: effect, why }
            | Output::Withdraw {
                question: effect,
                why,
            } => self.host.abort_tool(effect, &why),
            Output::Done(_) => self.finish(),
            _ => {}
        }
    }

    fn is_live(&self, effect: EffectId) -> bool {
        self.run.borrow().is_live(effect)
    }

    fn finish(&self) {
        if !self.is_done.replace(true) {
            self.release();
            self.host.done();
        }
    }

    fn release(&self) {
        self.armed_for_ms.set(None);
        self.host.release();
    }

    /// Sets the one timer, unless one is set that fires in time.
    #[cfg_attr(looplet_speed, optimize(speed))]
    fn arm(&self) {
        let deadline = if self.is_done.get() {
            None
        } else {
            self.run.borrow().poll_timeout()
        };
        match (deadline, self.armed_for_ms.get()) {
            (Some(deadline), Some(armed_for_ms)) if armed_for_ms <= deadline.at_ms => {}
            (Some(deadline), _) => {
                self.armed_for_ms.set(Some(deadline.at_ms));
                let delay_ms = deadline
                    .at_ms
                    .saturating_sub(self.run.borrow().now_ms())
                    .min(MAX_TIMER_MS);
                self.host.arm(delay_ms as f64);
            }
            // A timer that nothing waits for any more is left to the next deadline, or to the end.
            (None, _) => {}
        }
    }

    /// Panics while the run is borrowed, as a defect of the engine would.
    #[cfg(feature = "test-panics")]
    #[allow(clippy::panic)]
    pub fn panic_while_borrowed(self: &Rc<Self>) {
        self.guard(&mut || {
            let _run = self.run.borrow_mut();
            panic!("made by a test");
        });
    }
}

/// From what `Date.now()` and `Math.random()` return. A `u64` keeps all 53 bits of a random double.
#[cfg_attr(looplet_speed, optimize(speed))]
pub fn moment_of(now_ms: f64, random: f64) -> Moment {
    Moment {
        // What is no time (NaN, negative) is not taken for the year 1970.
        now_ms: if now_ms >= 0.0 { now_ms as u64 } else { u64::MAX },
        random: (random * 9_007_199_254_740_992.0) as u64,
    }
}

/// The next of a row of seeds: <https://prng.di.unimi.it/splitmix64.c>
fn next_seed(seed: u64) -> u64 {
    let mixed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// A flag that is up as long as this lives, a panic included.
struct Raised<'a>(&'a Cell<bool>);

impl<'a> Raised<'a> {
    #[cfg_attr(looplet_speed, optimize(speed))]
    fn new(flag: &'a Cell<bool>) -> Raised<'a> {
        flag.set(true);
        Raised(flag)
    }
}

impl Drop for Raised<'_> {
    #[cfg_attr(looplet_speed, optimize(speed))]
    fn drop(&mut self) {
        self.0.set(false);
    }
}
