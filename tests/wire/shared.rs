//! Where the recordings are and what their index says.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// The directory `wire`, or `None` after a line on standard error by which `npm test` counts this test as skipped.
pub fn wire(test: &str) -> Option<PathBuf> {
    let wire = root().join("wire");
    if wire.join("INVENTORY.jsonl").is_file() {
        return Some(wire);
    }
    skip(test, &wire);
    None
}

/// A file of this folder beside `wire`, or `None` after the same line.
pub fn shared(folder: &str, file: &str) -> Option<PathBuf> {
    let path = root().join(folder).join(file);
    if path.is_file() {
        return Some(path);
    }
    skip(file, &path);
    None
}

fn root() -> PathBuf {
    std::env::var_os("LOOPLET_SHARED").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared"),
        PathBuf::from,
    )
}

fn skip(test: &str, place: &Path) {
    let line = format!(
        "SKIPPED {test}: no recordings in {} (set LOOPLET_SHARED)\n",
        place.display()
    );
    // Not `eprintln!`, which the test runner holds back of a test that passes.
    std::io::stderr().write_all(line.as_bytes()).unwrap();
}

/// One recorded answer.
pub struct Recording {
    pub id: String,
    pub vendor: String,
    pub streaming: bool,
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    pub expected: Value,
}

/// Every recording of one protocol, in the order of the index.
pub fn recordings(wire: &std::path::Path, protocol: &str) -> Vec<Recording> {
    let index = fs::read_to_string(wire.join("INVENTORY.jsonl")).unwrap();
    index
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|row| row["protocol"] == protocol)
        .map(|row| {
            let id = row["id"].as_str().unwrap().to_owned();
            let expected = fs::read(wire.join(protocol).join(format!("{id}.expected.json"))).unwrap();
            Recording {
                vendor: row["vendor"].as_str().unwrap_or_default().to_owned(),
                streaming: row["streaming"].as_bool().unwrap(),
                status: u16::try_from(row["http_status"].as_u64().unwrap()).unwrap(),
                headers: headers(&row["response_headers"]),
                body: fs::read(wire.join(row["body"].as_str().unwrap())).unwrap(),
                expected: serde_json::from_slice(&expected).unwrap(),
                id,
            }
        })
        .collect()
}

pub fn headers(value: &Value) -> Vec<(String, String)> {
    let fields = value.as_object().into_iter().flatten();
    fields
        .map(|(key, value)| (key.clone(), value.as_str().unwrap_or_default().to_owned()))
        .collect()
}

/// The lines of a list in `tests/wire`: an id, a blank, a reason.
pub fn exceptions() -> Vec<(String, String)> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/wire/exceptions.txt");
    let text = fs::read_to_string(path).unwrap_or_default();
    let lines = text
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let (id, reason) = line.split_once(' ').expect("an exception needs a reason");
            (id.to_owned(), reason.trim().to_owned())
        })
        .collect()
}
