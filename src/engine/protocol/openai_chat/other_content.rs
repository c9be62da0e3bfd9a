//! The content of an answer other than its text and calls: sources, images, sound.
//!
//! OpenAI's and OpenRouter's `annotations`, Perplexity's `citations` and `search_results`, Groq's `executed_tools`
//! and the pieces of `audio` are stored unchanged in `vendor` of the last text. They are not sent back: a sound's
//! `id` expires, and servers reject an expired one. A sound's transcript is its text. OpenRouter's `images` become
//! media.
//!
//! The decoder calls [`OtherContent::read`] for each chunk and [`OtherContent::attach`] at the end. Nothing fails.
//! <https://platform.openai.com/docs/api-reference/chat/object>,
//! <https://docs.perplexity.ai/api-reference/chat-completions-post>,
//! <https://openrouter.ai/docs/features/multimodal/image-generation> (2026-11-22)

use looplet_scan::reader::Object;

use crate::engine::model::answer::{ModelAnswer, PartKind};
use crate::engine::protocol::answer::sources::{Sources, attach_sources, push_item};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct OtherContent {
    /// The pieces of a sound, as JSON without brackets.
    sound: String,
    /// In the order of [`FIELDS`] after the sound.
    sources: [Sources; 4],
}

const FIELDS: [&str; 5] = [
    "audio",
    "annotations",
    "executed_tools",
    "citations",
    "search_results",
];

impl OtherContent {
    /// Reads a delta or a chunk. A repeated value is stored once, but each piece of a sound is stored.
    pub fn read(&mut self, object: &Object<'_>, answer: &mut ModelAnswer) {
        let [sound, names @ ..] = FIELDS;
        for (sources, name) in self.sources.iter_mut().zip(names) {
            for item in object.items(name) {
                sources.push(item, answer);
            }
        }
        let piece = object.object(sound);
        if piece.is_some_and(|piece| piece.is_filled("id") || piece.is_filled("data")) {
            push_item(&mut self.sound, object.get(sound).unwrap_or_default(), answer);
        }
    }

    /// Attaches the collected lists to the last text.
    pub fn attach(&self, answer: &mut ModelAnswer) {
        let mut lists = vec![self.sound.as_str()];
        lists.extend(self.sources.iter().map(|sources| sources.list.as_str()));
        attach_sources(&FIELDS, &lists, FIELDS.len(), answer);
    }
}

/// Adds an image of OpenRouter's. An image without its data is stored raw.
pub fn push_image(image: &str, answer: &mut ModelAnswer) {
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
