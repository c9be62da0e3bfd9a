//! Runs that are killed after each of their outputs and go on in a fresh engine, from the journal alone.

use looplet::engine::model::input::{CheckedOutput, Input};
use looplet::engine::model::message::{Block, Message};
use looplet::engine::model::question::{Answer, Point};
use serde_json::json;

use crate::killed::{Asked, Outside, Scene, kill_everywhere};
use crate::structured_output::{GOOD, schema};
use crate::told::data;
use crate::wire::{Piece, call, stream, stream_with_usage, text};
use crate::world::{Settings, config, tool};

pub fn calls(pieces: &[Piece]) -> Vec<String> {
    vec![stream(pieces, "tool_use")]
}

pub fn done(words: &str) -> Vec<String> {
    vec![stream(&[text(words)], "end_turn")]
}

/// Six iterations: read-only tools beside each other, a tool that may run once, a retry, an approval, a subagent with
/// a tool, a steer and a summary.
pub fn long() -> Scene {
    Scene {
        name: "long",
        settings: long_settings,
        reply: long_reply,
        says: |when| {
            let content = vec![Block::text("Hurry.")];
            (when == "root 3").then_some(Input::Steer { id: 7, content })
        },
        said: "Hurry.",
        refused: &[("root", 2)],
        ..Scene::default()
    }
}

fn long_settings() -> Settings {
    let tools = json!([
        tool("read", json!({"readOnly": true})),
        tool("note", json!({"replay": "safe"})),
        tool("pay", json!({})),
        tool("wipe", json!({"needsApproval": true})),
        tool("helper", json!({"agent": {"profile": 1}})),
    ]);
    let agents =
        json!([{"model": {"vendor": "anthropic", "model": "small"}, "tools": [tool("dig", json!({}))]}]);
    let context = json!({"auto": true, "window": 12_000, "keepLast": 2});
    config(
        tools,
        json!({"agents": agents, "context": context, "toolCalls": {"execution": "read-only-parallel"}}),
    )
}

fn long_reply(asked: &Asked<'_>) -> Vec<String> {
    if asked.body.contains("write a summary of this conversation") {
        return done("They read, paid and wiped.");
    }
    match (asked.path, asked.iteration) {
        ("root", 1) => calls(&[
            text("First."),
            call("r1", "read", json!({"n": 1})),
            call("r2", "read", json!({"n": 2})),
        ]),
        ("root", 2) => calls(&[
            call("p", "pay", json!({"n": 3})),
            call("n", "note", json!({"n": 4})),
        ]),
        ("root", 3) => calls(&[call("w", "wipe", json!({})), call("r3", "read", json!({}))]),
        ("root", 4) => calls(&[
            call("h", "helper", json!({"prompt": "Dig."})),
            call("q", "pay", json!({})),
        ]),
        ("root", 5) => {
            let pieces = [text("Nearly."), call("r4", "read", json!({}))];
            vec![stream_with_usage(&pieces, "tool_use", 20_000, 9)]
        }
        ("root", 6) => done("All done."),
        ("root/helper", 1) => calls(&[call("d", "dig", json!({}))]),
        ("root/helper", 2) => done("Gold."),
        at => panic!("{at:?} is asked"),
    }
}

#[test]
fn i_01_a_run_that_is_killed_after_any_output_ends_as_if_nothing_had_happened() {
    let end = kill_everywhere(&long());
    assert_eq!(end["outcome"], "completed", "{end:#}");
    assert_eq!(end["iterations"], 6);
    assert!(
        end["messages"]
            .to_string()
            .contains("[Context summary: They read"),
        "{end:#}"
    );
    let scene = long();
    let mut whole = Outside::new(&scene);
    whole.live(&[]);
    assert!(whole.world.entries.len() > 80);
    assert!(format!("{:?}", whole.world.entries).contains("Hurry."));
}

