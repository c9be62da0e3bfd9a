use super::*;

const READ: Traits<'_> = Traits {
    read_only: true,
    resource_key: None,
};
const WRITE: Traits<'_> = Traits {
    read_only: false,
    resource_key: None,
};
const A: Traits<'_> = Traits {
    read_only: false,
    resource_key: Some("a"),
};
const B: Traits<'_> = Traits {
    read_only: false,
    resource_key: Some("b"),
};
const READ_A: Traits<'_> = Traits {
    read_only: true,
    resource_key: Some("a"),
};

#[test]
fn the_table_of_conflicts() {
    use ToolExecution::{Parallel, ReadOnlyParallel, Sequential};
    let rows = [
        (READ, READ, [false, false, true]),
        (READ, WRITE, [true, false, true]),
        (WRITE, WRITE, [true, false, true]),
        (A, B, [false, false, true]),
        (A, A, [true, true, true]),
        (READ_A, READ_A, [true, true, true]),
        (READ_A, B, [false, false, true]),
        (READ_A, READ, [false, false, true]),
        (A, WRITE, [true, false, true]),
    ];
    for (a, b, expected) in rows {
        let found = [ReadOnlyParallel, Parallel, Sequential].map(|mode| conflict(mode, a, b));
        assert_eq!(found, expected, "{a:?} {b:?}");
        assert_eq!(
            found,
            [ReadOnlyParallel, Parallel, Sequential].map(|mode| conflict(mode, b, a))
        );
    }
}
