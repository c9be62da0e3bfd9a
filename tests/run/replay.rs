//! The records of a run, written and read as JSON, replay it: equal events, requests, calls, questions and entries.

use looplet::engine::model::input::{Input, Moment};
use looplet::engine::model::journal::{Record, Recorded};
use looplet::engine::model::json;
use looplet::engine::model::message::Block;
use serde_json::json;

use crate::player::{Player, leave_loop, loops};
use crate::world::{Settings, World, config, tool};

/// Replays what a world has recorded, and compares everything that its run has asked for.
pub fn check_replay(world: &World, settings: Settings) {
    let lines: Vec<String> = world.records.iter().map(json::write).collect();
    if loops().is_some() {
        let [config, options] = [json::write(&settings.config), json::write(&settings.options)];
        leave_loop("schedules.ndjson", "schedule", &config, &options, &lines);
    }
    let played = Player::play(settings.open().unwrap(), &lines);
    assert_eq!(played.events, world.events, "I-07: the events of a replay differ");
    let bodies = |(_, body): &(_, Vec<u8>)| String::from_utf8(body.clone()).unwrap();
    let requests: Vec<_> = played.requests.iter().map(bodies).collect();
    assert_eq!(requests, world.requests, "I-07: the requests of a replay differ");
    let sent: Vec<_> = played.requests.iter().map(|(http, _)| http.clone()).collect();
    assert_eq!(sent, world.sent, "I-07: the heads of a replay differ");
    assert_eq!(
        played.entries, world.entries,
        "I-07: the journal of a replay differs"
    );
    let call = |call: &looplet::engine::model::output::ToolInvocation| {
        (call.tool_call_id.clone(), call.tool_name.clone())
    };
    let calls: Vec<_> = played.calls.iter().map(call).collect();
    assert_eq!(calls, world.started, "I-07: the calls of a replay differ");
    assert_eq!(
        json::write(&played.run.history()),
        json::write(&world.run.history()),
        "I-07: the history of a replay differs"
    );
    assert_eq!(
        played.run.outcome(),
        world.run.outcome(),
        "I-07: the outcome of a replay differs"
    );
}

fn record(input: &Input<'_>, after: u32) -> String {
    let moment = Moment {
        now_ms: u64::MAX,
        random: u64::MAX,
    };
    json::write(&Record::new(Recorded::from(input), moment, after))
}

fn prompt() -> Input<'static> {
    let content = vec![Block::text("Go.")];
    Input::Prompt { content }
}

#[test]
fn an_input_decides_about_the_outputs_that_were_not_performed_before_it() {
    let setting = || config(json!([tool("read", json!({}))]), json!({"journal": false}));
    let play = |after| {
        let handed_over = record(&Input::HandedOver { handover: 1 }, 1);
        let cancel = record(&Input::Cancel { why: "stop".into() }, after);
        Player::play(
            setting().open().unwrap(),
            &[record(&prompt(), 0), handed_over, cancel],
        )
    };
    // The listener that hears of the request's start cancels the run before the request is sent.
    let nested = play(1);
    assert!(nested.requests.is_empty(), "{:?}", nested.requests);
    let later = play(2);
    assert_eq!(later.requests.len(), 1, "{:#?}", later.events);
    assert_eq!(later.events, nested.events);
}

#[test]
fn a_record_survives_a_reader_that_knows_only_doubles() {
    let written: serde_json::Value = serde_json::from_str(&record(&prompt(), 0)).unwrap();
    assert_eq!(written["random"], u64::MAX.to_string());
    assert!(written.get("nowMs").is_none(), "the time is unknown: {written}");
    let read: Record = json::read("record", &written.to_string()).unwrap();
    let moment = read.play(|_, moment| moment).unwrap();
    assert_eq!((moment.now_ms, moment.random), (u64::MAX, u64::MAX));
}

#[test]
fn a_chunk_is_kept_as_text_or_else_byte_by_byte() {
    for bytes in ["data: Räd 🦀".as_bytes(), b"\x00\xff\xc3"] {
        let input = Recorded::from(&Input::Chunk { request: 1, bytes });
        let line = json::write(&Record::new(input, Moment::default(), 0));
        let read: Record = json::read("record", &line).unwrap();
        let same =
            read.play(|input, _| matches!(input, Input::Chunk { request: 1, bytes: kept } if kept == bytes));
        assert!(same.unwrap(), "{line}");
    }
}
