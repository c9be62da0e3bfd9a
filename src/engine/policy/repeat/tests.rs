use super::*;
use crate::engine::model::message::Json;

fn round(input: &str, output: &str) -> Vec<ToolCallRecord> {
    vec![ToolCallRecord {
        tool_call_id: "unique".into(),
        tool_name: "look".into(),
        input: Json::parse(input).unwrap(),
        updated_input: None,
        output: Some(Json::parse(output).unwrap()),
        is_error: false,
        duration_ms: 3,
    }]
}

fn advice(rounds: &[(&str, &str)]) -> Vec<Advice> {
    let policy = RepeatPolicy {
        enabled: true,
        nudge_after: Some(Some(2)),
        ask_after: Some(Some(3)),
        stop_after: Some(Some(4)),
    };
    let mut repeats = Repeats::default();
    rounds
        .iter()
        .map(|(input, output)| repeats.note(&policy, &round(input, output)))
        .collect()
}

#[test]
fn the_same_call_with_the_same_result_is_nudged_asked_about_and_stopped() {
    let same = [(r#"{"a":1,"b":2}"#, "1"), (r#"{"b":2, "a":1}"#, "1")];
    let rounds: Vec<_> = same.iter().cycle().take(4).copied().collect();
    assert_eq!(
        advice(&rounds),
        [Advice::Continue, Advice::Nudge(2), Advice::Ask(3), Advice::Stop]
    );
}

#[test]
fn another_result_is_no_repetition() {
    let polled = [("{}", "1"), ("{}", "2"), ("{}", "3"), ("{}", "4")];
    assert_eq!(advice(&polled), [Advice::Continue; 4]);
}

#[test]
fn a_cycle_of_calls_is_a_repetition() {
    let (a, b, c) = (("1", "1"), ("2", "2"), ("3", "3"));
    assert_eq!(
        advice(&[a, b, c, a, b, c, a, b, c]),
        [
            Advice::Continue,
            Advice::Continue,
            Advice::Continue,
            Advice::Continue,
            Advice::Continue,
            Advice::Nudge(2),
            Advice::Continue,
            Advice::Continue,
            Advice::Ask(3)
        ]
    );
}

#[test]
fn each_call_is_counted_within_a_round_and_beside_others() {
    let policy = RepeatPolicy {
        enabled: true,
        nudge_after: Some(Some(3)),
        ask_after: Some(Some(5)),
        stop_after: Some(Some(9)),
    };
    let mut repeats = Repeats::default();
    let mut note = |rounds: &[&str]| {
        let calls: Vec<_> = rounds.iter().flat_map(|input| round(input, "1")).collect();
        repeats.note(&policy, &calls)
    };
    assert_eq!(note(&["1", "2", "1"]), Advice::Continue);
    assert_eq!(note(&["3", "1"]), Advice::Nudge(3), "in the order of any round");
    assert_eq!(note(&["1"]), Advice::Continue, "once is enough");
    assert_eq!(note(&["1", "1", "4"]), Advice::Ask(6), "whatever was passed over");
    assert_eq!(
        note(&["4"]),
        Advice::Continue,
        "what does not come again is forgotten"
    );
    assert_eq!(note(&["1", "4"]), Advice::Nudge(3));
    assert_eq!(note(&["5"; 10]), Advice::Stop);
    assert!(repeats.rounds.len() <= MAX_PERIOD && repeats.calls.len() == 1);
}

#[test]
fn a_threshold_may_be_as_high_as_it_likes() {
    let policy = RepeatPolicy {
        enabled: true,
        nudge_after: Some(None),
        ask_after: Some(None),
        stop_after: Some(Some(300)),
    };
    for cycle in [["1"].as_slice(), &["1", "2"]] {
        let mut repeats = Repeats::default();
        let rounds = cycle.iter().cycle().take(cycle.len() * 400);
        let stopped = rounds
            .map(|input| repeats.note(&policy, &round(input, "1")))
            .position(|advice| advice == Advice::Stop);
        assert_eq!(stopped, Some(cycle.len() * 300 - 1));
    }
}

#[test]
fn switched_off_it_notices_nothing() {
    let mut repeats = Repeats::default();
    let policy = RepeatPolicy {
        enabled: false,
        ..RepeatPolicy::default()
    };
    for _ in 0..100 {
        assert_eq!(repeats.note(&policy, &round("{}", "1")), Advice::Continue);
    }
}

#[test]
fn hashes_go_through_javascript_unchanged() {
    let mut repeats = Repeats::default();
    let policy = RepeatPolicy {
        enabled: true,
        ..RepeatPolicy::default()
    };
    for output in ["1", "2", "3"] {
        repeats.note(&policy, &round("{}", output));
    }
    let hashes = repeats.calls.iter().map(|(hash, _)| hash).chain(&repeats.rounds);
    for hash in hashes {
        assert_eq!(*hash as f64 as u64, *hash);
        assert!(*hash < 1 << 53);
    }
}
