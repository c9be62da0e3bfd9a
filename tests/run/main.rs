//! The run machine in virtual time: one module per behaviour, all through [`world::World`].

#![cfg(not(target_arch = "wasm32"))]
// The helpers of a test may fail it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod abort_boundaries;
mod aborts;
mod alternating;
mod answer_tool;
mod answers;
mod background;
mod bindings;
mod budgets;
mod changed_inputs;
mod changed_options;
mod chats;
mod clocks;
mod compaction;
mod compaction_hooks;
mod context_budget;
mod contradictions;
mod crash_counts;
mod cut_off;
mod deadlines;
mod dice;
mod eager;
mod elicitation;
mod empty_arguments;
mod ended;
mod failures;
mod fallback;
mod faulty_storage;
mod finish_reasons;
mod gate;
mod gemini;
mod guardrails;
mod handoffs;
mod history;
mod hook_fields;
mod hooks;
mod invariants;
mod iteration_time;
mod journal;
mod kept_agents;
mod kill_calls;
mod kill_everywhere;
mod killed;
mod limits;
mod loop_files;
mod many_calls;
mod models;
mod old_journals;
mod permissions;
mod pick_up;
mod player;
mod raising;
mod random_answers;
mod random_crashes;
mod random_hooks;
mod random_schedules;
mod random_settings;
mod recovery;
mod refused;
mod replay;
mod reservations;
mod results;
mod retries;
mod seams;
mod servers;
mod settings;
mod shared_counts;
#[allow(dead_code)]
#[path = "../wire/misbehaving/speak.rs"]
mod speak;
mod steering;
mod stopping;
mod structured_output;
mod subagent_hooks;
mod subagent_profiles;
mod subagents;
mod told;
mod tool_errors;
mod tool_hooks;
mod tools;
mod trace;
mod tuning;
mod unobserved;
mod versions;
mod waiting;
mod wire;
#[allow(dead_code)]
#[path = "../wire/misbehaving/wire.rs"]
mod wire_items;
mod world;
