//! The table of models: the page that shows it, and an exchange with each model in each protocol.
//!
//! `docs/vendors.md` has the table between two marks. `LOOPLET_WRITE_DOCS=1 cargo test --test wire models` writes it.

use std::fs;
use std::path::Path;

use looplet::engine::model::event::EventKind;
use looplet::engine::policy::models::{Row, Sampling, TABLE, Unset};
use serde_json::{Value, json};

use crate::misbehaving::speak::{End, Say, answer};
use crate::misbehaving::world::{World, config, tool};

const BEGIN: &str = "<!-- models: LOOPLET_WRITE_DOCS=1 cargo test --test wire models -->\n";
const END: &str = "<!-- /models -->\n";

#[test]
fn the_documented_models_are_those_of_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/vendors.md");
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).expect("the mark before the table");
    let (_, after) = rest.split_once(END).expect("the mark after the table");
    let written = format!("{before}{BEGIN}{}{END}{after}", document());
    if std::env::var_os("LOOPLET_WRITE_DOCS").is_some() {
        fs::write(&path, &written).unwrap();
    } else {
        assert!(
            page == written,
            "run the test with LOOPLET_WRITE_DOCS=1 and read the difference"
        );
    }
}

fn document() -> String {
    let mut out = String::new();
    for (vendor, rows) in TABLE {
        out += &format!(
            "\n### {vendor}\n\n| models | window / answer | thinking | `effort` | refused | continues | tied | changes at the end | summaries | clears results | ends | source |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n"
        );
        for row in *rows {
            out += &line(row);
        }
    }
    out + "\n"
}

fn line(row: &Row) -> String {
    let (page, date) = row.source.split_once(' ').unwrap();
    let date = date.rsplit(' ').next().unwrap();
    let cells = [
        names(row),
        format!("{} / {}", number(row.window), number(row.output)),
        thinking(row),
        efforts(row),
        or_dash(refused(row).join(", ")),
        or_dash(if row.prefill { "yes" } else { "" }.into()),
        or_dash(if row.compares { "yes" } else { "" }.into()),
        or_dash(changes(row).join(", ")),
        or_dash(row.summaries.join(", ")),
        or_dash(row.clears.join(", ")),
        or_dash(row.ends.map_or(String::new(), |date| date.to_string())),
        format!("[{date}]({page})"),
    ];
    format!("| {} |\n", cells.join(" | "))
}

fn names(row: &Row) -> String {
    let names: Vec<String> = row.names.iter().map(|name| format!("`{name}`")).collect();
    let names = names.join(", ");
    match row.vendors {
        [] => names,
        vendors => format!("{names} at {}", vendors.join(", ")),
    }
}

fn number(tokens: Option<u32>) -> String {
    let Some(tokens) = tokens else { return "?".into() };
    let thousands = tokens / 1000;
    match thousands {
        1000.. => format!(
            "{},{:03},{:03}",
            thousands / 1000,
            thousands % 1000,
            tokens % 1000
        ),
        _ => format!("{thousands},{:03}", tokens % 1000),
    }
}

fn thinking(row: &Row) -> String {
    let unset = match row.thinking.unset {
        Unset::Unknown => "",
        Unset::Off => "off",
        Unset::On => "on",
        Unset::Always => "always",
    };
    let kinds: Vec<String> = row
        .thinking
        .kinds
        .iter()
        .map(|kind| {
            let is_limited = row.thinking.up_to_high.contains(kind);
            format!("`{kind}`{}", if is_limited { " up to `high`" } else { "" })
        })
        .collect();
    let parts = [unset.to_owned(), kinds.join(", ")];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    if parts.is_empty() {
        "?".into()
    } else {
        parts.join(": ")
    }
}

fn efforts(row: &Row) -> String {
    let Some(efforts) = row.efforts else {
        return "?".into();
    };
    let named = efforts.iter().map(|effort| {
        if *effort == row.default_effort {
            format!("**{effort}**")
        } else {
            (*effort).to_owned()
        }
    });
    let named: Vec<String> = named.collect();
    if named.is_empty() {
        "not taken".into()
    } else {
        named.join(", ")
    }
}

