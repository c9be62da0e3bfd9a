//! OpenAI Responses and the servers that speak it: `POST …/responses`, streaming and not.
//!
//! Written from <https://platform.openai.com/docs/api-reference/responses/create>,
//! <https://platform.openai.com/docs/api-reference/responses-streaming>,
//! <https://platform.openai.com/docs/guides/reasoning>,
//! <https://cookbook.openai.com/examples/responses_api/reasoning_items> and <https://www.openresponses.org/reference>
//! (2026-11-21), and from recorded answers of ten servers.
//!
//! looplet stores the transcript itself, so the server stores nothing (`store: false`) and every item is sent back
//! completely, with reasoning as its `encrypted_content`. [`PROTOCOL`] lists the blocks that items become. [`decode`]
//! and [`item`] read answers, [`encode`] and [`encode_message`] write requests, [`item_call`] are calls that are
//! items.

mod append;
mod decode;
mod encode;
mod encode_message;
mod item;
mod item_call;
mod summary;

use crate::engine::protocol::request::accepts;
use crate::engine::protocol::request::prefill;
use crate::engine::protocol::request::prefix::Bound;
use crate::engine::protocol::{Decoder, Framing, Protocol};

pub use decode::ResponsesDecoder;

/// The row of this protocol.
///
/// The items of an answer become these blocks:
/// - `message` becomes a text or refusal block per content part; the item's `id`, `status` and `phase` and the part's
///   `annotations` stay in the text's `vendor`;
/// - `reasoning` becomes a thinking block per part of `summary` or `content`; the last one has the
///   `encrypted_content` as its signature and the item's `type` and `id` in `vendor`, and parts of `content` have
///   `"field":"content"` there;
/// - `function_call` becomes a tool call with the `call_id`;
/// - `custom_tool_call`, whose input is plain text, becomes a tool call with the input `{"input":"…"}` and its type
///   in `vendor`; it returns in its own form only to the model that wrote it
///   (<https://platform.openai.com/docs/guides/function-calling#custom-tools>, 2026-11-21);
/// - every other item (server tools, unknown types) becomes a raw block.
pub const PROTOCOL: Protocol = Protocol {
    name: NAME,
    framing: Framing::Sse,
    path: |_| "/responses".to_owned(),
    base_path: "/v1",
    before_endpoint: |url| url.strip_suffix("/responses"),
    title: "OpenAI's Responses",
    constructor: "openai",
    marks: &[
        r#""response.created""#,
        r#""response.in_progress""#,
        r#""response.output_item.added""#,
        r#""response.output_text.delta""#,
        r#""response.completed""#,
        r#""object":"response""#,
        r#""object": "response""#,
    ],
    headers: &[],
    encode_head: encode::encode_head,
    accepts: Some(&accepts::OPENAI_RESPONSES),
    bound: Some(&Bound {
        fields: &[("tools", None), ("text", Some("format"))],
        is_chained: false,
        skips_deferred: false,
        has_item_ids: true,
    }),
    append: Some(&append::FORM),
    summary: Some(&summary::FORM),
    raw_in_results: true,
    waits_for_results: |_, _| false,
    begins_with_user: false,
    encode_message: encode_message::encode_message,
    encode_tail: encode::encode_tail,
    prefill: prefill::no_prefill,
    is_background: encode::is_background,
    marked_end: |_| String::new(),
    decoder: || Decoder::OpenaiResponses(ResponsesDecoder::default()),
    lane: None,
};

const NAME: &str = "openai_responses";
