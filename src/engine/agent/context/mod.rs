//! The length of an agent's history, and the ways in which it is made shorter.
//!
//! [`summary`] owns the state and all steps. The iteration calls it before each request, and after a vendor has
//! refused a request as too long.

pub(crate) mod summary;
