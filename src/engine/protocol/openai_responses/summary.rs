//! Summaries on demand: `POST …/responses/compact`, whose answer is the beginning of the next input.
//! <https://developers.openai.com/api/docs/guides/compaction> (2026-11-29), and `ResponseCompactParams` of the npm
//! package `openai` 7.55.0

use looplet_scan::reader::{Object, items};

use crate::engine::json::writer::push_raw;
use crate::engine::protocol::request::prefix::summary::SummaryForm;

pub const FORM: SummaryForm = SummaryForm {
    path: "/compact",
    beta: "",
    takes_instructions: false,
    excluded_by: &["context_management", "previous_response_id", "conversation"],
    encode,
    read,
    push,
};

/// Writes the fields that the endpoint has. Instructions are those of each request, so the summary has none.
fn encode(request: &Object<'_>, _: Option<&str>, into: &mut Vec<u8>) {
    const FIELDS: &[&str] = &[
        "model",
        "prompt_cache_key",
        "prompt_cache_options",
        "prompt_cache_retention",
        "service_tier",
        "input",
    ];
    into.push(b'{');
    for field in FIELDS {
        if let Some(value) = request.get(field) {
            push_raw(into, field, value);
        }
    }
    into.push(b'}');
}

/// The answer is one block: the list of its items. Only the vendor can read what they say.
fn read(output: &str) -> Option<(String, String)> {
    let is_summary = |item: &&str| Object::parse(item).is_some_and(|item| item.is("type", "compaction"));
    let has_summary = items(output)?.iter().any(is_summary);
    let items = output.trim_ascii().strip_prefix('[')?.strip_suffix(']')?;
    has_summary.then(|| (String::new(), items.to_owned()))
}

fn push(items: &str, into: &mut Vec<u8>) {
    into.push(b',');
    into.extend_from_slice(items.as_bytes());
}
