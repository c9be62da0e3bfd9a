//! Reads what the host hands in as JSON: a record's fields, each by its name and as what it must be.
//!
//! The first field that does not fit is kept with its path and everything else is read all the same, so that a reader
//! is a plain list of fields; [`Record::finish`] tells. Unknown fields are passed over, of a key given twice the last
//! value counts.

use crate::engine::json::check::check;
use crate::engine::json::reader::{Object, items, string, whole};
use crate::engine::model::error::ConfigError;
use crate::engine::model::message::Json;
use crate::engine::text::listed;

/// An object while its fields are read.
pub struct Record<'a> {
    object: Object<'a>,
    problem: Option<ConfigError>,
}

impl<'a> Record<'a> {
    /// `json` must be valid; see [`document`].
    pub fn new(json: &'a str) -> Record<'a> {
        match Object::parse(json) {
            Some(object) => Record {
                object,
                problem: None,
            },
            None => Record {
                object: Object::default(),
                problem: Some(ConfigError::new("", "must be an object")),
            },
        }
    }

    /// What was read, unless a field did not fit.
    ///
    /// # Errors
    /// The first problem, its field relative to this object.
    pub fn finish<T>(self, read: T) -> Result<T, ConfigError> {
        match self.problem {
            None => Ok(read),
            Some(problem) => Err(problem),
        }
    }

    /// Keeps a problem with the field `key`, unless there already is one.
    pub fn refuse(&mut self, key: &str, problem: &str) {
        if self.problem.is_none() {
            self.problem = Some(ConfigError::new(key, problem));
        }
    }

    /// Keeps a problem that was found inside the field `key`.
    fn refuse_within(&mut self, key: &str, index: Option<usize>, problem: ConfigError) {
        if self.problem.is_none() {
            self.problem = Some(within(key, index, problem));
        }
    }

    /// The field's text, be it `null`.
    pub fn get(&self, key: &str) -> Option<&'a str> {
        self.object.last(key)
    }

