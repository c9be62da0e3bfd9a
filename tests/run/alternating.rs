//! The user and the model take turns in what is sent, also where an answer is empty or nothing of it may go back.

use looplet::engine::model::hook::HookAnswer;
use looplet::engine::model::input::Input;
use looplet::engine::model::message::{Block, Json};
use looplet::engine::model::question::{Answer, Point};
use serde_json::{Value, json};

use crate::hooks::says;
use crate::random_answers::PROTOCOLS;
use crate::speak::{self, End, Say};
use crate::wire::unmarked;
use crate::world::{Settings, World, config, tool};
use looplet::engine::model::hook::Decision;

/// A way on from an answer in which there is nothing for the history.
struct Way {
    name: &'static str,
    fields: fn() -> Value,
    blocks: &'static [Say<'static>],
    end: End,
    /// What the host says each time.
    steers: bool,
    follows: bool,
}

const PLAIN: Way = Way {
    name: "",
    fields: || json!({}),
    blocks: &[],
    end: End::Stop,
    steers: false,
    follows: false,
};

const WAYS: &[Way] = &[
    Way {
        name: "a structured answer that is empty, natively",
        fields: || owes("native"),
        ..PLAIN
    },
    Way {
        name: "a structured answer that is empty, by a tool",
        fields: || owes("tool"),
        ..PLAIN
    },
    Way {
        name: "a structured answer that is only thought about",
        fields: || owes("native"),
        blocks: &[Say::Thinking("Hm.")],
        ..PLAIN
    },
    Way {
        name: "a structured answer that is blank",
        fields: || owes("tool"),
        blocks: &[Say::Text(" \n ")],
        ..PLAIN
    },
    Way {
        name: "a hook that has the model go on",
        fields: || json!({"hooks": [{"event": "Stop"}]}),
        ..PLAIN
    },
    Way {
        name: "a steer",
        steers: true,
        ..PLAIN
    },
    Way {
        name: "a steer after a thought",
        steers: true,
        blocks: &[Say::Thinking("Hm.")],
        ..PLAIN
    },
    Way {
        name: "a follow-up",
        follows: true,
        ..PLAIN
    },
    Way {
        name: "blanks up to the limit of output tokens",
        fields: || json!({"answers": {"onMaxTokens": "continue"}}),
        blocks: &[Say::Text("\n\n")],
        end: End::Length,
        ..PLAIN
    },
    Way {
        name: "a guardrail that leaves nothing of the answer",
        fields: || json!({"hooks": [{"event": "OutputGuardrail"}]}),
        blocks: &[Say::Text("A secret.")],
        steers: true,
        ..PLAIN
    },
];

fn owes(mode: &str) -> Value {
    json!({"output": {"schema": {"type": "object", "required": ["n"]}, "mode": mode}})
}

#[test]
fn i_02_i_03_roles_alternate_and_requests_grow_whatever_follows_an_empty_answer() {
    for protocol in PROTOCOLS {
        for way in WAYS {
            let world = after_three(protocol, way);
            assert_eq!(world.requests.len(), 4, "{}, {protocol}", way.name);
            for (at, body) in world.requests.iter().enumerate() {
                check_roles(protocol, body, &format!("{}, {protocol}, request {at}", way.name));
            }
            for pair in world.requests.windows(2) {
                let [first, next] = [&pair[0], &pair[1]].map(|body| unmarked(body));
                let shared = &first[..first.rfind(']').unwrap()];
                assert!(next.starts_with(shared), "{}, {protocol}: {next}", way.name);
            }
            let result = world.result();
            let messages = result["messages"].as_array().unwrap();
            assert!(
                messages.windows(2).all(|pair| pair[0]["role"] != pair[1]["role"]),
                "{}, {protocol}: {messages:?}",
                way.name
            );
            if way.steers || way.follows {
                for words in ["Say 1.", "Say 2.", "Say 3."] {
                    assert!(world.requests[3].contains(words), "{}, {protocol}", way.name);
                }
            }
        }
    }
}