fn refused(row: &Row) -> Vec<String> {
    let mut all = Vec::new();
    let takes_none = row.efforts.is_some_and(|efforts| efforts.contains(&"none"));
    match row.sampling {
        Sampling::Taken => {}
        Sampling::RefusedWithEffort => all.push("sampling with an effort"),
        Sampling::Refused if takes_none => all.push("sampling unless the effort is `none`"),
        Sampling::Refused => all.push("sampling"),
    }
    if !row.forced_calls {
        all.push("forced calls");
    }
    if !row.effort_with_tools {
        all.push("effort with tools in Chat Completions");
    }
    all.into_iter().map(str::to_owned).collect()
}

fn changes(row: &Row) -> Vec<&'static str> {
    let all = [
        (row.appends.instructions, "instructions"),
        (row.appends.tools, "tools"),
        (row.appends.effort, "effort"),
    ];
    all.iter()
        .filter(|(can, _)| *can)
        .map(|(_, name)| *name)
        .collect()
}

fn or_dash(text: String) -> String {
    if text.is_empty() { "–".into() } else { text }
}

#[test]
fn a_tool_call_and_an_answer_pass_with_each_model_whatever_its_options() {
    let mut exchanges = 0;
    for row in TABLE.iter().flat_map(|(_, rows)| *rows) {
        for name in row.names {
            for protocol in row.protocols {
                for options in options_of(protocol) {
                    for vendor in vendors_of(row, protocol) {
                        exchange(row, &id_of(name), (vendor, protocol), &options);
                        exchanges += 1;
                    }
                }
            }
        }
    }
    assert!(exchanges > 1000, "{exchanges}");
}

/// Who is asked: the model's own vendor gets fields that a server of the caller's does not.
fn vendors_of(row: &Row, protocol: &str) -> Vec<&'static str> {
    let own = match protocol {
        "bedrock_converse" => "bedrock",
        _ => row.home,
    };
    let mut vendors = vec![row.vendors.first().copied().unwrap_or("compatible")];
    vendors.extend(Some(own).filter(|own| !own.is_empty() && row.vendors.is_empty()));
    vendors
}

/// An id with this name.
fn id_of(name: &str) -> String {
    match name.trim_end_matches('*') {
        open if open.ends_with('-') => format!("{open}1"),
        whole => whole.to_owned(),
    }
}

/// Options that the protocol can express, in combinations that some models refuse.
fn options_of(protocol: &str) -> Vec<Value> {
    let thinking = match protocol {
        "anthropic" | "bedrock_converse" => vec![
            json!({"type": "adaptive"}),
            json!({"type": "disabled"}),
            json!({"type": "between_tools"}),
            json!({"budgetTokens": 2000}),
        ],
        "gemini" => vec![json!({"budgetTokens": 2000})],
        _ => Vec::new(),
    };
    let mut all = vec![json!({}), json!({"temperature": 0.5, "toolChoice": "required"})];
    for effort in ["none", "minimal", "low", "medium", "high", "xhigh", "max"] {
        all.push(json!({"effort": effort, "topP": 0.5, "toolChoice": {"tool": "add"}}));
        if protocol != "gemini" {
            let with_effort = |thinking: &Value| json!({"effort": effort, "thinking": thinking});
            all.extend(thinking.iter().map(with_effort));
        }
    }
    all.extend(thinking.iter().map(|thinking| json!({"thinking": thinking})));
    all
}

