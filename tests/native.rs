//! `examples/native.rs` against a server on this machine: what a program that is not a page does with the engine.
#![cfg(not(target_arch = "wasm32"))]
// The helpers of a test may fail it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::thread::{self, JoinHandle};

use serde_json::{Value, json};

#[path = "../examples/native.rs"]
mod native;

/// A request as it came: its head and its JSON body.
type Asked = (String, Value);

/// Answers one request after the other with these responses. Returns its address and what it was asked.
fn server(responses: Vec<String>) -> (String, JoinHandle<Vec<Asked>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let work = move || {
        let mut asked = Vec::new();
        for response in responses {
            let (mut stream, _) = listener.accept().unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") {
                reader.read_line(&mut head).unwrap();
            }
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                name.eq_ignore_ascii_case("content-length")
                    .then(|| value.trim().parse::<usize>().unwrap())
            });
            let mut body = vec![0; length.unwrap()];
            reader.read_exact(&mut body).unwrap();
            asked.push((head, serde_json::from_slice(&body).unwrap()));
            stream.write_all(response.as_bytes()).unwrap();
        }
        asked
    };
    (url, thread::spawn(work))
}

fn response(status: &str, kind: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
}

fn stream(chunks: &[Value]) -> String {
    let mut body: String = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    body += "data: [DONE]\n\n";
    response("200 OK", "text/event-stream", &body)
}

fn chunk(delta: Value, finish_reason: Value) -> Value {
    json!({"choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}]})
}

fn config(url: &str) -> String {
    let model = json!({"vendor": "compatible", "model": "m", "baseUrl": url, "stream": true});
    let tool = json!({"name": "add", "description": "", "inputSchema": {"type": "object"}});
    json!({"model": model, "tools": [tool], "retry": {"maxRetries": 1, "baseMs": 1}}).to_string()
}

#[test]
fn a_native_host_runs_a_tool_and_retries() {
    let function = json!({"name": "add", "arguments": "{\"a\":2,\"b\":3}"});
    let call = json!({"tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": function}]});
    let (url, server) = server(vec![
        response(
            "503 Busy",
            "application/json",
            r#"{"error": {"message": "Later."}}"#,
        ),
        stream(&[chunk(call, Value::Null), chunk(json!({}), json!("tool_calls"))]),
        stream(&[chunk(json!({"content": "It is 5."}), json!("stop"))]),
    ]);
    let answer = native::answer(&config(&url), "sk-1234567890", "What is 2 + 3?", |name, input| {
        assert_eq!((name, input), ("add", r#"{"a":2,"b":3}"#));
        "5".into()
    });
    assert_eq!(answer.unwrap(), "It is 5.");
    let asked = server.join().unwrap();
    assert!(
        asked
            .iter()
            .all(|(head, _)| head.contains("Bearer sk-1234567890"))
    );
    let last = asked[2].1["messages"].as_array().unwrap().last().unwrap().clone();
    assert_eq!((&last["role"], &last["content"]), (&json!("tool"), &json!("5")));
}

#[test]
fn a_native_host_tells_a_failure_without_its_key_and_follows_no_redirect() {
    let refused = response(
        "401 No",
        "application/json",
        r#"{"error": {"message": "sk-1234567890 is no key."}}"#,
    );
    let moved = "HTTP/1.1 307 Moved\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    for (response, says) in [
        (refused, "*** is no key."),
        (moved.to_owned(), "does not follow redirects"),
    ] {
        let (url, server) = server(vec![response]);
        let failure = native::answer(&config(&url), "sk-1234567890", "Hi.", |_, _| String::new());
        let message = failure.unwrap_err().to_string();
        assert!(message.contains(says), "{message}");
        server.join().unwrap();
    }
}
