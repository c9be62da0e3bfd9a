//! The engine's own readers of JSON against serde_json.

use looplet::engine::json::value::read;
use looplet::engine::model::config::{Config, RunOptions};
use looplet::engine::model::json;
use looplet::engine::model::message::Json;
use looplet_scan::check;
use looplet_scan::reader::{Object, items, string, validate};
use serde::de::IgnoredAny;
use serde_json::Value;

pub fn check(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let own = check::check(&text).map_err(|fault| fault.describe(&text));
    let oracle = serde_json::from_str::<IgnoredAny>(&text);
    assert_eq!(
        own,
        oracle.map(|_| ()).map_err(|error| error.to_string()),
        "{text:?}"
    );
    assert_eq!(validate(data).is_some(), own.is_ok());
    let written = Json::string(&text);
    assert_eq!(
        serde_json::from_str::<String>(written.as_str()).unwrap(),
        text,
        "a string does not come back"
    );
    assert_eq!(string(written.as_str()).unwrap(), text);
    if own.is_ok() {
        check_valid(&text);
    }
}

fn check_valid(text: &str) {
    let config = json::read::<Config>("config", text).err();
    let options = json::read::<RunOptions>("options", text).err();
    for error in config.into_iter().chain(options) {
        assert!(!error.problem.is_empty(), "a refusal without a reason");
    }
    let trimmed = Json::parse(text).unwrap();
    let in_one_line = text.replace(['\n', '\r'], " ");
    assert_eq!(trimmed.as_str(), in_one_line.trim_matches([' ', '\t']));
    let text = trimmed.as_str();
    let Ok(value) = serde_json::from_str::<Value>(text) else {
        // Too deep, half a surrogate pair, or a number beyond 1e308: the readers take it all the same.
        if let Some(object) = Object::parse(text) {
            object
                .fields()
                .for_each(|(_, value)| assert!(check::check(value).is_ok()));
        }
        if let Ok(value) = read(text) {
            assert!(text.contains("\\u"), "read where serde_json does not");
            assert!(check::check(&value.to_string()).is_ok());
        }
        return;
    };
    check_object(text, &value);
    check_items(text, &value);
    assert_eq!(string(text).as_deref(), value.as_str());
    let read = read(text).expect("what serde_json reads");
    assert!(is_same(&read, &value), "{text} is read as {read}");
}

/// But for whole numbers, which are integers however they are written.
fn is_same(read: &Value, value: &Value) -> bool {
    match (read, value) {
        (Value::Number(read), Value::Number(value)) => read.as_f64() == value.as_f64(),
        (Value::Array(read), Value::Array(value)) => {
            read.len() == value.len() && read.iter().zip(value).all(|(read, value)| is_same(read, value))
        }
        (Value::Object(read), Value::Object(value)) => {
            let mut pairs = read.iter().zip(value);
            read.len() == value.len()
                && pairs.all(|((one, read), (other, value))| one == other && is_same(read, value))
        }
        _ => read == value,
    }
}

fn check_object(text: &str, value: &Value) {
    let object = Object::parse(text);
    assert_eq!(object.is_some(), value.is_object());
    let (Some(object), Some(map)) = (object, value.as_object()) else {
        return;
    };
    for (key, expected) in map {
        let found = object.last(key).unwrap_or_else(|| panic!("{key:?} is missing"));
        assert_eq!(&serde_json::from_str::<Value>(found).unwrap(), expected);
        assert_eq!(object.get(key).is_none(), expected.is_null());
        assert_eq!(object.string(key).as_deref(), expected.as_str());
        assert_eq!(object.object(key).is_some(), expected.is_object());
        assert_eq!(object.items(key).len(), expected.as_array().map_or(0, Vec::len));
        if let Some(number) = expected.as_u64() {
            assert_eq!(object.number(key), Some(number));
        }
    }
    assert!(
        object.fields().all(|(key, _)| map.contains_key(key)),
        "a field too many"
    );
}

fn check_items(text: &str, value: &Value) {
    let found = items(text);
    assert_eq!(found.is_some(), value.is_array());
    let found: Vec<Value> = found
        .iter()
        .flatten()
        .map(|item| serde_json::from_str(item).unwrap())
        .collect();
    if let Some(expected) = value.as_array() {
        assert_eq!(&found, expected);
    }
}
