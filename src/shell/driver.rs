//! Passes every input to a run and performs the run's outputs, in order.
//!
//! [`Driver::handle_input`] borrows the run, passes the input, collects the outputs, ends the borrow, and only then
//! calls JavaScript. JavaScript may pass another input from inside such a call. That input reaches the run
//! immediately, so `outcome` is set when `cancel` returns. Its outputs are queued after the ones that are being
//! performed.
//!
//! The handle and the callbacks of requests and timers call this module. If a method of the TypeScript's `Shell`
//! throws, the run fails, and JavaScript is not called again.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use wasm_bindgen::JsValue;

use super::batch::{Batch, Wants, lend};
use super::inlet::with_inlet;
use super::javascript::Shell;
use super::request;
use crate::engine::json::writer::decimal;
use crate::engine::model::input::{Input, Moment};
use crate::engine::model::journal::Entry;
use crate::engine::model::json;
use crate::engine::model::output::{EffectId, Output};
use crate::engine::run::Run;

/// A run, and everything that is open for it in JavaScript.
pub struct Driver {
    pub shell: Shell,
    run: RefCell<Run>,
    outputs: RefCell<VecDeque<Output>>,
    batch: RefCell<Batch>,
    wants: Cell<Wants>,
    is_draining: Cell<bool>,
    is_delivering: Cell<bool>,
    is_done: Cell<bool>,
    seed: Cell<u64>,
    now_ms: Cell<u64>,
    /// True when JavaScript has run since the clock was read.
    has_called: Cell<bool>,
    /// True when a method of [`Shell`] has thrown.
    is_cut_off: Cell<bool>,
    is_recorded: Cell<bool>,
    /// The number of outputs that were performed, events apart.
    performed: Cell<u32>,
    /// In a replay, the number of outputs before the next input.
    limit: Cell<Option<u32>>,
}

impl Driver {
    pub fn new(run: Run, shell: Shell) -> Driver {
        Driver {
            shell,
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
            seed: Cell::new(0),
            now_ms: Cell::new(0),
            has_called: Cell::new(false),
            is_cut_off: Cell::new(false),
            is_recorded: Cell::new(false),
            performed: Cell::new(0),
            limit: Cell::new(None),
        }
    }

    /// Hands an input to the run with the current time, and performs the outputs that follow. `recorded` is the JSON
    /// of the input, if the run is recorded. Returns what [`Run::handle_input`] does.
    pub fn handle_input(self: &Rc<Self>, input: Input<'_>, recorded: Option<&str>) -> bool {
        let moment = self.moment();
        self.record(recorded, moment);
        let is_taken = self.take_in(input, moment);
        self.drain();
        is_taken
    }

    /// Hands each input from now on to JavaScript, with its moment.
    pub fn start_record(&self) {
        self.is_recorded.set(true);
    }

    pub fn is_recorded(&self) -> bool {
        self.is_recorded.get()
    }

    /// JavaScript gets an input before the engine does, so that the input that makes the engine panic is not lost.
    /// The text of a chunk is empty.
    fn record(&self, text: Option<&str>, moment: Moment) {
        if let Some(text) = text {
            let (now_ms, performed) = (moment.now_ms as f64, self.performed.get());
            self.called(self.shell.record(now_ms, moment.random, performed, text));
        }
    }

    /// Plays an input of a record, and performs the outputs before the next one.
    pub fn play(self: &Rc<Self>, input: Input<'_>, moment: Moment, before_next: u32) {
        self.take_in(input, moment);
        self.perform_until(before_next);
    }

    /// Plays a chunk of a record, which is in the inlet.
    pub fn play_chunk(self: &Rc<Self>, request: EffectId, length: usize, moment: Moment, before_next: u32) {
        with_inlet(length, |bytes| {
            self.take_in(Input::Chunk { request, bytes }, moment);
        });
        self.perform_until(before_next);
    }

    fn perform_until(self: &Rc<Self>, before_next: u32) {
        self.limit.set(Some(before_next));
        self.drain();
    }

