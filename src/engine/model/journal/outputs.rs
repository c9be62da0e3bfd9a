//! Stores the output of a tool only once in a journal.
//!
//! The output is in the state of its call, in the record of the call and in the message to the model. A record leaves
//! out an output that is in the call's state, and a message leaves out a text that is a record's output. Anything
//! that differs is stored: a shortened result, an error in other words, a note about a changed input. Each function
//! that leaves something out is next to the one that restores it.

use crate::engine::model::journal::{CallState, CallStatus};
use crate::engine::model::message::{Block, Json, Message};
use crate::engine::model::outcome::ToolCallRecord;

/// Removes the outputs from the records if these states of their calls have them.
pub fn leave_out_of_records(records: &mut [ToolCallRecord], calls: &[CallState]) {
    for record in records {
        if output_of(record, calls) == record.output {
            record.output = None;
        }
    }
}

pub fn fill_records(records: &mut [ToolCallRecord], calls: &[CallState]) {
    for record in records.iter_mut().filter(|record| record.output.is_none()) {
        record.output = output_of(record, calls);
    }
}

fn output_of(record: &ToolCallRecord, calls: &[CallState]) -> Option<Json> {
    let is_its = |call: &&CallState| call.tool_call_id == record.tool_call_id;
    match &calls.iter().find(is_its)?.status {
        CallStatus::Done { result, .. } => Some(result.output()),
        _ => None,
    }
}

/// Removes the results from the messages if their texts are the outputs of their records. Returns the ids of their
/// calls.
pub fn leave_out_of_messages(messages: &mut [Message], records: &[ToolCallRecord]) -> Vec<String> {
    let mut left_out = Vec::new();
    for (call_id, content) in results_of(messages) {
        let is_output = match content.as_slice() {
            [
                Block::Text {
                    text, vendor: None, ..
                },
            ] => text_of(records, call_id).as_ref() == Some(text),
            _ => false,
        };
        if is_output {
            content.clear();
            left_out.push(call_id.clone());
        }
    }
    left_out
}

pub fn fill_messages(messages: &mut [Message], left_out: &[String], records: &[ToolCallRecord]) {
    for (call_id, content) in results_of(messages) {
        if content.is_empty()
            && left_out.contains(call_id)
            && let Some(text) = text_of(records, call_id)
        {
            content.push(Block::text(text));
        }
    }
}

fn results_of(messages: &mut [Message]) -> impl Iterator<Item = (&String, &mut Vec<Block>)> {
    let blocks = messages.iter_mut().flat_map(|message| &mut message.content);
    blocks.filter_map(|block| match block {
        Block::ToolResult { call_id, content, .. } => Some((&*call_id, content)),
        _ => None,
    })
}

/// The output of the last record of a call, as the model gets it if nothing is cut off.
fn text_of(records: &[ToolCallRecord], call_id: &str) -> Option<String> {
    let record = records
        .iter()
        .rev()
        .find(|record| record.tool_call_id == call_id)?;
    record.output.as_ref().map(|output| output.text().into_owned())
}
