//! The pure engine: state in, state out. See the crate's front page for the order of calls.
//!
//! Folders depend downward only:
//! `run` → `agent` → `ledger`, `protocol`, `policy`, `schema` → `model` → `json`. Below them is `looplet_scan`.

pub mod agent;
pub mod json;
pub mod ledger;
pub mod model;
pub mod policy;
pub mod protocol;
pub mod run;
pub mod schema;
