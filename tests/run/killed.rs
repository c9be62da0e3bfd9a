//! A run that is killed after its outputs, one by one, and goes on in fresh engines from its journal alone.
//!
//! A [`Scene`] says what a model, a person and the functions of an application answer. [`Outside`] performs it: it
//! outlives each process, with the store, the effects of the tools and the person. [`kill_everywhere`] is the test.

use std::collections::{BTreeMap, VecDeque};

use looplet::engine::agent::questions::points::row;
use looplet::engine::model::config::Config;
use looplet::engine::model::input::{Behavior, Input, PermissionAnswer, Reconciled};
use looplet::engine::model::journal::{CallStatus, Checkpoint, Entry, Fact};
use looplet::engine::model::json;
use looplet::engine::model::message::Json;
use looplet::engine::model::output::EffectId;
use looplet::engine::model::question::{Answer, Point, Question};
use serde_json::Value;

use crate::dice::Dice;
use crate::ended::check_messages;
use crate::told::data;
use crate::world::{Settings, World};

/// Everything around a run that decides how it goes. It depends on the state of the run alone.
pub struct Scene {
    pub name: &'static str,
    pub settings: fn() -> Settings,
    /// The model's answer, in the chunks in which it comes.
    pub reply: fn(&Asked<'_>) -> Vec<String>,
    /// The answer to a question, if it is not the usual one: a hook says nothing, a person allows.
    pub answer: fn(&Question) -> Option<Answer>,
    /// An input of the user, when this call runs or this request goes out: `root 2` in the root's second iteration.
    pub says: fn(&str) -> Option<Input<'static>>,
    /// Words that only the journal of a run has to which the user has said that.
    pub said: &'static str,
    /// Agents and iterations whose first request is refused by an overloaded server.
    pub refused: &'static [(&'static str, u32)],
}

impl Default for Scene {
    fn default() -> Scene {
        Scene {
            name: "",
            settings: || unreachable!("a scene has settings"),
            reply: |asked| panic!("{} is asked", asked.path),
            answer: |_| None,
            says: |_| None,
            said: "",
            refused: &[],
        }
    }
}

/// A request to the model.
pub struct Asked<'a> {
    pub path: &'a str,
    pub iteration: u32,
    pub body: &'a str,
}

/// The world around a run of a scene.
pub struct Outside<'a> {
    scene: &'a Scene,
    pub world: World,
    /// The chunks that are still to come.
    streams: BTreeMap<EffectId, VecDeque<String>>,
    refused: Vec<(String, u32)>,
    /// The calls about which a person was asked in the journal, with the ids of the questions.
    open: BTreeMap<String, EffectId>,
    pub lives: usize,
    /// Says which of the things that the run waits for comes next.
    pub dice: Option<Dice>,
}

