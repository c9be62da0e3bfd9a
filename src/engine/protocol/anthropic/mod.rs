//! Anthropic Messages: `POST /v1/messages`, streaming and not.
//!
//! Written from <https://platform.claude.com/docs/en/api/messages>,
//! <https://platform.claude.com/docs/en/build-with-claude/streaming>,
//! <https://platform.claude.com/docs/en/build-with-claude/extended-thinking> and
//! <https://platform.claude.com/docs/en/build-with-claude/effort> (2026-11-20), and from recorded answers.
//!
//! The system prompt is a field, not a message. All results of a round are in one user message, before its text.
//! [`encode`] and [`encode_message`] write requests, [`decode`] reads answers, [`block`] is a block during streaming,
//! [`thread`] is a conversation that Anthropic stores, [`server_calls`] are calls that wait for Anthropic's servers,
//! [`toolset`] are members of its toolsets, [`clearing`] hides old calls from the model. The model call uses them
//! through the row [`PROTOCOL`].

mod append;
mod block;
pub mod clearing;
mod decode;
mod encode;
mod encode_message;
pub mod server_calls;
mod summary;
pub mod thread;
mod toolset;

use looplet_scan::lane::Keys;

use crate::engine::model::config::ModelConfig;
use crate::engine::protocol::request::accepts;
use crate::engine::protocol::request::prefill;
use crate::engine::protocol::request::prefix::Bound;
use crate::engine::protocol::vertex::{is_vertex, model_path};
use crate::engine::protocol::{Decoder, Framing, Protocol};

pub use decode::AnthropicDecoder;

/// The row of this protocol.
pub const PROTOCOL: Protocol = Protocol {
    name: NAME,
    framing: Framing::Sse,
    path,
    base_path: "",
    before_endpoint: |url| url.strip_suffix("/messages"),
    title: "Anthropic's Messages",
    constructor: "anthropic",
    marks: &[
        r#""message_start""#,
        r#""content_block_start""#,
        r#""content_block_delta""#,
        r#""message_delta""#,
        r#""type":"message""#,
        r#""type": "message""#,
    ],
    headers: &[("anthropic-version", "2023-06-01")],
    encode_head: encode::encode_head,
    accepts: Some(&accepts::ANTHROPIC),
    bound: Some(&Bound {
        fields: &[("system", None), ("tools", None)],
        is_chained: true,
        skips_deferred: true,
        has_item_ids: false,
    }),
    append: Some(&append::FORM),
    summary: Some(&summary::FORM),
    raw_in_results: true,
    waits_for_results: server_calls::waits,
    begins_with_user: true,
    encode_message: encode_message::encode_message,
    encode_tail: encode::encode_tail,
    prefill: prefill::of_claude,
    is_background: |_| false,
    marked_end: encode::marked_end,
    decoder: || Decoder::Anthropic(AnthropicDecoder::default()),
    lane: Some(&Keys {
        text: &["text", "thinking", "partial_json"],
        noise: &[],
    }),
};

pub const NAME: &str = "anthropic";

/// The path. Vertex AI has the model in it.
fn path(model: &ModelConfig) -> String {
    if !is_vertex(model) {
        return "/v1/messages".to_owned();
    }
    let method = if model.stream {
        ":streamRawPredict"
    } else {
        ":rawPredict"
    };
    format!("{}{method}", model_path(model, NAME))
}