fn exchange(row: &Row, name: &str, (vendor, protocol): (&str, &str), options: &Value) {
    let mut model = json!({"vendor": vendor, "protocol": protocol, "model": name, "baseUrl": "http://h/v1"});
    for (key, value) in options.as_object().unwrap() {
        model[key] = value.clone();
    }
    let what = format!("{name} of {vendor} in {protocol} with {options}");
    let settings = config(
        json!([tool("add", json!({}))]),
        json!({"model": model, "journal": false}),
    );
    let Ok(_) = settings.clone().open() else {
        // Gemini and Nova have no such words, and the configuration is refused with its path.
        let is_extreme = ["none", "xhigh", "max"]
            .iter()
            .any(|word| options["effort"] == *word);
        assert!(
            is_extreme && row.efforts.is_none_or(<[_]>::is_empty),
            "{what} is refused"
        );
        return;
    };
    let mut world = World::started(settings);
    let call = Say::Call {
        id: "call_1",
        name: "add",
        arguments: "{\"n\":1}",
    };
    reply(
        &mut world,
        &answer(protocol, &[Say::Thinking("Hm."), call], End::Calls),
    );
    let id = world.running.keys().next().expect(&what).clone();
    world.return_value(&id, json!(1));
    reply(&mut world, &answer(protocol, &[Say::Text("Done.")], End::Stop));
    let outcome = world.done.clone().expect(&what);
    assert!(outcome.error.is_none(), "{what}: {outcome:?}");
    assert_eq!(world.requests.len(), 2, "{what}");
    for body in &world.requests {
        check(row, &serde_json::from_str(body).unwrap(), &what);
    }
    let warns = world
        .events
        .iter()
        .any(|event| matches!(event.kind, EventKind::Warning { .. }));
    let is_plain = options.as_object().unwrap().is_empty();
    assert!(!(warns && is_plain), "{what} warns");
}

fn reply(world: &mut World, body: &[u8]) {
    world.head(200, &[]);
    let request = world.request();
    world.input(looplet::engine::model::input::Input::Chunk { request, bytes: body });
    if world.open_request == Some(request) {
        world.end();
    }
}

/// What a vendor of the models of this row would refuse with status 400.
fn check(row: &Row, body: &Value, what: &str) {
    let more = &body["additionalModelRequestFields"];
    let effort = [
        &body["output_config"]["effort"],
        &body["outputConfig"]["effort"],
        &body["reasoning_effort"],
        &body["reasoning"]["effort"],
        &body["generationConfig"]["thinkingConfig"]["thinkingLevel"],
    ];
    let effort = effort.iter().find_map(|effort| effort.as_str());
    if let (Some(effort), Some(taken)) = (effort, row.efforts) {
        assert!(taken.contains(&effort), "{what} sends the effort {effort}");
    }
    let lengths = [
        &body["max_tokens"],
        &body["max_output_tokens"],
        &body["max_completion_tokens"],
        &body["inferenceConfig"]["maxTokens"],
        &body["generationConfig"]["maxOutputTokens"],
    ];
    let length = lengths.iter().find_map(|length| length.as_u64());
    assert!(
        length.is_none_or(|length| row.output.is_none_or(|most| length <= most.into())),
        "{what} asks for {length:?} tokens"
    );
    let places = [body, &body["inferenceConfig"], &body["generationConfig"], more];
    let samples = ["temperature", "top_p", "topP", "top_k", "topK"];
    let samples = places
        .iter()
        .any(|place| samples.iter().any(|name| !place[name].is_null()));
    let may_sample = match row.sampling {
        Sampling::Taken => true,
        Sampling::Refused => effort == Some("none"),
        Sampling::RefusedWithEffort => effort.is_none_or(|effort| effort == "none"),
    };
    assert!(may_sample || !samples, "{what} samples");
    let choice = format!("{}{}", body["tool_choice"], body["toolConfig"]["toolChoice"]);
    let is_forced = ["\"any\"", "\"tool\"", "\"required\""]
        .iter()
        .any(|word| choice.contains(word));
    assert!(row.forced_calls || !is_forced, "{what} forces a call");
    let thinking = [&body["thinking"], &more["thinking"]];
    let kind = thinking.iter().find_map(|thinking| thinking["type"].as_str());
    if let Some(kind) = kind.filter(|_| !row.thinking.kinds.is_empty()) {
        assert!(row.thinking.kinds.contains(&kind), "{what} sends thinking {kind}");
        let is_limited = row.thinking.up_to_high.contains(&kind);
        assert!(
            !is_limited || !matches!(effort, Some("xhigh" | "max")),
            "{what} sends {kind}"
        );
    }
}
