//! Chats whose runs share one journal: the process is killed after each output of each run, and another process opens
//! the chat again from its journal alone.

use looplet::engine::model::config::{Memory, RunOptions};
use looplet::engine::model::input::Input;
use looplet::engine::model::journal::{Checkpoint, Fact, JournalTail};
use looplet::engine::model::json;
use looplet::engine::model::message::{Block, Json, Message};
use looplet::engine::run::Run;
use serde_json::{Value, json};

use crate::ended::check_messages;
use crate::kill_everywhere::{calls, done};
use crate::killed::{Asked, Outside, Scene};
use crate::wire::{call, stream_with_usage, text};
use crate::world::{World, config, tool};

/// A chat between two runs, as a process knows it.
#[derive(Clone, Debug, PartialEq)]
struct Idle {
    tail: JournalTail,
    messages: Vec<Message>,
    subagents: Vec<Memory>,
    profile: u32,
}

impl Idle {
    fn new() -> Idle {
        Idle {
            tail: JournalTail::default(),
            messages: Vec::new(),
            subagents: Vec::new(),
            profile: 0,
        }
    }

    fn of(run: &Run) -> Idle {
        let history = run.history();
        Idle {
            tail: run.tail(),
            messages: history.messages.to_vec(),
            subagents: history.subagents.to_vec(),
            profile: run.report().profile,
        }
    }

    /// The state that does not depend on how often the chat was killed.
    fn same(&self) -> Value {
        let messages = serde_json::to_value(&self.messages).unwrap();
        check_messages(&messages);
        json!([messages, self.subagents, self.profile])
    }
}

/// A chat with a scene, whose user says one prompt after the other.
struct Chat<'a> {
    scene: &'a Scene,
    outside: Outside<'a>,
    idle: Idle,
    /// The ends of the runs.
    ends: Vec<Value>,
}

