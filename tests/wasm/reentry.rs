//! What JavaScript tells from inside a callback is taken in at once, and performed when the callback has returned.

use serde_json::json;
use wasm_bindgen_test::wasm_bindgen_test;

use crate::kit::{TestRun, WEATHER, abort, answer, call, outcome_of, respond_with, settle, start, tell};

#[wasm_bindgen_test]
async fn an_abort_inside_a_text_callback_sets_the_outcome_at_once() {
    let run = TestRun::new();
    respond_with(&run.host, answer(&["a", "b"]), false);
    run.on("text", |handle, _| {
        abort(handle, "enough");
        assert_eq!(
            outcome_of(handle),
            r#"{"outcome":"cancelled","abortReason":"enough"}"#
        );
    });
    run.start();
    run.finished().await;
    settle().await;
    assert_eq!(run.host.text(), "a");
    assert_eq!(&run.log()[run.log().len() - 2..], ["finish", "done"]);
    assert_eq!(run.host.timer(), None);
}

#[wasm_bindgen_test]
async fn an_abort_inside_an_event_keeps_the_call_after_it_from_starting() {
    let run = TestRun::with(WEATHER);
    respond_with(&run.host, call(), false);
    run.on("tool-call", |handle, _| abort(handle, "no"));
    run.start();
    run.finished().await;
    assert!(!run.log().contains(&"tool weather".to_owned()), "{:?}", run.log());
}

#[wasm_bindgen_test]
async fn a_tool_may_finish_inside_its_own_call() {
    let run = TestRun::with(WEATHER);
    respond_with(&run.host, call(), false);
    run.on("callTool", |handle, call| {
        let call = call.as_f64().unwrap_or_default() as u32;
        tell(
            handle,
            json!({"toolFinished": {"call": call, "result": {"value": 1}}}),
        );
    });
    run.on("tool-result", |handle, _| abort(handle, "seen"));
    run.start();
    run.finished().await;
    let log = run.log();
    let at = |line: &str| log.iter().position(|entry| entry == line);
    assert!(at("tool weather") < at("tool-result"), "{log:?}");
    assert!(at("tool-result").is_some(), "{log:?}");
}

#[wasm_bindgen_test]
async fn one_run_may_be_started_and_aborted_inside_a_callback_of_another() {
    let outer = TestRun::new();
    let inner = TestRun::new();
    respond_with(&outer.host, answer(&["a", "b"]), false);
    let nested = std::rc::Rc::clone(&inner.handle);
    outer.on("text", move |_, text| {
        if text == "a" {
            start(&nested);
        } else {
            abort(&nested, "outer");
        }
    });
    outer.start();
    outer.finished().await;
    assert_eq!(outer.host.text(), "ab");
    assert!(inner.outcome().contains("cancelled"), "{}", inner.outcome());
    assert_eq!(inner.log().last().map(String::as_str), Some("done"));
}

#[wasm_bindgen_test]
async fn a_handle_that_is_dropped_while_its_request_waits_lets_go_of_everything() {
    let run = TestRun::new();
    run.start();
    settle().await;
    run.handle.let_go();
    assert_eq!(run.host.timer(), None);
    let signal = js_sys::Reflect::get(&run.host.init(), &"signal".into()).expect("a signal");
    let is_aborted = js_sys::Reflect::get(&signal, &"aborted".into()).expect("a flag");
    assert!(is_aborted.is_truthy());
    drop(run);
    settle().await;
}