    /// Passes a chunk to the run. If a single short delta follows, it is written to the outlet (see [`lend`]) and its
    /// number of UTF-16 units is returned. Every other output is performed.
    pub fn chunk(self: &Rc<Self>, request: EffectId, length: usize, now_ms: f64) -> u32 {
        let mut units = 0;
        let moment = self.moment_at(moment_of(now_ms, 0.0).now_ms);
        self.note(moment);
        let is_behind = self.is_draining.get() || !self.outputs.borrow().is_empty();
        {
            self.record(self.is_recorded().then_some(""), moment);
            let mut run = self.run.borrow_mut();
            with_inlet(length, |bytes| {
                run.handle_input(Input::Chunk { request, bytes }, moment);
            });
            if !is_behind && self.batch.borrow().is_empty() {
                units = self.lend_delta(&mut run);
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
        units
    }

    /// Writes the delta that is the next output to the outlet, or adds it to the batch.
    fn lend_delta(&self, run: &mut Run) -> u32 {
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

    /// Holds the outputs while JavaScript delivers the delta in the outlet, until [`Driver::resume`].
    pub fn hold(&self) {
        self.is_draining.set(true);
        self.is_delivering.set(true);
    }

    /// Performs the outputs that [`Driver::hold`] has held.
    pub fn resume(self: &Rc<Self>) {
        self.is_draining.set(false);
        self.is_delivering.set(false);
        self.drain();
    }

    /// Calls a closure with the run. The closure must not call JavaScript.
    pub fn with_run<R>(&self, act: impl FnOnce(&mut Run) -> R) -> R {
        act(&mut self.run.borrow_mut())
    }

    pub fn set_wants(self: &Rc<Self>, wants: Wants) {
        self.wants.set(wants);
        self.with_run(|run| run.set_observed(wants.tool_input || wants.events));
    }

    /// The address and the length of an open request's body. They are valid until the run's next input.
    pub fn body_of(&self, request: EffectId) -> (usize, usize) {
        let mut run = self.run.borrow_mut();
        let body = run.request_body(request).unwrap_or_default();
        (body.as_ptr() as usize, body.len())
    }

    /// Ignores everything that JavaScript could still pass in, because the handle is about to be freed.
    pub fn let_go(&self) {
        self.is_done.set(true);
        self.release();
    }

    /// Notes whether a method of [`Shell`] has thrown. These methods catch everything that your code throws, so an
    /// error means that JavaScript has no stack or no memory left: the run fails.
    fn called(&self, returned: Result<(), JsValue>) {
        if returned.is_err() {
            self.is_cut_off.set(true);
        }
    }

    pub fn moment(&self) -> Moment {
        moment_of(self.clock(), self.shell.random().unwrap_or_default())
    }

    /// The time for an input of the shell's own. The clock is read again only after JavaScript has run.
    fn moment_within(&self) -> Moment {
        let now_ms = if self.has_called.get() {
            moment_of(self.clock(), 0.0).now_ms
        } else {
            self.now_ms.get()
        };
        self.moment_at(now_ms)
    }

    fn clock(&self) -> f64 {
        self.shell.now().unwrap_or(f64::NAN)
    }

    /// Derives the random seed from an earlier input's: a call of `Math.random()` for each input costs more than it
    /// is worth.
    fn moment_at(&self, now_ms: u64) -> Moment {
        let random = next_seed(self.seed.get());
        Moment { now_ms, random }
    }

    fn note(&self, moment: Moment) {
        self.seed.set(moment.random);
        self.now_ms.set(moment.now_ms);
        self.has_called.set(false);
    }

    // Otherwise the engine would be compiled into each caller again.
    #[inline(never)]
    fn take_in(&self, input: Input<'_>, moment: Moment) -> bool {
        self.note(moment);
        let mut run = self.run.borrow_mut();
        let is_taken = run.handle_input(input, moment);
        self.collect(&mut run);
        is_taken
    }

    fn collect(&self, run: &mut Run) {
        let mut outputs = self.outputs.borrow_mut();
        while let Some(output) = run.poll_output() {
            match output {
                // An event is added to the batch immediately, unless other outputs precede it or JavaScript is
                // reading the batch.
                Output::Emit(event) if outputs.is_empty() && !self.is_delivering.get() => {
                    self.batch.borrow_mut().push(&event, self.wants.get())
                }
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
            if self.is_cut_off.take() {
                let mut run = self.run.borrow_mut();
                run.fail_as_bug("JavaScript could not be called");
                self.collect(&mut run);
            }
            let next = self.next_output();
            match next {
                Some(Output::Emit(event)) => {
                    self.batch.borrow_mut().push(&event, self.wants.get());
                }
                Some(Output::HandOver { handover }) => {
                    self.deliver();
                    self.count();
                    self.hand_over(handover);
                }
                // A store does not need the events before it, so they remain in the batch.
                Some(Output::Save { save, entries, .. }) => {
                    self.count();
                    self.has_called.set(true);
                    let first = entries.first().map_or(0, |entry| entry.seq);
                    let entries = entries.iter().map(Entry::to_line).collect();
                    self.called(self.shell.save(save, first as f64, entries));
                }
                Some(effect) => {
                    self.deliver();
                    self.count();
                    self.perform(effect);
                }
                None if self.batch.borrow().is_empty() => break,
                None => self.deliver(),
            }
        }
        self.arm();
    }

    /// The next output, unless an input of the record precedes it.
    fn next_output(&self) -> Option<Output> {
        let mut outputs = self.outputs.borrow_mut();
        let is_event = matches!(outputs.front(), Some(Output::Emit(_)));
        let waits = self
            .limit
            .get()
            .is_some_and(|limit| self.performed.get() >= limit);
        if waits && !is_event {
            None
        } else {
            outputs.pop_front()
        }
    }

    /// Listeners may pass inputs before an output is performed, so the output is counted after they have received
    /// everything.
    fn count(&self) {
        self.performed.set(self.performed.get() + 1);
    }

    fn hand_over(&self, handover: EffectId) {
        // A record brings the answer itself.
        if self.limit.get().is_some() {
            return;
        }
        let moment = self.moment_within();
        if self.is_recorded() {
            let handover = decimal(handover as usize);
            let text = ["{\"handedOver\":{\"handover\":", &handover, "}}"].concat();
            self.record(Some(&text), moment);
        }
        self.take_in(Input::HandedOver { handover }, moment);
    }

    /// Hands the batch over. It does not change until JavaScript has returned.
    fn deliver(&self) {
        if self.batch.borrow().is_empty() {
            return;
        }
        {
            let _delivering = Raised::new(&self.is_delivering);
            self.has_called.set(true);
            let parts = self.batch.borrow().parts();
            self.called(
                self.shell
                    .deliver(parts.words, parts.records, parts.text, parts.text_bytes),
            );
        }
        self.batch.borrow_mut().clear();
    }

    fn perform(self: &Rc<Self>, output: Output) {
        self.has_called.set(true);
        if output.live_effect().is_some_and(|effect| !self.is_live(effect)) {
            return;
        }
        match output {
            Output::Send { request, http } => self.called(request::send(self, request, &http)),
            Output::Done(_) => self.finish(),
            // The drain has done these.
            Output::Emit(_) | Output::Save { .. } | Output::HandOver { .. } => {}
            output => self.called(self.shell.perform(&json::write(&output))),
        }
    }

    fn is_live(&self, effect: EffectId) -> bool {
        self.run.borrow().is_live(effect)
    }

    fn finish(&self) {
        if !self.is_done.replace(true) {
            self.release();
            // Nothing is left that could report the end of the run: the instance is lost.
            if let Err(error) = self.shell.done() {
                wasm_bindgen::throw_val(error);
            }
        }
    }

    fn release(&self) {
        self.called(self.shell.release());
    }

    /// Sets the one timer, unless the current one is right.
    fn arm(&self) {
        if self.is_done.get() {
            return;
        }
        let delay_ms = self.run.borrow_mut().poll_timer();
        if let Some(delay_ms) = delay_ms {
            self.called(self.shell.arm(delay_ms as f64));
        }
    }

    /// Panics while the run is borrowed, as a defect of the engine would.
    #[cfg(feature = "test-panics")]
    #[allow(clippy::panic)]
    pub fn panic_while_borrowed(&self) {
        let _run = self.run.borrow_mut();
        panic!("made by a test");
    }
}

/// A moment from the results of `Date.now()` and `Math.random()`. A `u64` keeps all 53 bits of a random double.
pub fn moment_of(now_ms: f64, random: f64) -> Moment {
    Moment {
        // NaN and negative numbers are not times. They must not become the year 1970.
        now_ms: if now_ms >= 0.0 { now_ms as u64 } else { u64::MAX },
        random: (random * 9_007_199_254_740_992.0) as u64,
    }
}

/// The next seed after this one: <https://prng.di.unimi.it/splitmix64.c>
fn next_seed(seed: u64) -> u64 {
    let mixed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// A flag that stays up as long as this value lives.
struct Raised<'a>(&'a Cell<bool>);

impl<'a> Raised<'a> {
    fn new(flag: &'a Cell<bool>) -> Raised<'a> {
        flag.set(true);
        Raised(flag)
    }
}

impl Drop for Raised<'_> {
    fn drop(&mut self) {
        self.0.set(false);
    }
}
