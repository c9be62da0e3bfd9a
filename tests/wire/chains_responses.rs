//! Recorded conversations of OpenAI Responses, replayed.

use crate::chains::{encoders, replay_all};
use crate::machine::run;

#[test]
fn recorded_responses_conversations_replay_through_the_encoders() {
    replay_all("openai-responses", "openai_responses", "chain", encoders, 38);
}

#[test]
fn recorded_responses_conversations_replay_through_the_run() {
    replay_all("openai-responses", "openai_responses", "run", run, 38);
}
