//! OpenAI Chat Completions and the many servers that speak it: `POST …/chat/completions`, streaming and not.
//!
//! Written from <https://platform.openai.com/docs/api-reference/chat/create>,
//! <https://platform.openai.com/docs/api-reference/chat-streaming>,
//! <https://api-docs.deepseek.com/guides/thinking_mode> and <https://openrouter.ai/docs/use-cases/reasoning-tokens>
//! (2026-11-20), and from recorded answers of 25 servers.
//!
//! [`encode`] and [`encode_message`] write requests, with the server's [`quirks`](crate::engine::protocol::quirks).
//! [`ChatDecoder`] reads answers and lists the deviations from OpenAI that it tolerates.

mod call;
mod decode;
mod encode;
mod encode_message;
mod other_content;
mod reasoning;
mod usage;

use looplet_scan::lane::Keys;

use crate::engine::protocol::request::accepts;
use crate::engine::protocol::request::prefill;
use crate::engine::protocol::{Decoder, Framing, Protocol, no_marker};

pub use decode::ChatDecoder;
pub(super) use usage::read_usage;

/// The row of this protocol.
pub const PROTOCOL: Protocol = Protocol {
    name: NAME,
    framing: Framing::Sse,
    path: |_| "/chat/completions".to_owned(),
    base_path: "/v1",
    before_endpoint: |url| url.strip_suffix("/chat/completions"),
    title: "OpenAI's Chat Completions",
    constructor: "openaiChat",
    marks: &[
        r#""chat.completion.chunk""#,
        r#""chat.completion""#,
        r#""choices""#,
    ],
    headers: &[],
    encode_head: encode::encode_head,
    accepts: Some(&accepts::OPENAI_CHAT),
    bound: None,
    append: None,
    summary: None,
    raw_in_results: false,
    waits_for_results: |_, _| false,
    begins_with_user: true,
    encode_message: encode_message::encode_message,
    encode_tail: encode::encode_tail,
    prefill: prefill::of_quirk,
    is_background: |_| false,
    marked_end: no_marker,
    decoder: || Decoder::OpenaiChat(ChatDecoder::default()),
    lane: Some(&Keys {
        text: &["content", "reasoning_content", "reasoning", "arguments"],
        // OpenAI's padding.
        noise: &["obfuscation"],
    }),
};

const NAME: &str = "openai_chat";