#[test]
fn results_with_nothing_said_to_them_are_followed_by_an_answer() {
    for protocol in PROTOCOLS {
        let mut world = World::started(settings(protocol, json!({})));
        let call = Say::Call {
            id: "a",
            name: "read",
            arguments: "{}",
        };
        say(&mut world, protocol, &[call], End::Calls);
        let id = world.running.keys().next().unwrap().clone();
        world.return_value(&id, json!(1));
        steer(&mut world, 1);
        say(&mut world, protocol, &[], End::Stop);
        let body = world.requests.last().unwrap();
        assert!(body.contains("(empty)"), "{protocol}: {body}");
        check_roles(protocol, body, protocol);
    }
}

/// A run that has got three such answers.
fn after_three(protocol: &str, way: &Way) -> World {
    let mut world = World::new(settings(protocol, (way.fields)()));
    world.prompt("Go.");
    for round in 1..=3 {
        if way.steers {
            steer(&mut world, round);
        }
        if way.follows {
            world.input(Input::FollowUp {
                id: round,
                content: vec![Block::text(format!("Say {round}."))],
            });
        }
        say(&mut world, protocol, way.blocks, way.end);
        while let Some((question, ask)) = world.questions.pop() {
            let answer = match ask.point {
                Point::Stop => says(Decision::Deny, "Not yet."),
                _ => HookAnswer {
                    updated_output: Some(Json::string("")),
                    ..HookAnswer::default()
                },
            };
            let answer = Answer::Hook(Box::new(answer));
            world.input(Input::Answered { question, answer });
        }
    }
    world
}

fn settings(protocol: &str, fields: Value) -> Settings {
    let mut config = config(
        json!([tool("read", json!({"readOnly": true}))]),
        json!({"model": {"vendor": "compatible", "protocol": protocol, "model": "m", "baseUrl": "http://h/v1"}}),
    );
    let merged = crate::world::config(json!([]), fields);
    config.output = merged.config.output;
    config.hooks = merged.config.hooks;
    config.answers.on_max_tokens = merged.config.answers.on_max_tokens;
    config
}

fn steer(world: &mut World, id: u32) {
    world.input(Input::Steer {
        id,
        content: vec![Block::text(format!("Say {id}."))],
    });
}

fn say(world: &mut World, protocol: &str, blocks: &[Say<'_>], end: End) {
    let request = world.request();
    world.head(200, &[]);
    world.input(Input::Chunk {
        request,
        bytes: &speak::answer(protocol, blocks, end),
    });
    if world.open_request == Some(request) {
        world.end();
    }
}

fn check_roles(protocol: &str, body: &str, place: &str) {
    let roles = roles(&serde_json::from_str(body).unwrap());
    assert!(
        roles.windows(2).all(|pair| pair != ["user", "user"]),
        "{place}: {roles:?}\n{body}"
    );
    assert_eq!(roles.first().map(String::as_str), Some("user"), "{place}");
    if protocol == "openai_responses" {
        return;
    }
    assert!(
        roles
            .windows(2)
            .all(|pair| pair[0] != pair[1] || pair[0] == "tool"),
        "{place}: {roles:?}"
    );
}

/// Whose each message or item is; `tool` for results that are messages of their own.
fn roles(body: &Value) -> Vec<String> {
    let lists = ["messages", "input", "contents"].map(|key| body[key].as_array());
    let items = lists.into_iter().flatten().flatten();
    let role = |item: &Value| match (item["role"].as_str(), item["type"].as_str()) {
        (Some("model"), _) => "assistant".to_owned(),
        (Some(role), _) => role.to_owned(),
        (None, Some("function_call_output")) => "tool".to_owned(),
        (None, _) => "assistant".to_owned(),
    };
    items.map(role).filter(|role| role != "system").collect()
}
