//! Reasoning goes back exactly behind what it was made behind.

use serde_json::{Value, json};

use super::*;
use crate::engine::agent::history::body::Body;
use crate::engine::model::config::ToolConfig;
use crate::engine::model::message::{Json, Origin};
use crate::engine::protocol::find;

const FABLE: &str = r#"{"vendor":"anthropic","model":"claude-fable-5-2"}"#;
const OLD: &str = r#"{"vendor":"anthropic","model":"claude-opus-4-8"}"#;
const BEDROCK: &str = r#"{"vendor":"bedrock","model":"us.anthropic.claude-opus-5-5"}"#;
const GPT: &str = r#"{"vendor":"openai","model":"gpt-6.2-sol","protocol":"openai_responses"}"#;

/// A conversation that is asked one request after the other.
struct Chat {
    model: &'static str,
    system: &'static str,
    tools: Vec<ToolConfig>,
    messages: Vec<Message>,
}

impl Chat {
    fn new(model: &'static str) -> Chat {
        Chat {
            model,
            system: "S",
            tools: vec![ToolConfig::new("look", Json::empty_object())],
            messages: vec![user("go")],
        }
    }

    /// The texts of the next request, and what an answer to it keeps.
    fn body(&self) -> (String, Option<String>) {
        let model = crate::engine::model::json::read::<ModelConfig>("model", self.model).unwrap();
        let spec = RequestSpec {
            model: &model,
            system: Some(self.system),
            tools: &self.tools,
            before: None,
            is_digested: false,
            appended: crate::engine::protocol::Appended::default(),
            clearing: Default::default(),
        };
        let (_, protocol) = find(&model).unwrap();
        let mut body = Body::default();
        let bytes = body
            .close(protocol, &spec, &self.messages, false)
            .unwrap()
            .to_vec();
        (String::from_utf8(bytes).unwrap(), body.prefix())
    }

    /// The signatures in the next request.
    fn sent(&self) -> Vec<String> {
        let body = self.body().0;
        let proofs = body.split("proof-").skip(1);
        proofs
            .map(|rest| rest.split('"').next().unwrap().to_owned())
            .collect()
    }

    /// Adds an answer with reasoning, and the user's next words.
    fn answer(&mut self, name: &str) {
        let (_, prefix) = self.body();
        let model: Value = serde_json::from_str(self.model).unwrap();
        let protocol = match self.model {
            GPT => "openai_responses",
            BEDROCK => "bedrock_converse",
            _ => "anthropic",
        };
        let vendor = json!({"type": "reasoning", "id": format!("rs_{name}")});
        let mut answer: Message = serde_json::from_value(json!({"role": "assistant", "content": [
            {"type": "thinking", "text": "", "signature": format!("proof-{name}"), "vendor": vendor},
            {"type": "text", "text": format!("I am {name}.")}
        ]}))
        .unwrap();
        answer.origin = Some(Origin {
            protocol: protocol.into(),
            model: model["model"].as_str().unwrap().into(),
            prefix,
            thread: None,
        });
        self.messages.push(answer);
        self.messages.push(user("on"));
    }
}

fn user(text: &str) -> Message {
    Message::user(vec![Block::text(text)])
}

fn grown(model: &'static str) -> Chat {
    let mut chat = Chat::new(model);
    ["a", "b", "c"].iter().for_each(|name| chat.answer(name));
    chat
}

#[test]
fn a_tool_that_waits_to_be_found_may_come_and_go_on_claude() {
    for (model, alike) in [(FABLE, &["a"][..]), (GPT, &[])] {
        let mut chat = Chat::new(model);
        let deferred = |name: &str| {
            let mut tool = ToolConfig::new(name, Json::empty_object());
            tool.defer_loading = true;
            tool
        };
        chat.tools.push(deferred("rare"));
        chat.answer("a");
        chat.tools.push(deferred("rarer"));
        assert_eq!(chat.sent(), alike, "{model}");
        chat.tools.swap(1, 2);
        chat.tools.pop();
        assert_eq!(chat.sent(), alike, "{model}");
        // The vendor's search is shown to the model.
        chat.tools.pop();
        assert_eq!(chat.sent(), [""; 0], "{model}");
    }
}

#[test]
fn a_tool_that_was_found_is_a_part_of_what_comes_behind() {
    let mut chat = Chat::new(FABLE);
    let mut rare = ToolConfig::new("rare", Json::empty_object());
    rare.defer_loading = true;
    chat.tools.push(rare);
    let found = r#"{"type":"tool_search_tool_result","tool_use_id":"s","content":{"tool_references":[{"type":"tool_reference","tool_name":"rare"}]}}"#;
    chat.answer("a");
    chat.messages.push(Message {
        origin: Some(Origin {
            protocol: "anthropic".into(),
            model: "claude-fable-5-2".into(),
            prefix: None,
            thread: None,
        }),
        ..Message::assistant(vec![Block::Raw {
            json: Json::parse(found).unwrap(),
        }])
    });
    chat.messages.push(user("on"));
    chat.answer("b");
    assert_eq!(chat.sent(), ["a", "b"]);
    // The vendor compares the order of the tools that the model has seen.
    chat.tools.rotate_right(1);
    assert_eq!(chat.sent(), ["a"]);
    chat.tools.rotate_left(1);
    chat.tools.last_mut().unwrap().description = "Does something else".into();
    assert_eq!(chat.sent(), ["a"]);
}

#[test]
fn reasoning_is_sent_while_nothing_before_it_changes() {
    for model in [FABLE, OLD, BEDROCK, GPT] {
        assert_eq!(grown(model).sent(), ["a", "b", "c"], "{model}");
    }
}

type Change = fn(&mut Chat);

