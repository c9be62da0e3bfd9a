use super::*;

/// Turns of 200 characters each.
fn turns(count: usize) -> Vec<Message> {
    let turn = |at: usize| match at % 2 {
        0 => Message::user(vec![Block::text("x".repeat(192))]),
        _ => Message::assistant(vec![Block::text("x".repeat(187))]),
    };
    (0..count).map(turn).collect()
}

#[test]
fn the_budget_is_kept_with_as_much_as_fits_and_at_least_two_messages() {
    let cut_to = |messages: &[Message], system, budget| {
        trim_to_budget(messages, system, budget).map(|trimmed| trimmed.cut)
    };
    // A twentieth is reserved for the summary, so a budget of 631 holds 600.
    for (count, budget, cut) in [
        (4, 800, None),
        (4, 799, Some(1)),
        (4, 631, Some(1)),
        (4, 630, Some(2)),
        (4, 1, Some(2)),
        (3, 1, Some(1)),
        (5, 1, Some(3)),
    ] {
        assert_eq!(cut_to(&turns(count), None, budget), cut, "{count} {budget}");
    }
    assert_eq!(cut_to(&turns(4), Some("sixteen in length"), 826), Some(1));
    assert_eq!(cut_to(&turns(4), Some("sixteen in length"), 827), None);
}
