//! Requests in a browser: what `Headers` and `Response` of a page accept, throw and return.

use wasm_bindgen_test::wasm_bindgen_test;

use crate::kit::{
    TestRun, answer, authorize_with, respond_duck, respond_throwing, respond_with, settle, take_rejections,
};

#[wasm_bindgen_test]
async fn a_response_of_the_page_is_read_to_its_end() {
    let run = TestRun::new();
    respond_with(&run.host, answer(&["wörld ", "🎉"]), false);
    run.start();
    run.finished().await;
    assert_eq!(run.outcome(), r#"{"outcome":"completed"}"#);
    assert_eq!(run.host.text(), "wörld 🎉");
}

#[wasm_bindgen_test]
async fn anything_that_looks_like_a_response_is_read_too() {
    let run = TestRun::new();
    respond_duck(&run.host, 200, answer(&["duck"]));
    run.start();
    run.finished().await;
    assert_eq!(run.host.text(), "duck");
}

#[wasm_bindgen_test]
async fn a_header_value_that_http_does_not_allow_is_named_but_not_told() {
    for value in ["se\ncret", "se\u{20ac}cret"] {
        let run = TestRun::new();
        authorize_with(&run.host, "x-api-key", value);
        respond_with(&run.host, answer(&["never"]), false);
        run.start();
        run.finished().await;
        assert!(run.outcome().contains("x-api-key"), "{}", run.outcome());
        assert!(!run.outcome().contains("cret"), "{}", run.outcome());
        assert!(run.host.init().is_undefined(), "fetch was not called");
    }
}

#[wasm_bindgen_test]
async fn a_fetch_that_throws_or_rejects_is_an_answer() {
    for (is_at_once, said) in [(true, "thrown"), (false, "rejected")] {
        let run = TestRun::new();
        respond_throwing(&run.host, is_at_once);
        run.start();
        run.finished().await;
        assert!(run.outcome().contains(said), "{}", run.outcome());
    }
    settle().await;
    assert_eq!(take_rejections().length(), 0);
}

#[wasm_bindgen_test]
async fn the_timer_fires_early_without_harm_and_late_once() {
    let run = TestRun::new();
    run.start();
    settle().await;
    assert_eq!(run.host.timer(), Some(600_000.0));
    run.fire_at(400_000.0);
    assert_eq!(run.host.timer(), Some(201_000.0));
    run.fire_at(700_000.0);
    assert!(run.outcome().contains("timeout"), "{}", run.outcome());
    assert_eq!(run.host.timer(), None);
}