impl Outside<'_> {
    pub fn new(scene: &Scene) -> Outside<'_> {
        let world = World::new((scene.settings)());
        Outside {
            scene,
            world,
            streams: BTreeMap::new(),
            refused: Vec::new(),
            open: BTreeMap::new(),
            lives: 1,
            dice: None,
        }
    }

    /// The world of a run that has written these entries and died.
    pub fn after<'a>(scene: &'a Scene, entries: &[Entry]) -> Outside<'a> {
        let mut outside = Outside::new(scene);
        for entry in entries {
            if let Fact::Call(call) = &entry.fact
                && matches!(call.status, CallStatus::Started { .. })
            {
                let started = (call.tool_call_id.clone(), call.tool_name.clone());
                outside.world.started.push(started);
            }
            outside.world.checkpoint.fold(entry.clone()).unwrap();
        }
        outside.world.entries = entries.to_vec();
        outside
    }

    /// Lets another process bring the run to its end.
    pub fn go_on(&mut self) {
        self.restore();
        while self.world.done.is_none() {
            self.step();
        }
    }

    /// Lets processes live for these numbers of outputs, and the last one to the end of the run.
    pub fn live(&mut self, cuts: &[usize]) {
        for (life, cut) in cuts.iter().copied().chain([usize::MAX]).enumerate() {
            self.world.lives_for = cut;
            if life == 0 {
                self.world.prompt("Go.");
            } else {
                self.lives += 1;
                self.restore();
            }
            while self.world.done.is_none() && !self.world.is_dead() {
                self.step();
            }
            if self.world.done.is_some() {
                return;
            }
        }
    }

    pub fn restore(&mut self) {
        self.streams.clear();
        if self.world.checkpoint.agents.is_empty() {
            let left = self.world.lives_for;
            let (started, entries) = (self.world.started.clone(), self.world.entries.len());
            assert_eq!((started.len(), entries), (0, 0), "nothing was saved");
            *self = Outside {
                lives: self.lives,
                dice: self.dice.take(),
                ..Outside::new(self.scene)
            };
            self.world.lives_for = left;
            return self.world.prompt("Go.");
        }
        // A store keeps text.
        let texts: Vec<Json> = self.world.entries.iter().map(Json::of).collect();
        let (checkpoint, left_out) = Checkpoint::of(&texts).unwrap();
        assert_eq!((&checkpoint, left_out), (&self.world.checkpoint, 0));
        self.world.checkpoint = checkpoint;
        let agents = self.world.checkpoint.agents.iter();
        let calls = agents.flat_map(|agent| &agent.calls);
        self.open = calls
            .filter_map(|call| Some((call.tool_call_id.clone(), call.question?)))
            .collect();
        self.world.crash((self.scene.settings)());
    }

    /// Does the next thing that the run waits for.
    pub fn step(&mut self) {
        let mut pick = |from: usize| match &mut self.dice {
            Some(dice) if from > 0 => dice.below(from as u64) as usize,
            _ => 0,
        };
        let world = &self.world;
        let (question, tool) = (pick(world.questions.len()), pick(world.running.len()));
        let request = pick(world.open_requests.len());
        let streams_first = pick(3) > 0;
        if !world.questions.is_empty() {
            let (question, ask) = self.world.questions.remove(question);
            let answer = self.answer(question, &ask);
            return self.world.input(Input::Answered { question, answer });
        }
        if let Some((request, _)) = self.world.open_requests.get(request)
            && (streams_first || self.world.running.is_empty())
        {
            return self.stream(*request);
        }
        if let Some(id) = self.world.running.keys().nth(tool).cloned() {
            if self.say(&id) {
                return;
            }
            let world = &mut self.world;
            let output: Value = serde_json::from_str(output_of(&id).as_str()).unwrap();
            return world.return_value(&id, output);
        }
        if !self.world.saves.is_empty() && !self.world.confirm_saves {
            let save = pick_save(&mut self.dice, self.world.saves.len());
            let (save, _) = self.world.saves.remove(save);
            return self.world.input(Input::Saved { save, ok: true });
        }
        let world = &mut self.world;
        let deadline = world.run.poll_timeout().expect("the run waits for nothing");
        world.now_ms = world.now_ms.max(deadline.at_ms);
        world.input(Input::Due);
    }

    /// Sends the next piece of the answer to a request.
    fn stream(&mut self, request: EffectId) {
        self.world.open_request = Some(request);
        if let Some(chunks) = self.streams.get_mut(&request) {
            return match chunks.pop_front() {
                Some(chunk) => self.world.chunk(&chunk),
                None => self.world.end(),
            };
        }
        let (path, iteration, body) = self.world.asked_by(request);
        let asked = Asked {
            path,
            iteration,
            body,
        };
        let place = (path.to_owned(), iteration);
        let is_refused = self.scene.refused.contains(&(path, iteration)) && !self.refused.contains(&place);
        let chunks = (self.scene.reply)(&asked);
        if self.say(&format!("{} {}", place.0, place.1)) {
            return;
        }
        if is_refused {
            self.refused.push(place);
            return self.world.refuse(529, &[], "{}");
        }
        self.streams.insert(request, chunks.into());
        self.world.head(200, &[("content-type", "text/event-stream")]);
    }

    /// Lets the user say something. Returns true if the user does.
    fn say(&mut self, when: &str) -> bool {
        let said = (self.scene.says)(when).filter(|_| !self.has(self.scene.said));
        let says = said.is_some();
        if let Some(input) = said {
            self.world.input(input);
        }
        says
    }

    /// Returns true if the store has these words, so that the user does not say them again.
    fn has(&self, words: &str) -> bool {
        let mut entries = self.world.entries.iter();
        !words.is_empty() && entries.any(|entry| json::write(entry).contains(words))
    }

    fn answer(&mut self, question: EffectId, ask: &Question) -> Answer {
        let id = data(ask)["toolCallId"].as_str().unwrap_or_default().to_owned();
        if matches!(ask.point, Point::Permission | Point::Reconcile)
            && let Some(before) = self.open.get(&id)
        {
            assert_eq!(*before, question, "{id} is asked about under another id");
        }
        if let Some(answer) = (self.scene.answer)(ask) {
            return answer;
        }
        match ask.point {
            Point::Permission => Answer::Permission(PermissionAnswer {
                behavior: Behavior::Allow,
                ..PermissionAnswer::default()
            }),
            // The outside knows what it has done.
            Point::Reconcile if self.effects(&id) > 0 => {
                let output = output_of(&id);
                Answer::Reconciled(Reconciled::Done { output })
            }
            Point::Reconcile => Answer::Reconciled(Reconciled::Run),
            point if row(point).class.is_hooked() => Answer::Hook(Box::default()),
            point => panic!("{point:?} is asked"),
        }
    }

    /// The number of times that this call has had its effect.
    fn effects(&self, id: &str) -> usize {
        self.world.started.iter().filter(|(other, _)| other == id).count()
    }

    /// The end of the run, as far as it does not depend on how often the run was killed.
    pub fn end(&self) -> Value {
        let mut result = self.world.result();
        sort_notes(&mut result["messages"]);
        check_messages(&result["messages"]);
        for memory in result["subagents"].as_array().unwrap() {
            check_messages(&memory["messages"]);
        }
        let same = [
            "outcome",
            "messages",
            "toolCalls",
            "text",
            "output",
            "iterations",
            "usage",
            "modelUsage",
            "subagents",
            "finishReason",
            "stoppedBy",
            "abortReason",
            "error",
        ];
        same.iter()
            .map(|name| ((*name).to_owned(), result[*name].clone()))
            .collect::<serde_json::Map<_, _>>()
            .into()
    }

    /// Fails if the run has not ended as the one that nobody has killed. A call that may run once has had its effect
    /// once, and no call is lost.
    pub fn check(&self, whole: &Outside<'_>, place: &str) {
        let (again, end) = (self.end(), whole.end());
        let config = (self.scene.settings)().config;
        if again != end {
            let names = end.as_object().unwrap().keys();
            for field in names.filter(|field| again[*field] != end[*field]) {
                let (ours, theirs) = (format!("{:#}", again[field]), format!("{:#}", end[field]));
                let only = |these: &str, those: &str| -> Vec<String> {
                    let times = |text: &str, line: &str| text.matches(line.trim()).count();
                    let lines = these.lines().filter(|line| line.contains(':'));
                    let lines = lines.filter(|line| times(these, line) > times(those, line));
                    lines.map(str::to_owned).collect()
                };
                println!(
                    "{field}: {:#?}\ninstead of {:#?}",
                    only(&ours, &theirs),
                    only(&theirs, &ours)
                );
            }
            panic!("{place}: another end");
        }
        for (id, tool) in &whole.world.started {
            let times = self.effects(id);
            let expected = whole.effects(id);
            assert!(
                times == expected || (times > expected && may_repeat(&config, tool)),
                "{place}: {id} was done {times} times"
            );
        }
        for (id, _) in &self.world.started {
            assert!(whole.effects(id) > 0, "{place}: {id} was done");
        }
    }
}