/// A handoff with a filter, to an agent that hands the conversation back.
pub fn handed() -> Scene {
    let settings = || {
        let expert = tool(
            "expert",
            json!({"agent": {"profile": 1, "handoff": true, "filters": true}}),
        );
        let back = tool("desk", json!({"agent": {"profile": 0, "handoff": true}}));
        let agents = json!([{"model": {"vendor": "anthropic", "model": "big"}, "tools": [back, tool("pay", json!({}))]}]);
        config(json!([expert, tool("act", json!({}))]), json!({"agents": agents}))
    };
    Scene {
        name: "handoff",
        settings,
        reply: |asked| match asked.iteration {
            1 => calls(&[
                call("e", "expert", json!({"why": "law"})),
                call("a", "act", json!({})),
            ]),
            2 => calls(&[call("p", "pay", json!({}))]),
            3 => calls(&[call("d", "desk", json!({}))]),
            4 => {
                assert!(asked.body.contains("claude-test"), "{}", asked.body);
                done("Back again.")
            }
            more => panic!("{more}"),
        },
        answer: |ask| {
            (ask.point == Point::FilterHandoff).then(|| {
                let messages: Vec<Message> = serde_json::from_value(data(ask)["messages"].clone()).unwrap();
                let mut chosen = messages[..1].to_vec();
                chosen.push(Message::assistant(vec![Block::text("The rest was left out.")]));
                Answer::Filtered(chosen)
            })
        },
        ..Scene::default()
    }
}

#[test]
fn a_run_with_handoffs_is_killed_after_any_output() {
    let end = kill_everywhere(&handed());
    assert_eq!(end["text"], "Back again.");
    assert!(
        end["messages"].to_string().contains("The rest was left out."),
        "{end:#}"
    );
}

