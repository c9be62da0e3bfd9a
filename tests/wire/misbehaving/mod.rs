//! What servers do wrong, a row each, and what the run makes of it.
//!
//! A row is bytes of a server, for every protocol in which it can do so, and what must happen: the calls that are
//! run, what the next request says, warnings, retries, the end. Rows go through the whole run in virtual time, in one
//! piece, byte by byte and cut in two, and through the decoder cut at every position. `docs/misbehaving-servers.md`
//! is made of the rows: `LOOPLET_WRITE_DOCS=1` writes it.

mod arguments;
mod blocks;
mod calls;
mod ends;
mod errors;
mod frames;
mod framing;
mod names;
mod play;
#[path = "../../run/settings.rs"]
mod settings;
pub mod speak;
#[allow(dead_code)]
#[path = "../../run/told.rs"]
mod told;
mod wire;
#[allow(dead_code)]
#[path = "../../run/world.rs"]
pub mod world;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use looplet::engine::protocol::protocol;
use play::{Way, play};

use crate::feed;

/// What a server does and what becomes of it.
#[derive(Default)]
pub struct Row {
    /// Half a sentence: the server …
    pub server: &'static str,
    /// Half a sentence: the run …
    pub run: &'static str,
    /// The first response's body, by protocol.
    pub bodies: Vec<(&'static str, Vec<u8>)>,
    pub ending: Ending,
    /// In every attempt, not in the first alone.
    pub always: bool,
    /// What must happen, in order: see [`play`].
    pub expect: &'static [&'static str],
    /// What must happen in one protocol, where that cannot be the same.
    pub but: &'static [(&'static str, &'static [&'static str])],
}

/// What follows the body's last byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ending {
    #[default]
    End,
    /// The connection breaks.
    Drop,
    /// Nothing, for ever.
    Stall,
}

type Group = (&'static str, &'static [fn() -> Vec<Row>]);

const GROUPS: &[Group] = &[
    ("Tool calls and their names", &[calls::rows, names::rows]),
    ("Arguments", &[arguments::rows]),
    ("Ends", &[ends::rows]),
    ("Blocks", &[blocks::rows]),
    ("Errors and silence", &[errors::rows]),
    ("Bytes", &[framing::rows]),
];

/// The protocols that rows speak.
const PROTOCOLS: &[&str] = &[
    "anthropic",
    "openai_chat",
    "openai_responses",
    "gemini",
    "bedrock_converse",
    "ndjson",
];

/// Those of them whose arguments are text, written by the model; elsewhere the vendor has parsed them.
const TEXTUAL: &[&str] = &[
    "anthropic",
    "openai_chat",
    "openai_responses",
    "bedrock_converse",
    "ndjson",
];

#[test]
fn tool_calls_of_misbehaving_servers() {
    check_group(0);
}

#[test]
fn arguments_of_misbehaving_servers() {
    check_group(1);
}

#[test]
fn ends_of_misbehaving_servers() {
    check_group(2);
}

#[test]
fn blocks_of_misbehaving_servers() {
    check_group(3);
}

#[test]
fn errors_and_silence_of_misbehaving_servers() {
    check_group(4);
}

#[test]
fn bytes_of_misbehaving_servers() {
    check_group(5);
}

fn check_group(at: usize) {
    let (name, rows) = GROUPS[at];
    let mut problems = Vec::new();
    for row in rows.iter().flat_map(|rows| rows()) {
        for (protocol, body) in &row.bodies {
            assert!(PROTOCOLS.contains(protocol), "{protocol} is no protocol");
            if let Err(problem) = check(&row, protocol, body) {
                problems.push(format!("{protocol}, {}: {problem}", row.server));
            }
        }
    }
    assert!(problems.is_empty(), "{name}:\n{}", problems.join("\n"));
}

fn check(row: &Row, protocol: &'static str, body: &[u8]) -> Result<(), String> {
    let but = row.but.iter().find(|(name, _)| *name == protocol);
    let expected = but.map_or(row.expect, |(_, expected)| expected);
    let mut ways = vec![Way::Whole, Way::Pieces(65_536)];
    if body.len() <= 8192 {
        ways.push(Way::Pieces(1));
        // Where the run looks at the first bytes itself, and some places behind.
        ways.extend((1..body.len()).filter(|at| *at < 8 || at % 97 == 0).map(Way::Cut));
        check_cuts(protocol, body)?;
    }
    for way in ways {
        let happened = play(row, protocol, body, way);
        if happened != expected {
            return Err(format!(
                "{way:?}\n  happened {happened:#?}\n  expected {expected:#?}"
            ));
        }
    }
    Ok(())
}

/// The decoder alone is fast enough to be cut at every position.
fn check_cuts(name: &str, body: &[u8]) -> Result<(), String> {
    let protocol = protocol(name).unwrap();
    let whole = feed::decode_stream(protocol, std::iter::once(body));
    for cut in 1..body.len() {
        let (head, tail) = body.split_at(cut);
        if feed::decode_stream(protocol, [head, tail].into_iter()) != whole {
            return Err(format!("differs when cut at {cut}"));
        }
    }
    Ok(())
}

#[test]
fn the_documented_table_is_that_of_the_rows() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/misbehaving-servers.md");
    let table = document();
    if std::env::var_os("LOOPLET_WRITE_DOCS").is_some() {
        fs::write(&path, &table).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == table,
        "run the test with LOOPLET_WRITE_DOCS=1 and read the difference"
    );
}

fn document() -> String {
    let mut out = String::from(
        "# What misbehaving servers do, and what happens\n\n\
         Each line is a test: the bytes are in `tests/wire/misbehaving`, go through the \
         whole run in one piece, byte by byte and cut in two, and what the run does is compared with the last column. This page \
         is generated from them.\n",
    );
    let mut rows_in_all = 0;
    let mut seen = BTreeSet::new();
    for (name, rows) in GROUPS {
        out += &format!("\n## {name}\n\n| the server | in | the run |\n|---|---|---|\n");
        for row in rows.iter().flat_map(|rows| rows()) {
            assert!(seen.insert(row.server), "{} stands there twice", row.server);
            let protocols: Vec<&str> = row.bodies.iter().map(|(name, _)| *name).collect();
            let protocols = if protocols.len() == PROTOCOLS.len() {
                "all".to_owned()
            } else {
                protocols.join(", ")
            };
            out += &format!("| {} | {protocols} | {} |\n", row.server, row.run);
            rows_in_all += 1;
        }
    }
    assert!(rows_in_all >= 60, "{rows_in_all} rows");
    out
}
