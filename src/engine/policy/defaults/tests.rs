use super::*;

#[test]
fn steps_of_repetition_that_are_left_out_keep_to_the_order() {
    let none = Some(None);
    let at = |times| Some(Some(times));
    /// Left out, off, or after so many repetitions.
    type Step = Option<Option<u32>>;
    let rows: &[(Step, Step, Step, [Option<u32>; 3])] = &[
        (None, None, None, [Some(3), Some(6), Some(20)]),
        (None, at(30), None, [Some(3), Some(30), Some(60)]),
        (at(12), None, None, [Some(12), Some(24), Some(24)]),
        (at(5), None, None, [Some(5), Some(10), Some(20)]),
        (at(5), None, at(8), [Some(5), Some(7), Some(8)]),
        (None, None, at(5), [Some(3), Some(4), Some(5)]),
        (None, None, at(3), [Some(2), Some(2), Some(3)]),
        (None, None, at(2), [None, None, Some(2)]),
        (None, at(2), None, [Some(2), Some(2), Some(20)]),
        (none, none, at(2), [None, None, Some(2)]),
        (none, None, none, [None, Some(6), None]),
        (at(40), at(50), at(60), [Some(40), Some(50), Some(60)]),
    ];
    for (nudge, ask, stop, expected) in rows {
        let policy = RepeatPolicy {
            nudge_after: *nudge,
            ask_after: *ask,
            stop_after: *stop,
            ..RepeatPolicy::default()
        };
        let steps = policy.steps();
        assert_eq!(
            [steps.nudge, steps.ask, steps.stop],
            *expected,
            "{nudge:?} {ask:?} {stop:?}"
        );
    }
}
