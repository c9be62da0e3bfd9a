//! What servers answer in random schedules, in the protocol that was asked.

use looplet::engine::model::output::HttpRequest;
use serde_json::{Value, json};

use crate::dice::Dice;
use crate::speak::{self, End, Say};
use crate::wire::{Piece, begin, block, call, end, event, open, text};

pub const PROTOCOLS: [&str; 6] = [
    "anthropic",
    "openai_chat",
    "openai_responses",
    "gemini",
    "bedrock_converse",
    "ndjson",
];

/// One response that is under way.
pub struct Response {
    pub head: Option<u16>,
    pub body: Vec<u8>,
    pub sent: usize,
    pub drops: bool,
}

/// A model of any vendor that speaks this protocol.
pub fn model(protocol: &str, name: &str) -> Value {
    match protocol {
        "anthropic" => json!({"vendor": "anthropic", "model": name}),
        _ => json!({"vendor": "compatible", "protocol": protocol, "model": name, "baseUrl": "http://h/v1"}),
    }
}

/// The protocol that a request speaks.
pub fn protocol_of(sent: &HttpRequest) -> &'static str {
    let places = [
        "/messages",
        "/chat/completions",
        "/responses",
        "GenerateContent",
        "/converse-stream",
        "",
    ];
    let at = places.iter().position(|place| sent.url.contains(place)).unwrap();
    PROTOCOLS[at]
}

pub fn response(dice: &mut Dice, next_id: &mut u32, protocol: &str) -> Response {
    let fails = dice.below(10);
    if fails == 0 {
        let status = *dice.pick(&[429, 500, 529, 400]);
        let message = dice.pick(&["no", "prompt is too long"]);
        let body = json!({"type": "error", "error": {"type": "api_error", "message": message}}).to_string();
        return Response {
            head: Some(status),
            body: body.into_bytes(),
            sent: 0,
            drops: false,
        };
    }
    let pieces: Vec<Piece> = (0..dice.below(4)).map(|_| piece(dice, next_id)).collect();
    let body = match protocol {
        "anthropic" => anthropic(dice, &pieces, fails),
        _ => other(dice, &pieces, fails, protocol),
    };
    Response {
        head: Some(200),
        body,
        sent: 0,
        drops: fails == 1 && dice.below(2) == 0,
    }
}

fn anthropic(dice: &mut Dice, pieces: &[Piece], fails: u64) -> Vec<u8> {
    let mut body = begin(1 + dice.below(20));
    for (index, piece) in pieces.iter().enumerate() {
        let is_cut = fails == 1 && index + 1 == pieces.len();
        body += &if is_cut {
            open(index, piece)
        } else {
            block(index, piece)
        };
    }
    match fails {
        1 => {}
        2 => {
            body +=
                &event(json!({"type": "error", "error": {"type": "overloaded_error", "message": "later"}}))
        }
        _ => {
            body += &end(
                dice.pick::<&str>(&["end_turn", "tool_use", "max_tokens", "pause_turn"]),
                dice.below(20),
            )
        }
    }
    body.into_bytes()
}

fn other(dice: &mut Dice, pieces: &[Piece], fails: u64, protocol: &str) -> Vec<u8> {
    let mut body = speak::begin(protocol);
    for (index, piece) in pieces.iter().enumerate() {
        let say = match piece {
            Piece::Text(text) => Say::Text(text),
            Piece::Thinking(text, _) => Say::Thinking(text),
            Piece::Call(id, name, arguments) => Say::Call { id, name, arguments },
        };
        body.extend(speak::say(protocol, index, &say));
    }
    if fails > 1 {
        let end = *dice.pick(&[End::Stop, End::Calls, End::Length, End::Pause]);
        body.extend(speak::finish(protocol, end));
    } else {
        body.truncate(dice.below(1 + body.len() as u64) as usize);
    }
    body
}

fn piece(dice: &mut Dice, next_id: &mut u32) -> Piece {
    match dice.below(7) {
        6 => text("{\"n\": 1}"),
        0 => text("Some text with ümläuts 🦀."),
        1 => text("  "),
        2 => Piece::Thinking("Hm.".into(), dice.pick::<&str>(&["", "c2ln"])),
        _ => {
            *next_id += 1;
            let id = if dice.below(10) == 0 {
                "same".to_owned()
            } else {
                format!("t{next_id}")
            };
            let name = *dice.pick(&[
                "read", "write", "key", "once", "none", "answer", "helper", "helper", "helper", "keeper",
                "expert",
            ]);
            match dice.below(8) {
                0 => Piece::Call(id, name.into(), "{\"n\": ".into()),
                1 => call(&id, name, json!({"n": "no number"})),
                2..=6 if name.ends_with("er") => call(&id, name, json!({"prompt": "Do."})),
                _ => call(&id, name, json!({"n": dice.below(3)})),
            }
        }
    }
}
