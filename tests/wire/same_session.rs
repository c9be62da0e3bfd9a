//! The same conversation in every protocol is the same session: random scripts, one machine per protocol.

use looplet::engine::model::event::ToolFault;
use looplet::engine::model::input::{Input, ToolReturn};
use looplet::engine::model::message::Block;
use serde_json::{Value, json};

use crate::misbehaving::speak::{End, Say, answer};
use crate::misbehaving::world::{World, config, tool};

const PROTOCOLS: [&str; 5] = [
    "anthropic",
    "openai_chat",
    "openai_responses",
    "bedrock_converse",
    "ndjson",
];
const SCRIPTS: u64 = 500;

#[test]
fn s002_02_i_09_a_random_script_gives_the_same_session_in_every_protocol() {
    for seed in 0..SCRIPTS {
        let expected = session(PROTOCOLS[0], seed);
        for protocol in &PROTOCOLS[1..] {
            assert_eq!(session(protocol, seed), expected, "I-09: seed {seed}, {protocol}");
        }
    }
}

/// What the run has come to, without what only the vendor understands.
fn session(protocol: &str, seed: u64) -> Value {
    let mut dice = Dice(seed);
    let mut world = World::new(config(
        json!([tool("read", json!({"readOnly": true})), tool("write", json!({}))]),
        json!({
            "model": {"vendor": "compatible", "protocol": protocol, "model": "m", "baseUrl": "http://h/v1"},
            "limits": {"maxIterations": 6},
            "retry": {"maxRetries": 0},
        }),
    ));
    world.prompt("Go.");
    let mut ids = 0;
    while world.done.is_none() {
        if world.open_request.is_some() {
            let body = turn(protocol, &mut dice, &mut ids);
            world.head(200, &[]);
            let request = world.request();
            world.input(Input::Chunk {
                request,
                bytes: &body,
            });
            if world.open_request == Some(request) {
                world.end();
            }
        }
        if dice.below(6) == 0 && world.done.is_none() {
            world.input(Input::Steer {
                id: 1,
                content: vec![Block::text("Steer.")],
            });
        }
        while let Some(id) = world.running.keys().next().cloned() {
            world.finish_tool(&id, result(&mut dice));
        }
        if dice.below(20) == 0 && world.done.is_none() {
            world.cancel();
        }
    }
    let mut result = world.result();
    strip(&mut result);
    json!([
        result["messages"],
        result["toolCalls"],
        result["text"],
        result["outcome"],
        result["stoppedBy"],
        result["iterations"],
    ])
}

fn turn(protocol: &str, dice: &mut Dice, ids: &mut u32) -> Vec<u8> {
    let text = ["One.", "Zwei, ümläuts 🦀.", "Three\nlines\n."][dice.below(3) as usize];
    let calls: Vec<(String, &str, String)> = (0..dice.below(4))
        .map(|_| {
            *ids += 1;
            let name = ["read", "write", "none"][dice.below(3) as usize];
            (format!("t{ids}"), name, json!({"n": dice.below(3)}).to_string())
        })
        .collect();
    let mut says = Vec::new();
    if calls.is_empty() || dice.below(2) == 0 {
        says.push(Say::Text(text));
    }
    says.extend(
        calls
            .iter()
            .map(|(id, name, arguments)| Say::Call { id, name, arguments }),
    );
    let end = if calls.is_empty() { End::Stop } else { End::Calls };
    answer(protocol, &says, end)
}

fn result(dice: &mut Dice) -> ToolReturn {
    match dice.below(4) {
        0 => ToolReturn::Fault(ToolFault {
            code: "broken".into(),
            message: "It broke.".into(),
            hint: "Mend it.".into(),
            recoverable: dice.below(4) > 0,
        }),
        1 => ToolReturn::Content(vec![Block::text("Two"), Block::text("blocks")]),
        roll => ToolReturn::Value(looplet::engine::model::message::Json::parse(&roll.to_string()).unwrap()),
    }
}

/// Who wrote a message, and the vendor's own form of a block, differ by design.
fn strip(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|key, _| key != "origin" && key != "vendor");
            fields.values_mut().for_each(strip);
        }
        Value::Array(items) => items.iter_mut().for_each(strip),
        _ => {}
    }
}

/// A splitmix64 generator.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }
}
