//! Tools that ask a person while they run, and tools that go on from a checkpoint in another process.

use looplet::engine::model::input::{ElicitationAction, ElicitationAnswer, Input, Reconciled};
use looplet::engine::model::message::Json;
use looplet::engine::model::output::EffectId;
use looplet::engine::model::question::{Answer, Point};
use serde_json::{Value, json};

use crate::told::data;
use crate::wire::{call, stream, text};
use crate::world::{Settings, World, config, tool};

fn settings() -> Settings {
    let tools = json!([tool("book", json!({"timeoutMs": 1000})), tool("look", json!({}))]);
    config(tools, json!({"timeouts": {"iterationMs": 5000}}))
}

/// A run in which `book` runs.
fn booking() -> World {
    let mut world = World::started(settings());
    world.respond(&stream(&[call("a", "book", json!({"n": 1}))], "tool_use"));
    world
}

fn size() -> Value {
    json!({"message": "Which size?", "requestedSchema": {"type": "object"}})
}

fn accept(content: Value) -> ElicitationAnswer {
    ElicitationAnswer {
        action: ElicitationAction::Accept,
        content: Some(Json::parse(&content.to_string()).unwrap()),
    }
}

/// The open question of a tool.
fn open(world: &mut World) -> EffectId {
    let (id, ask) = world.questions.pop().expect("a question is open");
    assert_eq!(ask.point, Point::Elicitation);
    id
}

fn answer(world: &mut World, question: EffectId, answer: ElicitationAnswer) {
    let answer = Answer::Elicited(answer);
    world.input(Input::Answered { question, answer });
}

fn finish(world: &mut World) {
    world.return_value("a", json!("booked"));
    world.respond(&stream(&[text("Done.")], "end_turn"));
    assert_eq!(world.result()["outcome"], "completed");
}

#[test]
fn a_tool_asks_a_person_and_gets_the_answer() {
    let mut world = booking();
    world.tool_asks("a", 1, size());
    let facts = data(&world.questions[0].1);
    assert_eq!((&facts["request"], &facts["toolName"]), (&size(), &json!("book")));
    let question = open(&mut world);
    answer(&mut world, question, accept(json!({"size": "M"})));
    assert_eq!(world.told_tools, [("a".into(), 1, accept(json!({"size": "M"})))]);
    finish(&mut world);
}

#[test]
fn the_time_of_the_call_and_of_the_iteration_stands_still_until_the_answer() {
    let mut world = booking();
    world.pass(900);
    world.tool_asks("a", 1, size());
    world.tool_asks("a", 2, size());
    world.pass(86_400_000);
    let second = open(&mut world);
    answer(&mut world, second, accept(json!({})));
    world.pass(86_400_000);
    let first = open(&mut world);
    answer(&mut world, first, accept(json!({})));
    world.pass(900);
    assert_eq!(world.tool_log, ["start a"]);
    world.pass(200);
    assert_eq!(
        world.tool_log,
        ["start a", "abort a"],
        "it has a whole new second"
    );
}

#[test]
fn an_answer_that_your_code_fails_to_give_is_a_cancel() {
    let mut world = booking();
    world.tool_asks("a", 1, size());
    let question = open(&mut world);
    let why = "the form broke".into();
    world.input(Input::Answered {
        question,
        answer: Answer::Failed { why },
    });
    assert_eq!(world.told_tools[0].2.action, ElicitationAction::Cancel);
    finish(&mut world);
}

#[test]
fn the_question_of_a_call_that_ends_is_withdrawn() {
    let mut world = booking();
    world.tool_asks("a", 1, size());
    let question = open(&mut world);
    world.return_value("a", json!("never mind"));
    assert_eq!(world.withdrawn, [question]);
    answer(&mut world, question, accept(json!({})));
    assert!(world.told_tools.is_empty());

    let mut world = booking();
    world.tool_asks("a", 1, size());
    let question = open(&mut world);
    world.cancel();
    assert_eq!(world.withdrawn, [question]);
}

#[test]
fn a_call_goes_on_from_its_checkpoint_and_its_question_keeps_its_id() {
    let mut world = booking();
    world.tool_keeps("a", json!({"task": 7}), 0);
    world.tool_asks("a", 1, size());
    let question = open(&mut world);
    world.crash(settings());
    assert!(world.questions.is_empty(), "nobody reconciles");
    let checkpoint = world.running["a"].checkpoint.clone().unwrap();
    assert_eq!(
        (checkpoint.state.as_str(), checkpoint.asked),
        (r#"{"task":7}"#, 0)
    );
    world.tool_asks("a", 1, size());
    assert_eq!(open(&mut world), question);
    answer(&mut world, question, accept(json!({"size": "M"})));
    world.crash(settings());
    world.tool_asks("a", 1, size());
    assert!(world.questions.is_empty(), "the answer is in the journal");
    assert_eq!(world.told_tools.len(), 2);
    assert_eq!(world.told_tools[0], world.told_tools[1]);
    finish(&mut world);
}

#[test]
fn a_checkpoint_forgets_the_answers_before_it_and_another_request_is_another_question() {
    let mut world = booking();
    world.tool_asks("a", 1, size());
    let first = open(&mut world);
    answer(&mut world, first, accept(json!({})));
    world.tool_keeps("a", json!(2), 1);
    let call = world.checkpoint.agents[0].calls[0].clone();
    assert!(call.elicitations.is_empty());
    world.tool_asks("a", 2, size());
    let second = open(&mut world);
    world.crash(settings());
    assert_eq!(world.running["a"].checkpoint.as_ref().unwrap().asked, 1);
    world.tool_asks("a", 2, json!({"message": "Which colour?"}));
    assert_ne!(open(&mut world), second);
    finish(&mut world);
}

#[test]
fn a_call_that_takes_its_checkpoint_back_is_asked_about() {
    let mut world = booking();
    world.tool_keeps("a", json!(1), 0);
    let call = world.running["a"].call;
    world.input(Input::ToolCheckpoint {
        call,
        state: None,
        asked: 0,
    });
    world.crash(settings());
    assert_eq!(world.questions[0].1.point, Point::Reconcile);
}

#[test]
fn without_a_checkpoint_your_code_says_what_became_of_the_call() {
    let mut world = booking();
    world.tool_asks("a", 1, size());
    let question = open(&mut world);
    answer(&mut world, question, accept(json!({"size": "M"})));
    world.crash(settings());
    let (reconcile, ask) = world.questions.pop().unwrap();
    assert_eq!(ask.point, Point::Reconcile);
    let again = Answer::Reconciled(Reconciled::Run);
    world.input(Input::Answered {
        question: reconcile,
        answer: again,
    });
    world.tool_asks("a", 1, size());
    assert_eq!(world.told_tools.len(), 2, "the answer of before");
    finish(&mut world);
}

#[test]
fn an_instance_that_is_lost_asks_the_open_question_again_under_its_id() {
    let mut world = booking();
    world.tool_asks("a", 1, size());
    let question = open(&mut world);
    let running = world.running.clone();
    let next_event = world.checkpoint.run.next_event;
    world.die(settings());
    world.running = running;
    world.input(Input::Recover {
        running: vec![world.running["a"].call],
        next_event,
        shown_blocks: 0,
    });
    world.tool_asks("a", 1, size());
    assert_eq!(open(&mut world), question);
    world.pass(86_400_000);
    answer(&mut world, question, accept(json!({})));
    finish(&mut world);
}
