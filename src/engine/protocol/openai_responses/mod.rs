//! OpenAI Responses and the servers that speak it: `POST …/responses`, streaming and not.
//!
//! Written from <https://platform.openai.com/docs/api-reference/responses/create>,
//! <https://platform.openai.com/docs/api-reference/responses-streaming>,
//! <https://platform.openai.com/docs/guides/reasoning>, <https://cookbook.openai.com/examples/responses_api/reasoning_items>
//! and <https://www.openresponses.org/reference> (2026-11-21), and from recorded answers of ten servers.
//!
//! The transcript is ours, so nothing is stored there (`store: false`) and every item goes back whole, reasoning with
//! its `encrypted_content`. An item becomes blocks so:
//! - `message`: a text or refusal block per content part; the item's `id`, `status` and `phase` and the part's
//!   `annotations` stay in the text's `vendor`;
//! - `reasoning`: a thinking block per part of `summary` or `content`. The last one closes the item: it has the
//!   `encrypted_content` as its signature and the item's `type` and `id` in `vendor`. Parts of `content` have
//!   `"field":"content"` there;
//! - `function_call`: a tool call with the `call_id`. `custom_tool_call`, whose input is plain text, becomes one with
//!   the input `{"input":"…"}` and its type in `vendor`: so it goes back as one to the model that wrote it, with its
//!   result as `custom_tool_call_output`, and as a function's call to others
//!   (<https://platform.openai.com/docs/guides/function-calling#custom-tools>, 2026-11-21);
//! - every other item (server tools, unknown types): a raw block.

mod decode;
mod encode;
mod encode_message;
mod item;

use crate::engine::protocol::{Decoder, Framing, Protocol};

pub use decode::ResponsesDecoder;

/// The row of this protocol.
pub const PROTOCOL: Protocol = Protocol {
    name: NAME,
    framing: Framing::Sse,
    path: |_| "/responses".to_owned(),
    headers: &[],
    encode_head: encode::encode_head,
    encode_message: encode_message::encode_message,
    encode_tail: encode::encode_tail,
    marked_end: |_| String::new(),
    decoder: || Decoder::OpenaiResponses(ResponsesDecoder::default()),
};

const NAME: &str = "openai_responses";