fn structured(mode: &'static str) -> Scene {
    fn settings(mode: &str) -> Settings {
        let output = json!({"schema": schema(), "mode": mode, "ask": true});
        config(
            json!([tool("look", json!({"readOnly": true}))]),
            json!({"output": output}),
        )
    }
    fn answer(asked: &Asked<'_>, is_call: bool) -> Vec<String> {
        let gives = |id: &str, json: &str| match is_call {
            true => calls(&[Piece::Call(id.into(), "answer".into(), json.into())]),
            false => done(json),
        };
        match asked.iteration {
            1 => calls(&[text("I look."), call("l", "look", json!({}))]),
            2 => gives("x", r#"{"city":"Paris"}"#),
            3 => gives("y", r#"{"city":"Rome","days":1}"#),
            4 => gives("z", GOOD),
            more => panic!("{more}"),
        }
    }
    let is_tool = mode == "tool";
    Scene {
        name: if is_tool { "tool mode" } else { "native mode" },
        settings: if is_tool {
            || settings("tool")
        } else {
            || settings("native")
        },
        reply: if is_tool {
            |asked| answer(asked, true)
        } else {
            |asked| answer(asked, false)
        },
        answer: |ask| {
            (ask.point == Point::CheckOutput).then(|| {
                let is_rome = data(ask).to_string().contains("Rome");
                Answer::Checked(CheckedOutput {
                    problem: is_rome.then(|| "not Rome".into()),
                    output: None,
                })
            })
        },
        ..Scene::default()
    }
}

#[test]
fn a_run_with_a_structured_answer_is_killed_after_any_output() {
    for mode in ["tool", "native"] {
        let end = kill_everywhere(&structured(mode));
        assert_eq!(end["output"], json!({"city": "Paris", "days": 2}), "{mode}");
        assert!(end["messages"].to_string().contains("not Rome"), "{mode}");
    }
}

/// Old answers are cut short, the history is brought within a budget, and the user asks for a summary.
pub fn shortened() -> Scene {
    let settings = || {
        let context =
            json!({"pruning": {"afterResponses": 1, "prefixChars": 8}, "keepLast": 2, "window": 100_000});
        let hooks = json!([{"event": "PreCompact"}, {"event": "PostCompact"}]);
        config(
            json!([tool("act", json!({})), tool("read", json!({"readOnly": true}))]),
            json!({"context": context, "hooks": hooks}),
        )
    };
    Scene {
        name: "pruning and summaries",
        settings,
        reply: |asked| {
            if asked.body.contains("write a summary of this conversation") {
                return done("They have acted.");
            }
            let long = json!({"n": 1, "why": "because it is so very long"});
            match asked.iteration {
                last @ 6 => done(&format!("Done after {last}.")),
                at => calls(&[
                    Piece::Thinking(format!("Thought {at} at length and in vain."), "sig"),
                    call(&format!("c{at}"), ["act", "read"][at as usize % 2], long),
                ]),
            }
        },
        says: |when| {
            let instructions = Some("Short!".into());
            (when == "c3").then_some(Input::Compact {
                instructions,
                only: false,
            })
        },
        said: "Short!",
        ..Scene::default()
    }
}

#[test]
fn a_run_whose_history_is_made_shorter_is_killed_after_any_output() {
    let end = kill_everywhere(&shortened());
    let messages = end["messages"].to_string();
    assert!(
        messages.contains("[Context summary: They have acted.]"),
        "{messages}"
    );
    assert!(messages.contains("_compacted"), "{messages}");
}

/// A history that a vendor refuses as too long, and one that is brought within a budget of characters.
fn overflown() -> Scene {
    let settings = || {
        let context = json!({"keepLast": 1, "maxChars": 900});
        config(json!([tool("act", json!({}))]), json!({"context": context}))
    };
    Scene {
        name: "budget",
        settings,
        reply: |asked| match asked.iteration {
            7 => done("Done."),
            at => calls(&[
                text(&"Word. ".repeat(20)),
                call(&format!("c{at}"), "act", json!({"n": at})),
            ]),
        },
        ..Scene::default()
    }
}

#[test]
fn a_run_within_a_budget_of_characters_is_killed_after_any_output() {
    let end = kill_everywhere(&overflown());
    assert!(
        end["messages"].to_string().contains("[Context summary: "),
        "{end:#}"
    );
}

/// A kept agent that is called twice, an agent below an agent, and two agents at once.
pub fn nested() -> Scene {
    let settings = || {
        let model = json!({"vendor": "anthropic", "model": "small"});
        let digger = tool("digger", json!({"agent": {"profile": 2}}));
        let agents = json!([
            {"model": model, "tools": [digger, tool("pay", json!({}))]},
            {"model": model, "tools": [tool("dig", json!({})), tool("look", json!({"readOnly": true}))]},
        ]);
        let tools = json!([
            tool("helper", json!({"agent": {"profile": 1}})),
            tool("keeper", json!({"agent": {"profile": 2, "keep": true}})),
        ]);
        config(tools, json!({"agents": agents}))
    };
    Scene {
        name: "subagents",
        settings,
        reply: |asked| {
            let prompt = |words: &str| json!({"prompt": words});
            match (asked.path, asked.iteration) {
                ("root", 1) => calls(&[
                    call("h", "helper", prompt("Help.")),
                    call("k1", "keeper", prompt("First.")),
                ]),
                ("root", 2) => calls(&[call("k2", "keeper", prompt("Second."))]),
                ("root", 3) => done("All done."),
                ("root/helper", 1) => {
                    calls(&[call("g", "digger", prompt("Dig.")), call("p", "pay", json!({}))])
                }
                ("root/helper", 2) => done("Helped."),
                ("root/helper/digger", 1) => {
                    calls(&[call("d", "dig", json!({})), call("l", "look", json!({}))])
                }
                ("root/helper/digger", 2) => done("Gold."),
                ("root/keeper", 1) => calls(&[call("kd", "dig", json!({}))]),
                ("root/keeper", 2) => done("Kept one."),
                ("root/keeper#2", 1) => {
                    assert!(asked.body.contains("Kept one."), "{}", asked.body);
                    done("Kept two.")
                }
                at => panic!("{at:?} is asked"),
            }
        },
        ..Scene::default()
    }
}

#[test]
fn a_run_with_agents_below_agents_is_killed_after_any_output() {
    let end = kill_everywhere(&nested());
    assert_eq!(end["subagents"][0]["agentPath"], "root/keeper");
    assert!(end["subagents"].to_string().contains("Kept two."), "{end:#}");
}