fn pick_save(dice: &mut Option<Dice>, saves: usize) -> usize {
    let dice = dice.as_mut();
    dice.map_or(0, |dice| dice.below(saves as u64) as usize)
}

/// Sorts the texts that hooks have added to results: they stand in the order in which the hooks have answered.
fn sort_notes(messages: &mut Value) {
    for message in messages.as_array_mut().unwrap() {
        let blocks = message["content"].as_array_mut().unwrap();
        let results = blocks
            .iter()
            .filter(|block| block["type"] == "tool_result")
            .count();
        if results > 0 {
            blocks[results..].sort_by_key(Value::to_string);
        }
    }
}

pub fn output_of(id: &str) -> Json {
    Json::string(&format!("output of {id}"))
}

/// Kills a run of the scene after each of its outputs, and some runs a second and a third time. Each must end as the
/// run that nobody kills. A call that may run once has its effect once, and no call is lost. Returns the end.
pub fn kill_everywhere(scene: &Scene) -> Value {
    let name = scene.name;
    let mut whole = Outside::new(scene);
    whole.live(&[]);
    let end = whole.end();
    let mut cut = 1;
    loop {
        let mut outside = Outside::new(scene);
        // Some runs are killed a second time, and some of these at once.
        match cut % 3 {
            0 => outside.live(&[cut]),
            1 => outside.live(&[cut, 3 + cut * 7 % 40]),
            _ => outside.live(&[cut, 1 + cut % 7]),
        }
        let place = format!("{name}: killed after {cut} outputs");
        outside.check(&whole, &place);
        if outside.lives == 1 {
            break;
        }
        cut += 1;
    }
    end
}

fn may_repeat(config: &Config, tool: &str) -> bool {
    let agents = std::iter::once(config).chain(&config.agents);
    let mut tools = agents.flat_map(|agent| &agent.tools);
    tools.any(|other| other.name == tool && !other.runs_once())
}
