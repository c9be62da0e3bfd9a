//! Plays the records of a run in a fresh run, as a replay in JavaScript does: outputs are performed in their order,
//! and an input comes before the outputs that had not been performed when it came.

use std::collections::VecDeque;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use looplet::engine::agent::setup::Setup;
use looplet::engine::model::config::RunOptions;
use looplet::engine::model::event::Event;
use looplet::engine::model::journal::{Entry, Record};
use looplet::engine::model::json;
use looplet::engine::model::output::{EffectId, HttpRequest, Output, ToolInvocation};
use looplet::engine::model::question::Question;
use looplet::engine::run::Run;
use serde_json::{Value, json};

/// The journal names options by digests of their text, so the configuration is read as the shell reads it.
pub fn open(config: &str, options: &str) -> Run {
    let setup = Setup::read(config).unwrap();
    let options: RunOptions = json::read("options", options).unwrap();
    Run::new(Arc::new(setup), options).unwrap()
}

/// The text of a `.loop` file with these parts, and everything that its replay tells and asks for.
pub fn loop_file(id: &str, config: &str, options: &str, inputs: &[String]) -> String {
    let told = Player::play(open(config, options), inputs).told();
    format!(
        "{{\"loop\":1,\"looplet\":\"{}\",\"id\":\"{id}\",\"outcome\":\"cancelled\",\"processes\":[{{\"config\":{config},\"options\":{options},\"inputs\":[{}]}}],\"told\":{told}}}",
        env!("CARGO_PKG_VERSION"),
        inputs.join(","),
    )
}

/// The folder in which the builds of the engine leave files for each other, if a test of both builds is wanted.
pub fn loops() -> Option<PathBuf> {
    std::env::var_os("LOOPLET_LOOPS").map(PathBuf::from)
}

/// Adds a file to those that the other build plays.
pub fn leave_loop(name: &str, id: &str, config: &str, options: &str, inputs: &[String]) {
    static WRITING: Mutex<()> = Mutex::new(());
    let Some(folder) = loops() else { return };
    let [config, options] = [config, options].map(as_javascript_writes);
    let mut text = loop_file(id, &config, &options, inputs).replace('\n', "");
    text.push('\n');
    let _writing = WRITING.lock().unwrap();
    let path = folder.join(name);
    let mut file = File::options().create(true).append(true).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

/// JavaScript, which reads a configuration before the engine does, writes 1.0 as 1.
fn as_javascript_writes(json: &str) -> String {
    fn plain(value: &mut Value) {
        match value {
            Value::Number(number) if number.as_f64().is_some_and(|number| number.fract() == 0.0) => {
                if let Some(number) = number.as_f64().filter(|_| number.is_f64()) {
                    *value = json!(number as i64);
                }
            }
            Value::Array(items) => items.iter_mut().for_each(plain),
            Value::Object(fields) => fields.values_mut().for_each(plain),
            _ => {}
        }
    }
    let mut value = serde_json::from_str(json).unwrap();
    plain(&mut value);
    value.to_string()
}

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

    /// Everything that the replay tells and asks for.
    pub fn told(&self) -> Value {
        let requests = self.requests.iter().map(|(http, body)| {
            let body = String::from_utf8(body.clone()).unwrap();
            json!({"method": http.method, "url": http.url, "body": body})
        });
        json!({
            "requests": requests.collect::<Vec<_>>(),
            "events": self.events,
            "entries": self.entries,
        })
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