#[test]
fn reasoning_behind_a_change_is_left_out_for_vendors_that_compare() {
    let another_tool: Change = |chat| {
        chat.tools.push(ToolConfig::new("more", Json::empty_object()));
    };
    let rows: &[(&str, Change, &[&str])] = &[
        ("a tool", another_tool, &[]),
        (
            "the first message",
            |chat| chat.messages[0] = user("Summary."),
            &[],
        ),
        ("a later message", |chat| chat.messages[2] = user("off"), &["a"]),
        (
            "a summary",
            |chat| {
                chat.messages.splice(0..3, [user("Summary.")]);
            },
            &[],
        ),
        (
            "the first answer's reasoning",
            |chat| {
                chat.messages[1].content.remove(0);
            },
            &["b", "c"],
        ),
        (
            "the second answer's reasoning",
            |chat| {
                chat.messages[3].content.remove(0);
            },
            &["a"],
        ),
        (
            "the last answer's reasoning",
            |chat| {
                chat.messages[5].content.remove(0);
            },
            &["a", "b"],
        ),
    ];
    for (name, change, sent) in rows {
        for model in [FABLE, BEDROCK, GPT] {
            let mut chat = grown(model);
            change(&mut chat);
            let sent = match (*name, model) {
                // Only Claude ties reasoning to the reasoning before it.
                ("the second answer's reasoning", GPT) => &["a", "c"],
                _ => *sent,
            };
            assert_eq!(chat.sent(), *sent, "{name}, {model}");
            // What is made from here on is sent.
            chat.answer("d");
            let sent = [sent, &["d"]].concat();
            assert_eq!(chat.sent(), sent, "{name} and on, {model}");
        }
        let mut old = grown(OLD);
        change(&mut old);
        let all = old.messages.iter().flat_map(|message| &message.content);
        assert_eq!(
            old.sent().len(),
            all.filter(|block| is_signed(block)).count(),
            "{name}"
        );
    }
}

#[test]
fn only_claude_ties_reasoning_to_the_system_prompt() {
    for (model, sent) in [(FABLE, 0), (BEDROCK, 0), (GPT, 3)] {
        let mut chat = grown(model);
        chat.system = "T";
        assert_eq!(chat.sent().len(), sent, "{model}");
    }
}

#[test]
fn a_change_that_is_taken_back_brings_the_reasoning_back_and_loses_what_was_made_meanwhile() {
    let mut chat = grown(FABLE);
    chat.system = "T";
    chat.answer("d");
    assert_eq!(chat.sent(), ["d"]);
    chat.system = "S";
    assert_eq!(chat.sent(), ["a", "b", "c"]);
}

#[test]
fn reasoning_without_a_digest_is_sent_and_refused_reasoning_never() {
    for (prefix, model, sent) in [
        (None, FABLE, 3),
        (Some(String::new()), FABLE, 0),
        (Some(String::new()), OLD, 0),
    ] {
        let mut chat = grown(model);
        for message in &mut chat.messages {
            if let Some(origin) = &mut message.origin {
                origin.prefix.clone_from(&prefix);
            }
        }
        assert_eq!(chat.sent().len(), sent, "{model}");
    }
}

#[test]
fn a_claude_of_today_is_sent_the_reasoning_of_another_one() {
    let mut chat = grown(FABLE);
    chat.model = r#"{"vendor":"anthropic","model":"claude-opus-5-5"}"#;
    assert_eq!(chat.sent(), ["a", "b", "c"]);
    chat.answer("d");
    chat.model = FABLE;
    assert_eq!(chat.sent(), ["a", "b", "c", "d"]);
    chat.model = OLD;
    assert_eq!(chat.sent().len(), 0);
}

#[test]
fn of_two_chains_that_fit_the_longer_one_is_sent() {
    const READS_OLD: &str = r#"{"vendor":"anthropic","model":"claude-fable-5-1"}"#;
    let mut chat = Chat::new(READS_OLD);
    chat.answer("a");
    // An older model is not sent the reasoning of the newer one, so its own comes behind nothing.
    chat.model = OLD;
    chat.answer("b");
    chat.model = READS_OLD;
    assert_eq!(chat.sent(), ["a"]);
    chat.model = OLD;
    chat.answer("c");
    chat.model = READS_OLD;
    assert_eq!(chat.sent(), ["b", "c"]);
    chat.answer("d");
    assert_eq!(chat.sent(), ["b", "c", "d"]);
}

#[test]
fn a_gpt_of_today_is_sent_the_reasoning_of_its_own_generation() {
    let mut chat = grown(GPT);
    chat.model = r#"{"vendor":"openai","model":"gpt-6.2-astra","protocol":"openai_responses"}"#;
    assert_eq!(chat.sent(), ["a", "b", "c"]);
    chat.model = r#"{"vendor":"openai","model":"gpt-6.1-sol","protocol":"openai_responses"}"#;
    assert_eq!(chat.sent().len(), 0);
}

#[test]
fn a_grown_body_has_the_digest_of_a_whole_one() {
    let chat = grown(FABLE);
    let model = crate::engine::model::json::read::<ModelConfig>("model", FABLE).unwrap();
    let (_, protocol) = find(&model).unwrap();
    let spec = RequestSpec {
        model: &model,
        system: Some("S"),
        tools: &chat.tools,
        before: None,
        is_digested: false,
        appended: crate::engine::protocol::Appended::default(),
        clearing: Default::default(),
    };
    let mut body = Body::default();
    for length in 1..=chat.messages.len() {
        body.close(protocol, &spec, &chat.messages[..length], false)
            .unwrap();
    }
    assert_eq!(body.prefix(), chat.body().1);
}
