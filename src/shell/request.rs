//! One HTTP request: authorize, check, fetch, hand the head in, and leave the body to the pump.
//!
//! Every wait is also ended by the abort of the request, so that a host's function that never settles keeps nothing
//! alive. An answer that comes after the abort is dropped.

use std::rc::Rc;

use gloo_net::http::{Headers, Response};
use js_sys::{Array, Object, Reflect, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::AbortSignal;

use super::driver::Driver;
use super::guard::CatchTask;
use crate::engine::input::Input;
use crate::engine::output::{EffectId, HttpRequest};
use crate::engine::text::find;

enum Trouble {
    /// Nobody waits any more.
    Aborted,
    NotSent(String),
    NetworkFailed(String),
}

/// Sends a request; its answers come in through `driver`.
pub fn send(driver: &Rc<Driver>, request: EffectId, http: HttpRequest, signal: AbortSignal) {
    let driver = Rc::clone(driver);
    let on_panic = Rc::clone(&driver);
    let task = async move {
        match exchange(&driver, request, &http, &signal).await {
            Ok(()) | Err(Trouble::Aborted) => {}
            Err(Trouble::NotSent(why)) => {
                driver.close(request);
                driver.tell(Input::NotSent { request, why });
            }
            Err(Trouble::NetworkFailed(why)) => {
                driver.close(request);
                driver.tell(Input::NetworkFailed { request, why });
            }
        }
    };
    spawn_local(CatchTask {
        task: Box::pin(task),
        on_panic: Box::new(move |message| on_panic.fail(&message)),
    });
}

async fn exchange(
    driver: &Rc<Driver>,
    request: EffectId,
    http: &HttpRequest,
    signal: &AbortSignal,
) -> Result<(), Trouble> {
    #[cfg(feature = "test-panics")]
    panic_if_asked(driver);
    let body = copy_body(driver, request).ok_or(Trouble::Aborted)?;
    let headers = authorize(driver, request, http, signal, &body).await?;
    let response = fetch(driver, request, http, signal, &headers, &body).await?;
    let (status, fields, body) =
        read_head(driver, response).map_err(|error| Trouble::NetworkFailed(driver.host.describe(&error)))?;
    driver.tell(Input::Head {
        request,
        status,
        headers: fields,
    });
    if !driver.is_open(request) {
        return Err(Trouble::Aborted);
    }
    if body.is_null() || body.is_undefined() {
        driver.close(request);
        driver.tell(Input::End { request });
    } else {
        driver.host.read(request, &body);
    }
    Ok(())
}

fn copy_body(driver: &Rc<Driver>, request: EffectId) -> Option<Uint8Array> {
    driver.ask(|run| run.request_body(request).map(Uint8Array::new_from_slice))?
}

async fn authorize(
    driver: &Rc<Driver>,
    request: EffectId,
    http: &HttpRequest,
    signal: &AbortSignal,
    body: &Uint8Array,
) -> Result<Vec<(String, String)>, Trouble> {
    let given = Array::new();
    for (name, value) in &http.headers {
        given.push(&JsValue::from_str(name));
        given.push(&JsValue::from_str(value));
    }
    let refused = |error: JsValue| Trouble::NotSent(driver.host.describe(&error));
    let answer = driver
        .host
        .authorize(
            &http.method,
            &http.url,
            &given,
            &http.auth.header,
            &http.auth.prefix,
            body,
        )
        .map_err(refused)?;
    let answer = settled(driver, &answer, signal).await;
    if !driver.is_open(request) {
        return Err(Trouble::Aborted);
    }
    let answer = answer.map_err(refused)?;
    let answer = Array::from(&answer);
    let mut texts = answer.iter().map(|text| text.as_string());
    let mut headers = Vec::new();
    while let Some(name) = texts.next() {
        match (name, texts.next().flatten()) {
            (Some(name), Some(value)) => headers.push((name, value)),
            _ => {
                return Err(Trouble::NotSent(
                    "authorize must return pairs of strings".to_owned(),
                ));
            }
        }
    }
    Ok(headers)
}

async fn fetch(
    driver: &Rc<Driver>,
    request: EffectId,
    http: &HttpRequest,
    signal: &AbortSignal,
    headers: &[(String, String)],
    body: &Uint8Array,
) -> Result<JsValue, Trouble> {
    let init = Object::new();
    let set = |name: &str, value: &JsValue| Reflect::set(&init, &JsValue::from_str(name), value).is_ok();
    set("method", &JsValue::from_str(&http.method));
    set("headers", &checked(headers).map_err(Trouble::NotSent)?.into_raw());
    set("body", body);
    set("signal", signal);
    let describe = |error: JsValue| redact(driver.host.describe(&error), headers, http);
    let answer = driver.host.fetch(&http.url, &init);
    let answer = answer.map_err(|error| Trouble::NotSent(describe(error)))?;
    let answer = settled(driver, &answer, signal).await;
    if !driver.is_open(request) {
        return Err(Trouble::Aborted);
    }
    answer.map_err(|error| Trouble::NetworkFailed(describe(error)))
}

/// `value`, awaited if it is a promise, or anything once the request has been aborted.
async fn settled(driver: &Rc<Driver>, value: &JsValue, signal: &AbortSignal) -> Result<JsValue, JsValue> {
    JsFuture::from(driver.host.race(value, signal)).await
}

/// `Headers` throws on what HTTP does not allow, with the value in the text of the error. So the characters are
/// checked before, and the message names the header only.
fn checked(headers: &[(String, String)]) -> Result<Headers, String> {
    let built = Headers::new();
    for (name, value) in headers {
        let is_name = !name.is_empty() && name.bytes().all(is_token);
        let is_value = value
            .chars()
            .all(|c| c <= '\u{ff}' && !matches!(c, '\0' | '\r' | '\n'));
        if !is_name || !is_value {
            let mut problem = String::from("the header \"");
            problem.push_str(name);
            problem.push_str(if is_name {
                "\" has a value with a line break or a character beyond latin1"
            } else {
                "\" has a character in its name that HTTP does not allow"
            });
            return Err(problem);
        }
        built.append(name, value);
    }
    Ok(built)
}

/// <https://www.rfc-editor.org/rfc/rfc9110#section-5.6.2>
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// Takes out of an error's text what `authorize` put into the headers.
fn redact(mut text: String, headers: &[(String, String)], http: &HttpRequest) -> String {
    for (_, value) in headers.iter().filter(|header| !http.headers.contains(header)) {
        let secret = value.strip_prefix(&http.auth.prefix).unwrap_or(value).trim();
        if !secret.is_empty() {
            text = replace(&text, secret, "[redacted]");
        }
    }
    text
}

/// `text` with `new` in place of every `part`, which is not empty.
fn replace(text: &str, part: &str, new: &str) -> String {
    let mut replaced = String::new();
    let mut rest = text;
    while let Some((before, after)) =
        find(rest, part).and_then(|at| Some((rest.get(..at)?, rest.get(at + part.len()..)?)))
    {
        replaced.push_str(before);
        replaced.push_str(new);
        rest = after;
    }
    replaced.push_str(rest);
    replaced
}

type Head = (u16, Vec<(String, String)>, JsValue);

fn read_head(driver: &Rc<Driver>, response: JsValue) -> Result<Head, JsValue> {
    match response.dyn_into::<web_sys::Response>() {
        Ok(response) => {
            let response = Response::from(response);
            let body = response.body().map_or(JsValue::NULL, JsValue::from);
            Ok((response.status(), response.headers().entries().collect(), body))
        }
        Err(response) => {
            let parts = driver.host.head(&response)?;
            let mut parts = parts.iter();
            let status = parts.next().and_then(|status| status.as_f64()).unwrap_or(0.0) as u16;
            let body = parts.next().unwrap_or(JsValue::NULL);
            let texts: Vec<String> = parts.filter_map(|text| text.as_string()).collect();
            let fields = texts.chunks_exact(2).filter_map(|pair| match pair {
                [name, value] => Some((name.clone(), value.clone())),
                _ => None,
            });
            Ok((status, fields.collect(), body))
        }
    }
}

#[cfg(feature = "test-panics")]
#[allow(clippy::panic)]
fn panic_if_asked(driver: &Rc<Driver>) {
    if driver.panic_in_task.take() {
        panic!("made by a test");
    }
}
