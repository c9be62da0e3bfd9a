//! A schema and an instance, a line each: whatever they are, they are compiled and checked within bounds.

use looplet::engine::json::value::read;
use looplet::engine::schema::compile;
use looplet_scan::check;

pub fn check(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (schema_text, instance_text) = text.split_once('\n').unwrap_or((&text, "{}"));
    let Ok(schema) = compile(schema_text) else {
        return;
    };
    assert!(schema.warnings().len() <= schema_text.len());
    let violations = schema.validate(instance_text, 5);
    if read(instance_text).is_err() {
        assert_eq!(violations.len(), 1, "unreadable text is one problem");
        return;
    }
    assert!(
        check::check(instance_text).is_ok(),
        "text that is not JSON is read"
    );
    assert!(violations.len() <= 5);
    let told: usize = violations.iter().map(|violation| violation.message.len()).sum();
    assert!(
        told <= 5 * (4096 + schema_text.len() + instance_text.len()),
        "{told} bytes of problems"
    );
    let first = schema.validate(instance_text, 1);
    assert_eq!(
        first.first(),
        violations.first(),
        "the first problem depends on how many are wanted"
    );
    if !violations
        .iter()
        .any(|violation| violation.message.starts_with("too "))
    {
        check_negation(schema_text, instance_text, violations.is_empty());
    }
}

/// What fits a schema does not fit its negation, and the other way round. References would lead elsewhere in there.
fn check_negation(schema_text: &str, instance: &str, fits: bool) {
    if schema_text.contains(['$', '\\']) {
        return;
    }
    let negated = ["{\"not\":", schema_text, "}"].concat();
    let Ok(negated) = compile(&negated) else {
        return;
    };
    let found = negated.validate(instance, 5);
    let gave_up = found
        .iter()
        .any(|violation| violation.message.starts_with("too "));
    assert!(
        gave_up || found.is_empty() != fits,
        "a value fits a schema and its negation, or neither"
    );
}
