//! A panic ends its run with code `bug` and nothing else.

use wasm_bindgen_test::wasm_bindgen_test;

use crate::kit::{TestRun, WEATHER, answer, call, respond_with, settle, take_rejections};

#[wasm_bindgen_test]
async fn a_panic_while_the_run_is_borrowed_ends_it_and_leaves_no_borrow() {
    let run = TestRun::new();
    run.start();
    settle().await;
    run.handle.panic_now();
    assert!(run.outcome().contains(r#""code":"bug""#), "{}", run.outcome());
    assert!(run.outcome().contains("made by a test ("), "{}", run.outcome());
    assert_eq!(&run.log()[run.log().len() - 2..], ["finish", "done"]);
    assert_eq!(run.host.timer(), None);
    run.handle.abort("later");
    run.handle.due();
    assert!(
        run.handle
            .result()
            .is_some_and(|json| json.contains(r#""outcome":"failed""#))
    );
}

#[wasm_bindgen_test]
async fn a_panic_when_a_response_comes_ends_its_run_and_leaves_no_pending_promise() {
    let run = TestRun::new();
    respond_with(&run.host, answer(&["never seen"]), false);
    run.handle.panic_in_response();
    run.start();
    run.finished().await;
    assert!(run.outcome().contains(r#""code":"bug""#), "{}", run.outcome());
    assert_eq!(run.host.text(), "");
    settle().await;
    assert_eq!(take_rejections().length(), 0);
}

#[wasm_bindgen_test]
async fn of_two_runs_at_once_one_panics_and_the_other_finishes() {
    let broken = TestRun::new();
    let sound = TestRun::new();
    respond_with(&broken.host, answer(&["a"]), true);
    respond_with(&sound.host, answer(&["one", " two"]), false);
    broken.start();
    sound.start();
    let breaking = std::rc::Rc::clone(&broken.handle);
    sound.on("text", move |_, _| breaking.panic_now());
    sound.finished().await;
    assert!(
        broken.outcome().contains(r#""code":"bug""#),
        "{}",
        broken.outcome()
    );
    assert_eq!(sound.outcome(), r#"{"outcome":"completed"}"#);
    assert_eq!(sound.host.text(), "one two");
}

#[wasm_bindgen_test]
async fn a_panic_inside_a_callback_of_its_own_run_is_performed_when_the_callback_has_returned() {
    let run = TestRun::with(WEATHER);
    respond_with(&run.host, call(), false);
    run.on("tool-call", |handle, _| {
        handle.panic_now();
        assert!(handle.outcome().is_some(), "the outcome is set at once");
    });
    run.start();
    run.finished().await;
    assert!(!run.log().contains(&"tool weather".to_owned()), "{:?}", run.log());
    assert_eq!(run.log().last().map(String::as_str), Some("done"));
}

#[wasm_bindgen_test]
async fn a_run_that_cannot_even_be_failed_is_done_all_the_same() {
    let run = TestRun::new();
    respond_with(&run.host, answer(&["a"]), true);
    run.start();
    settle().await;
    run.handle.panic_twice();
    assert!(run.outcome().contains(r#""code":"bug""#), "{}", run.outcome());
    assert_eq!(run.log().last().map(String::as_str), Some("done"));
    assert_eq!(run.host.timer(), None);
    assert_eq!(run.handle.result(), None);
    run.handle.abort("later");
    run.handle.panic_now();
    assert_eq!(run.log().iter().filter(|line| *line == "done").count(), 1);
}

#[wasm_bindgen_test]
async fn the_partial_text_of_a_run_that_panics_is_kept() {
    let run = TestRun::new();
    respond_with(&run.host, answer(&["kept"]), true);
    run.start();
    settle().await;
    run.handle.panic_now();
    assert!(
        run.handle.text().is_some_and(|text| text.contains("kept")),
        "{:?}",
        run.handle.text()
    );
}
