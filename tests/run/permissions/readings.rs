//! Texts that the platform reads before rules compare them.

use looplet::engine::model::config::permission::{Address, Reading};
use looplet::engine::model::input::PreparedCall;

use super::*;
use crate::told::calls_of;

fn fetch(permissions: Value, hooks: Value) -> World {
    let properties = json!({"url": {"type": "string"}});
    let schema = json!({"type": "object", "properties": properties});
    let tools = json!([
        tool("WebFetch", json!({"inputSchema": schema})),
        tool("act", json!({}))
    ]);
    World::started(config(tools, json!({"permissions": permissions, "hooks": hooks})))
}

fn reading(text: &str, host: &str) -> Reading {
    Reading {
        text: text.into(),
        composed: None,
        address: Some(Address {
            scheme: "https".into(),
            host: host.into(),
            places: vec![host.into()],
            paths: vec!["/".into()],
        }),
    }
}

fn read(readings: &[Reading], answer: Answer) -> Answer {
    Answer::Read {
        readings: readings.to_vec(),
        answer: Box::new(answer),
    }
}

fn prepare(world: &mut World, readings: &[Reading]) -> Vec<String> {
    let (question, ask) = world.questions.remove(0);
    let calls = calls_of(&ask);
    let texts = serde_json::from_value(data(&ask)["texts"].clone()).unwrap();
    let prepared = Answer::Prepared(vec![PreparedCall::default(); calls.len()]);
    let answer = read(readings, prepared);
    world.input(Input::Answered { question, answer });
    texts
}

#[test]
fn s001_29_addresses_are_read_in_one_question_and_only_where_rules_compare_them() {
    let to = |url: &str| json!({ "url": url });
    for permissions in [
        json!({"mode": "bypassPermissions"}),
        json!({"allow": ["WebFetch"], "deny": ["act"]}),
    ] {
        let mut world = fetch(permissions.clone(), json!([]));
        respond(&mut world, &[("WebFetch", to("https://a.com"))]);
        assert_eq!(world.tool_log, ["start WebFetch"], "{permissions}");
    }
    let rules = json!({"allow": ["WebFetch(domain:a.com)", "act"], "deny": ["WebFetch(domain:b.com)"]});
    let mut world = fetch(rules, json!([]));
    let calls = [
        call("one", "WebFetch", to("https://a.com")),
        call("two", "WebFetch", to("https://b.com")),
        call("three", "act", json!({"n": 1})),
        call("four", "WebFetch", to("no address")),
    ];
    world.respond(&stream(&calls, "tool_use"));
    let known = [
        reading("https://a.com", "a.com"),
        reading("https://b.com", "b.com"),
    ];
    let texts = prepare(&mut world, &known);
    assert_eq!(texts, ["https://a.com", "https://b.com", "no address"]);
    assert!(world.questions.is_empty(), "one crossing for the batch");
    while let Some(id) = world.running.keys().next().cloned() {
        world.return_value(&id, json!(1));
    }
    assert_eq!(
        world.tool_log,
        ["start one", "end one", "start three", "end three"]
    );
    let denied = told(&world, "two")["content"].to_string();
    assert!(
        denied.contains("the rule WebFetch(domain:b.com) denies it"),
        "{denied}"
    );
    let unread = told(&world, "four")["content"].to_string();
    assert!(unread.contains("no rule allows it"), "{unread}");
}

#[test]
fn s001_29_paths_beyond_ascii_are_composed_by_the_platform() {
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    let tools = json!([tool("Read", json!({"inputSchema": schema}))]);
    let rules = json!({"permissions": {"mode": "bypassPermissions", "deny": ["Read(\u{e4}/**)"]}});
    let mut world = World::started(config(tools, rules));
    respond(&mut world, &[("Read", json!({"path": "plain"}))]);
    assert_eq!(world.tool_log, ["start Read"]);
    world.return_value("Read", json!(1));
    let again = call("again", "Read", json!({"path": "A\u{308}/x"}));
    world.respond(&stream(&[again], "tool_use"));
    let composed = Reading {
        text: "A\u{308}/x".into(),
        composed: Some("\u{c4}/x".into()),
        address: None,
    };
    assert_eq!(prepare(&mut world, &[composed]), ["A\u{308}/x"]);
    assert!(told(&world, "again")["content"].to_string().contains("denies it"));
}

#[test]
fn s001_28_a_rule_that_denies_sees_the_address_that_an_input_was_changed_into() {
    let rows: [(Value, Value, Change); 3] = [
        (json!({"canUseTool": true}), json!([]), approved),
        (
            json!({"mode": "bypassPermissions"}),
            json!([{"event": "PreToolUse"}]),
            guarded,
        ),
        (
            json!({"mode": "bypassPermissions"}),
            json!([{"event": "ToolGuardrail"}]),
            guarded,
        ),
    ];
    for (mut permissions, hooks, change) in rows {
        for (host, runs) in [("fine.com", true), ("bad.com", false)] {
            permissions["deny"] = json!(["WebFetch(domain:bad.com)"]);
            let mut world = fetch(permissions.clone(), hooks.clone());
            respond(&mut world, &[("WebFetch", json!({"url": "https://a.com"}))]);
            prepare(&mut world, &[reading("https://a.com", "a.com")]);
            let (question, _) = world.questions.remove(0);
            let text = ["https://", host].concat();
            let input = Json::parse(&json!({ "url": text }).to_string()).unwrap();
            let answer = read(&[reading(&text, host)], change(input));
            world.input(Input::Answered { question, answer });
            assert_eq!(world.tool_log.len(), usize::from(runs), "{host} {hooks}");
        }
    }
}

#[test]
fn s001_29_a_rule_that_denies_a_path_knows_every_case_of_its_letters() {
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    for (denied, path) in [
        (
            "\u{3bb}\u{3cc}\u{3b3}\u{3bf}\u{3c2}",
            "\u{39b}\u{38c}\u{393}\u{39f}\u{3a3}",
        ),
        (
            "\u{39b}\u{38c}\u{393}\u{39f}\u{3a3}*",
            "\u{3bb}\u{3cc}\u{3b3}\u{3bf}\u{3c3}\u{3b1}",
        ),
        ("stra\u{df}e", "STRASSE"),
        ("STRASSE", "stra\u{df}e"),
        ("*.pa\u{17f}s", "a.PASS"),
        ("*.key", "a.\u{212a}ey"),
        ("\u{fb01}les", "FILES"),
        ("\u{b5}", "\u{39c}"),
    ] {
        let tools = json!([tool("Read", json!({"inputSchema": schema}))]);
        let rule = ["Read(", denied, ")"].concat();
        let rules = json!({"mode": "bypassPermissions", "deny": [rule]});
        let mut world = World::started(config(tools, json!({ "permissions": rules })));
        respond(&mut world, &[("Read", json!({"path": path}))]);
        if !world.questions.is_empty() {
            prepare(&mut world, &[]);
        }
        assert!(world.tool_log.is_empty(), "{denied} and {path}");
        assert!(told(&world, "Read")["content"].to_string().contains("denies it"));
    }
}
