//! Amazon Bedrock Converse: `POST /model/{modelId}/converse-stream`, and `/converse` for a body that is not streamed.
//!
//! Written from <https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html>,
//! <https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html>,
//! <https://docs.aws.amazon.com/bedrock/latest/userguide/structured-output.html>,
//! <https://docs.aws.amazon.com/nova/latest/nova2-userguide/core-inference.html> and the API model in version
//! 3.1163.0 of `@aws-sdk/client-bedrock-runtime` (2026-11-21), and from recorded answers.
//!
//! One format is used for many vendors' models. Options that only some models accept are in
//! `additionalModelRequestFields`, so the encoder checks the model's id. The TypeScript signs requests. No credential
//! is passed here.

mod block;
mod decode;
mod encode;
mod encode_message;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::engine::model::config::ModelConfig;
use crate::engine::protocol::request::accepts;
use crate::engine::protocol::request::prefill;
use crate::engine::protocol::request::prefix::Bound;
use crate::engine::protocol::{Decoder, Framing, Protocol};

pub use decode::BedrockDecoder;

/// The row of this protocol.
pub const PROTOCOL: Protocol = Protocol {
    name: NAME,
    framing: Framing::EventStream,
    path,
    base_path: "",
    before_endpoint,
    title: "Amazon Bedrock's Converse",
    constructor: "bedrock",
    marks: &[":event-type", ":exception-type", r#""stopReason""#],
    headers: &[],
    encode_head: encode::encode_head,
    accepts: Some(&accepts::BEDROCK),
    bound: Some(&Bound {
        fields: &[("system", None), ("toolConfig", Some("tools"))],
        is_chained: true,
        skips_deferred: true,
        has_item_ids: false,
    }),
    append: None,
    summary: None,
    raw_in_results: true,
    waits_for_results: |_, _| false,
    begins_with_user: false,
    encode_message: encode_message::encode_message,
    encode_tail: encode::encode_tail,
    prefill: prefill::of_claude,
    is_background: |_| false,
    marked_end: encode::marked_end,
    decoder: || Decoder::Bedrock(BedrockDecoder::default()),
    lane: None,
};

const NAME: &str = "bedrock_converse";

/// The path with the model's id or ARN as one segment, reserved characters escaped.
fn path(model: &ModelConfig) -> String {
    let mut path = String::from("/model/");
    path.extend(utf8_percent_encode(&model.model, RESERVED));
    path.push_str(if model.stream {
        "/converse-stream"
    } else {
        "/converse"
    });
    path
}

/// The part before `/model/ID/converse-stream`, with any id.
fn before_endpoint(url: &str) -> Option<&str> {
    let (model, method) = url.rsplit_once('/')?;
    let (before, _) = model.rsplit_once('/')?;
    let is_known = matches!(method, "converse" | "converse-stream");
    before.strip_suffix("/model").filter(|_| is_known)
}

/// A model may be an ARN, whose colons and slashes are escaped.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// The family of a model, as far as the request depends on it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Family {
    Claude,
    Nova,
    Other,
    /// The ARN or id of an inference profile or of provisioned throughput, which names no family.
    Unknown,
}

fn family(model: &ModelConfig) -> Family {
    let id = model.model.as_str();
    let has = |part| id.contains(part);
    if has("anthropic.") || has("claude") {
        Family::Claude
    } else if has("amazon.nova") {
        Family::Nova
    } else if id.starts_with("arn:") || !has(".") {
        Family::Unknown
    } else {
        Family::Other
    }
}
