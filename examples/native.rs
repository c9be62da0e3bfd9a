//! A host of looplet without JavaScript: it asks a model over HTTP, runs tools, and prints the answer while it comes.
//!
//! `cargo run --example native -- "What is 2 + 3?"` asks the server of `BASE_URL` that speaks Chat Completions, by
//! default Ollama on this machine. A server behind https needs a feature of ureq's, such as `rustls`.

// `wasm-pack test` compiles every example, and this one has no place there.
#![cfg_attr(target_arch = "wasm32", no_main)]
#![cfg(not(target_arch = "wasm32"))]

use std::collections::VecDeque;
use std::io::Read;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use looplet::{
    Block, EventKind, HttpRequest, Input, Json, Moment, Output, Run, RunOptions, Setup, ToolReturn,
};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Runs an agent with this configuration until it is done. `call` runs a tool by its name and its input.
pub fn answer(config: &str, key: &str, prompt: &str, call: fn(&str, &str) -> String) -> Result<String> {
    let mut run = Run::new(Arc::new(Setup::read(config)?), RunOptions::default())?;
    let mut inputs = VecDeque::from([Input::Prompt {
        content: vec![Block::text(prompt)],
    }]);
    let (mut body, mut wait_ms) = (None, None);
    let mut bytes = [0; 8192];
    while run.outcome().is_none() {
        let input = match (inputs.pop_front(), &mut body) {
            (Some(input), _) => input,
            (None, Some((request, reader))) => next_of(*request, reader, &mut bytes),
            (None, None) => {
                std::thread::sleep(Duration::from_millis(wait_ms.ok_or("the run waits for nothing")?));
                Input::Due
            }
        };
        if matches!(input, Input::End { .. } | Input::NetworkFailed { .. }) {
            body = None;
        }
        run.handle_input(input, moment());
        while let Some(output) = run.poll_output() {
            match output {
                Output::Send { request, http } => match send(http, run.request_body(request), key) {
                    Ok((head, reader)) => {
                        let (status, headers) = head;
                        inputs.push_back(Input::Head {
                            request,
                            status,
                            headers,
                        });
                        body = Some((request, reader));
                    }
                    Err(why) => inputs.push_back(Input::NetworkFailed {
                        request,
                        why: why.to_string(),
                    }),
                },
                Output::Abort { .. } => body = None,
                Output::Redact { request, mut failure } => {
                    failure.message = without(key, &failure.message);
                    failure.body = failure.body.map(|body| without(key, &body));
                    inputs.push_back(Input::RequestFailed { request, failure });
                }
                Output::CallTool(tool) => {
                    let result = Json::of(&call(&tool.tool_name, tool.input.as_str()));
                    let result = ToolReturn::Value(result);
                    inputs.push_back(Input::ToolFinished {
                        call: tool.call,
                        result,
                    });
                }
                Output::HandOver { handover } => inputs.push_back(Input::HandedOver { handover }),
                Output::Emit(event) => {
                    if let EventKind::TextDelta { text, .. } = event.kind {
                        print!("{text}");
                    }
                }
                _ => {}
            }
        }
        wait_ms = run.poll_timer().or(wait_ms);
    }
    let failure = run.outcome().and_then(|outcome| outcome.error.as_ref());
    failure.map_or(Ok(run.text()), |failure| Err(failure.message.clone().into()))
}

/// The next piece of a response's body.
fn next_of<'a>(request: u32, body: &mut impl Read, bytes: &'a mut [u8]) -> Input<'a> {
    match body.read(bytes) {
        Ok(0) => Input::End { request },
        Ok(length) => Input::Chunk {
            request,
            bytes: bytes.get(..length).unwrap_or_default(),
        },
        Err(why) => Input::NetworkFailed {
            request,
            why: why.to_string(),
        },
    }
}

type Head = (u16, Vec<(String, String)>);

/// A text with stars for the key. A server of this machine needs no key, and an empty one is between all letters.
fn without(key: &str, text: &str) -> String {
    if key.is_empty() {
        return text.to_owned();
    }
    text.replace(key, "***")
}

/// Sends a request with its key, follows no redirect, and gives the head of the response and its body.
fn send(http: HttpRequest, body: Option<&[u8]>, key: &str) -> Result<(Head, impl Read + use<>)> {
    let mut request = ureq::http::Request::builder()
        .method(http.method.as_str())
        .uri(&http.url);
    for (name, value) in &http.headers {
        request = request.header(name, value);
    }
    if !http.auth.header.is_empty() {
        request = request.header(&http.auth.header, [&http.auth.prefix, key].concat());
    }
    let client = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .build()
        .new_agent();
    let response = client.run(request.body(body.unwrap_or_default())?)?;
    let headers = response.headers().iter();
    let headers = headers.map(|(name, value)| {
        (
            name.to_string(),
            String::from_utf8_lossy(value.as_bytes()).into_owned(),
        )
    });
    Ok((
        (response.status().as_u16(), headers.collect()),
        response.into_body().into_reader(),
    ))
}

fn moment() -> Moment {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Moment {
        now_ms: since.as_millis() as u64,
        random: since.as_nanos() as u64,
    }
}

#[allow(dead_code)]
fn main() -> Result<()> {
    let base_url = std::env::var("BASE_URL").unwrap_or("http://localhost:11434/v1".into());
    let model = std::env::var("MODEL").unwrap_or("qwen3:4b".into());
    let schema = r#"{"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}}"#;
    let config = format!(
        r#"{{"model": {{"vendor": "compatible", "baseUrl": {base_url:?}, "model": {model:?}}},
            "tools": [{{"name": "add", "description": "Adds two numbers.", "inputSchema": {schema}}}]}}"#
    );
    let prompt = std::env::args().nth(1).unwrap_or("What is 2 + 3?".into());
    answer(
        &config,
        &std::env::var("API_KEY").unwrap_or_default(),
        &prompt,
        add,
    )?;
    Ok(())
}

fn add(_name: &str, input: &str) -> String {
    let input: serde_json::Value = serde_json::from_str(input).unwrap_or_default();
    let number = |name: &str| {
        input
            .get(name)
            .and_then(|value| value.as_f64())
            .unwrap_or_default()
    };
    (number("a") + number("b")).to_string()
}
