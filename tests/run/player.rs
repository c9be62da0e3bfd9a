//! Plays the records of a run in a fresh run, as a replay in JavaScript does: outputs are performed in their order, and
//! an input comes before the outputs that had not been performed when it came.

use std::collections::VecDeque;

use looplet::engine::model::event::Event;
use looplet::engine::model::journal::{Entry, Record};
use looplet::engine::model::json;
use looplet::engine::model::output::{EffectId, HttpRequest, Output, ToolInvocation};
use looplet::engine::model::question::Question;
use looplet::engine::run::Run;

pub struct Player {
    pub run: Run,
    outputs: VecDeque<Output>,
    performed: u32,
    pub events: Vec<Event>,
    pub requests: Vec<(HttpRequest, Vec<u8>)>,
    pub entries: Vec<Entry>,
    pub calls: Vec<ToolInvocation>,
    pub questions: Vec<(EffectId, Question)>,
}

impl Player {
    /// Plays all records, each the JSON of one.
    pub fn play(run: Run, lines: &[String]) -> Player {
        let mut player = Player {
            run,
            outputs: VecDeque::new(),
            performed: 0,
            events: Vec::new(),
            requests: Vec::new(),
            entries: Vec::new(),
            calls: Vec::new(),
            questions: Vec::new(),
        };
        let records: Vec<Record> = lines
            .iter()
            .map(|line| json::read("record", line).unwrap())
            .collect();
        for (index, record) in records.iter().enumerate() {
            let next = records.get(index + 1).map_or(u32::MAX, |next| next.after);
            player.take(record, next);
        }
        player
    }

    fn take(&mut self, record: &Record, before_next: u32) {
        record
            .play(|input, moment| self.run.handle_input(input, moment))
            .unwrap();
        while let Some(output) = self.run.poll_output() {
            self.outputs.push_back(output);
        }
        while let Some(output) = self.outputs.pop_front() {
            match output {
                Output::Emit(event) => self.events.push(event),
                output if self.performed >= before_next => return self.outputs.push_front(output),
                output => {
                    self.performed += 1;
                    self.perform(output);
                }
            }
        }
    }

    fn perform(&mut self, output: Output) {
        match output {
            Output::Send { request, http } if self.run.is_live(request) => {
                let body = self.run.request_body(request).unwrap().to_vec();
                self.requests.push((http, body));
            }
            Output::CallTool(call) if self.run.is_live(call.call) => self.calls.push(call),
            Output::Ask { question, ask } if self.run.is_live(question) => {
                self.questions.push((question, ask))
            }
            Output::Save { entries, .. } => self.entries.extend(entries),
            _ => {}
        }
    }
}