    /// The same, unless it is missing or null.
    pub fn given(&self, key: &str) -> Option<&'a str> {
        self.object.get(key)
    }

    /// A string that must be there.
    pub fn text(&mut self, key: &str) -> String {
        match self.get(key) {
            Some(json) => self.string(key, json),
            None => {
                self.refuse(key, "is missing");
                String::new()
            }
        }
    }

    /// A string; empty if it is missing.
    pub fn text_or_empty(&mut self, key: &str) -> String {
        self.get(key)
            .map_or_else(String::new, |json| self.string(key, json))
    }

    /// A string, if it is there and not null.
    pub fn text_if(&mut self, key: &str) -> Option<String> {
        self.given(key).map(|json| self.string(key, json))
    }

    fn string(&mut self, key: &str, json: &str) -> String {
        match string(json) {
            Some(text) => text.into_owned(),
            None => {
                self.refuse(key, "must be a string");
                String::new()
            }
        }
    }

    pub fn flag(&mut self, key: &str, default: bool) -> bool {
        match self.get(key) {
            None => default,
            Some("true") => true,
            Some("false") => false,
            Some(_) => {
                self.refuse(key, "must be true or false");
                default
            }
        }
    }

    /// A boolean, if it is there and not null.
    pub fn flag_if(&mut self, key: &str) -> Option<bool> {
        self.given(key).map(|_| self.flag(key, false))
    }

    /// A whole number from 0 to `most`; `default` if it is missing.
    pub fn number(&mut self, key: &str, default: u64, most: u64) -> u64 {
        match self.get(key) {
            None => default,
            Some(json) => match whole(json) {
                Some(number) if number <= most => number,
                _ => {
                    self.refuse(key, "must be a whole number from 0");
                    default
                }
            },
        }
    }

    /// The same for 32 bits.
    pub fn small(&mut self, key: &str, default: u32) -> u32 {
        self.number(key, default.into(), u32::MAX.into()) as u32
    }

    /// A whole number from 0, if it is there and not null.
    pub fn number_if(&mut self, key: &str) -> Option<u64> {
        self.given(key).map(|_| self.number(key, 0, u64::MAX))
    }

    /// Any value, if it is there and not null.
    pub fn json_if(&mut self, key: &str) -> Option<Json> {
        self.given(key).map(Json::from_valid)
    }

    /// Any value, `null` too, that must be there.
    pub fn json(&mut self, key: &str) -> Json {
        match self.get(key) {
            Some(json) => Json::from_valid(json),
            None => {
                self.refuse(key, "is missing");
                Json::empty_object()
            }
        }
    }

    /// Any value that must be there and not be null.
    pub fn json_given(&mut self, key: &str) -> Json {
        if self.given(key).is_none() {
            self.refuse(key, "is missing");
        }
        self.json(key)
    }

    /// The place of a string among `words`, if it is there.
    pub fn word(&mut self, key: &str, words: &[&str]) -> Option<usize> {
        let json = self.get(key)?;
        let word = string(json);
        let place = words.iter().position(|known| word.as_deref() == Some(*known));
        if place.is_none() {
            self.refuse(key, &["must be one of ", &listed(words)].concat());
        }
        place
    }

    /// Reads what is in the field.
    pub fn within<T>(&mut self, key: &str, read: Result<T, ConfigError>) -> Option<T> {
        match read {
            Ok(read) => Some(read),
            Err(problem) => {
                self.refuse_within(key, None, problem);
                None
            }
        }
    }

    /// Reads an object that must be there.
    pub fn object<T>(&mut self, key: &str, read: fn(&mut Record<'_>) -> T) -> T {
        if self.get(key).is_none() {
            self.refuse(key, "is missing");
        }
        self.object_or_default(key, read)
    }

    /// Reads an object; an empty one if it is missing.
    pub fn object_or_default<T>(&mut self, key: &str, read: fn(&mut Record<'_>) -> T) -> T {
        let mut inner = Record::new(self.get(key).unwrap_or("{}"));
        let read = read(&mut inner);
        if let Some(problem) = inner.problem {
            self.refuse_within(key, None, problem);
        }
        read
    }

    /// Hands each item of an array to `read`; none if the field is missing.
    pub fn each(&mut self, key: &str, read: &mut dyn FnMut(&'a str) -> Result<(), ConfigError>) {
        if let Some(json) = self.get(key)
            && let Err((index, problem)) = each_of(json, read)
        {
            self.refuse_within(key, index, problem);
        }
    }

    pub fn texts(&mut self, key: &str) -> Vec<String> {
        let mut texts = Vec::new();
        self.each(key, &mut |json| {
            texts.push(text_of(json)?);
            Ok(())
        });
        texts
    }
}

/// Makes `problem`, which was found inside `key` (and there inside an item), one of the object around it.
pub fn within(key: &str, index: Option<usize>, problem: ConfigError) -> ConfigError {
    let mut field = String::from(key);
    if let Some(index) = index {
        field.push('[');
        field.push_str(&crate::engine::json::writer::decimal(index));
        field.push(']');
    }
    if !field.is_empty() && !problem.field.is_empty() && !problem.field.starts_with('[') {
        field.push('.');
    }
    field.push_str(&problem.field);
    ConfigError {
        field,
        problem: problem.problem,
    }
}

/// Hands each item of an array to `read`.
///
/// # Errors
/// The first problem, with the item's place; without one if `json` is no array.
pub fn each_of<'a>(
    json: &'a str,
    read: &mut dyn FnMut(&'a str) -> Result<(), ConfigError>,
) -> Result<(), (Option<usize>, ConfigError)> {
    let items = items(json).ok_or_else(|| (None, ConfigError::new("", "must be an array")))?;
    for (index, item) in items.into_iter().enumerate() {
        read(item).map_err(|problem| (Some(index), problem))?;
    }
    Ok(())
}

/// # Errors
/// When `json` is no string.
pub fn text_of(json: &str) -> Result<String, ConfigError> {
    string(json)
        .map(|text| text.into_owned())
        .ok_or_else(|| ConfigError::new("", "must be a string"))
}

/// The value of a text that comes from outside, without the blanks around it.
///
/// # Errors
/// What keeps it from being JSON, for the field `name`.
pub fn document<'a>(name: &str, text: &'a str) -> Result<&'a str, ConfigError> {
    match check(text) {
        Ok(()) => Ok(text.trim_ascii()),
        Err(fault) => Err(ConfigError::new(
            name,
            ["must be JSON: ", &fault.describe(text)].concat(),
        )),
    }
}
