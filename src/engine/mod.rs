pub mod json_repair;
pub mod random;
pub mod retry_after;
pub mod schema;
pub mod sse;