impl<'a> Chat<'a> {
    fn new(scene: &'a Scene) -> Chat<'a> {
        Chat {
            scene,
            outside: Outside::new(scene),
            idle: Idle::new(),
            ends: Vec::new(),
        }
    }

    /// Begins the next run in the world as it stands.
    fn begin(&mut self, prompt: &str) {
        self.begin_as(&format!("run {prompt}"), prompt);
    }

    fn begin_as(&mut self, id: &str, prompt: &str) {
        let Idle {
            tail,
            messages,
            subagents,
            profile,
        } = self.idle.clone();
        let mut settings = (self.scene.settings)();
        settings.options = RunOptions {
            messages,
            subagents,
            profile,
            ..RunOptions::default()
        };
        let mut world = World::new(settings);
        let before = &mut self.outside.world;
        world.lives_for = before.lives_for;
        world.started = std::mem::take(&mut before.started);
        world.entries = std::mem::take(&mut before.entries);
        world.checkpoint = std::mem::take(&mut before.checkpoint);
        world.follows = true;
        world.run.follow(tail, id.into());
        let lives = self.outside.lives;
        self.outside = Outside::new(self.scene);
        self.outside.lives = lives;
        self.outside.world = world;
        self.outside.world.prompt(prompt);
    }

    /// The chat as another process finds it in the store.
    fn open(&self) -> Run {
        let texts: Vec<Json> = self.outside.world.entries.iter().map(Json::of).collect();
        let (checkpoint, left_out) = Checkpoint::of(&texts).unwrap();
        assert_eq!((&checkpoint, left_out), (&self.outside.world.checkpoint, 0));
        let mut opened = (self.scene.settings)().restore(checkpoint).unwrap();
        opened.recall();
        opened
    }

    /// Runs each prompt. Processes live for these numbers of outputs, and the last one to the end.
    fn live(&mut self, prompts: &[&str], cuts: &[usize]) {
        let mut lives = cuts.iter().copied().chain([usize::MAX]);
        self.outside.world.lives_for = lives.next().unwrap();
        for prompt in prompts {
            let before = self.idle.tail.seq;
            self.begin(prompt);
            loop {
                while self.outside.world.done.is_none() && !self.outside.world.is_dead() {
                    self.outside.step();
                }
                if !self.outside.world.is_dead() {
                    self.idle = Idle::of(&self.outside.world.run);
                    break;
                }
                self.outside.lives += 1;
                self.outside.world.lives_for = lives.next().unwrap_or(usize::MAX);
                let is_saved = self.outside.world.entries.last().map_or(0, |entry| entry.seq) > before;
                if self.outside.world.entries.is_empty() {
                    self.begin(prompt);
                    continue;
                }
                let opened = self.open();
                let tail = opened.tail();
                if !tail.is_over {
                    assert_eq!(tail.run.as_deref(), Some(&*format!("run {prompt}")));
                    self.outside.restore();
                    continue;
                }
                self.idle = Idle::of(&opened);
                if is_saved {
                    break;
                }
                // The prompt was lost, and the user says it again.
                self.begin(prompt);
            }
            self.ends.push(self.idle.same());
        }
    }
}

/// Three runs: one with a kept agent and a summary, one that the user aborts, and one that hands over; then the other
/// agent goes on.
fn scene() -> Scene {
    let settings = || {
        let model = json!({"vendor": "anthropic", "model": "small"});
        let agents = json!([
            {"model": model, "tools": [tool("dig", json!({"readOnly": true}))]},
            {"model": model, "tools": [tool("pay", json!({}))]},
        ]);
        let tools = json!([
            tool("read", json!({"readOnly": true})),
            tool("note", json!({"replay": "safe"})),
            tool("pay", json!({})),
            tool("keeper", json!({"agent": {"profile": 1, "keep": true}})),
            tool("expert", json!({"agent": {"profile": 2, "handoff": true}})),
        ]);
        let context = json!({"auto": true, "window": 12_000, "keepLast": 2});
        config(tools, json!({"agents": agents, "context": context}))
    };
    Scene {
        name: "chat",
        settings,
        reply,
        says: |when| {
            (when == "n").then_some(Input::Cancel {
                why: "Changed my mind.".into(),
            })
        },
        said: "Changed my mind.",
        ..Scene::default()
    }
}

const PROMPTS: [&str; 4] = ["Do one.", "Do two.", "Do three.", "Do four."];

fn reply(asked: &Asked<'_>) -> Vec<String> {
    if asked.body.contains("write a summary of this conversation") {
        return done("One was done.");
    }
    // The summary has taken the first prompt's place.
    let run = PROMPTS
        .iter()
        .rposition(|prompt| asked.body.contains(prompt))
        .or(Some(0));
    let prompt = |words: &str| json!({"prompt": words});
    match (asked.path, run, asked.iteration) {
        ("root", Some(0), 1) => calls(&[
            call("r", "read", json!({})),
            call("p1", "pay", json!({})),
            call("k1", "keeper", prompt("First.")),
        ]),
        ("root", Some(0), 2) => {
            let pieces = [text("Nearly."), call("r2", "read", json!({}))];
            vec![stream_with_usage(&pieces, "tool_use", 20_000, 9)]
        }
        ("root", Some(0), 3) => done("One."),
        ("root", Some(1), 1) => calls(&[call("n", "note", json!({})), call("r3", "read", json!({}))]),
        ("root", Some(2), 1) => {
            assert!(asked.body.contains("[Context summary: One was done.]"));
            calls(&[call("k2", "keeper", prompt("Second."))])
        }
        ("root", Some(2), 2) => calls(&[call("e", "expert", json!({}))]),
        ("root", Some(2), 3) => done("Three, says the expert."),
        ("root", Some(3), 1) => {
            assert!(asked.body.contains("\"small\""), "{}", asked.body);
            calls(&[call("p2", "pay", json!({}))])
        }
        ("root", Some(3), 2) => done("Four."),
        ("root/keeper", _, 1) if asked.body.contains("Second.") => {
            assert!(asked.body.contains("Kept one."), "{}", asked.body);
            done("Kept two.")
        }
        ("root/keeper", _, 1) => calls(&[call("d", "dig", json!({}))]),
        ("root/keeper", _, 2) => done("Kept one."),
        at => panic!("{at:?} is asked: {}", asked.body),
    }
}

#[test]
fn a_chat_that_is_killed_after_any_output_of_any_run_goes_on_as_if_nothing_had_happened() {
    let scene = scene();
    let mut whole = Chat::new(&scene);
    whole.live(&PROMPTS, &[]);
    let [one, two, three, four] = &whole.ends[..] else {
        panic!("{:?}", whole.ends)
    };
    assert!(
        one.to_string().contains("[Context summary: One was done.]"),
        "{one:#}"
    );
    assert!(two.to_string().contains("not_run"), "{two:#}");
    assert!(three[1].to_string().contains("Kept two."), "{three:#}");
    assert_eq!((&three[2], &four[2]), (&json!(2), &json!(2)));
    let mut cut = 1;
    loop {
        let mut chat = Chat::new(&scene);
        match cut % 3 {
            0 => chat.live(&PROMPTS, &[cut]),
            1 => chat.live(&PROMPTS, &[cut, 3 + cut * 7 % 40]),
            _ => chat.live(&PROMPTS, &[cut, 1 + cut % 7]),
        }
        let place = format!("killed after {cut} outputs");
        for (end, whole) in chat.ends.iter().zip(&whole.ends) {
            assert_eq!(end, whole, "{place}");
        }
        chat.outside.check(&whole.outside, &place);
        if chat.outside.lives == 1 {
            break;
        }
        cut += 1;
    }
    assert!(cut > 100, "{cut}");
}

fn short() -> Scene {
    Scene {
        name: "short",
        settings: || config(json!([tool("read", json!({"readOnly": true}))]), json!({})),
        reply: |asked| match asked.iteration {
            1 => calls(&[call(&format!("c{}", asked.body.len()), "read", json!({}))]),
            _ => done("Read."),
        },
        ..Scene::default()
    }
}

#[test]
fn a_run_of_a_chat_writes_as_many_bytes_however_long_the_chat_is() {
    let scene = short();
    let mut chat = Chat::new(&scene);
    let mut written = Vec::new();
    for _ in 0..60 {
        let before = chat.outside.world.entries.len();
        chat.live(&["Read it."], &[]);
        let new = chat.outside.world.entries[before..].iter();
        written.push(new.map(|entry| json::write(entry).len()).sum::<usize>());
    }
    let (early, late) = (written[2], written[59]);
    assert!(late < early + early / 20, "{written:?}");
    assert_eq!(chat.idle.messages.len(), 240);
}

/// A reset is a run that nobody asks anything. Its process ends without another input.
fn reset(chat: &mut Chat<'_>, messages: Vec<Message>) {
    let mut settings = (chat.scene.settings)();
    settings.options.messages = messages;
    let world = &mut chat.outside.world;
    world.run = settings.open().unwrap();
    let tail = JournalTail {
        left_out: 0,
        messages: 0,
        ..chat.idle.tail.clone()
    };
    world.run.follow(tail, "reset".into());
    (world.done, world.follows) = (None, true);
    world.input(Input::Resume);
    chat.idle = Idle::of(&chat.open());
    assert!(chat.idle.tail.is_over);
}

#[test]
fn a_chat_forgets_what_the_user_resets() {
    let scene = scene();
    let mut chat = Chat::new(&scene);
    chat.live(&PROMPTS[..1], &[]);
    assert_eq!(chat.idle.subagents.len(), 1);
    reset(&mut chat, Vec::new());
    assert_eq!(chat.idle.same(), json!([[], [], 0]));
    let old = vec![Message::user(vec![Block::text("Old.")])];
    reset(&mut chat, old.clone());
    assert_eq!((&chat.idle.messages, chat.idle.subagents.len()), (&old, 0));
    chat.live(&PROMPTS[1..2], &[]);
    assert_eq!(chat.idle.messages[0].content.len(), 2, "{:?}", chat.idle.messages);
}

#[test]
fn a_journal_without_a_prompt_cannot_go_on() {
    let mut world = World::new((short().settings)());
    world.input(Input::Compact {
        instructions: None,
        only: false,
    });
    assert!(world.done.is_none());
    world.crash((short().settings)());
    let outcome = world.done.clone().unwrap();
    assert_eq!(
        outcome.error.unwrap().message,
        "The journal ends before the prompt."
    );
}

#[test]
fn a_run_keeps_the_conversations_that_it_was_given() {
    let subagents = json!([{
        "agentPath": "root/keeper",
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Earlier."}]}],
    }]);
    let mut settings = (short().settings)();
    settings.options.subagents = serde_json::from_value(subagents).unwrap();
    let world = World::started(settings);
    assert_eq!(world.checkpoint.memories[0].agent_path, "root/keeper");
    let given = |fact: &Fact| matches!(fact, Fact::Remembered(_));
    assert_eq!(world.entries.iter().filter(|entry| given(&entry.fact)).count(), 1);
}

fn steer(request: &str) -> Input<'static> {
    Input::Once {
        request: request.into(),
        input: Box::new(Input::Steer {
            id: request.len() as u32,
            content: vec![Block::text("More.")],
        }),
    }
}

