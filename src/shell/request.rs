//! One HTTP request: its way to JavaScript, the check of its headers, and the head of its response.
//!
//! The driver calls [`send`]. JavaScript waits for `authorize` and `fetch`, because a promise that crosses into
//! WebAssembly costs ten times the bytes and the time. It then checks the headers with [`headers_of`] and passes the
//! response's head to [`respond`]. The run drops the head of an aborted request. Nothing here retries.

use std::rc::Rc;

use gloo_net::http::{Headers, Response};
use wasm_bindgen::prelude::*;

use super::driver::Driver;
use crate::engine::json::writer::decimal;
use crate::engine::model::input::Input;
use crate::engine::model::json;
use crate::engine::model::output::{EffectId, HttpRequest};

/// Hands a request to JavaScript.
///
/// # Errors
/// The error of a call into JavaScript that threw.
pub fn send(driver: &Driver, request: EffectId, http: &HttpRequest) -> Result<(), JsValue> {
    let (at, length) = driver.body_of(request);
    driver.shell.send(request, &json::write(http), at, length)
}

/// The `Headers` of `[[name, value], …]` in JSON.
///
/// # Errors
/// The name of the first header that HTTP does not allow, or the position of invalid JSON. The error of `Headers`
/// itself would contain the value, which may be a key, so the characters are checked first.
#[wasm_bindgen(js_name = headersOf)]
pub fn headers_of(json: &str) -> Result<web_sys::Headers, JsValue> {
    let built = Headers::new();
    let pairs: Vec<(String, String)> =
        json::read("headers", json).map_err(|error| JsValue::from_str(&error.to_text()))?;
    for (name, value) in pairs {
        let is_name = !name.is_empty() && name.bytes().all(is_token);
        let is_value = value
            .chars()
            .all(|c| c <= '\u{ff}' && !matches!(c, '\0' | '\r' | '\n'));
        if !is_name || !is_value {
            let problem = if is_name {
                "\" has a value with a line break or a character beyond latin1"
            } else {
                "\" has a character in its name that HTTP does not allow"
            };
            return Err(JsValue::from_str(&["the header \"", &name, problem].concat()));
        }
        built.append(&name, &value);
    }
    Ok(built.into_raw())
}

/// A character that a header's name may have: <https://www.rfc-editor.org/rfc/rfc9110#section-5.6.2>
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// Hands the head of a `Response` to the run.
pub fn respond(driver: &Rc<Driver>, request: EffectId, response: web_sys::Response) {
    let response = Response::from(response);
    let status = response.status();
    let headers: Vec<_> = response.headers().entries().collect();
    let recorded = driver.is_recorded().then(|| head_of(request, status, &headers));
    let head = Input::Head {
        request,
        status,
        headers,
    };
    driver.handle_input(head, recorded.as_deref());
}

/// The JSON of an [`Input::Head`].
fn head_of(request: EffectId, status: u16, headers: &[(String, String)]) -> String {
    let numbers = [decimal(request as usize), decimal(status as usize)];
    let [request, status] = &numbers;
    let start = ["{\"head\":{\"request\":", request, ",\"status\":", status].concat();
    [&start, ",\"headers\":", &json::write(&headers), "}}"].concat()
}
