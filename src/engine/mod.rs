//! The pure engine: it takes inputs and returns outputs, and it does nothing else.
//!
//! [`run`] is its entrance. Nothing in it reads a clock, draws a random number, waits, or touches the web, and no
//! input makes it panic. The crate's front page has the order of calls.
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
