//! What an answer has beside its text and calls: sources, images, sound.
//!
//! OpenAI's and OpenRouter's `annotations`, Perplexity's `citations` and `search_results`, Groq's `executed_tools` and
//! the pieces of `audio` are kept as they came, in `vendor` of the last text; no server wants them back (a sound's `id`
//! expires, and then it is refused). A sound's transcript is its text. OpenRouter's `images` become media.
//! <https://platform.openai.com/docs/api-reference/chat/object>, <https://docs.perplexity.ai/api-reference/chat-completions-post>,
//! <https://openrouter.ai/docs/features/multimodal/image-generation> (2026-11-22)

use serde::{Deserialize, Serialize};

use crate::engine::json::reader::Object;
use crate::engine::model::answer::{Answer, PartKind};
use crate::engine::protocol::answer::sources::{attach_sources, push_item, push_source};

/// Lists, as JSON without their brackets.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Beside {
    lists: [String; 5],
}

const SOUND: &str = "audio";
const FIELDS: [&str; 5] = [
    SOUND,
    "annotations",
    "executed_tools",
    "citations",
    "search_results",
];

impl Beside {
    /// Reads a delta, or a chunk. What stands in several of them is kept once, but each piece of a sound.
    pub fn read(&mut self, object: &Object<'_>) {
        let [sound, sources @ ..] = &mut self.lists;
        for (list, name) in sources.iter_mut().zip(FIELDS.iter().skip(1)) {
            for item in object.items(name) {
                push_source(list, item);
            }
        }
        let piece = object.object(SOUND);
        if piece.is_some_and(|piece| piece.is_filled("id") || piece.is_filled("data")) {
            push_item(sound, object.get(SOUND).unwrap_or_default());
        }
    }

    /// Puts what has come beside the last text.
    pub fn attach(&self, answer: &mut Answer) {
        attach_sources(&FIELDS, &self.lists, FIELDS.len(), answer);
    }
}

/// An image of OpenRouter's; without its data it is kept raw.
pub fn push_image(image: &str, answer: &mut Answer) {
    let url = Object::parse(image).and_then(|image| image.object("image_url")?.filled("url"));
    let data = url
        .as_ref()
        .and_then(|url| url.strip_prefix("data:")?.split_once(";base64,"));
    let at = answer.start(if data.is_some() {
        PartKind::Media
    } else {
        PartKind::Raw
    });
    answer.push(at, data.map_or(image, |(_, data)| data));
    if let (Some(open), Some((media_type, _))) = (answer.parts.get_mut(at), data) {
        open.name.push_str(media_type);
    }
    answer.end(at);
}
