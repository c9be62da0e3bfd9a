//! A schema and an instance, a line each: whatever they are, they are compiled and checked within bounds.

use looplet::engine::json::check;
use looplet::engine::json::tree::Tree;
use looplet::engine::schema::compile;

pub fn check(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (schema_text, instance_text) = text.split_once('\n').unwrap_or((&text, "{}"));
    let Some(schema) = tree(schema_text).and_then(|tree| compile(&tree).ok()) else {
        return;
    };
    assert!(schema.warnings().len() <= schema_text.len());
    let Some(instance) = tree(instance_text) else {
        return;
    };
    let violations = schema.validate(&instance, 5);
    assert!(violations.len() <= 5);
    let told: usize = violations.iter().map(|violation| violation.message.len()).sum();
    assert!(
        told <= 5 * (4096 + schema_text.len() + instance_text.len()),
        "{told} bytes of problems"
    );
    let first = schema.validate(&instance, 1);
    assert_eq!(
        first.first(),
        violations.first(),
        "the first problem depends on how many are wanted"
    );
    if !violations
        .iter()
        .any(|violation| violation.message.starts_with("too "))
    {
        check_negation(schema_text, &instance, violations.is_empty());
    }
}

fn tree(text: &str) -> Option<Tree<'_>> {
    check::check(text).ok()?;
    Tree::parse(text)
}

/// What fits a schema does not fit its negation, and the other way round. References would lead elsewhere in there.
fn check_negation(schema_text: &str, instance: &Tree<'_>, fits: bool) {
    if schema_text.contains(['$', '\\']) {
        return;
    }
    let negated = ["{\"not\":", schema_text, "}"].concat();
    let Some(negated) = tree(&negated).and_then(|tree| compile(&tree).ok()) else {
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