#[test]
fn a_chat_remembers_its_requests_in_every_process_but_not_one_that_no_model_took() {
    let scene = short();
    let mut chat = Chat::new(&scene);
    let requests = |chat: &Chat<'_>| {
        let tail = chat.outside.world.run.tail();
        assert_eq!(tail.requests, chat.open().tail().requests);
        tail.requests
    };
    chat.begin("one");
    chat.outside.world.input(steer("taken"));
    chat.outside.world.respond(&done("Yes.")[0]);
    chat.outside.world.input(steer("late"));
    chat.outside.world.input(steer("dropped"));
    // The run may still deliver them.
    assert_eq!(requests(&chat), ["run one", "taken", "late", "dropped"]);
    chat.outside.world.input(Input::Cancel { why: "No.".into() });
    assert_eq!(requests(&chat), ["run one", "taken"]);
    chat.idle = Idle::of(&chat.outside.world.run);
    // The late one comes again, and begins a run of its own.
    chat.begin_as("late", "two");
    let offer = |request| chat.outside.world.offer(steer(request));
    assert_eq!(
        ["taken", "late", "run one", "new"].map(offer),
        [false, false, false, true]
    );
    chat.outside.world.input(Input::Cancel { why: "No.".into() });
    assert_eq!(requests(&chat), ["run one", "taken", "late"]);
}
