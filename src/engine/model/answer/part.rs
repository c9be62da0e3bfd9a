//! A block of an answer that is being assembled.

use looplet_scan::piece::Join;
use serde::{Deserialize, Serialize};

use crate::engine::model::message::Json;

/// The kind of a block that is being assembled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PartKind {
    Text,
    Thinking,
    RedactedThinking,
    Refusal,
    ToolCall,
    /// An image or a sound that the model made.
    Media,
    Raw,
}

/// One block that is being assembled.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    pub kind: PartKind,
    /// The block's text. For a tool call it is the JSON text of the arguments, for redacted thinking the data, for
    /// media the base64, for a raw block its JSON text.
    pub text: String,
    /// The provider's id of a tool call; empty when it sent none.
    pub id: String,
    /// The tool's name for a tool call, the media type for media.
    pub name: String,
    pub signature: Option<String>,
    /// A JSON object with additional fields of the vendor.
    pub vendor: Option<Json>,
    /// True when the block does not grow any more.
    pub ended: bool,
    /// True if the protocol has said that this block is complete.
    pub whole: bool,
    /// True for a call of the answer tool: its arguments are reported as text.
    pub is_answer: bool,
    /// The first half of a surrogate pair at the end of the text. The other half may be in the next piece.
    pub half: Join,
}

impl Part {
    /// The kind that growth of this block is reported as.
    pub fn shown_kind(&self) -> PartKind {
        if self.is_answer { PartKind::Text } else { self.kind }
    }
}

/// The own name of the tool that has this name on the wire.
pub fn own_name<'a>(names: &'a [(String, String)], name: &'a str) -> &'a str {
    let own = names.iter().find(|(wire, _)| wire == name);
    own.map_or(name, |(_, own)| own)
}

/// The properties of a tool that have another name on the wire.
pub fn names_of<'a>(
    renamed: &'a [(String, Vec<(String, String)>)],
    tool: &str,
) -> Option<&'a [(String, String)]> {
    let (_, names) = renamed.iter().find(|(name, _)| name == tool)?;
    Some(names)
}

/// How an answer continues the text that it started with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Continuation {
    /// It began with no text, or continues it.
    #[default]
    Continues,
    /// No block has started yet.
    Waits,
    /// The first block has started. Its text so far repeats the beginning, as some servers do.
    Repeats,
}

/// A change of the answer since the last [`super::ModelAnswer::take_changes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Started {
        part: usize,
    },
    /// `parts[part].text[from..to]` is new, also for tool arguments.
    Grew {
        part: usize,
        from: usize,
        to: usize,
    },
    Ended {
        part: usize,
    },
    /// The vendor's estimate of the tokens of the thinking in `parts[part]` so far, if it does not send the text.
    Estimated {
        part: usize,
        tokens: u64,
    },
    Usage,
}

impl Change {
    /// The block that has changed.
    pub(super) fn part(&self) -> Option<usize> {
        match self {
            Change::Started { part }
            | Change::Grew { part, .. }
            | Change::Ended { part }
            | Change::Estimated { part, .. } => Some(*part),
            Change::Usage => None,
        }
    }
}
